"""StreamsGroupDescribe (key 89): shows the topology, the members and the tasks of streams groups (KIP-1071).

Sent by admin clients to the group coordinator. `topology` is null with an error; its `subtopologies` are null until
the source topics exist and fit, and show resolved topics, not regexes. Groups of other types answer
GROUP_ID_NOT_FOUND. `authorized_operations` is -2147483648 unless asked for.
"""

from ottla.protocol.api_key import ApiKey
from ottla.protocol.definition import Request, Response, Struct
from ottla.protocol.field import array, boolean, int16, int32, int64, string, struct, uint16


class StreamsGroupDescribeRequest(Request, api=ApiKey.STREAMS_GROUP_DESCRIBE, versions="0", flexible="0+"):
    group_ids: list[str] = array(string, "0+")
    include_authorized_operations: bool = boolean("0+")


class KeyValue(Struct):
    key: str = string("0+")
    value: str = string("0+")


class TopicInfo(Struct):
    name: str = string("0+")
    partitions: int = int32("0+")
    replication_factor: int = int16("0+")
    topic_configs: list[KeyValue] = array(KeyValue, "0+")


class Subtopology(Struct):
    subtopology_id: str = string("0+")
    source_topics: list[str] = array(string, "0+")
    repartition_sink_topics: list[str] = array(string, "0+")
    state_changelog_topics: list[TopicInfo] = array(TopicInfo, "0+")
    repartition_source_topics: list[TopicInfo] = array(TopicInfo, "0+")


class Topology(Struct):
    epoch: int = int32("0+")
    subtopologies: list[Subtopology] | None = array(Subtopology, "0+", nullable="0+", default=None)


class Endpoint(Struct):
    host: str = string("0+")
    port: int = uint16("0+")


class TaskOffset(Struct):
    subtopology_id: str = string("0+")
    partition: int = int32("0+")
    offset: int = int64("0+")


class TaskIds(Struct):
    subtopology_id: str = string("0+")
    partitions: list[int] = array(int32, "0+")


class Assignment(Struct):
    active_tasks: list[TaskIds] = array(TaskIds, "0+")
    standby_tasks: list[TaskIds] = array(TaskIds, "0+")
    warmup_tasks: list[TaskIds] = array(TaskIds, "0+")


class Member(Struct):
    member_id: str = string("0+")
    member_epoch: int = int32("0+")
    instance_id: str | None = string("0+", nullable="0+", default=None)
    rack_id: str | None = string("0+", nullable="0+", default=None)
    client_id: str = string("0+")
    client_host: str = string("0+")
    topology_epoch: int = int32("0+")
    process_id: str = string("0+")
    user_endpoint: Endpoint | None = struct(Endpoint, "0+", nullable="0+", default=None)
    client_tags: list[KeyValue] = array(KeyValue, "0+")
    task_offsets: list[TaskOffset] = array(TaskOffset, "0+")
    task_end_offsets: list[TaskOffset] = array(TaskOffset, "0+")
    assignment: Assignment = struct(Assignment, "0+")
    target_assignment: Assignment = struct(Assignment, "0+")
    is_classic: bool = boolean("0+")


class DescribedGroup(Struct):
    error_code: int = int16("0+")
    error_message: str | None = string("0+", nullable="0+", default=None)
    group_id: str = string("0+")
    group_state: str = string("0+")
    group_epoch: int = int32("0+")
    assignment_epoch: int = int32("0+")
    topology: Topology | None = struct(Topology, "0+", nullable="0+", default=None)
    members: list[Member] = array(Member, "0+")
    authorized_operations: int = int32("0+", default=-2147483648)


class StreamsGroupDescribeResponse(Response, api=ApiKey.STREAMS_GROUP_DESCRIBE, versions="0", flexible="0+"):
    throttle_time_ms: int = int32("0+")
    groups: list[DescribedGroup] = array(DescribedGroup, "0+")
