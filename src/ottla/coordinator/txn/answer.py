"""Results in the words of each API version: codes, ids and epochs as responses carry them."""

from collections.abc import Callable
from typing import Final

from ottla.coordinator.txn.init_producer import ProducerIdAndEpoch
from ottla.coordinator.txn.transaction_metadata import NO_PRODUCER_EPOCH, NO_PRODUCER_ID
from ottla.protocol.errors import ApiError, ErrorCode, InvalidRequestError
from ottla.protocol.messages.end_txn import EndTxnResponse
from ottla.protocol.messages.init_producer_id import InitProducerIdRequest, InitProducerIdResponse

END_V2: Final = 5
"""The version of EndTxn that speaks transactions v2."""
INIT_FENCED: Final = 4
FENCED: Final = 2
"""From these versions on a fenced producer is told PRODUCER_FENCED, before INVALID_PRODUCER_EPOCH (KIP-588)."""


def expected_of(request: InitProducerIdRequest) -> ProducerIdAndEpoch | None:
    """The producer's id and epoch by its own account: both or neither."""
    sent = ProducerIdAndEpoch(request.producer_id, request.producer_epoch)
    if sent == (NO_PRODUCER_ID, NO_PRODUCER_EPOCH):
        return None
    if sent.producer_id == NO_PRODUCER_ID or sent.producer_epoch == NO_PRODUCER_EPOCH:
        raise InvalidRequestError
    return sent


def code_of(result: ApiError | None, version: int, fenced_from: int) -> int:
    """The code of an answer; versions that don't know PRODUCER_FENCED say INVALID_PRODUCER_EPOCH."""
    if result is None:
        return ErrorCode.NONE
    if result.code is ErrorCode.PRODUCER_FENCED and version < fenced_from:
        return ErrorCode.INVALID_PRODUCER_EPOCH
    return result.code


def answer_new_id(answer: Callable[[ProducerIdAndEpoch | ApiError], None], result: int | ApiError) -> None:
    """Hands a producer without transactional id its id, with the first epoch."""
    answer(result if isinstance(result, ApiError) else ProducerIdAndEpoch(result, 0))


def answer_init(
    done: Callable[[InitProducerIdResponse], None], version: int, result: ProducerIdAndEpoch | ApiError
) -> None:
    """Answers InitProducerId."""
    if isinstance(result, ApiError):
        code = code_of(result, version, INIT_FENCED)
        done(InitProducerIdResponse(error_code=code, producer_epoch=NO_PRODUCER_EPOCH))
    else:
        done(InitProducerIdResponse(producer_id=result.producer_id, producer_epoch=result.producer_epoch))


def answer_end(done: Callable[[EndTxnResponse], None], version: int, result: ProducerIdAndEpoch | ApiError) -> None:
    """Answers EndTxn."""
    if isinstance(result, ApiError):
        done(EndTxnResponse(error_code=code_of(result, version, FENCED)))
    elif version >= END_V2:
        done(EndTxnResponse(producer_id=result.producer_id, producer_epoch=result.producer_epoch))
    else:
        done(EndTxnResponse())
