"""ShareGroupHeartbeat (key 76): joins, keeps alive and leaves a share group (KIP-932).

Sent by members to the group coordinator. `member_epoch` is 0 to join, -1 to leave; the client makes its member id.
Null fields mean unchanged since the last heartbeat; a null `assignment` in the answer too. Partitions are shared
between members, so nothing has to be revoked before others get it, and there are no static members. v0 was early
access in 4.0 and is gone.
"""

from ottla.base.ids import Uuid
from ottla.protocol.api_key import ApiKey
from ottla.protocol.definition import Request, Response, Struct
from ottla.protocol.field import array, int16, int32, string, struct, uuid


class ShareGroupHeartbeatRequest(Request, api=ApiKey.SHARE_GROUP_HEARTBEAT, versions="1", flexible="0+"):
    group_id: str = string("0+")
    member_id: str = string("0+")
    member_epoch: int = int32("0+")
    rack_id: str | None = string("0+", nullable="0+", default=None)
    subscribed_topic_names: list[str] | None = array(string, "0+", nullable="0+", default=None)


class TopicPartitions(Struct):
    topic_id: Uuid = uuid("0+")
    partitions: list[int] = array(int32, "0+")


class Assignment(Struct):
    topic_partitions: list[TopicPartitions] = array(TopicPartitions, "0+")


class ShareGroupHeartbeatResponse(Response, api=ApiKey.SHARE_GROUP_HEARTBEAT, versions="1", flexible="0+"):
    throttle_time_ms: int = int32("0+")
    error_code: int = int16("0+")
    error_message: str | None = string("0+", nullable="0+", default=None)
    member_id: str | None = string("0+", nullable="0+", default=None)
    member_epoch: int = int32("0+")
    heartbeat_interval_ms: int = int32("0+")
    assignment: Assignment | None = struct(Assignment, "0+", nullable="0+", default=None)
