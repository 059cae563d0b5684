"""ListOffsets (key 2): looks up one offset per partition by time, or by a special time.

Sent by clients to each partition's leader. A `timestamp` from 0 finds the first record at or after it; -1 is the end
(the last stable offset for read_committed), -2 the start, -3 the record with the largest timestamp (v7, KIP-734), -4
the start of the local log (v8, KIP-405), -5 the last tiered offset (v9, KIP-1005), -6 the first one not uploaded yet
(v11, KIP-1023). Offset and timestamp -1 mean that nothing matched. `replica_id` is -1 for clients. v4 fences by
leader epoch (KIP-320); v10 adds `timeout_ms` for lookups in tiered storage (KIP-1075).
"""

from ottla.protocol.api_key import ApiKey
from ottla.protocol.definition import Request, Response, Struct
from ottla.protocol.field import array, int8, int16, int32, int64, string


class ListOffsetsPartition(Struct):
    partition_index: int = int32("0+")
    current_leader_epoch: int = int32("4+", default=-1, ignorable=True)
    timestamp: int = int64("0+")


class ListOffsetsTopic(Struct):
    name: str = string("0+")
    partitions: list[ListOffsetsPartition] = array(ListOffsetsPartition, "0+")


class ListOffsetsRequest(Request, api=ApiKey.LIST_OFFSETS, versions="1-11", flexible="6+"):
    replica_id: int = int32("0+")
    isolation_level: int = int8("2+")
    topics: list[ListOffsetsTopic] = array(ListOffsetsTopic, "0+")
    timeout_ms: int = int32("10+", ignorable=True)


class ListOffsetsPartitionResponse(Struct):
    partition_index: int = int32("0+")
    error_code: int = int16("0+")
    timestamp: int = int64("1+", default=-1)
    offset: int = int64("1+", default=-1)
    leader_epoch: int = int32("4+", default=-1)


class ListOffsetsTopicResponse(Struct):
    name: str = string("0+")
    partitions: list[ListOffsetsPartitionResponse] = array(ListOffsetsPartitionResponse, "0+")


class ListOffsetsResponse(Response, api=ApiKey.LIST_OFFSETS, versions="1-11", flexible="6+"):
    throttle_time_ms: int = int32("2+", ignorable=True)
    topics: list[ListOffsetsTopicResponse] = array(ListOffsetsTopicResponse, "0+")
