"""EndTxn (key 26): commits or aborts a transaction.

Sent by a producer to its transaction coordinator. The answer comes once the decision is durable, which is before the
markers are in all partitions. v5 is for transactions v2: every end raises the epoch, and the answer gives the id and
epoch to use next (KIP-890), a new id when the epochs ran out. A repeated v5 request with the old epoch succeeds. From
v2 a fenced producer gets PRODUCER_FENCED (KIP-588).
"""

from ottla.protocol.api_key import ApiKey
from ottla.protocol.definition import Request, Response
from ottla.protocol.field import boolean, int16, int32, int64, string


class EndTxnRequest(Request, api=ApiKey.END_TXN, versions="0-5", flexible="3+"):
    transactional_id: str = string("0+")
    producer_id: int = int64("0+")
    producer_epoch: int = int16("0+")
    committed: bool = boolean("0+")


class EndTxnResponse(Response, api=ApiKey.END_TXN, versions="0-5", flexible="3+"):
    throttle_time_ms: int = int32("0+")
    error_code: int = int16("0+")
    producer_id: int = int64("5+", default=-1, ignorable=True)
    producer_epoch: int = int16("5+", default=-1, ignorable=True)
