"""DescribeProducers (key 61): lists the producers that a partition remembers (KIP-664).

Sent by admin clients to a partition's leader, to find hanging transactions. `current_txn_start_offset` is -1 without
an open transaction, `last_sequence` -1 if nothing but markers was written. `producer_epoch` is an int32 here, though
an int16 everywhere else.
"""

from ottla.protocol.api_key import ApiKey
from ottla.protocol.definition import Request, Response, Struct
from ottla.protocol.field import array, int16, int32, int64, string


class TopicRequest(Struct):
    name: str = string("0+")
    partition_indexes: list[int] = array(int32, "0+")


class DescribeProducersRequest(Request, api=ApiKey.DESCRIBE_PRODUCERS, versions="0", flexible="0+"):
    topics: list[TopicRequest] = array(TopicRequest, "0+")


class ProducerState(Struct):
    producer_id: int = int64("0+")
    producer_epoch: int = int32("0+")
    last_sequence: int = int32("0+", default=-1)
    last_timestamp: int = int64("0+", default=-1)
    coordinator_epoch: int = int32("0+")
    current_txn_start_offset: int = int64("0+", default=-1)


class PartitionResponse(Struct):
    partition_index: int = int32("0+")
    error_code: int = int16("0+")
    error_message: str | None = string("0+", nullable="0+", default=None)
    active_producers: list[ProducerState] = array(ProducerState, "0+")


class TopicResponse(Struct):
    name: str = string("0+")
    partitions: list[PartitionResponse] = array(PartitionResponse, "0+")


class DescribeProducersResponse(Response, api=ApiKey.DESCRIBE_PRODUCERS, versions="0", flexible="0+"):
    throttle_time_ms: int = int32("0+")
    topics: list[TopicResponse] = array(TopicResponse, "0+")
