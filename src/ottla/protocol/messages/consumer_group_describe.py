"""ConsumerGroupDescribe (key 69): shows the state and the members of consumer groups (KIP-848).

Sent by admin clients to the group coordinator. The assignment is ready when `assignment_epoch` equals `group_epoch`;
a member is ready when its current assignment is its target. Classic groups answer GROUP_ID_NOT_FOUND. v1 tells
members of the classic protocol (`member_type` 0) from the others (1); -1 is unknown (KIP-1099).
"""

from ottla.base.ids import Uuid
from ottla.protocol.api_key import ApiKey
from ottla.protocol.definition import Request, Response, Struct
from ottla.protocol.field import array, boolean, int8, int16, int32, string, struct, uuid


class ConsumerGroupDescribeRequest(Request, api=ApiKey.CONSUMER_GROUP_DESCRIBE, versions="0-1", flexible="0+"):
    group_ids: list[str] = array(string, "0+")
    include_authorized_operations: bool = boolean("0+")


class TopicPartitions(Struct):
    topic_id: Uuid = uuid("0+")
    topic_name: str = string("0+")
    partitions: list[int] = array(int32, "0+")


class Assignment(Struct):
    topic_partitions: list[TopicPartitions] = array(TopicPartitions, "0+")


class Member(Struct):
    member_id: str = string("0+")
    instance_id: str | None = string("0+", nullable="0+", default=None)
    rack_id: str | None = string("0+", nullable="0+", default=None)
    member_epoch: int = int32("0+")
    client_id: str = string("0+")
    client_host: str = string("0+")
    subscribed_topic_names: list[str] = array(string, "0+")
    subscribed_topic_regex: str | None = string("0+", nullable="0+", default=None)
    assignment: Assignment = struct(Assignment, "0+")
    target_assignment: Assignment = struct(Assignment, "0+")
    member_type: int = int8("1+", default=-1, ignorable=True)


class DescribedGroup(Struct):
    error_code: int = int16("0+")
    error_message: str | None = string("0+", nullable="0+", default=None)
    group_id: str = string("0+")
    group_state: str = string("0+")
    group_epoch: int = int32("0+")
    assignment_epoch: int = int32("0+")
    assignor_name: str = string("0+")
    members: list[Member] = array(Member, "0+")
    authorized_operations: int = int32("0+", default=-2147483648)


class ConsumerGroupDescribeResponse(Response, api=ApiKey.CONSUMER_GROUP_DESCRIBE, versions="0-1", flexible="0+"):
    throttle_time_ms: int = int32("0+")
    groups: list[DescribedGroup] = array(DescribedGroup, "0+")
