"""OffsetForLeaderEpoch (key 23): tells where a leader epoch ends in the log, to find truncation.

Sent to a partition's leader by consumers checking their position after a leader change (KIP-320) and by followers
before they truncate (KIP-101), where Fetch doesn't do that. The answer is the largest epoch up to the one asked for,
and the offset behind its last record; both -1 if unknown. `current_leader_epoch` fences as in Fetch. `replica_id`
(v3) is -1 for consumers; -2, its default, may look beyond the high watermark.
"""

from ottla.protocol.api_key import ApiKey
from ottla.protocol.definition import Request, Response, Struct
from ottla.protocol.field import array, int16, int32, int64, string


class OffsetForLeaderPartition(Struct):
    partition: int = int32("0+")
    current_leader_epoch: int = int32("2+", default=-1, ignorable=True)
    leader_epoch: int = int32("0+")


class OffsetForLeaderTopic(Struct):
    topic: str = string("0+")
    partitions: list[OffsetForLeaderPartition] = array(OffsetForLeaderPartition, "0+")


class OffsetForLeaderEpochRequest(Request, api=ApiKey.OFFSET_FOR_LEADER_EPOCH, versions="2-4", flexible="4+"):
    replica_id: int = int32("3+", default=-2, ignorable=True)
    topics: list[OffsetForLeaderTopic] = array(OffsetForLeaderTopic, "0+")


class EpochEndOffset(Struct):
    error_code: int = int16("0+")
    partition: int = int32("0+")
    leader_epoch: int = int32("1+", default=-1, ignorable=True)
    end_offset: int = int64("0+", default=-1)


class OffsetForLeaderTopicResult(Struct):
    topic: str = string("0+")
    partitions: list[EpochEndOffset] = array(EpochEndOffset, "0+")


class OffsetForLeaderEpochResponse(Response, api=ApiKey.OFFSET_FOR_LEADER_EPOCH, versions="2-4", flexible="4+"):
    throttle_time_ms: int = int32("2+", ignorable=True)
    topics: list[OffsetForLeaderTopicResult] = array(OffsetForLeaderTopicResult, "0+")
