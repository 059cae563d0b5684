"""InitProducerId (key 22): gives a producer its id and epoch (KIP-98).

Sent by producers when they start. With a null `transactional_id` any broker answers, with a new id and epoch 0.
Otherwise the transaction coordinator raises the epoch, which fences older instances, and aborts what they left open,
answering CONCURRENT_TRANSACTIONS meanwhile. From v3 a producer may send the id and epoch it has, else -1, to go on
after an error (KIP-360). v4 answers PRODUCER_FENCED (KIP-588), v5 TRANSACTION_ABORTABLE (KIP-890). v6 is for
two-phase commit (KIP-939) and still unstable.
"""

from ottla.protocol.api_key import ApiKey
from ottla.protocol.definition import Request, Response
from ottla.protocol.field import boolean, int16, int32, int64, string


class InitProducerIdRequest(Request, api=ApiKey.INIT_PRODUCER_ID, versions="0-6", flexible="2+"):
    transactional_id: str | None = string("0+", nullable="0+")
    transaction_timeout_ms: int = int32("0+")
    producer_id: int = int64("3+", default=-1)
    producer_epoch: int = int16("3+", default=-1)
    enable2_pc: bool = boolean("6+")
    keep_prepared_txn: bool = boolean("6+")


class InitProducerIdResponse(Response, api=ApiKey.INIT_PRODUCER_ID, versions="0-6", flexible="2+"):
    throttle_time_ms: int = int32("0+", ignorable=True)
    error_code: int = int16("0+")
    producer_id: int = int64("0+", default=-1)
    producer_epoch: int = int16("0+")
    ongoing_txn_producer_id: int = int64("6+", default=-1)
    ongoing_txn_producer_epoch: int = int16("6+", default=-1)
