"""TxnOffsetCommit (key 28): stores a group's positions as part of a transaction.

Sent by a producer to the group coordinator; the offsets count once the commit marker is written. v3 adds the
consumer's member id, generation and instance id, so that zombies are fenced (KIP-447); with their defaults the group
isn't checked. From v5 the request also adds the offsets partition to the transaction, so AddOffsetsToTxn isn't needed
(KIP-890).
"""

from ottla.protocol.api_key import ApiKey
from ottla.protocol.definition import Request, Response, Struct
from ottla.protocol.field import array, int16, int32, int64, string


class TxnOffsetCommitRequestPartition(Struct):
    partition_index: int = int32("0+")
    committed_offset: int = int64("0+")
    committed_leader_epoch: int = int32("2+", default=-1, ignorable=True)
    committed_metadata: str | None = string("0+", nullable="0+")


class TxnOffsetCommitRequestTopic(Struct):
    name: str = string("0+")
    partitions: list[TxnOffsetCommitRequestPartition] = array(TxnOffsetCommitRequestPartition, "0+")


class TxnOffsetCommitRequest(Request, api=ApiKey.TXN_OFFSET_COMMIT, versions="0-5", flexible="3+"):
    transactional_id: str = string("0+")
    group_id: str = string("0+")
    producer_id: int = int64("0+")
    producer_epoch: int = int16("0+")
    generation_id: int = int32("3+", default=-1)
    member_id: str = string("3+")
    group_instance_id: str | None = string("3+", nullable="3+", default=None)
    topics: list[TxnOffsetCommitRequestTopic] = array(TxnOffsetCommitRequestTopic, "0+")


class TxnOffsetCommitResponsePartition(Struct):
    partition_index: int = int32("0+")
    error_code: int = int16("0+")


class TxnOffsetCommitResponseTopic(Struct):
    name: str = string("0+")
    partitions: list[TxnOffsetCommitResponsePartition] = array(TxnOffsetCommitResponsePartition, "0+")


class TxnOffsetCommitResponse(Response, api=ApiKey.TXN_OFFSET_COMMIT, versions="0-5", flexible="3+"):
    throttle_time_ms: int = int32("0+")
    topics: list[TxnOffsetCommitResponseTopic] = array(TxnOffsetCommitResponseTopic, "0+")
