"""Whether a producer may end its transaction, and how: the decisions of EndTxn.

Up to transactions v1 the epoch stays, so a retry of an end looks like the end of the next transaction, and the state
must tell. With transactions v2 (EndTxn v5) each end raises the epoch: a request with the epoch before the newest is a
retry, one with the newest is new (KIP-890).

An end is answered before its markers are written, so the next transaction's end may come meanwhile: an abort of nothing
has no write in front of it that would have waited. A request that comes then is told to try again.
"""

from typing import NamedTuple

from ottla.coordinator.txn.init_producer import ProducerIdAndEpoch
from ottla.coordinator.txn.state import ENDING, IDLE, TransactionState
from ottla.coordinator.txn.transaction_metadata import (
    NO_PRODUCER_ID,
    PRODUCER_EPOCH_MAX,
    TRANSACTIONS_V2,
    TransactionMetadata,
)
from ottla.coordinator.txn.transition import Transition, ended
from ottla.protocol.errors import (
    ConcurrentTransactionsError,
    InvalidProducerIdMappingError,
    InvalidTxnStateError,
    ProducerFencedError,
)


class EndClaim(NamedTuple):
    """A request to end a transaction: the producer, and commit or abort."""

    transactional_id: str
    producer: ProducerIdAndEpoch
    committed: bool
    client_version: int


def needs_producer_id(metadata: TransactionMetadata | None, claim: EndClaim) -> bool:
    """Whether the decision will want a new producer id: the epoch should rise, and can't."""
    if metadata is None or claim.client_version < TRANSACTIONS_V2 or metadata.state in ENDING:
        return False
    return metadata.is_epoch_exhausted and claim.producer == (metadata.producer_id, metadata.producer_epoch)


def decide_end(
    metadata: TransactionMetadata | None, claim: EndClaim, new_producer_id: int, now_ms: int
) -> Transition | None:
    """The transaction's next state; None if it has ended that way already, and the request is a retry."""
    if metadata is None:
        raise InvalidProducerIdMappingError
    if claim.client_version < TRANSACTIONS_V2:
        return _decide_v1(metadata, claim, now_ms)
    next_producer_id = new_producer_id if metadata.is_epoch_exhausted else NO_PRODUCER_ID
    return _decide_v2(metadata, claim, next_producer_id, now_ms)


def _decide_v1(metadata: TransactionMetadata, claim: EndClaim, now_ms: int) -> Transition | None:
    if claim.producer.producer_id != metadata.producer_id:
        raise InvalidProducerIdMappingError
    if claim.producer.producer_epoch != metadata.producer_epoch:
        raise ProducerFencedError
    if metadata.state in ENDING:
        raise ConcurrentTransactionsError
    if metadata.state is TransactionState.ONGOING:
        return ended(metadata, _prepared(claim), 0, NO_PRODUCER_ID, now_ms)
    _check_same_outcome(metadata, claim)
    return None


def _decide_v2(metadata: TransactionMetadata, claim: EndClaim, next_producer_id: int, now_ms: int) -> Transition | None:
    if metadata.state in ENDING:
        raise ConcurrentTransactionsError
    is_retry = _is_overflow_retry(metadata, claim.producer) or _is_retry(metadata, claim.producer)
    if claim.producer.producer_id != metadata.producer_id and not _is_overflow_retry(metadata, claim.producer):
        raise InvalidProducerIdMappingError
    is_newest = claim.producer.producer_epoch == metadata.producer_epoch
    if metadata.state in (TransactionState.ONGOING, TransactionState.EMPTY):
        is_allowed = is_newest
    else:
        is_allowed = is_retry or is_newest
    if not is_allowed:
        raise ProducerFencedError
    if metadata.state is TransactionState.ONGOING:
        return ended(metadata, _prepared(claim), claim.client_version, next_producer_id, now_ms)
    if metadata.state in IDLE and not is_retry:
        return _ended_empty(metadata, claim, next_producer_id, now_ms)
    _check_same_outcome(metadata, claim)
    return None


def _ended_empty(metadata: TransactionMetadata, claim: EndClaim, next_producer_id: int, now_ms: int) -> Transition:
    """An abort of nothing raises the epoch, since a write may be on its way; a commit of nothing is a mistake."""
    if claim.committed:
        raise InvalidTxnStateError
    return ended(metadata, TransactionState.PREPARE_ABORT, claim.client_version, next_producer_id, now_ms)


def _is_retry(metadata: TransactionMetadata, producer: ProducerIdAndEpoch) -> bool:
    return metadata.producer_epoch == producer.producer_epoch + 1


def _is_overflow_retry(metadata: TransactionMetadata, producer: ProducerIdAndEpoch) -> bool:
    """It ended with the last epoch of its old id, and missed the answer with the new one."""
    return producer == (metadata.previous_producer_id, PRODUCER_EPOCH_MAX - 1) and metadata.producer_epoch == 0


def _prepared(claim: EndClaim) -> TransactionState:
    return TransactionState.PREPARE_COMMIT if claim.committed else TransactionState.PREPARE_ABORT


def _check_same_outcome(metadata: TransactionMetadata, claim: EndClaim) -> None:
    """Refuses the end of a transaction that has ended otherwise, or that was none."""
    wanted = TransactionState.COMPLETE_COMMIT if claim.committed else TransactionState.COMPLETE_ABORT
    if metadata.state is not wanted:
        raise InvalidTxnStateError
