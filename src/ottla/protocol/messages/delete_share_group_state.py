"""DeleteShareGroupState (key 86): removes the state of share partitions (KIP-932).

Sent by the group coordinator to the share coordinator when a group, or its offsets of a topic, are deleted. It leaves
a tombstone in `__share_group_state` for each partition.
"""

from ottla.base.ids import Uuid
from ottla.protocol.api_key import ApiKey
from ottla.protocol.definition import Request, Response, Struct
from ottla.protocol.field import array, int16, int32, string, uuid


class PartitionData(Struct):
    partition: int = int32("0+")


class DeleteStateData(Struct):
    topic_id: Uuid = uuid("0+")
    partitions: list[PartitionData] = array(PartitionData, "0+")


class DeleteShareGroupStateRequest(Request, api=ApiKey.DELETE_SHARE_GROUP_STATE, versions="0", flexible="0+"):
    group_id: str = string("0+")
    topics: list[DeleteStateData] = array(DeleteStateData, "0+")


class PartitionResult(Struct):
    partition: int = int32("0+")
    error_code: int = int16("0+")
    error_message: str | None = string("0+", nullable="0+", default=None)


class DeleteStateResult(Struct):
    topic_id: Uuid = uuid("0+")
    partitions: list[PartitionResult] = array(PartitionResult, "0+")


class DeleteShareGroupStateResponse(Response, api=ApiKey.DELETE_SHARE_GROUP_STATE, versions="0", flexible="0+"):
    results: list[DeleteStateResult] = array(DeleteStateResult, "0+")
