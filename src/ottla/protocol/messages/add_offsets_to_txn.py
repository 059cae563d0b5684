"""AddOffsetsToTxn (key 25): makes a group's offsets part of a transaction.

Sent by a producer to its transaction coordinator, which adds the group's partition of `__consumer_offsets`; the
offsets then go to the group coordinator in TxnOffsetCommit. With transactions v2 TxnOffsetCommit alone does both
(KIP-890). From v2 a fenced producer gets PRODUCER_FENCED (KIP-588); from v4 TRANSACTION_ABORTABLE is possible
(KIP-890).
"""

from ottla.protocol.api_key import ApiKey
from ottla.protocol.definition import Request, Response
from ottla.protocol.field import int16, int32, int64, string


class AddOffsetsToTxnRequest(Request, api=ApiKey.ADD_OFFSETS_TO_TXN, versions="0-4", flexible="3+"):
    transactional_id: str = string("0+")
    producer_id: int = int64("0+")
    producer_epoch: int = int16("0+")
    group_id: str = string("0+")


class AddOffsetsToTxnResponse(Response, api=ApiKey.ADD_OFFSETS_TO_TXN, versions="0-4", flexible="3+"):
    throttle_time_ms: int = int32("0+")
    error_code: int = int16("0+")
