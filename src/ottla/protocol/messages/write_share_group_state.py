"""WriteShareGroupState (key 85): stores changes to the state of share partitions (KIP-932).

Sent by a partition's leader to the share coordinator as records are acknowledged. Older `leader_epoch` and
`state_epoch` are fenced. `start_offset` -1 leaves the start alone; `state_batches` are merged into those stored. v1
adds `delivery_complete_count`, -1 if unknown: how many offsets from the start on are done with, from which the lag is
computed (KIP-1226).
"""

from ottla.base.ids import Uuid
from ottla.protocol.api_key import ApiKey
from ottla.protocol.definition import Request, Response, Struct
from ottla.protocol.field import array, int8, int16, int32, int64, string, uuid


class StateBatch(Struct):
    first_offset: int = int64("0+")
    last_offset: int = int64("0+")
    delivery_state: int = int8("0+")
    delivery_count: int = int16("0+")


class PartitionData(Struct):
    partition: int = int32("0+")
    state_epoch: int = int32("0+")
    leader_epoch: int = int32("0+")
    start_offset: int = int64("0+")
    delivery_complete_count: int = int32("1+", default=-1, ignorable=True)
    state_batches: list[StateBatch] = array(StateBatch, "0+")


class WriteStateData(Struct):
    topic_id: Uuid = uuid("0+")
    partitions: list[PartitionData] = array(PartitionData, "0+")


class WriteShareGroupStateRequest(Request, api=ApiKey.WRITE_SHARE_GROUP_STATE, versions="0-1", flexible="0+"):
    group_id: str = string("0+")
    topics: list[WriteStateData] = array(WriteStateData, "0+")


class PartitionResult(Struct):
    partition: int = int32("0+")
    error_code: int = int16("0+")
    error_message: str | None = string("0+", nullable="0+", default=None)


class WriteStateResult(Struct):
    topic_id: Uuid = uuid("0+")
    partitions: list[PartitionResult] = array(PartitionResult, "0+")


class WriteShareGroupStateResponse(Response, api=ApiKey.WRITE_SHARE_GROUP_STATE, versions="0-1", flexible="0+"):
    results: list[WriteStateResult] = array(WriteStateResult, "0+")
