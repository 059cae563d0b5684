"""AllocateProducerIds (key 67): reserves a block of producer ids for a broker (KIP-730).

Sent by brokers to the active controller. The block, 1000 ids in Kafka, is in the metadata log before the answer goes
out, so no id is given twice; what a broker doesn't use is lost. A stale `broker_epoch` is refused.
"""

from ottla.protocol.api_key import ApiKey
from ottla.protocol.definition import Request, Response
from ottla.protocol.field import int16, int32, int64


class AllocateProducerIdsRequest(Request, api=ApiKey.ALLOCATE_PRODUCER_IDS, versions="0", flexible="0+"):
    broker_id: int = int32("0+")
    broker_epoch: int = int64("0+", default=-1)


class AllocateProducerIdsResponse(Response, api=ApiKey.ALLOCATE_PRODUCER_IDS, versions="0", flexible="0+"):
    throttle_time_ms: int = int32("0+")
    error_code: int = int16("0+")
    producer_id_start: int = int64("0+")
    producer_id_len: int = int32("0+")
