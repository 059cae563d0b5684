"""What is asked about rights: for each call a request, and the rights that bear upon its answer.

Requests change nothing that later ones see: what would change the cluster is only validated, or is about things that
are not there. Two topics exist, `seen` and `other`, a group `group` with offsets of both, and no transaction.
"""

from collections.abc import Callable, Iterator
from typing import Final, NamedTuple

from ottla.base.ids import Uuid
from ottla.protocol.acl import CLUSTER_NAME, AclOperation, AclResourceType
from ottla.protocol.definition import Request
from ottla.protocol.messages import alter_configs as legacy
from ottla.protocol.messages import describe_topic_partitions as paged
from ottla.protocol.messages import incremental_alter_configs as incremental
from ottla.protocol.messages.add_offsets_to_txn import AddOffsetsToTxnRequest
from ottla.protocol.messages.add_partitions_to_txn import (
    AddPartitionsToTxnRequest,
    AddPartitionsToTxnTopic,
    AddPartitionsToTxnTransaction,
)
from ottla.protocol.messages.add_raft_voter import AddRaftVoterRequest
from ottla.protocol.messages.alter_client_quotas import AlterClientQuotasRequest, EntityData, OpData, RequestEntryData
from ottla.protocol.messages.alter_configs import AlterConfigsRequest
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
)
from ottla.protocol.messages.consumer_group_describe import ConsumerGroupDescribeRequest
from ottla.protocol.messages.consumer_group_heartbeat import ConsumerGroupHeartbeatRequest
from ottla.protocol.messages.create_acls import AclCreation, CreateAclsRequest
from ottla.protocol.messages.create_partitions import CreatePartitionsRequest, CreatePartitionsTopic
from ottla.protocol.messages.create_topics import CreatableTopic, CreateTopicsRequest
from ottla.protocol.messages.delete_acls import DeleteAclsFilter, DeleteAclsRequest
from ottla.protocol.messages.delete_groups import DeleteGroupsRequest
from ottla.protocol.messages.delete_records import DeleteRecordsPartition, DeleteRecordsRequest, DeleteRecordsTopic
from ottla.protocol.messages.delete_topics import DeleteTopicsRequest, DeleteTopicState
from ottla.protocol.messages.describe_acls import DescribeAclsRequest
from ottla.protocol.messages.describe_client_quotas import DescribeClientQuotasRequest
from ottla.protocol.messages.describe_cluster import DescribeClusterRequest
from ottla.protocol.messages.describe_configs import DescribeConfigsRequest, DescribeConfigsResource
from ottla.protocol.messages.describe_groups import DescribeGroupsRequest
from ottla.protocol.messages.describe_log_dirs import DescribeLogDirsRequest
from ottla.protocol.messages.describe_producers import DescribeProducersRequest, TopicRequest
from ottla.protocol.messages.describe_quorum import DescribeQuorumRequest
from ottla.protocol.messages.describe_topic_partitions import DescribeTopicPartitionsRequest
from ottla.protocol.messages.describe_transactions import DescribeTransactionsRequest
from ottla.protocol.messages.describe_user_scram_credentials import DescribeUserScramCredentialsRequest
from ottla.protocol.messages.elect_leaders import ElectLeadersRequest, TopicPartitions
from ottla.protocol.messages.end_txn import EndTxnRequest
from ottla.protocol.messages.fetch import FetchPartition, FetchRequest, FetchTopic
from ottla.protocol.messages.find_coordinator import FindCoordinatorRequest
from ottla.protocol.messages.get_telemetry_subscriptions import GetTelemetrySubscriptionsRequest
from ottla.protocol.messages.heartbeat import HeartbeatRequest
from ottla.protocol.messages.incremental_alter_configs import IncrementalAlterConfigsRequest
from ottla.protocol.messages.init_producer_id import InitProducerIdRequest
from ottla.protocol.messages.join_group import JoinGroupRequest, JoinGroupRequestProtocol
from ottla.protocol.messages.leave_group import LeaveGroupRequest, MemberIdentity
from ottla.protocol.messages.list_config_resources import ListConfigResourcesRequest
from ottla.protocol.messages.list_groups import ListGroupsRequest
from ottla.protocol.messages.list_offsets import ListOffsetsPartition, ListOffsetsRequest, ListOffsetsTopic
from ottla.protocol.messages.list_partition_reassignments import ListPartitionReassignmentsRequest
from ottla.protocol.messages.list_transactions import ListTransactionsRequest
from ottla.protocol.messages.metadata import MetadataRequest, MetadataRequestTopic
from ottla.protocol.messages.offset_commit import (
    OffsetCommitRequest,
    OffsetCommitRequestPartition,
    OffsetCommitRequestTopic,
)
from ottla.protocol.messages.offset_delete import (
    OffsetDeleteRequest,
    OffsetDeleteRequestPartition,
    OffsetDeleteRequestTopic,
)
from ottla.protocol.messages.offset_fetch import (
    OffsetFetchRequest,
    OffsetFetchRequestGroup,
    OffsetFetchRequestTopic,
    OffsetFetchRequestTopics,
)
from ottla.protocol.messages.offset_for_leader_epoch import (
    OffsetForLeaderEpochRequest,
    OffsetForLeaderPartition,
    OffsetForLeaderTopic,
)
from ottla.protocol.messages.produce import PartitionProduceData, ProduceRequest, TopicProduceData
from ottla.protocol.messages.remove_raft_voter import RemoveRaftVoterRequest
from ottla.protocol.messages.sync_group import SyncGroupRequest
from ottla.protocol.messages.txn_offset_commit import (
    TxnOffsetCommitRequest,
    TxnOffsetCommitRequestPartition,
    TxnOffsetCommitRequestTopic,
)
from ottla.protocol.messages.unregister_broker import UnregisterBrokerRequest
from ottla.protocol.messages.update_features import FeatureUpdateKey, UpdateFeaturesRequest
from ottla.protocol.messages.write_txn_markers import WritableTxnMarker, WritableTxnMarkerTopic, WriteTxnMarkersRequest
from tests.parity.batch import batch, patched

__all__ = ["QUESTIONS", "Facts", "Grant", "Question"]


class Facts(NamedTuple):
    """What a server made up."""

    seen: Uuid
    other: Uuid
    producer_id: int


class Grant(NamedTuple):
    """A right on one resource."""

    operation: AclOperation
    resource_type: AclResourceType
    name: str

    def __str__(self) -> str:
        return f"{self.operation.name.lower()} {self.name}"


class Question(NamedTuple):
    """A request in one version, asked with no rights, with each, with all, with every operation on one resource alone,
    and with all and one denied."""

    name: str
    version: int
    make: Callable[[Facts], Request]
    grants: tuple[Grant, ...]

    def settings(self) -> Iterator[tuple[str, tuple[Grant, ...], tuple[Grant, ...]]]:
        """Names with what is allowed and what is denied."""
        yield "nothing", (), ()
        for grant in self.grants:
            yield str(grant), (grant,), ()
        if len(self.grants) > 1:
            yield "all", self.grants, ()
        for kind, name in dict.fromkeys((grant.resource_type, grant.name) for grant in self.grants):
            if self.name in _BY_PARTS_ONLY:
                continue
            everything = Grant(AclOperation.ALL, kind, name)
            yield f"{everything} ({kind.name.lower()})", (everything,), ()
        for grant in self.grants:
            yield f"all but denied {grant}", self.grants, (grant,)


_O: Final = AclOperation
_BY_PARTS_ONLY: Final = frozenset({"metadata that creates", "delete topics that exist", "delete topics, old"})
"""With every operation on one resource these would change what later questions see."""
_SEEN, _OTHER, _ABSENT, _GROUP, _TXN = "seen", "other", "absent", "group", "txn"


def topic(name: str, *operations: AclOperation) -> tuple[Grant, ...]:
    """Rights on a topic."""
    return tuple(Grant(operation, AclResourceType.TOPIC, name) for operation in operations)


def group(*operations: AclOperation) -> tuple[Grant, ...]:
    """Rights on the group."""
    return tuple(Grant(operation, AclResourceType.GROUP, _GROUP) for operation in operations)


def transaction(*operations: AclOperation) -> tuple[Grant, ...]:
    """Rights on the transactional id."""
    return tuple(Grant(operation, AclResourceType.TRANSACTIONAL_ID, _TXN) for operation in operations)


def cluster(*operations: AclOperation) -> tuple[Grant, ...]:
    """Rights on the cluster."""
    return tuple(Grant(operation, AclResourceType.CLUSTER, CLUSTER_NAME) for operation in operations)


_TRANSACTIONAL: Final = 16
_SEEN_READ, _SEEN_WRITE, _SEEN_DESCRIBE = topic(_SEEN, _O.READ), topic(_SEEN, _O.WRITE), topic(_SEEN, _O.DESCRIBE)
QUESTIONS: Final[list[Question]] = []


def _ask(name: str, version: int, make: Callable[[Facts], Request], *grants: Grant) -> None:
    QUESTIONS.append(Question(name, version, make, grants))


_CONFIGS: Final = (
    (2, _SEEN, "retention.ms", "5"),
    (2, _ABSENT, "retention.ms", "5"),
    (32, _GROUP, "consumer.session.timeout.ms", "50000"),
    (16, "metrics", "interval.ms", "60000"),
)

_ask(
    "produce",
    9,
    lambda _: ProduceRequest(
        transactional_id=None,
        acks=1,
        timeout_ms=1000,
        topic_data=[
            TopicProduceData(name=name, partition_data=[PartitionProduceData(index=0, records=batch())])
            for name in (_SEEN, _OTHER, _ABSENT)
        ],
    ),
    *_SEEN_WRITE,
    *_SEEN_DESCRIBE,
    *topic(_ABSENT, _O.WRITE),
)
_ask(
    "produce by id",
    13,
    lambda facts: ProduceRequest(
        transactional_id=None,
        acks=1,
        timeout_ms=1000,
        topic_data=[
            TopicProduceData(topic_id=name, partition_data=[PartitionProduceData(index=0, records=batch())])
            for name in (facts.seen, facts.other, Uuid(bytes(15) + b"7"))
        ],
    ),
    *_SEEN_WRITE,
)
_ask(
    "produce, bad acks",
    9,
    lambda _: ProduceRequest(
        transactional_id=None,
        acks=5,
        timeout_ms=1000,
        topic_data=[
            TopicProduceData(name=name, partition_data=[PartitionProduceData(index=0, records=batch())])
            for name in (_SEEN, _OTHER, _ABSENT)
        ],
    ),
    *_SEEN_WRITE,
)
_ask(
    "produce in a transaction",
    9,
    lambda facts: ProduceRequest(
        transactional_id=_TXN,
        acks=1,
        timeout_ms=1000,
        topic_data=[
            TopicProduceData(
                name=name,
                partition_data=[
                    PartitionProduceData(
                        index=0, records=patched(batch(producer=(facts.producer_id, 0, 0)), ">h", 21, _TRANSACTIONAL)
                    )
                ],
            )
            for name in (_SEEN, _OTHER)
        ],
    ),
    *transaction(_O.WRITE),
    *_SEEN_WRITE,
)
_ask(
    "fetch",
    12,
    lambda _: FetchRequest(
        max_wait_ms=0,
        min_bytes=0,
        max_bytes=1 << 20,
        session_epoch=-1,
        topics=[
            FetchTopic(
                topic=name, partitions=[FetchPartition(partition=0, fetch_offset=1 << 40, partition_max_bytes=1 << 20)]
            )
            for name in (_SEEN, _OTHER, _ABSENT)
        ],
    ),
    *_SEEN_READ,
    *_SEEN_DESCRIBE,
    *topic(_ABSENT, _O.READ),
)
_ask(
    "fetch by id",
    17,
    lambda facts: FetchRequest(
        max_wait_ms=0,
        min_bytes=0,
        max_bytes=1 << 20,
        session_epoch=-1,
        topics=[
            FetchTopic(
                topic_id=name,
                partitions=[FetchPartition(partition=0, fetch_offset=1 << 40, partition_max_bytes=1 << 20)],
            )
            for name in (facts.seen, facts.other, Uuid(bytes(15) + b"7"))
        ],
    ),
    *_SEEN_READ,
)
_ask(
    "fetch as a replica",
    12,
    lambda _: FetchRequest(
        replica_id=1,
        max_wait_ms=0,
        min_bytes=0,
        max_bytes=1 << 20,
        session_epoch=-1,
        topics=[
            FetchTopic(
                topic=name, partitions=[FetchPartition(partition=0, fetch_offset=1 << 40, partition_max_bytes=1 << 20)]
            )
            for name in (_SEEN, _ABSENT)
        ],
    ),
    *cluster(_O.CLUSTER_ACTION),
    *_SEEN_READ,
)
_ask(
    "list offsets",
    7,
    lambda _: ListOffsetsRequest(
        replica_id=-1,
        topics=[
            ListOffsetsTopic(name=name, partitions=[ListOffsetsPartition(partition_index=0, timestamp=-2)])
            for name in (_SEEN, _OTHER, _ABSENT)
        ],
    ),
    *_SEEN_DESCRIBE,
    *_SEEN_READ,
    *topic(_ABSENT, _O.DESCRIBE),
)
_ask(
    "metadata",
    9,
    lambda _: MetadataRequest(
        topics=[MetadataRequestTopic(name=name) for name in (_SEEN, _OTHER, _ABSENT)],
        allow_auto_topic_creation=False,
        include_topic_authorized_operations=True,
        include_cluster_authorized_operations=True,
    ),
    *_SEEN_DESCRIBE,
    *_SEEN_WRITE,
    *topic(_ABSENT, _O.DESCRIBE),
    *cluster(_O.DESCRIBE, _O.ALTER),
)
_ask(
    "metadata by id",
    12,
    lambda facts: MetadataRequest(
        topics=[
            MetadataRequestTopic(name=None, topic_id=each) for each in (facts.seen, facts.other, Uuid(bytes(15) + b"7"))
        ],
        include_topic_authorized_operations=True,
    ),
    *_SEEN_DESCRIBE,
)
_ask("metadata of all", 12, lambda _: MetadataRequest(topics=None), *_SEEN_DESCRIBE, *topic(_OTHER, _O.READ))
_ask(
    "metadata that creates",
    12,
    lambda _: MetadataRequest(
        topics=[MetadataRequestTopic(name="bad name"), MetadataRequestTopic(name="new")], allow_auto_topic_creation=True
    ),
    *topic("new", _O.DESCRIBE),
    *topic("bad name", _O.DESCRIBE),
)
_ask(
    "offset commit",
    8,
    lambda _: OffsetCommitRequest(
        group_id=_GROUP,
        topics=[
            OffsetCommitRequestTopic(
                name=name,
                partitions=[OffsetCommitRequestPartition(partition_index=0, committed_offset=7, committed_metadata="")],
            )
            for name in (_SEEN, _OTHER, _ABSENT)
        ],
    ),
    *group(_O.READ),
    *_SEEN_READ,
    *_SEEN_DESCRIBE,
)
_ask(
    "offset commit by id",
    10,
    lambda facts: OffsetCommitRequest(
        group_id=_GROUP,
        topics=[
            OffsetCommitRequestTopic(
                topic_id=each,
                partitions=[OffsetCommitRequestPartition(partition_index=0, committed_offset=7, committed_metadata="")],
            )
            for each in (facts.seen, facts.other, Uuid(bytes(15) + b"7"))
        ],
    ),
    *group(_O.READ),
    *_SEEN_READ,
)
_ask(
    "offset fetch",
    7,
    lambda _: OffsetFetchRequest(
        group_id=_GROUP,
        topics=[OffsetFetchRequestTopic(name=name, partition_indexes=[0]) for name in (_SEEN, _OTHER, _ABSENT)],
    ),
    *group(_O.DESCRIBE, _O.READ),
    *_SEEN_DESCRIBE,
)
_ask(
    "offset fetch, old",
    1,
    lambda _: OffsetFetchRequest(
        group_id=_GROUP, topics=[OffsetFetchRequestTopic(name=name, partition_indexes=[0]) for name in (_SEEN, _OTHER)]
    ),
    *group(_O.DESCRIBE),
    *_SEEN_DESCRIBE,
)
_ask(
    "offset fetch of all",
    7,
    lambda _: OffsetFetchRequest(group_id=_GROUP, topics=None),
    *group(_O.DESCRIBE),
    *_SEEN_DESCRIBE,
)
_ask(
    "offset fetch of several",
    9,
    lambda _: OffsetFetchRequest(
        groups=[
            OffsetFetchRequestGroup(
                group_id=_GROUP,
                topics=[OffsetFetchRequestTopics(name=name, partition_indexes=[0]) for name in (_SEEN, _OTHER)],
            ),
            OffsetFetchRequestGroup(group_id="secret", topics=None),
        ]
    ),
    *group(_O.DESCRIBE),
    *_SEEN_DESCRIBE,
)
_ask(
    "offset fetch by id",
    10,
    lambda facts: OffsetFetchRequest(
        groups=[
            OffsetFetchRequestGroup(
                group_id=_GROUP,
                topics=[
                    OffsetFetchRequestTopics(topic_id=each, partition_indexes=[0]) for each in (facts.seen, facts.other)
                ],
            )
        ]
    ),
    *group(_O.DESCRIBE),
    *_SEEN_DESCRIBE,
)
_ask(
    "find the coordinator of a group",
    4,
    lambda _: FindCoordinatorRequest(key_type=0, coordinator_keys=[_GROUP, "secret"]),
    *group(_O.DESCRIBE, _O.READ),
)
_ask(
    "find the coordinator of a group, old",
    3,
    lambda _: FindCoordinatorRequest(key_type=0, key=_GROUP),
    *group(_O.DESCRIBE),
)
_ask(
    "find the coordinator of a transaction",
    4,
    lambda _: FindCoordinatorRequest(key_type=1, coordinator_keys=[_TXN]),
    *transaction(_O.DESCRIBE, _O.WRITE),
)
_ask(
    "join group",
    5,
    lambda _: JoinGroupRequest(
        group_id=_GROUP,
        session_timeout_ms=1,
        rebalance_timeout_ms=1,
        protocol_type="consumer",
        protocols=[JoinGroupRequestProtocol(name="range", metadata=b"")],
    ),
    *group(_O.READ, _O.DESCRIBE),
)
_ask(
    "sync group",
    5,
    lambda _: SyncGroupRequest(
        group_id=_GROUP, generation_id=1, member_id="m", protocol_type="consumer", protocol_name="range"
    ),
    *group(_O.READ, _O.DESCRIBE),
)
_ask(
    "heartbeat",
    4,
    lambda _: HeartbeatRequest(group_id=_GROUP, generation_id=1, member_id="m"),
    *group(_O.READ, _O.DESCRIBE),
)
_ask(
    "leave group",
    5,
    lambda _: LeaveGroupRequest(group_id=_GROUP, members=[MemberIdentity(member_id="m")]),
    *group(_O.READ, _O.DELETE),
)
_ask(
    "describe groups",
    5,
    lambda _: DescribeGroupsRequest(groups=[_GROUP, "secret"], include_authorized_operations=True),
    *group(_O.DESCRIBE, _O.READ, _O.DELETE),
)
_ask("list groups", 4, lambda _: ListGroupsRequest(), *group(_O.DESCRIBE), *cluster(_O.DESCRIBE))
_ask(
    "consumer group heartbeat",
    1,
    lambda _: ConsumerGroupHeartbeatRequest(
        group_id=_GROUP, member_id="m", member_epoch=5, subscribed_topic_names=[_SEEN]
    ),
    *group(_O.READ),
    *_SEEN_DESCRIBE,
)
_ask(
    "consumer group describe",
    1,
    lambda _: ConsumerGroupDescribeRequest(group_ids=["nothing there", "secret"], include_authorized_operations=True),
    Grant(_O.DESCRIBE, AclResourceType.GROUP, "nothing there"),
)
_ask(
    "delete groups",
    2,
    lambda _: DeleteGroupsRequest(groups_names=["gone", "secret"]),
    Grant(_O.DELETE, AclResourceType.GROUP, "gone"),
    Grant(_O.READ, AclResourceType.GROUP, "gone"),
)
_ask(
    "offset delete",
    0,
    lambda _: OffsetDeleteRequest(
        group_id=_GROUP,
        topics=[
            OffsetDeleteRequestTopic(name=name, partitions=[OffsetDeleteRequestPartition(partition_index=index)])
            for name, index in ((_SEEN, 9), (_OTHER, 0), (_ABSENT, 0))
        ],
    ),
    *group(_O.DELETE),
    *_SEEN_READ,
)
_ask(
    "create topics",
    7,
    lambda _: CreateTopicsRequest(
        topics=[CreatableTopic(name=name, num_partitions=1, replication_factor=1) for name in ("new", "secret", _SEEN)],
        validate_only=True,
        timeout_ms=9000,
    ),
    *topic("new", _O.CREATE, _O.DESCRIBE_CONFIGS),
    *cluster(_O.CREATE),
    *topic(_SEEN, _O.CREATE),
)
_ask(
    "delete topics",
    6,
    lambda _: DeleteTopicsRequest(
        topics=[DeleteTopicState(name=_ABSENT), DeleteTopicState(topic_id=Uuid(bytes(15) + b"7"))], timeout_ms=9000
    ),
    *topic(_ABSENT, _O.DELETE, _O.DESCRIBE),
    *cluster(_O.DELETE),
)
_ask(
    "delete topics that exist",
    6,
    lambda facts: DeleteTopicsRequest(
        topics=[DeleteTopicState(name=_SEEN), DeleteTopicState(topic_id=facts.other)], timeout_ms=9000
    ),
    *_SEEN_DESCRIBE,
    *topic(_OTHER, _O.DESCRIBE),
)
_ask(
    "delete topics, old",
    5,
    lambda _: DeleteTopicsRequest(topic_names=[_SEEN, _ABSENT], timeout_ms=9000),
    *_SEEN_DESCRIBE,
    *topic(_ABSENT, _O.DELETE),
)
_ask(
    "create partitions",
    3,
    lambda _: CreatePartitionsRequest(
        topics=[CreatePartitionsTopic(name=name, count=3, assignments=None) for name in (_SEEN, _ABSENT)],
        timeout_ms=9000,
        validate_only=True,
    ),
    *topic(_SEEN, _O.ALTER),
    *topic(_ABSENT, _O.ALTER),
)
_ask(
    "delete records",
    2,
    lambda _: DeleteRecordsRequest(
        topics=[
            DeleteRecordsTopic(name=name, partitions=[DeleteRecordsPartition(partition_index=0, offset=0)])
            for name in (_SEEN, _ABSENT)
        ],
        timeout_ms=9000,
    ),
    *topic(_SEEN, _O.DELETE),
    *_SEEN_READ,
)
_ask(
    "describe producers",
    0,
    lambda _: DescribeProducersRequest(
        topics=[TopicRequest(name=name, partition_indexes=[0]) for name in (_OTHER, _ABSENT)]
    ),
    *topic(_OTHER, _O.READ),
    *topic(_ABSENT, _O.READ),
)
_ask(
    "init producer id",
    4,
    lambda _: InitProducerIdRequest(transactional_id=None, transaction_timeout_ms=60000),
    *cluster(_O.IDEMPOTENT_WRITE),
    *_SEEN_WRITE,
    *_SEEN_READ,
)
_ask(
    "init producer id of a transaction",
    4,
    lambda _: InitProducerIdRequest(transactional_id=_TXN, transaction_timeout_ms=-5),
    *transaction(_O.WRITE, _O.DESCRIBE),
)
_ask(
    "add partitions to a transaction",
    3,
    lambda _: AddPartitionsToTxnRequest(
        v3_and_below_transactional_id=_TXN,
        v3_and_below_producer_id=5,
        v3_and_below_producer_epoch=0,
        v3_and_below_topics=[AddPartitionsToTxnTopic(name=name, partitions=[0]) for name in (_SEEN, _OTHER)],
    ),
    *transaction(_O.WRITE),
    *_SEEN_WRITE,
    *topic(_OTHER, _O.WRITE),
)
_ask(
    "add partitions to transactions",
    5,
    lambda _: AddPartitionsToTxnRequest(
        transactions=[
            AddPartitionsToTxnTransaction(
                transactional_id=_TXN,
                producer_id=5,
                producer_epoch=0,
                verify_only=True,
                topics=[AddPartitionsToTxnTopic(name=_SEEN, partitions=[0])],
            )
        ]
    ),
    *cluster(_O.CLUSTER_ACTION),
    *transaction(_O.WRITE),
)
_ask(
    "add offsets to a transaction",
    3,
    lambda _: AddOffsetsToTxnRequest(transactional_id=_TXN, producer_id=5, producer_epoch=0, group_id=_GROUP),
    *transaction(_O.WRITE),
    *group(_O.READ),
)
_ask(
    "commit offsets in a transaction",
    3,
    lambda _: TxnOffsetCommitRequest(
        transactional_id=_TXN,
        group_id=_GROUP,
        producer_id=5,
        producer_epoch=0,
        topics=[
            TxnOffsetCommitRequestTopic(
                name=name,
                partitions=[
                    TxnOffsetCommitRequestPartition(partition_index=index, committed_offset=7, committed_metadata="")
                ],
            )
            for name, index in ((_SEEN, 9), (_OTHER, 9))
        ],
    ),
    *transaction(_O.WRITE),
    *group(_O.READ),
    *_SEEN_READ,
)
_ask(
    "end a transaction",
    3,
    lambda _: EndTxnRequest(transactional_id=_TXN, producer_id=5, producer_epoch=0, committed=True),
    *transaction(_O.WRITE, _O.DESCRIBE),
)
_ask(
    "write markers",
    1,
    lambda _: WriteTxnMarkersRequest(
        markers=[
            WritableTxnMarker(
                producer_id=5, producer_epoch=0, topics=[WritableTxnMarkerTopic(name=_ABSENT, partition_indexes=[0])]
            )
        ]
    ),
    *cluster(_O.ALTER, _O.CLUSTER_ACTION),
)
_ask(
    "describe transactions",
    0,
    lambda _: DescribeTransactionsRequest(transactional_ids=[_TXN, "secret"]),
    *transaction(_O.DESCRIBE, _O.WRITE),
)
_ask("list transactions", 1, lambda _: ListTransactionsRequest(producer_id_filters=[5]), *transaction(_O.DESCRIBE))
_ask(
    "offset for leader epoch",
    4,
    lambda _: OffsetForLeaderEpochRequest(
        replica_id=-1,
        topics=[
            OffsetForLeaderTopic(
                topic=name, partitions=[OffsetForLeaderPartition(partition=0, current_leader_epoch=-1, leader_epoch=0)]
            )
            for name in (_OTHER, _ABSENT)
        ],
    ),
    *topic(_OTHER, _O.DESCRIBE),
    *cluster(_O.CLUSTER_ACTION),
)
_ask(
    "describe acls",
    3,
    lambda _: DescribeAclsRequest(
        resource_type_filter=2, resource_name_filter="none such", pattern_type_filter=3, operation=1, permission_type=1
    ),
    *cluster(_O.DESCRIBE, _O.ALTER),
)
_ask(
    "create acls",
    3,
    lambda _: CreateAclsRequest(
        creations=[
            AclCreation(
                resource_type=4, resource_name="wrong", principal="User:x", host="*", operation=3, permission_type=3
            ),
            AclCreation(
                resource_type=2, resource_name="t", principal="no colon", host="*", operation=3, permission_type=3
            ),
        ]
    ),
    *cluster(_O.ALTER, _O.DESCRIBE),
)
_ask(
    "delete acls",
    3,
    lambda _: DeleteAclsRequest(
        filters=[
            DeleteAclsFilter(
                resource_type_filter=2,
                resource_name_filter="none such",
                pattern_type_filter=3,
                operation=1,
                permission_type=1,
            )
        ]
    ),
    *cluster(_O.ALTER, _O.DESCRIBE),
)
_ask(
    "describe configs",
    4,
    lambda _: DescribeConfigsRequest(
        resources=[
            DescribeConfigsResource(
                resource_type=kind, resource_name=name, configuration_keys=["retention.ms", "num.io.threads"]
            )
            for kind, name in ((2, _SEEN), (2, _ABSENT), (4, "1"), (8, "1"), (32, _GROUP), (16, "metrics"))
        ]
    ),
    *topic(_SEEN, _O.DESCRIBE_CONFIGS, _O.ALTER_CONFIGS),
    *topic(_ABSENT, _O.DESCRIBE_CONFIGS),
    *cluster(_O.DESCRIBE_CONFIGS),
    *group(_O.DESCRIBE_CONFIGS),
)
_ask(
    "alter configs",
    2,
    lambda _: AlterConfigsRequest(
        resources=[
            legacy.AlterConfigsResource(
                resource_type=kind, resource_name=name, configs=[legacy.AlterableConfig(name=key, value=value)]
            )
            for kind, name, key, value in _CONFIGS
        ],
        validate_only=True,
    ),
    *topic(_SEEN, _O.ALTER_CONFIGS),
    *cluster(_O.ALTER_CONFIGS),
    *group(_O.ALTER_CONFIGS),
)
_ask(
    "alter configs incrementally",
    1,
    lambda _: IncrementalAlterConfigsRequest(
        resources=[
            incremental.AlterConfigsResource(
                resource_type=kind,
                resource_name=name,
                configs=[incremental.AlterableConfig(name=key, config_operation=0, value=value)],
            )
            for kind, name, key, value in (*_CONFIGS, (8, "1", "kafka", "INFO"))
        ],
        validate_only=True,
    ),
    *topic(_SEEN, _O.ALTER_CONFIGS),
    *cluster(_O.ALTER_CONFIGS),
    *group(_O.ALTER_CONFIGS),
)
_ask(
    "alter replica log dirs",
    2,
    lambda _: AlterReplicaLogDirsRequest(
        dirs=[AlterReplicaLogDir(path="/none/such", topics=[AlterReplicaLogDirTopic(name=_SEEN, partitions=[0])])]
    ),
    *cluster(_O.ALTER, _O.DESCRIBE),
)
_ask("describe log dirs", 4, lambda _: DescribeLogDirsRequest(topics=[]), *cluster(_O.DESCRIBE))
_ask("describe log dirs, old", 2, lambda _: DescribeLogDirsRequest(topics=[]), *cluster(_O.DESCRIBE))
_ask(
    "elect leaders",
    2,
    lambda _: ElectLeadersRequest(
        election_type=0, topic_partitions=[TopicPartitions(topic=_ABSENT, partitions=[0])], timeout_ms=9000
    ),
    *cluster(_O.ALTER, _O.CLUSTER_ACTION),
)
_ask(
    "alter reassignments",
    0,
    lambda _: AlterPartitionReassignmentsRequest(
        topics=[ReassignableTopic(name=_SEEN, partitions=[ReassignablePartition(partition_index=0, replicas=None)])]
    ),
    *cluster(_O.ALTER),
    *topic(_SEEN, _O.ALTER),
)
_ask("list reassignments", 0, lambda _: ListPartitionReassignmentsRequest(), *cluster(_O.DESCRIBE))
_ask("describe quotas", 1, lambda _: DescribeClientQuotasRequest(), *cluster(_O.DESCRIBE_CONFIGS, _O.DESCRIBE))
_ask(
    "alter quotas",
    1,
    lambda _: AlterClientQuotasRequest(
        entries=[
            RequestEntryData(
                entity=[EntityData(entity_type="user", entity_name="u")],
                ops=[OpData(key="producer_byte_rate", value=9.0)],
            )
        ],
        validate_only=True,
    ),
    *cluster(_O.ALTER_CONFIGS, _O.ALTER),
)
_ask("describe users", 0, lambda _: DescribeUserScramCredentialsRequest(users=None), *cluster(_O.DESCRIBE))
_ask(
    "alter users",
    0,
    lambda _: AlterUserScramCredentialsRequest(deletions=[ScramCredentialDeletion(name="nobody", mechanism=1)]),
    *cluster(_O.ALTER),
)
_ask("describe quorum", 0, lambda _: DescribeQuorumRequest(), *cluster(_O.ALTER))
_ask(
    "update features",
    1,
    lambda _: UpdateFeaturesRequest(
        feature_updates=[FeatureUpdateKey(feature="none.such", max_version_level=3)], validate_only=True
    ),
    *cluster(_O.ALTER),
)
_ask(
    "describe cluster",
    1,
    lambda _: DescribeClusterRequest(include_cluster_authorized_operations=True),
    *cluster(_O.DESCRIBE, _O.CREATE),
)
_ask("unregister a broker", 0, lambda _: UnregisterBrokerRequest(broker_id=99), *cluster(_O.ALTER))
_ask(
    "list config resources", 1, lambda _: ListConfigResourcesRequest(resource_types=[16]), *cluster(_O.DESCRIBE_CONFIGS)
)
_ask(
    "describe topic partitions",
    0,
    lambda _: DescribeTopicPartitionsRequest(
        topics=[paged.TopicRequest(name=name) for name in (_SEEN, _OTHER, _ABSENT)]
    ),
    *_SEEN_DESCRIBE,
    *topic(_ABSENT, _O.DESCRIBE),
    *_SEEN_READ,
)
_ask("describe partitions of all topics", 0, lambda _: DescribeTopicPartitionsRequest(), *_SEEN_DESCRIBE)
_ask(
    "add a voter",
    0,
    lambda _: AddRaftVoterRequest(
        cluster_id="wrong", timeout_ms=1000, voter_id=7, voter_directory_id=Uuid(bytes(15) + b"7")
    ),
    *cluster(_O.ALTER),
)
_ask(
    "remove a voter",
    0,
    lambda _: RemoveRaftVoterRequest(cluster_id="wrong", voter_id=7, voter_directory_id=Uuid(bytes(15) + b"7")),
    *cluster(_O.ALTER),
)
_ask(
    "telemetry subscriptions",
    0,
    lambda _: GetTelemetrySubscriptionsRequest(),
)

# One plain batch for one partition, which compiled code answers where there is a compiler.
_ask(
    "produce one batch",
    9,
    lambda _: ProduceRequest(
        acks=1,
        timeout_ms=1000,
        topic_data=[
            TopicProduceData(name=_OTHER, partition_data=[PartitionProduceData(index=0, records=batch())]),
        ],
    ),
    *topic(_OTHER, _O.WRITE, _O.READ),
)
_ask(
    "produce one batch by id",
    13,
    lambda facts: ProduceRequest(
        acks=1,
        timeout_ms=1000,
        topic_data=[
            TopicProduceData(topic_id=facts.other, partition_data=[PartitionProduceData(index=0, records=batch())]),
        ],
    ),
    *topic(_OTHER, _O.WRITE),
)
_ask(
    "offset commit of one",
    9,
    lambda _: OffsetCommitRequest(
        group_id=_GROUP,
        topics=[
            OffsetCommitRequestTopic(
                name=_SEEN,
                partitions=[OffsetCommitRequestPartition(partition_index=0, committed_offset=7, committed_metadata="")],
            )
        ],
    ),
    *group(_O.READ),
    *_SEEN_READ,
)
