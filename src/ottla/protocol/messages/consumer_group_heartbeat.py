"""ConsumerGroupHeartbeat (key 68): joins, keeps alive and leaves a consumer group (KIP-848).

Sent by members to the group coordinator, which computes the assignment. `member_epoch` is 0 to join, -1 to leave, -2
for a static member that will be back. Null fields, and -1 for the timeout, mean unchanged since the last heartbeat; a
null `assignment` in the answer too. `topic_partitions` are those owned: dropping one there is how a member confirms a
revocation. FENCED_MEMBER_EPOCH asks it to give up everything and join with 0. v1 adds the topic regex, and the member
id must be made by the client (KIP-1082).
"""

from ottla.base.ids import Uuid
from ottla.protocol.api_key import ApiKey
from ottla.protocol.definition import Request, Response, Struct
from ottla.protocol.field import array, int16, int32, string, struct, uuid


class TopicPartitions(Struct):
    topic_id: Uuid = uuid("0+")
    partitions: list[int] = array(int32, "0+")


class ConsumerGroupHeartbeatRequest(Request, api=ApiKey.CONSUMER_GROUP_HEARTBEAT, versions="0-1", flexible="0+"):
    group_id: str = string("0+")
    member_id: str = string("0+")
    member_epoch: int = int32("0+")
    instance_id: str | None = string("0+", nullable="0+", default=None)
    rack_id: str | None = string("0+", nullable="0+", default=None)
    rebalance_timeout_ms: int = int32("0+", default=-1)
    subscribed_topic_names: list[str] | None = array(string, "0+", nullable="0+", default=None)
    subscribed_topic_regex: str | None = string("1+", nullable="1+", default=None)
    server_assignor: str | None = string("0+", nullable="0+", default=None)
    topic_partitions: list[TopicPartitions] | None = array(TopicPartitions, "0+", nullable="0+", default=None)


class Assignment(Struct):
    topic_partitions: list[TopicPartitions] = array(TopicPartitions, "0+")


class ConsumerGroupHeartbeatResponse(Response, api=ApiKey.CONSUMER_GROUP_HEARTBEAT, versions="0-1", flexible="0+"):
    throttle_time_ms: int = int32("0+")
    error_code: int = int16("0+")
    error_message: str | None = string("0+", nullable="0+", default=None)
    member_id: str | None = string("0+", nullable="0+", default=None)
    member_epoch: int = int32("0+")
    heartbeat_interval_ms: int = int32("0+")
    assignment: Assignment | None = struct(Assignment, "0+", nullable="0+", default=None)
