"""The cluster itself: nodes, quorum, features, elections, reassignments, directories."""

from ottla.base.ids import ZERO_UUID, Uuid
from ottla.protocol.messages.add_raft_voter import AddRaftVoterRequest, Listener
from ottla.protocol.messages.alter_partition_reassignments import (
    AlterPartitionReassignmentsRequest,
    ReassignablePartition,
    ReassignableTopic,
)
from ottla.protocol.messages.alter_replica_log_dirs import (
    AlterReplicaLogDir,
    AlterReplicaLogDirsRequest,
    AlterReplicaLogDirTopic,
)
from ottla.protocol.messages.create_topics import CreatableTopic, CreateTopicsRequest
from ottla.protocol.messages.describe_cluster import DescribeClusterRequest
from ottla.protocol.messages.describe_log_dirs import DescribableLogDirTopic, DescribeLogDirsRequest
from ottla.protocol.messages.describe_quorum import DescribeQuorumRequest, RequestPartitionData, RequestTopicData
from ottla.protocol.messages.elect_leaders import ElectLeadersRequest, TopicPartitions
from ottla.protocol.messages.list_partition_reassignments import (
    ListPartitionReassignmentsRequest,
    ListPartitionReassignmentsTopics,
)
from ottla.protocol.messages.remove_raft_voter import RemoveRaftVoterRequest
from ottla.protocol.messages.unregister_broker import UnregisterBrokerRequest
from ottla.protocol.messages.update_features import FeatureUpdateKey, UpdateFeaturesRequest
from tests.integration.broker.parity.step import read, write

NODES = [
    read("describe cluster", DescribeClusterRequest()),
    read("describe cluster with operations", DescribeClusterRequest(include_cluster_authorized_operations=True)),
    read("describe controllers", DescribeClusterRequest(endpoint_type=2), (1, 2)),
    read("describe endpoints of type 9", DescribeClusterRequest(endpoint_type=9), (1, 2)),
    read("describe fenced brokers", DescribeClusterRequest(include_fenced_brokers=True), (2,)),
    write("unregister an unknown broker", UnregisterBrokerRequest(broker_id=77), (0,)),
    write("unregister broker -1", UnregisterBrokerRequest(broker_id=-1), (0,)),
]


def _quorum(topic: str, *partitions: int) -> DescribeQuorumRequest:
    indexes = [RequestPartitionData(partition_index=index) for index in partitions]
    return DescribeQuorumRequest(topics=[RequestTopicData(topic_name=topic, partitions=indexes)])


SOME_ID = Uuid.parse("zzzzzzzzzzzzzzzzzzzzzw")
CLUSTER_ID = "QUFBQUFBQUFBQUFBQUFBQQ"
QUORUM = [
    read("describe quorum", _quorum("__cluster_metadata", 0)),
    read("describe quorum of a topic", _quorum("orders", 0)),
    read("describe quorum of partition 1", _quorum("__cluster_metadata", 1)),
    read("describe quorum of nothing", DescribeQuorumRequest()),
    write(
        "add a voter of another cluster",
        AddRaftVoterRequest(cluster_id="else", timeout_ms=1000, voter_id=2, voter_directory_id=SOME_ID),
        (0,),
    ),
    write(
        "add a voter without listeners",
        AddRaftVoterRequest(cluster_id=CLUSTER_ID, timeout_ms=1000, voter_id=2, voter_directory_id=SOME_ID),
        (0, 1),
    ),
    write(
        "add a voter with a foreign listener",
        AddRaftVoterRequest(
            cluster_id=None,
            timeout_ms=1000,
            voter_id=2,
            voter_directory_id=SOME_ID,
            listeners=[Listener(name="ELSE", host="localhost", port=1)],
        ),
        (1,),
    ),
    write("add this voter", AddRaftVoterRequest(timeout_ms=1000, voter_id=1, voter_directory_id=SOME_ID), (1,)),
    write("remove an unknown voter", RemoveRaftVoterRequest(voter_id=2, voter_directory_id=SOME_ID), (0,)),
    write("remove a voter of another cluster", RemoveRaftVoterRequest(cluster_id="else", voter_id=1), (0,)),
    write("remove a voter with another id", RemoveRaftVoterRequest(voter_id=1, voter_directory_id=SOME_ID), (0,)),
    write("remove a voter without id", RemoveRaftVoterRequest(voter_id=1, voter_directory_id=ZERO_UUID), (0,)),
]


def _update(name: str, level: int, upgrade_type: int = 1, *, validate_only: bool = False) -> UpdateFeaturesRequest:
    update = FeatureUpdateKey(feature=name, max_version_level=level, upgrade_type=upgrade_type)
    return UpdateFeaturesRequest(feature_updates=[update], validate_only=validate_only, timeout_ms=30_000)


FEATURES = [
    write("update nothing", UpdateFeaturesRequest(), (0, 1, 2)),
    write("update an unknown feature", _update("nonsense", 1), (1, 2)),
    write("update metadata.version too high", _update("metadata.version", 99), (1, 2)),
    write("update metadata.version to what it is", _update("metadata.version", 30), (1, 2)),
    write("downgrade metadata.version", _update("metadata.version", 20), (1, 2)),
    write("downgrade group.version", _update("group.version", 0, 2, validate_only=True), (1, 2)),
    write("downgrade without saying so", _update("transaction.version", 1), (1, 2)),
    write("update with upgrade type 9", _update("group.version", 1, 9), (1, 2)),
    write("update to a negative level", _update("group.version", -1), (1, 2)),
    write(
        "update one feature twice",
        UpdateFeaturesRequest(
            feature_updates=[
                FeatureUpdateKey(feature="group.version", max_version_level=1),
                FeatureUpdateKey(feature="group.version", max_version_level=0),
            ]
        ),
        (1, 2),
    ),
    write(
        "update several, one wrong",
        UpdateFeaturesRequest(
            feature_updates=[
                FeatureUpdateKey(feature="group.version", max_version_level=1),
                FeatureUpdateKey(feature="nonsense", max_version_level=1),
            ]
        ),
        (0, 1, 2),
    ),
]

REASSIGNED = [
    write(
        "create moved",
        CreateTopicsRequest(topics=[CreatableTopic(name="moved", num_partitions=2, replication_factor=1)]),
        (7,),
    ),
]


def _elect(type_: int, *partitions: tuple[str, list[int]], timeout_ms: int = 30_000) -> ElectLeadersRequest:
    wanted = [TopicPartitions(topic=topic, partitions=indexes) for topic, indexes in partitions]
    return ElectLeadersRequest(election_type=type_, topic_partitions=wanted, timeout_ms=timeout_ms)


ELECTIONS = [
    write("elect", _elect(0, ("moved", [0, 1])), (0, 1, 2)),
    write("elect unclean", _elect(1, ("moved", [0])), (1, 2)),
    write("elect what is not there", _elect(0, ("nowhere", [0]), ("moved", [7, 0])), (0, 2)),
    write("elect nothing", _elect(0), (0, 2)),
    write("elect all", ElectLeadersRequest(topic_partitions=None, timeout_ms=30_000), (0, 1, 2)),
    write("elect with type 9", _elect(9, ("moved", [0])), (2,)),
    write("elect without time", _elect(0, ("moved", [0]), timeout_ms=0), (2,)),
    write("elect one partition twice", _elect(0, ("moved", [0, 0]), ("moved", [0])), (2,)),
]


def _move(topic: str, index: int, replicas: list[int] | None, **options: bool) -> AlterPartitionReassignmentsRequest:
    moved = ReassignableTopic(name=topic, partitions=[ReassignablePartition(partition_index=index, replicas=replicas)])
    return AlterPartitionReassignmentsRequest(topics=[moved], timeout_ms=30_000, **options)


MOVES = [
    write("move to where it is", _move("moved", 0, [1]), (0, 1)),
    write("cancel nothing", _move("moved", 0, None), (0, 1)),
    write("move what is not there", _move("nowhere", 0, [1]), (1,)),
    write("move a partition that is not there", _move("moved", 9, [1]), (1,)),
    write("move to an unknown broker", _move("moved", 0, [5]), (1,)),
    write("move to nobody", _move("moved", 0, []), (1,)),
    write("move to one broker twice", _move("moved", 0, [1, 1]), (1,)),
    write("move with a changed factor", _move("moved", 0, [1, 2], allow_replication_factor_change=False), (1,)),
    write(
        "move nothing",
        AlterPartitionReassignmentsRequest(),
        (0, 1),
    ),
    read("list moves", ListPartitionReassignmentsRequest(topics=None)),
    read(
        "list moves of some",
        ListPartitionReassignmentsRequest(
            topics=[
                ListPartitionReassignmentsTopics(name="moved", partition_indexes=[0, 9]),
                ListPartitionReassignmentsTopics(name="nowhere", partition_indexes=[0]),
            ]
        ),
    ),
    read("list moves of none", ListPartitionReassignmentsRequest(topics=[])),
]


def _log_dirs(*topics: tuple[str, list[int]]) -> DescribeLogDirsRequest:
    return DescribeLogDirsRequest(topics=[DescribableLogDirTopic(topic=name, partitions=p) for name, p in topics])


def _to_directory(path: str, topic: str, *partitions: int) -> AlterReplicaLogDirsRequest:
    moved = AlterReplicaLogDirTopic(name=topic, partitions=list(partitions))
    return AlterReplicaLogDirsRequest(dirs=[AlterReplicaLogDir(path=path, topics=[moved])])


DIRECTORIES = [
    read("directories of some", _log_dirs(("moved", [0, 1]))),
    read("directories of one and unknown ones", _log_dirs(("moved", [1, 7]), ("nowhere", [0]))),
    read("directories of none", DescribeLogDirsRequest(topics=[])),
    read("directories of all", DescribeLogDirsRequest(topics=None)),
    write("move to an unknown directory", _to_directory("/no/such/directory", "moved", 0), (1, 2)),
    write("move to a relative directory", _to_directory("logs", "moved", 0), (2,)),
    write("move to its own directory", lambda v, served: _to_directory(served.directory, "moved", 0, 1), (1, 2)),
    write("move an unknown partition", lambda v, served: _to_directory(served.directory, "moved", 9), (2,)),
    write("move an unknown topic", lambda v, served: _to_directory(served.directory, "nowhere", 0), (2,)),
    write("move no replica", AlterReplicaLogDirsRequest(), (1, 2)),
]

STEPS = [*NODES, *QUORUM, *FEATURES, *REASSIGNED, *ELECTIONS, *MOVES, *DIRECTORIES]
