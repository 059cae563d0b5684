"""InitializeShareGroupState (key 83): sets up the state of share partitions (KIP-932).

Sent by the group coordinator to the share coordinator when a group first subscribes to a topic or its offsets are
altered. A `start_offset` of -1 leaves it open: the partition's leader picks it by the group's config. A `state_epoch`
below the stored one gets FENCED_STATE_EPOCH.
"""

from ottla.base.ids import Uuid
from ottla.protocol.api_key import ApiKey
from ottla.protocol.definition import Request, Response, Struct
from ottla.protocol.field import array, int16, int32, int64, string, uuid


class PartitionData(Struct):
    partition: int = int32("0+")
    state_epoch: int = int32("0+")
    start_offset: int = int64("0+")


class InitializeStateData(Struct):
    topic_id: Uuid = uuid("0+")
    partitions: list[PartitionData] = array(PartitionData, "0+")


class InitializeShareGroupStateRequest(Request, api=ApiKey.INITIALIZE_SHARE_GROUP_STATE, versions="0", flexible="0+"):
    group_id: str = string("0+")
    topics: list[InitializeStateData] = array(InitializeStateData, "0+")


class PartitionResult(Struct):
    partition: int = int32("0+")
    error_code: int = int16("0+")
    error_message: str | None = string("0+", nullable="0+", default=None)


class InitializeStateResult(Struct):
    topic_id: Uuid = uuid("0+")
    partitions: list[PartitionResult] = array(PartitionResult, "0+")


class InitializeShareGroupStateResponse(Response, api=ApiKey.INITIALIZE_SHARE_GROUP_STATE, versions="0", flexible="0+"):
    results: list[InitializeStateResult] = array(InitializeStateResult, "0+")
