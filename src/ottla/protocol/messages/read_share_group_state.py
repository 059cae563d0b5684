"""ReadShareGroupState (key 84): reads the state of share partitions (KIP-932).

Sent by a partition's leader to the share coordinator when it starts to serve the partition for a group. An older
`leader_epoch` than the one last seen gets FENCED_LEADER_EPOCH. `start_offset` is -1 if not set yet. `delivery_state`
is 0 available, 2 acknowledged, 4 archived; acquired (1) lives in the leader's memory only.
"""

from ottla.base.ids import Uuid
from ottla.protocol.api_key import ApiKey
from ottla.protocol.definition import Request, Response, Struct
from ottla.protocol.field import array, int8, int16, int32, int64, string, uuid


class PartitionData(Struct):
    partition: int = int32("0+")
    leader_epoch: int = int32("0+")


class ReadStateData(Struct):
    topic_id: Uuid = uuid("0+")
    partitions: list[PartitionData] = array(PartitionData, "0+")


class ReadShareGroupStateRequest(Request, api=ApiKey.READ_SHARE_GROUP_STATE, versions="0", flexible="0+"):
    group_id: str = string("0+")
    topics: list[ReadStateData] = array(ReadStateData, "0+")


class StateBatch(Struct):
    first_offset: int = int64("0+")
    last_offset: int = int64("0+")
    delivery_state: int = int8("0+")
    delivery_count: int = int16("0+")


class PartitionResult(Struct):
    partition: int = int32("0+")
    error_code: int = int16("0+")
    error_message: str | None = string("0+", nullable="0+", default=None)
    state_epoch: int = int32("0+")
    start_offset: int = int64("0+")
    state_batches: list[StateBatch] = array(StateBatch, "0+")


class ReadStateResult(Struct):
    topic_id: Uuid = uuid("0+")
    partitions: list[PartitionResult] = array(PartitionResult, "0+")


class ReadShareGroupStateResponse(Response, api=ApiKey.READ_SHARE_GROUP_STATE, versions="0", flexible="0+"):
    results: list[ReadStateResult] = array(ReadStateResult, "0+")
