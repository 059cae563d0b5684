"""The transitions of a transactional id: pure steps, each checked against the table.

A step contains the records to write; `init_producer` and `end_transaction` decide who may ask for it. The id before the
step becomes the previous one, also where it stays the same, as Kafka writes it.
"""

from typing import Any, NamedTuple

from ottla.base.errors import OttlaError
from ottla.coordinator.ports import PartitionKey
from ottla.coordinator.txn.state import IDLE, TransactionState, may_follow
from ottla.coordinator.txn.transaction_metadata import (
    NO_PRODUCER_EPOCH,
    NO_PRODUCER_ID,
    NO_TIME,
    PRODUCER_EPOCH_MAX,
    TRANSACTIONS_V2,
    TransactionMetadata,
)


class IllegalTransitionError(OttlaError):
    """A step that the table forbids: a fault of ours, never a client's."""


class Transition(NamedTuple):
    """An id's next state, and the epoch that a retry of this step may still carry; -1 for none."""

    metadata: TransactionMetadata
    last_epoch: int
    is_epoch_raised: bool = True
    """If not, the last epoch is what it was."""


def created(producer_id: int, timeout_ms: int, now_ms: int) -> TransactionMetadata:
    """An unused id: it is not written like this, its first epoch comes with the first step."""
    return TransactionMetadata(
        producer_id=producer_id,
        previous_producer_id=NO_PRODUCER_ID,
        next_producer_id=NO_PRODUCER_ID,
        producer_epoch=NO_PRODUCER_EPOCH,
        timeout_ms=timeout_ms,
        state=TransactionState.EMPTY,
        partitions=frozenset(),
        start_ms=NO_TIME,
        last_update_ms=now_ms,
        client_version=0,
    )


def initialized(
    before: TransactionMetadata, producer_id: int, producer_epoch: int, timeout_ms: int, now_ms: int
) -> TransactionMetadata:
    """A producer got this id and epoch; no transaction is open."""
    return _moved(
        before,
        TransactionState.EMPTY,
        producer_id=producer_id,
        producer_epoch=producer_epoch,
        timeout_ms=timeout_ms,
        partitions=frozenset(),
        start_ms=NO_TIME,
        last_update_ms=now_ms,
    )


def added(
    before: TransactionMetadata, partitions: frozenset[PartitionKey], client_version: int, now_ms: int
) -> TransactionMetadata:
    """Partitions joined the transaction, the first ones began it."""
    return _moved(
        before,
        TransactionState.ONGOING,
        partitions=before.partitions | partitions,
        start_ms=now_ms if before.state in IDLE else before.start_ms,
        last_update_ms=now_ms,
        client_version=client_version,
    )


def ended(
    before: TransactionMetadata, state: TransactionState, client_version: int, next_producer_id: int, now_ms: int
) -> Transition:
    """The outcome was decided. With transactions v2 the epoch rises, so that late writes are told from the next ones.

    Epoch 7 commits: the markers carry 8, and the producer goes on with 8. Epoch 32766 commits: the markers carry
    32767, and the producer goes on with `next_producer_id` and epoch 0.
    """
    is_v2 = client_version >= TRANSACTIONS_V2
    after = _moved(
        before,
        state,
        producer_epoch=min(before.producer_epoch + 1, PRODUCER_EPOCH_MAX) if is_v2 else before.producer_epoch,
        next_producer_id=next_producer_id,
        start_ms=now_ms if before.state in IDLE else before.start_ms,
        last_update_ms=now_ms,
        client_version=client_version,
    )
    return Transition(after, before.producer_epoch if is_v2 else NO_PRODUCER_EPOCH, is_v2)


def fenced(before: TransactionMetadata, server_version: int, next_producer_id: int, now_ms: int) -> Transition:
    """The coordinator aborts an open transaction itself, and raises the epoch so that its producer learns of it."""
    if server_version >= TRANSACTIONS_V2:
        return ended(before, TransactionState.PREPARE_ABORT, server_version, next_producer_id, now_ms)
    raised = before._replace(producer_epoch=min(before.producer_epoch + 1, PRODUCER_EPOCH_MAX))
    return ended(raised, TransactionState.PREPARE_ABORT, 0, NO_PRODUCER_ID, now_ms)._replace(is_epoch_raised=True)


def completed(before: TransactionMetadata, now_ms: int) -> TransactionMetadata:
    """Every marker is written."""
    is_commit = before.state is TransactionState.PREPARE_COMMIT
    has_next = before.client_version >= TRANSACTIONS_V2 and before.next_producer_id != NO_PRODUCER_ID
    return _moved(
        before,
        TransactionState.COMPLETE_COMMIT if is_commit else TransactionState.COMPLETE_ABORT,
        producer_id=before.next_producer_id if has_next else before.producer_id,
        producer_epoch=0 if has_next else before.producer_epoch,
        next_producer_id=NO_PRODUCER_ID,
        partitions=frozenset(),
        last_update_ms=now_ms,
    )


def _moved(before: TransactionMetadata, state: TransactionState, **changes: Any) -> TransactionMetadata:
    if not may_follow(before.state, state):
        raise IllegalTransitionError(f"{state.label} can't follow {before.state.label}")
    return before._replace(state=state, previous_producer_id=before.producer_id, **changes)
