"""The replicated state of one partition of `__transaction_state`: transactional ids and what is known of each.

Replays records, and tells its `Lifecycle` when the shard starts and ends. What is decided is decided elsewhere.
"""

from typing import Final, Protocol, TypeAlias

from immutables import Map

from ottla.base.buffer import Buffer
from ottla.coordinator.ports import KeyValue
from ottla.coordinator.runtime.machine import RecordCodec
from ottla.coordinator.txn.transaction_metadata import TransactionMetadata, metadata_of
from ottla.protocol.coordinator_record import CoordinatorRecord
from ottla.protocol.transaction_log import TRANSACTION_LOG, TransactionLogKey, TransactionLogValue

TxnState: TypeAlias = Map[str, TransactionMetadata]
"""Transactional ids, each at its newest moment."""


class Lifecycle(Protocol):
    """Keeps the soft state of a shard."""

    def loaded(self, state: TxnState, now_ms: int) -> None:
        """Operations will follow."""
        ...

    def unloaded(self) -> None:
        """The shard is over."""
        ...


class TxnMachine:
    """`Machine[TxnState]`."""

    def __init__(self, lifecycle: Lifecycle) -> None:
        self._lifecycle: Final = lifecycle
        self._codec: Final = RecordCodec(TRANSACTION_LOG)

    def initial(self) -> TxnState:
        """No id is known."""
        return Map()

    def replay(
        self, state: TxnState, record: CoordinatorRecord, offset: int, producer_id: int, producer_epoch: int
    ) -> TxnState:
        """The state after a record, which says everything about one id."""
        key, value, _ = record
        if not isinstance(key, TransactionLogKey):
            return state
        transactional_id = key.transactional_id
        if isinstance(value, TransactionLogValue):
            return state.set(transactional_id, metadata_of(value))
        return state.delete(transactional_id) if transactional_id in state else state

    def replay_marker(self, state: TxnState, producer_id: int, producer_epoch: int, *, committed: bool) -> TxnState:
        """This log is never written in a transaction; a marker means nothing here."""
        return state

    def encode(self, record: CoordinatorRecord) -> KeyValue:
        """A record as it goes into the log."""
        return self._codec.encode(record)

    def decode(self, key: Buffer, value: Buffer | None) -> CoordinatorRecord | None:
        """A record from the log; None for a type that is not known."""
        return self._codec.decode(key, value)

    def loaded(self, state: TxnState, now_ms: int) -> None:
        """The log was replayed."""
        self._lifecycle.loaded(state, now_ms)

    def unloaded(self) -> None:
        """The shard is over."""
        self._lifecycle.unloaded()
