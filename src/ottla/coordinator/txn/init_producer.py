"""The choice of producer id and epoch: the decisions of InitProducerId for a transactional id.

A producer that starts sends no id: it gets the next epoch, which fences the producer that had the one before. One that
goes on after an error sends what it has (KIP-360), and is fenced itself if that is not the newest any more. Over an
open transaction no epoch is given out: it is aborted first, and the producer asks again.
"""

from typing import NamedTuple

from ottla.coordinator.txn.state import ENDING, TransactionState
from ottla.coordinator.txn.transaction_metadata import (
    NO_PRODUCER_EPOCH,
    NO_PRODUCER_ID,
    TRANSACTIONS_V2,
    TransactionMetadata,
    is_epoch_exhausted,
)
from ottla.coordinator.txn.transition import Transition, created, fenced, initialized
from ottla.protocol.errors import ConcurrentTransactionsError, ProducerFencedError


class ProducerIdAndEpoch(NamedTuple):
    """A producer's id and epoch."""

    producer_id: int
    producer_epoch: int


class InitClaim(NamedTuple):
    """A producer's request; `expected` is its identity by its own account."""

    transactional_id: str
    timeout_ms: int
    expected: ProducerIdAndEpoch | None = None


class InitContext(NamedTuple):
    """The decision's input beside the claim."""

    last_epoch: int
    """The epoch that the newest one took the place of, for the same producer; -1 if it was for another one."""
    server_version: int
    new_producer_id: int
    """An unused one, if `needs_producer_id`."""


def needs_producer_id(metadata: TransactionMetadata | None, claim: InitClaim, server_version: int) -> bool:
    """Whether the decision will want a new producer id."""
    if metadata is None:
        return True
    if not metadata.is_epoch_exhausted or metadata.state in ENDING:
        return False
    if metadata.state is TransactionState.ONGOING:
        return server_version >= TRANSACTIONS_V2
    return _expects_newest(metadata, claim)


def decide_init(
    metadata: TransactionMetadata | None, claim: InitClaim, context: InitContext, now_ms: int
) -> Transition:
    """The id's next state. A step to PrepareAbort means that the producer must ask again."""
    before = created(context.new_producer_id, claim.timeout_ms, now_ms) if metadata is None else metadata
    if claim.expected is not None and not _is_plausible(before, claim.expected):
        raise ProducerFencedError
    if before.state in ENDING:
        raise ConcurrentTransactionsError
    if before.state is TransactionState.ONGOING:
        if claim.expected not in (None, (before.producer_id, before.producer_epoch)):
            # The producer with the open transaction knows its own epoch, so this is a zombie. Kafka lets it abort the
            # transaction of its successor before it tells it so.
            raise ProducerFencedError
        next_id = context.new_producer_id if before.is_epoch_exhausted else NO_PRODUCER_ID
        return fenced(before, context.server_version, next_id, now_ms)
    if before.is_epoch_exhausted and _expects_newest(before, claim):
        last_epoch = NO_PRODUCER_EPOCH if claim.expected is None else before.producer_epoch
        after = initialized(before, context.new_producer_id, 0, claim.timeout_ms, now_ms)
        return Transition(after, last_epoch)
    epoch, last_epoch = _next_epoch(before, claim.expected, context.last_epoch)
    return Transition(initialized(before, before.producer_id, epoch, claim.timeout_ms, now_ms), last_epoch)


def _is_plausible(metadata: TransactionMetadata, expected: ProducerIdAndEpoch) -> bool:
    """Whether it may be the id's producer: it has the newest id, or the one before if its epochs ran out."""
    if metadata.producer_epoch == NO_PRODUCER_EPOCH or expected.producer_id == metadata.producer_id:
        return True
    return expected.producer_id == metadata.previous_producer_id and is_epoch_exhausted(expected.producer_epoch)


def _expects_newest(metadata: TransactionMetadata, claim: InitClaim) -> bool:
    return claim.expected is None or claim.expected.producer_epoch == metadata.producer_epoch


def _next_epoch(metadata: TransactionMetadata, expected: ProducerIdAndEpoch | None, last_epoch: int) -> tuple[int, int]:
    """The epoch to give out, and the one that a retry of this request will come with."""
    newest = metadata.producer_epoch
    if expected is None:
        return newest + 1, NO_PRODUCER_EPOCH
    if newest in (NO_PRODUCER_EPOCH, expected.producer_epoch):
        return newest + 1, newest
    if expected.producer_epoch == last_epoch:
        # It asked before and missed the answer. No other producer came between, or there would be no last epoch.
        return newest, last_epoch
    raise ProducerFencedError
