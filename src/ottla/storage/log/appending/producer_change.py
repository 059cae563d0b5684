"""The changes that an append makes to a log's producers, held back until the write.

A batch of data that is next in its producer's sequence changes the live entry, unless a snapshot of that is still to
be written. All others are tried on a copy of the entry, as each batch must fit the one before.
"""

from typing import Protocol

from ottla.protocol.records.batch import Batch
from ottla.protocol.records.validation import AppendOrigin
from ottla.storage.index.transaction_index import AbortedTransaction
from ottla.storage.log.append_info import AppendOptions
from ottla.storage.log.state import LogState
from ottla.storage.producer_state.append import ProducerCheck
from ottla.storage.producer_state.entry import BatchMetadata, ProducerEntry
from ottla.storage.producer_state.state import ProducerState
from ottla.storage.producer_state.transaction import CompletedTransaction


class ProducerChange(Protocol):
    """A change that was checked."""

    @property
    def ends_aborted(self) -> bool:
        """Whether a transaction ends that was aborted."""
        ...

    def take_effect(self) -> list[AbortedTransaction]:
        """Makes the change; the transactions that the transaction index is to know of."""
        ...


class NextBatch:
    """One batch of data that follows its producer's last."""

    __slots__ = ("_batch", "_entry", "_log")

    ends_aborted = False

    def __init__(self, log: LogState, entry: ProducerEntry, batch: Batch) -> None:
        self._log = log
        self._entry = entry
        self._batch = batch

    def take_effect(self) -> list[AbortedTransaction]:
        log, entry = self._log, self._entry
        if log.snapshots.is_promised:
            entry = entry.copy()
            log.producers.entries[entry.producer_id] = entry
        entry.add_batch(self._batch)
        return []


class ProducerChanges:
    """The changes of any number of batches."""

    __slots__ = ("_checks", "_completed", "_origin", "_producers")

    def __init__(self, producers: ProducerState, origin: AppendOrigin | None) -> None:
        self._producers = producers
        self._origin = origin
        self._checks: dict[int, ProducerCheck] = {}
        self._completed: list[CompletedTransaction] = []

    def check(self, batch: Batch, options: AppendOptions) -> BatchMetadata | None:
        """Refuses the batch, or says which it repeats, or takes it in."""
        producers = self._producers
        if options.origin is AppendOrigin.CLIENT:
            duplicate = producers.find_duplicate(batch)
            if duplicate is not None:
                return duplicate
        if batch.is_transactional and options.verify_transactions:
            producers.check_verified(batch, options.verification)
        self.add(batch, options.transaction_version)
        return None

    def add(self, batch: Batch, transaction_version: int) -> None:
        """Takes a batch in."""
        producer_id = batch.producer_id
        check = self._checks.get(producer_id)
        if check is None:
            check = self._producers.check_copy(producer_id, self._origin)
            self._checks[producer_id] = check
        completed = check.append(batch, transaction_version)
        if completed is not None:
            self._completed.append(completed)

    @property
    def ends_aborted(self) -> bool:
        return any(completed.is_aborted for completed in self._completed)

    def take_effect(self) -> list[AbortedTransaction]:
        producers = self._producers
        producers.update(self._checks.values())
        ended = [producers.complete(completed) for completed in self._completed]
        return [aborted for aborted in ended if aborted is not None]
