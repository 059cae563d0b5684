"""DeleteRecords (key 21): moves the start of partitions forward, dropping the records before it (KIP-107).

Sent by admin clients to each partition's leader. `offset` -1 stands for the high watermark; an offset before the
start succeeds and changes nothing. The answer waits for the live replicas and gives their lowest start as
`low_watermark`, -1 with an error. Topics that are only compacted refuse it (POLICY_VIOLATION).
"""

from ottla.protocol.api_key import ApiKey
from ottla.protocol.definition import Request, Response, Struct
from ottla.protocol.field import array, int16, int32, int64, string


class DeleteRecordsPartition(Struct):
    partition_index: int = int32("0+")
    offset: int = int64("0+")


class DeleteRecordsTopic(Struct):
    name: str = string("0+")
    partitions: list[DeleteRecordsPartition] = array(DeleteRecordsPartition, "0+")


class DeleteRecordsRequest(Request, api=ApiKey.DELETE_RECORDS, versions="0-2", flexible="2+"):
    topics: list[DeleteRecordsTopic] = array(DeleteRecordsTopic, "0+")
    timeout_ms: int = int32("0+")


class DeleteRecordsPartitionResult(Struct):
    partition_index: int = int32("0+")
    low_watermark: int = int64("0+")
    error_code: int = int16("0+")


class DeleteRecordsTopicResult(Struct):
    name: str = string("0+")
    partitions: list[DeleteRecordsPartitionResult] = array(DeleteRecordsPartitionResult, "0+")


class DeleteRecordsResponse(Response, api=ApiKey.DELETE_RECORDS, versions="0-2", flexible="2+"):
    throttle_time_ms: int = int32("0+")
    topics: list[DeleteRecordsTopicResult] = array(DeleteRecordsTopicResult, "0+")
