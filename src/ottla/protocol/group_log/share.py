"""Share groups (KIP-932) in `__consumer_offsets`.

Types 10-15: a member's subscription (10), the group's epoch and the hash of its topics (11), the epoch (12) and each
member's share (13) of the target assignment, what a member has now (14), and for which topics the share coordinator
keeps state (15). A tombstone removes that part. Nothing is ever pending revocation, since partitions may have several
members.

Type 15 makes set-up and deletion survive a crash: a topic is in `initializing_topics` or `deleting_topics` until the
share coordinator has answered. The positions themselves are in `ottla.protocol.share_state_log`.
`assignment_timestamp` came with 4.3 (KIP-1263).
"""

from ottla.base.ids import Uuid
from ottla.protocol.coordinator_record import CoordinatorKey, CoordinatorValue
from ottla.protocol.definition import Struct
from ottla.protocol.field import array, int8, int32, int64, string, uuid


class ShareGroupMemberMetadataKey(CoordinatorKey, type_id=10, versions="0"):
    group_id: str = string("0")
    member_id: str = string("0")


class ShareGroupMemberMetadataValue(CoordinatorValue, type_id=10, versions="0", flexible="0+"):
    rack_id: str | None = string("0+", nullable="0+")
    client_id: str = string("0+")
    client_host: str = string("0+")
    subscribed_topic_names: list[str] = array(string, "0+")


class ShareGroupMetadataKey(CoordinatorKey, type_id=11, versions="0"):
    group_id: str = string("0")


class ShareGroupMetadataValue(CoordinatorValue, type_id=11, versions="0", flexible="0+"):
    epoch: int = int32("0+")
    metadata_hash: int = int64("0+")


class ShareGroupTargetAssignmentMetadataKey(CoordinatorKey, type_id=12, versions="0"):
    group_id: str = string("0")


class ShareGroupTargetAssignmentMetadataValue(CoordinatorValue, type_id=12, versions="0", flexible="0+"):
    assignment_epoch: int = int32("0+")
    assignment_timestamp: int = int64("0+", tag=0, ignorable=True)


class ShareGroupTargetAssignmentMemberKey(CoordinatorKey, type_id=13, versions="0"):
    group_id: str = string("0")
    member_id: str = string("0")


class TopicPartition(Struct):
    topic_id: Uuid = uuid("0+")
    partitions: list[int] = array(int32, "0+")


class ShareGroupTargetAssignmentMemberValue(CoordinatorValue, type_id=13, versions="0", flexible="0+"):
    topic_partitions: list[TopicPartition] = array(TopicPartition, "0+")


class ShareGroupCurrentMemberAssignmentKey(CoordinatorKey, type_id=14, versions="0"):
    group_id: str = string("0")
    member_id: str = string("0")


class TopicPartitions(Struct):
    topic_id: Uuid = uuid("0+")
    partitions: list[int] = array(int32, "0+")


class ShareGroupCurrentMemberAssignmentValue(CoordinatorValue, type_id=14, versions="0", flexible="0+"):
    member_epoch: int = int32("0+")
    previous_member_epoch: int = int32("0+")
    state: int = int8("0+")
    assigned_partitions: list[TopicPartitions] = array(TopicPartitions, "0+")


class ShareGroupStatePartitionMetadataKey(CoordinatorKey, type_id=15, versions="0"):
    group_id: str = string("0")


class TopicPartitionsInfo(Struct):
    topic_id: Uuid = uuid("0+")
    topic_name: str = string("0+")
    partitions: list[int] = array(int32, "0+")


class TopicInfo(Struct):
    topic_id: Uuid = uuid("0+")
    topic_name: str = string("0+")


class ShareGroupStatePartitionMetadataValue(CoordinatorValue, type_id=15, versions="0", flexible="0+"):
    initializing_topics: list[TopicPartitionsInfo] = array(TopicPartitionsInfo, "0+")
    initialized_topics: list[TopicPartitionsInfo] = array(TopicPartitionsInfo, "0+")
    deleting_topics: list[TopicInfo] = array(TopicInfo, "0+")
