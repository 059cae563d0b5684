"""The cluster: brokers, quorum, features, log directories, elections, reassignments, quotas, users."""

from ottla.base.ids import Uuid
from ottla.protocol.messages.add_raft_voter import AddRaftVoterRequest
from ottla.protocol.messages.alter_client_quotas import AlterClientQuotasRequest, EntityData, OpData, RequestEntryData
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
from ottla.protocol.messages.alter_user_scram_credentials import (
    AlterUserScramCredentialsRequest,
    ScramCredentialDeletion,
    ScramCredentialUpsertion,
)
from ottla.protocol.messages.describe_client_quotas import ComponentData, DescribeClientQuotasRequest
from ottla.protocol.messages.describe_cluster import DescribeClusterRequest
from ottla.protocol.messages.describe_log_dirs import DescribableLogDirTopic, DescribeLogDirsRequest
from ottla.protocol.messages.describe_quorum import DescribeQuorumRequest, RequestPartitionData, RequestTopicData
from ottla.protocol.messages.describe_user_scram_credentials import DescribeUserScramCredentialsRequest, UserName
from ottla.protocol.messages.elect_leaders import ElectLeadersRequest, TopicPartitions
from ottla.protocol.messages.list_partition_reassignments import (
    ListPartitionReassignmentsRequest,
    ListPartitionReassignmentsTopics,
)
from ottla.protocol.messages.remove_raft_voter import RemoveRaftVoterRequest
from ottla.protocol.messages.unregister_broker import UnregisterBrokerRequest
from ottla.protocol.messages.update_features import FeatureUpdateKey, UpdateFeaturesRequest
from tests.clients.patience import until
from tests.parity.talk import Talk


def run(talk: Talk) -> None:
    """All about the cluster."""
    talk.topic("cluster", 2)
    _brokers(talk)
    _log_directories(talk)
    _leaders(talk)
    _quotas(talk)
    _users(talk)
    _features(talk)
    with talk.controller():
        _features_at_the_controller(talk)


def _brokers(talk: Talk) -> None:
    talk.ask_all_versions("the cluster", DescribeClusterRequest())
    talk.ask_all_versions("authorised operations", DescribeClusterRequest(include_cluster_authorized_operations=True))
    for kind in (2, 0, 3):
        talk.ask_all_versions(f"endpoints of type {kind}", DescribeClusterRequest(endpoint_type=kind), "1-2")
    talk.ask("fenced ones too", DescribeClusterRequest(include_fenced_brokers=True), 2)
    talk.ask("an unknown broker", UnregisterBrokerRequest(broker_id=9), 0)
    talk.ask("a negative broker", UnregisterBrokerRequest(broker_id=-1), 0)
    other = [RequestTopicData(topic_name="cluster", partitions=[RequestPartitionData(partition_index=0)])]
    talk.ask_all_versions("another topic's quorum", DescribeQuorumRequest(topics=other))
    wrong = [RequestTopicData(topic_name="__cluster_metadata", partitions=[RequestPartitionData(partition_index=5)])]
    talk.ask("another partition's quorum", DescribeQuorumRequest(topics=wrong), 2)
    talk.ask("no quorum", DescribeQuorumRequest(), 2)
    voter = Uuid(b"\x05" * 16)
    talk.ask(
        "a voter of another cluster",
        RemoveRaftVoterRequest(cluster_id="other", voter_id=9, voter_directory_id=voter),
        0,
    )
    talk.ask("a voter that is none", RemoveRaftVoterRequest(cluster_id=None, voter_id=9, voter_directory_id=voter), 0)
    adding = AddRaftVoterRequest(cluster_id="other", timeout_ms=1_000, voter_id=9, voter_directory_id=voter)
    talk.ask_all_versions("a voter for another cluster", adding)
    adding = AddRaftVoterRequest(cluster_id=None, timeout_ms=1_000, voter_id=9, voter_directory_id=voter)
    talk.ask_all_versions("a voter at no address", adding)


def _log_directories(talk: Talk) -> None:
    some = [
        DescribableLogDirTopic(topic="cluster", partitions=[0, 1, 9]),
        DescribableLogDirTopic(topic="none", partitions=[0]),
    ]
    talk.ask_all_versions("some", DescribeLogDirsRequest(topics=some))
    talk.ask_all_versions("none", DescribeLogDirsRequest(topics=[]))

    def move(path: str, *partitions: int, topic: str = "cluster") -> AlterReplicaLogDirsRequest:
        topics = [AlterReplicaLogDirTopic(name=topic, partitions=list(partitions))]
        return AlterReplicaLogDirsRequest(dirs=[AlterReplicaLogDir(path=path, topics=topics)])

    for version in (1, 2):
        talk.ask("to an unknown directory", move("/no/such/directory", 0), version)
        talk.ask("to where it is", move(str(talk.server.log_directory), 0), version)
    talk.ask("an unknown partition", move(str(talk.server.log_directory), 9), 2)
    talk.ask("an unknown topic", move(str(talk.server.log_directory), 0, topic="none"), 2)
    names = {length: "n" * length for length in (0, 204, 205, 212, 213, 214, 249, 250)} | {1: "a/b", 2: ".", 3: "ä"}
    for length, name in names.items():
        for index in (0, 10, 2_000_000_000, -1):
            shown = f"a name of {length}, partition {index}"
            talk.ask(shown, move(str(talk.server.log_directory), index, topic=name), 2)
    talk.ask("a path without end", move("/" + "x" * 300, 0), 2)
    talk.ask("no path", move("", 0), 2)
    talk.ask("a relative path", move("logs", 0), 2)
    talk.ask("nothing", AlterReplicaLogDirsRequest(), 2)


def _leaders(talk: Talk) -> None:
    def elect(*partitions: int, topic: str = "cluster", kind: int = 0) -> ElectLeadersRequest:
        wanted = [TopicPartitions(topic=topic, partitions=list(partitions))]
        return ElectLeadersRequest(election_type=kind, topic_partitions=wanted, timeout_ms=5_000)

    for version in range(3):
        talk.ask("nothing to do", elect(0, 1), version)
        talk.ask("an unknown partition", elect(9), version)
        talk.ask("an unknown topic", elect(0, topic="none"), version)
    talk.ask("unclean", elect(0, kind=1), 2)
    talk.ask("an unknown kind", elect(0, kind=7), 2)
    talk.ask("a partition twice", elect(0, 0), 2)
    talk.ask("no partitions, of an unknown kind", ElectLeadersRequest(election_type=7, topic_partitions=[]), 2)
    talk.ask("unknown partitions twice", elect(9, 9, -1, -1), 2)
    talk.ask("an unknown topic twice", elect(0, 0, topic="none"), 2)
    talk.ask_all_versions("all partitions", ElectLeadersRequest(topic_partitions=None, timeout_ms=5_000))
    talk.ask(
        "all partitions, unclean", ElectLeadersRequest(election_type=1, topic_partitions=None, timeout_ms=5_000), 2
    )

    def reassign(
        index: int, replicas: list[int] | None, topic: str = "cluster", **others: object
    ) -> AlterPartitionReassignmentsRequest:
        partitions = [ReassignablePartition(partition_index=index, replicas=replicas)]
        return AlterPartitionReassignmentsRequest(
            topics=[ReassignableTopic(name=topic, partitions=partitions)], **others
        )

    for version in (0, 1):
        talk.ask("to where it is", reassign(0, [1]), version)
        talk.ask("to an unknown broker", reassign(0, [9]), version)
        talk.ask("to two", reassign(0, [1, 9]), version)
        talk.ask("cancelled", reassign(0, None), version)
    talk.ask("to nobody", reassign(0, []), 1)
    talk.ask("of nothing", AlterPartitionReassignmentsRequest(), 1)
    twice = reassign(0, [1])
    twice.topics = twice.topics * 2
    talk.ask("of a partition twice", twice, 1)
    refused = reassign(0, [])
    refused.topics += reassign(0, None).topics
    talk.ask("of a partition twice, badly", refused, 1)
    for name, unknown in (("partition", reassign(9, [1])), ("topic", reassign(0, [1], topic="none"))):
        unknown.topics = unknown.topics * 2
        talk.ask(f"of an unknown {name} twice", unknown, 1)
    talk.ask("twice to one", reassign(0, [1, 1]), 1)
    talk.ask("to a negative broker", reassign(0, [-1]), 1)
    talk.ask("an unknown partition", reassign(9, [1]), 1)
    talk.ask("an unknown topic", reassign(0, [1], topic="none"), 1)
    talk.ask("with no change of the factor", reassign(0, [1, 9], allow_replication_factor_change=False), 1)
    talk.ask("all", ListPartitionReassignmentsRequest(topics=None), 0)
    some = [ListPartitionReassignmentsTopics(name="cluster", partition_indexes=[0, 9])]
    talk.ask("some", ListPartitionReassignmentsRequest(topics=some), 0)
    none = [ListPartitionReassignmentsTopics(name="none", partition_indexes=[0])]
    talk.ask("of an unknown topic", ListPartitionReassignmentsRequest(topics=none), 0)
    talk.ask("with no time", ListPartitionReassignmentsRequest(topics=some, timeout_ms=0), 0)
    talk.ask("with less than no time", ListPartitionReassignmentsRequest(topics=some, timeout_ms=-1), 0)
    talk.ask("with no time", reassign(0, [1], timeout_ms=0), 1)
    in_no_time = [TopicPartitions(topic="cluster", partitions=[0])]
    for version in range(3):
        talk.ask("with no time", ElectLeadersRequest(topic_partitions=in_no_time, timeout_ms=0), version)


def _quotas(talk: Talk) -> None:
    def alter(
        entity: dict[str, str | None], *ops: tuple[str, float, bool], validate: bool = False
    ) -> AlterClientQuotasRequest:
        entities = [EntityData(entity_type=kind, entity_name=name) for kind, name in entity.items()]
        changes = [OpData(key=key, value=value, remove=remove) for key, value, remove in ops]
        return AlterClientQuotasRequest(
            entries=[RequestEntryData(entity=entities, ops=changes)], validate_only=validate
        )

    def describe(*components: tuple[str, int, str | None], strict: bool = False) -> DescribeClientQuotasRequest:
        wanted = [ComponentData(entity_type=kind, match_type=match, match=name) for kind, match, name in components]
        return DescribeClientQuotasRequest(components=wanted, strict=strict)

    rate = ("producer_byte_rate", 1024.0, False)
    talk.ask_all_versions("nothing known", describe(("user", 2, None)))
    for version in (0, 1):
        talk.ask("a user", alter({"user": f"parity{version}"}, rate), version)
        talk.ask("only validated", alter({"user": "parity-not"}, rate, validate=True), version)
    talk.ask("a user's client", alter({"user": "parity0", "client-id": "app"}, ("request_percentage", 50.5, False)), 1)
    talk.ask("the default user", alter({"user": None}, ("consumer_byte_rate", 5.0, False)), 1)
    talk.ask("an address", alter({"ip": "127.0.0.9"}, ("connection_creation_rate", 100.0, False)), 1)
    for name, request in (
        ("an unknown key", alter({"user": "parity"}, ("no_such_rate", 1.0, False))),
        ("an unknown kind", alter({"planet": "earth"}, rate)),
        ("no entity", alter({}, rate)),
        ("an empty name", alter({"user": ""}, rate)),
        ("a fraction of a byte", alter({"user": "parity"}, ("producer_byte_rate", 1.5, False))),
        ("a negative rate", alter({"user": "parity"}, ("producer_byte_rate", -1.0, False))),
        ("a rate of 0", alter({"user": "parity"}, ("producer_byte_rate", 0.0, False))),
        ("an address with a user", alter({"ip": "127.0.0.9", "user": "parity"}, rate)),
        ("a user's rate for an address", alter({"ip": "127.0.0.9"}, rate)),
        ("no address", alter({"ip": "not an address"}, ("connection_creation_rate", 1.0, False))),
        ("a key twice", alter({"user": "parity"}, rate, rate)),
        ("removed when it is not there", alter({"user": "parity"}, ("producer_byte_rate", 0.0, True))),
        ("nothing to do", alter({"user": "parity"})),
    ):
        talk.ask(name, request, 1)
    until(True, lambda: "127.0.0.9" in repr(talk.quietly(describe(("ip", 2, None)), 1)))
    for name, request in (
        ("everything of users", describe(("user", 2, None))),
        ("everything of users, strictly", describe(("user", 2, None), strict=True)),
        ("one user", describe(("user", 0, "parity0"))),
        ("one user, strictly", describe(("user", 0, "parity0"), strict=True)),
        ("the default user", describe(("user", 1, None))),
        ("an unknown user", describe(("user", 0, "nobody"))),
        ("addresses", describe(("ip", 2, None))),
        ("all", describe()),
        ("all, strictly", describe(strict=True)),
        ("an unknown kind", describe(("planet", 2, None))),
        ("an empty kind", describe(("", 2, None))),
        ("a kind twice", describe(("user", 2, None), ("user", 2, None))),
        ("an unknown match", describe(("user", 9, None))),
        ("an exact match with nothing", describe(("user", 0, None))),
        ("an address and a user", describe(("ip", 2, None), ("user", 2, None))),
    ):
        talk.ask(f"described: {name}", request, 1)


def _users(talk: Talk) -> None:
    def upsert(name: str, mechanism: int = 1, iterations: int = 4096) -> ScramCredentialUpsertion:
        return ScramCredentialUpsertion(
            name=name, mechanism=mechanism, iterations=iterations, salt=b"salt", salted_password=bytes(32)
        )

    def delete(name: str, mechanism: int = 1) -> ScramCredentialDeletion:
        return ScramCredentialDeletion(name=name, mechanism=mechanism)

    def alter(
        *upsertions: ScramCredentialUpsertion, deletions: tuple[ScramCredentialDeletion, ...] = ()
    ) -> AlterUserScramCredentialsRequest:
        return AlterUserScramCredentialsRequest(deletions=list(deletions), upsertions=list(upsertions))

    no_password = upsert("parity-d")
    no_password.salted_password = b""
    for name, request in (
        ("a user", alter(upsert("parity-a"))),
        ("a second mechanism", alter(upsert("parity-a", 2, 8192))),
        ("two users", alter(upsert("parity-b"), upsert("parity-c"))),
        ("few iterations", alter(upsert("parity-d", iterations=100))),
        ("many iterations", alter(upsert("parity-d", iterations=100_000))),
        ("mechanism 0", alter(upsert("parity-d", 0))),
        ("mechanism 9", alter(upsert("parity-d", 9))),
        ("no name", alter(upsert(""))),
        ("one twice", alter(upsert("parity-e"), upsert("parity-e"))),
        ("deleted and not there", alter(deletions=(delete("parity-none"),))),
        ("deleted", alter(deletions=(delete("parity-b"),))),
        ("deleted and set", alter(upsert("parity-c"), deletions=(delete("parity-c"),))),
        ("set, and deleted where it is not", alter(upsert("parity-f"), deletions=(delete("parity-f"),))),
        ("one deleted, one refused", alter(upsert(""), deletions=(delete("parity-c"),))),
        ("no password", AlterUserScramCredentialsRequest(upsertions=[no_password])),
        ("nothing", alter()),
    ):
        talk.ask(name, request, 0)

    def describe(*names: str) -> DescribeUserScramCredentialsRequest:
        return DescribeUserScramCredentialsRequest(users=[UserName(name=name) for name in names])

    until(False, lambda: "parity-b" in repr(talk.quietly(DescribeUserScramCredentialsRequest(users=None), 0)))
    talk.ask("all users", DescribeUserScramCredentialsRequest(users=None), 0)
    talk.ask("described", describe("parity-a"), 0)
    talk.ask("described: unknown", describe("parity-a", "parity-none"), 0)
    talk.ask("described: twice", describe("parity-a", "parity-a"), 0)
    talk.ask("described: no name", describe(""), 0)
    talk.ask("described: nobody", describe(), 0)
    talk.ask("both mechanisms", alter(upsert("parity-e", 1), upsert("parity-e", 2)), 0)


def _features(talk: Talk) -> None:
    def update(*updates: tuple[str, int, int], version: int, validate: bool = False) -> UpdateFeaturesRequest:
        keys = [
            FeatureUpdateKey(feature=name, max_version_level=level)
            if version == 0
            else FeatureUpdateKey(feature=name, max_version_level=level, upgrade_type=kind)
            for name, level, kind in updates
        ]
        return UpdateFeaturesRequest(feature_updates=keys, validate_only=validate)

    for version in range(3):
        for name, updates in (
            ("to where it is", (("group.version", 1, 1),)),
            ("an unknown feature", (("no.such.feature", 1, 1),)),
            ("too high", (("group.version", 9, 1),)),
            ("a good one and a bad one", (("group.version", 1, 1), ("no.such.feature", 1, 1))),
            ("nothing", ()),
        ):
            talk.ask(name, update(*updates, version=version), version)
    talk.ask("a downgrade that is called an upgrade", update(("share.version", 0, 1), version=1), 1)
    talk.ask("an unknown kind", update(("share.version", 1, 9), version=1), 1)
    talk.ask("only validated", update(("streams.version", 0, 2), version=1, validate=True), 1)
    talk.ask("the metadata version too low", update(("metadata.version", 1, 2), version=1, validate=True), 1)
    talk.ask("the metadata version below", update(("metadata.version", 25, 2), version=1, validate=True), 1)
    talk.ask("one twice", update(("group.version", 1, 1), ("group.version", 1, 1), version=1), 1)


def _features_at_the_controller(talk: Talk) -> None:
    talk.ask("the controller's view: brokers", DescribeClusterRequest(endpoint_type=2), 1)
    talk.ask("the controller's view: clients", DescribeClusterRequest(endpoint_type=1), 1)
