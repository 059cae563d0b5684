"""Transactions as the cleaner meets them on its way through the log, oldest batch first.

It tells batches of aborted transactions, which go, and markers whose transaction has no batch left, which may go after
their delete horizon. An abort marker that stays takes its entry along into the new segment's transaction index.
"""

import heapq
from collections.abc import Iterable

from ottla.protocol.records.batch import Batch
from ottla.protocol.records.control import ControlRecordType, read_key
from ottla.protocol.records.reader import decode_batch
from ottla.storage.index.transaction_index import AbortedTransaction


class CleanedTransactions:
    """The transactions open at the point the cleaner has reached; `aborted` are all of the log's, in any order."""

    __slots__ = ("_aborted_heap", "_committed", "_open_aborted", "retained")

    def __init__(self, aborted: Iterable[AbortedTransaction]) -> None:
        self._aborted_heap = [(entry.first_offset, entry) for entry in aborted]
        heapq.heapify(self._aborted_heap)
        # Producer → its aborted transaction, and whether a batch of it is still in the log.
        self._open_aborted: dict[int, tuple[AbortedTransaction, bool]] = {}
        self._committed: set[int] = set()
        self.retained: list[AbortedTransaction] = []
        """Aborted transactions whose marker stays, since they were last taken."""

    def is_aborted(self, batch: Batch) -> bool:
        """Whether a data batch belongs to an aborted transaction."""
        self._open_up_to(batch.last_offset)
        if not batch.is_transactional:
            return False
        found = self._open_aborted.get(batch.producer_id)
        if found is None:
            self._committed.add(batch.producer_id)
            return False
        self._open_aborted[batch.producer_id] = (found[0], True)
        return True

    def is_idle_marker(self, batch: Batch) -> bool:
        """Whether a control batch ends a transaction of which no batch is left."""
        self._open_up_to(batch.last_offset)
        if not batch.records_count:
            # Emptied by an earlier round; what it ended went then.
            return True
        control_type = read_key(decode_batch(batch)[0][2])
        if control_type is ControlRecordType.ABORT:
            found = self._open_aborted.pop(batch.producer_id, None)
            if found is not None and found[1]:
                self.retained.append(found[0])
                return False
            return True
        if control_type is ControlRecordType.COMMIT:
            was_seen = batch.producer_id in self._committed
            self._committed.discard(batch.producer_id)
            return not was_seen
        return False

    def take_retained(self) -> list[AbortedTransaction]:
        """The entries to write since the last time this was asked."""
        taken, self.retained = self.retained, []
        return taken

    def _open_up_to(self, offset: int) -> None:
        while self._aborted_heap and self._aborted_heap[0][0] <= offset:
            _, entry = heapq.heappop(self._aborted_heap)
            self._open_aborted.setdefault(entry.producer_id, (entry, False))
