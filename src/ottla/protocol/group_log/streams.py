"""Streams groups (KIP-1071) in `__consumer_offsets`.

Types 17 and 19-23: the group's epoch (17), a member (19), the epoch (20) and each member's share (21) of the target
assignment, what a member runs now (22), and the topology (23). A tombstone removes that part. Tasks are a subtopology
and the partitions of its input; active, standby and warm-up are listed apart.

`state` in type 22 is 1 stable, 2 has tasks to revoke, 3 waits for tasks that others still run: not the numbers of
consumer groups. Only active tasks have `assignment_epochs`. `validated_topology_epoch` is -1 until the topics were
checked. In `copartition_groups` the numbers are indexes into the subtopology's own lists. 0 partitions or replicas
leave the number open. `assignment_timestamp` came with 4.3 (KIP-1263).
"""

from ottla.protocol.coordinator_record import CoordinatorKey, CoordinatorValue
from ottla.protocol.definition import Struct
from ottla.protocol.field import array, int8, int16, int32, int64, string, struct, uint16


class StreamsGroupMetadataKey(CoordinatorKey, type_id=17, versions="0"):
    group_id: str = string("0")


class LastAssignmentConfig(Struct):
    key: str = string("0+")
    value: str = string("0+")


class StreamsGroupMetadataValue(CoordinatorValue, type_id=17, versions="0", flexible="0+"):
    epoch: int = int32("0+")
    metadata_hash: int = int64("0+")
    validated_topology_epoch: int = int32("0+", default=-1, tag=0)
    last_assignment_configs: list[LastAssignmentConfig] | None = array(LastAssignmentConfig, "0+", nullable="0+", tag=1)


class StreamsGroupMemberMetadataKey(CoordinatorKey, type_id=19, versions="0"):
    group_id: str = string("0")
    member_id: str = string("0")


class Endpoint(Struct):
    host: str = string("0+")
    port: int = uint16("0+")


class KeyValue(Struct):
    key: str = string("0+")
    value: str = string("0+")


class StreamsGroupMemberMetadataValue(CoordinatorValue, type_id=19, versions="0", flexible="0+"):
    instance_id: str | None = string("0+", nullable="0+")
    rack_id: str | None = string("0+", nullable="0+")
    client_id: str = string("0+")
    client_host: str = string("0+")
    rebalance_timeout_ms: int = int32("0+", default=-1)
    topology_epoch: int = int32("0+")
    process_id: str = string("0+")
    user_endpoint: Endpoint | None = struct(Endpoint, "0+", nullable="0+", default=None)
    client_tags: list[KeyValue] = array(KeyValue, "0+")


class StreamsGroupTargetAssignmentMetadataKey(CoordinatorKey, type_id=20, versions="0"):
    group_id: str = string("0")


class StreamsGroupTargetAssignmentMetadataValue(CoordinatorValue, type_id=20, versions="0", flexible="0+"):
    assignment_epoch: int = int32("0+")
    assignment_timestamp: int = int64("0+", tag=0, ignorable=True)


class StreamsGroupTargetAssignmentMemberKey(CoordinatorKey, type_id=21, versions="0"):
    group_id: str = string("0")
    member_id: str = string("0")


class TargetTaskIds(Struct):
    subtopology_id: str = string("0+")
    partitions: list[int] = array(int32, "0+")


class StreamsGroupTargetAssignmentMemberValue(CoordinatorValue, type_id=21, versions="0", flexible="0+"):
    active_tasks: list[TargetTaskIds] = array(TargetTaskIds, "0+")
    standby_tasks: list[TargetTaskIds] = array(TargetTaskIds, "0+")
    warmup_tasks: list[TargetTaskIds] = array(TargetTaskIds, "0+")


class StreamsGroupCurrentMemberAssignmentKey(CoordinatorKey, type_id=22, versions="0"):
    group_id: str = string("0")
    member_id: str = string("0")


class CurrentTaskIds(Struct):
    subtopology_id: str = string("0+")
    partitions: list[int] = array(int32, "0+")
    assignment_epochs: list[int] | None = array(int32, "0+", nullable="0+", tag=0)


class StreamsGroupCurrentMemberAssignmentValue(CoordinatorValue, type_id=22, versions="0", flexible="0+"):
    member_epoch: int = int32("0+")
    previous_member_epoch: int = int32("0+")
    state: int = int8("0+")
    active_tasks: list[CurrentTaskIds] = array(CurrentTaskIds, "0+")
    standby_tasks: list[CurrentTaskIds] = array(CurrentTaskIds, "0+")
    warmup_tasks: list[CurrentTaskIds] = array(CurrentTaskIds, "0+")
    active_tasks_pending_revocation: list[CurrentTaskIds] = array(CurrentTaskIds, "0+")
    standby_tasks_pending_revocation: list[CurrentTaskIds] = array(CurrentTaskIds, "0+")
    warmup_tasks_pending_revocation: list[CurrentTaskIds] = array(CurrentTaskIds, "0+")


class StreamsGroupTopologyKey(CoordinatorKey, type_id=23, versions="0"):
    group_id: str = string("0")


class TopicConfig(Struct):
    key: str = string("0+")
    value: str = string("0+")


class TopicInfo(Struct):
    name: str = string("0+")
    partitions: int = int32("0+")
    replication_factor: int = int16("0+")
    topic_configs: list[TopicConfig] = array(TopicConfig, "0+")


class CopartitionGroup(Struct):
    source_topics: list[int] = array(int16, "0+")
    source_topic_regex: list[int] = array(int16, "0+")
    repartition_source_topics: list[int] = array(int16, "0+")


class Subtopology(Struct):
    subtopology_id: str = string("0+")
    source_topics: list[str] = array(string, "0+")
    source_topic_regex: list[str] = array(string, "0+")
    state_changelog_topics: list[TopicInfo] = array(TopicInfo, "0+")
    repartition_sink_topics: list[str] = array(string, "0+")
    repartition_source_topics: list[TopicInfo] = array(TopicInfo, "0+")
    copartition_groups: list[CopartitionGroup] = array(CopartitionGroup, "0+")


class StreamsGroupTopologyValue(CoordinatorValue, type_id=23, versions="0", flexible="0+"):
    epoch: int = int32("0+")
    subtopologies: list[Subtopology] = array(Subtopology, "0+")
