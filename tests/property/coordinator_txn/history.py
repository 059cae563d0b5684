"""What a transaction log and the partitions' markers say, held against what must be true of them.

Checks each record and each marker when it is written:
- a state follows one that it may follow, so a transaction has one outcome;
- producer ids and epochs of a transactional id only rise;
- a marker is that of a committed decision which is not complete, for a partition of that transaction, with its
  producer id, epoch and outcome, from the newest coordinator;
- a completion comes when every partition that still exists has the marker.
"""

from typing import NamedTuple

from ottla.coordinator.ports import PartitionKey, TransactionMarker
from ottla.coordinator.txn.state import ENDING, IDLE, TransactionState, may_follow
from ottla.coordinator.txn.transaction_metadata import TransactionMetadata, metadata_of
from ottla.protocol.transaction_log import TRANSACTION_LOG, TransactionLogKey, TransactionLogValue
from tests.unit.coordinator.txn.world import World


class Entry(NamedTuple):
    """A record of the log; None is a tombstone."""

    offset: int
    transactional_id: str
    metadata: TransactionMetadata | None


class History:
    """All records so far, and which partitions have the marker of which decision."""

    def __init__(self, world: World) -> None:
        self.world = world
        self.entries: list[Entry] = []
        self.marked: dict[int, set[PartitionKey]] = {}
        """By the offset of the decision."""
        self.deleted: set[PartitionKey] = set()

    def observe(self) -> None:
        """Looks at what was appended since, and forgets what was lost."""
        log = self.world.log
        self.entries = [entry for entry in self.entries if entry.offset < log.end_offset]
        seen = self.entries[-1].offset + 1 if self.entries else 0
        for batch in log.batches:
            for offset, (key, value) in enumerate(batch.records, batch.base_offset):
                if offset >= seen:
                    decoded = TRANSACTION_LOG.decode(key, value)
                    assert isinstance(decoded.key, TransactionLogKey)
                    found = decoded.value
                    metadata = metadata_of(found) if isinstance(found, TransactionLogValue) else None
                    self._check(Entry(offset, decoded.key.transactional_id, metadata))

    def newest(self, transactional_id: str) -> Entry | None:
        """The last record of an id."""
        return next((entry for entry in reversed(self.entries) if entry.transactional_id == transactional_id), None)

    def marker_written(self, key: PartitionKey, marker: TransactionMarker) -> None:
        """A leader has this marker in its log."""
        ids = {entry.transactional_id for entry in self.entries}
        owners = [
            entry
            for entry in map(self.newest, ids)
            if entry is not None and entry.metadata is not None and entry.metadata.producer_id == marker.producer_id
        ]
        (decision,) = owners
        metadata = decision.metadata
        assert metadata is not None
        assert metadata.state in ENDING, "a marker without a decision, or after the end"
        assert decision.offset < self.world.committed_offset, "a marker before its decision is committed"
        assert key in metadata.partitions
        assert marker.committed is (metadata.state is TransactionState.PREPARE_COMMIT)
        assert marker.producer_epoch == metadata.producer_epoch
        assert marker.coordinator_epoch == self.world.epoch
        self.marked.setdefault(decision.offset, set()).add(key)

    def _check(self, entry: Entry) -> None:
        before_entry = self.newest(entry.transactional_id)
        before = None if before_entry is None else before_entry.metadata
        after = entry.metadata
        if after is None:
            assert before is not None
            assert before.state in IDLE, "an id with a transaction was forgotten"
        elif before is None:
            assert after.state is TransactionState.EMPTY
            assert after.producer_epoch == 0
        else:
            assert may_follow(before.state, after.state), f"{after.state.label} after {before.state.label}"
            self._check_rises(before, after)
        if after is not None and before is not None and before_entry is not None and before.state in ENDING:
            missing = before.partitions - self.marked.get(before_entry.offset, set()) - self.deleted
            assert not missing, f"complete without markers in {sorted(missing)}"
        self.entries.append(entry)

    @staticmethod
    def _check_rises(before: TransactionMetadata, after: TransactionMetadata) -> None:
        if after.producer_id == before.producer_id:
            assert before.producer_epoch <= after.producer_epoch <= 32_767
        else:
            assert after.producer_id > before.producer_id
            assert after.producer_epoch == 0
