"""Consumer groups (KIP-848) in `__consumer_offsets`.

Types 3-8 and 16, each a part of the group that changes by itself: the group's epoch (3), a member's subscription (5),
the epoch (6) and each member's share (7) of the target assignment, what a member owns now (8), and the topics that a
regex matched (16). A tombstone removes that part. Type 4 held topic metadata; since 4.1 `metadata_hash` in type 3
does its work (KIP-1101) and brokers only delete it.

`state` in type 8 is 0 stable, 1 has partitions to revoke, 2 waits for partitions that others still hold.
`assignment_epochs` runs parallel to `partitions` and fences late commits; null in records from before it existed.
`classic_member_metadata` is set for members that still speak the classic protocol. `assignment_timestamp` came with
4.3 (KIP-1263).
"""

from ottla.base.ids import Uuid
from ottla.protocol.coordinator_record import CoordinatorKey, CoordinatorValue
from ottla.protocol.definition import Struct
from ottla.protocol.field import array, bytestring, int8, int32, int64, string, struct, uuid


class ConsumerGroupMetadataKey(CoordinatorKey, type_id=3, versions="0"):
    group_id: str = string("0")


class ConsumerGroupMetadataValue(CoordinatorValue, type_id=3, versions="0", flexible="0+"):
    epoch: int = int32("0+")
    metadata_hash: int = int64("0+", tag=0)


class ConsumerGroupPartitionMetadataKey(CoordinatorKey, type_id=4, versions="0"):
    group_id: str = string("0")


class PartitionMetadata(Struct):
    partition: int = int32("0+")
    racks: list[str] = array(string, "0+")


class TopicMetadata(Struct):
    topic_id: Uuid = uuid("0+")
    topic_name: str = string("0+")
    num_partitions: int = int32("0+")
    partition_metadata: list[PartitionMetadata] = array(PartitionMetadata, "0+")


class ConsumerGroupPartitionMetadataValue(CoordinatorValue, type_id=4, versions="0", flexible="0+"):
    topics: list[TopicMetadata] = array(TopicMetadata, "0+")


class ConsumerGroupMemberMetadataKey(CoordinatorKey, type_id=5, versions="0"):
    group_id: str = string("0")
    member_id: str = string("0")


class ClassicProtocol(Struct):
    name: str = string("0+")
    metadata: bytes = bytestring("0+")


class ClassicMemberMetadata(Struct):
    session_timeout_ms: int = int32("0+")
    supported_protocols: list[ClassicProtocol] = array(ClassicProtocol, "0+")


class ConsumerGroupMemberMetadataValue(CoordinatorValue, type_id=5, versions="0", flexible="0+"):
    instance_id: str | None = string("0+", nullable="0+")
    rack_id: str | None = string("0+", nullable="0+")
    client_id: str = string("0+")
    client_host: str = string("0+")
    subscribed_topic_names: list[str] = array(string, "0+")
    subscribed_topic_regex: str | None = string("0+", nullable="0+")
    rebalance_timeout_ms: int = int32("0+", default=-1)
    server_assignor: str | None = string("0+", nullable="0+")
    classic_member_metadata: ClassicMemberMetadata | None = struct(ClassicMemberMetadata, "0+", nullable="0+", tag=0)


class ConsumerGroupTargetAssignmentMetadataKey(CoordinatorKey, type_id=6, versions="0"):
    group_id: str = string("0")


class ConsumerGroupTargetAssignmentMetadataValue(CoordinatorValue, type_id=6, versions="0", flexible="0+"):
    assignment_epoch: int = int32("0+")
    assignment_timestamp: int = int64("0+", tag=0, ignorable=True)


class ConsumerGroupTargetAssignmentMemberKey(CoordinatorKey, type_id=7, versions="0"):
    group_id: str = string("0")
    member_id: str = string("0")


class TopicPartition(Struct):
    topic_id: Uuid = uuid("0+")
    partitions: list[int] = array(int32, "0+")


class ConsumerGroupTargetAssignmentMemberValue(CoordinatorValue, type_id=7, versions="0", flexible="0+"):
    topic_partitions: list[TopicPartition] = array(TopicPartition, "0+")


class ConsumerGroupCurrentMemberAssignmentKey(CoordinatorKey, type_id=8, versions="0"):
    group_id: str = string("0")
    member_id: str = string("0")


class TopicPartitions(Struct):
    topic_id: Uuid = uuid("0+")
    partitions: list[int] = array(int32, "0+")
    assignment_epochs: list[int] | None = array(int32, "0+", nullable="0+", tag=0)


class ConsumerGroupCurrentMemberAssignmentValue(CoordinatorValue, type_id=8, versions="0", flexible="0+"):
    member_epoch: int = int32("0+")
    previous_member_epoch: int = int32("0+")
    state: int = int8("0+")
    assigned_partitions: list[TopicPartitions] = array(TopicPartitions, "0+")
    partitions_pending_revocation: list[TopicPartitions] = array(TopicPartitions, "0+")


class ConsumerGroupRegularExpressionKey(CoordinatorKey, type_id=16, versions="0"):
    group_id: str = string("0")
    regular_expression: str = string("0")


class ConsumerGroupRegularExpressionValue(CoordinatorValue, type_id=16, versions="0", flexible="0+"):
    topics: list[str] = array(string, "0+")
    version: int = int64("0+")
    timestamp: int = int64("0+")
