"""AllocateProducerIds: a block of a thousand producer ids for a broker; no id is ever given out twice."""

from typing import Final

from ottla.metadata.controller.context import ControllerContext
from ottla.metadata.controller.controller_result import ControllerResult
from ottla.protocol.errors import UnknownServerError
from ottla.protocol.messages.allocate_producer_ids import (
    AllocateProducerIdsRequest,
    AllocateProducerIdsResponse,
)
from ottla.protocol.metadata_log.log import VersionedRecord
from ottla.protocol.metadata_log.producer_ids import ProducerIdsRecord

BLOCK_SIZE: Final = 1_000
_ID_MAX: Final = (1 << 63) - 1


def allocate_producer_ids(
    context: ControllerContext, request: AllocateProducerIdsRequest
) -> ControllerResult[AllocateProducerIdsResponse]:
    """The next block."""
    context.check_broker_epoch(request.broker_id, request.broker_epoch)
    first = max(0, context.image.next_producer_id)
    if first > _ID_MAX - BLOCK_SIZE:
        raise UnknownServerError(
            "Exhausted all producerIds as the next block's end producerId has exceeded the int64 type limit"
        )
    record = ProducerIdsRecord(
        broker_id=request.broker_id, broker_epoch=request.broker_epoch, next_producer_id=first + BLOCK_SIZE
    )
    response = AllocateProducerIdsResponse(producer_id_start=first, producer_id_len=BLOCK_SIZE)
    return ControllerResult(response, [VersionedRecord(record, 0)])
