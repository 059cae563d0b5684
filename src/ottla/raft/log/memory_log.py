"""A log, its snapshots and quorum-state in memory, with a disk's manners: what is not flushed a crash may take.

For tests, simulations and quorums that need not outlive their process. `crash` says what came through.
"""

from bisect import bisect_right
from typing import NamedTuple

from ottla.protocol.records.batch import batches
from ottla.raft.identity import OffsetAndEpoch


class StoredBatch(NamedTuple):
    """A batch and the parts of its header that are asked for all the time."""

    base_offset: int
    next_offset: int
    epoch: int
    data: bytes


class MemoryLog:
    """A `LogPort`."""

    def __init__(self) -> None:
        self._batches: list[StoredBatch] = []
        self._bases: list[int] = []
        self._start = OffsetAndEpoch(offset=0, epoch=0)
        self._flushed_end_offset = 0
        self._truncated: list[StoredBatch] = []
        """Flushed batches whose truncation is not flushed: a crash may bring them back."""

    @property
    def start_offset(self) -> int:
        return self._start.offset

    @property
    def end_offset(self) -> int:
        return self._batches[-1].next_offset if self._batches else self._start.offset

    @property
    def flushed_end_offset(self) -> int:
        return self._flushed_end_offset

    @property
    def last_epoch(self) -> int:
        return self._batches[-1].epoch if self._batches else self._start.epoch

    def append(self, data: bytes) -> None:
        self._put(data)

    def _put(self, data: bytes) -> None:
        for batch in batches(data):
            if batch.base_offset != self.end_offset:
                raise ValueError(f"a batch at {batch.base_offset} where the log ends at {self.end_offset}")
            stored = StoredBatch(batch.base_offset, batch.next_offset, batch.partition_leader_epoch, bytes(batch.data))
            self._batches.append(stored)
            self._bases.append(stored.base_offset)

    def read(self, offset: int, max_bytes: int) -> bytes:
        first = max(bisect_right(self._bases, offset) - 1, 0)
        if offset < self._start.offset or offset >= self.end_offset:
            return b""
        last, size = first + 1, len(self._batches[first].data)
        while last < len(self._batches) and size + len(self._batches[last].data) <= max_bytes:
            size += len(self._batches[last].data)
            last += 1
        return b"".join([batch.data for batch in self._batches[first:last]])

    def end_offset_for_epoch(self, epoch: int) -> OffsetAndEpoch:
        if not self._batches or epoch >= self._batches[-1].epoch:
            return OffsetAndEpoch(offset=self.end_offset, epoch=self.last_epoch)
        # Epochs never fall along the log, so the first batch of a later epoch is where this one ends.
        after = bisect_right(self._batches, epoch, key=lambda batch: batch.epoch)
        known = epoch if after == 0 else self._batches[after - 1].epoch
        return OffsetAndEpoch(offset=self._batches[after].base_offset, epoch=known)

    def truncate_to(self, offset: int) -> None:
        while self._batches and self._batches[-1].next_offset > offset:
            batch = self._batches.pop()
            self._bases.pop()
            if batch.next_offset <= self._flushed_end_offset:
                self._truncated.insert(0, batch)
        self._flushed_end_offset = min(self._flushed_end_offset, self.end_offset)

    def flush(self) -> None:
        """Makes everything durable."""
        self._flushed_end_offset = self.end_offset
        self._truncated.clear()

    def unflushed(self) -> bytes:
        """The bytes that a crash may take, in whole or from any byte on."""
        return b"".join([batch.data for batch in self._batches if batch.next_offset > self._flushed_end_offset])

    def crash(self, survived: bytes) -> None:
        """Leaves what was flushed and of the rest the bytes that `survived`, as recovery would find them.

        Recovery keeps whole batches and cuts a torn one; what it keeps it flushes.
        """
        flushed = self._flushed_end_offset
        while self._batches and self._batches[-1].next_offset > flushed:
            self._batches.pop()
            self._bases.pop()
        intact = batches(survived)
        self._put(b"".join([bytes(batch.data) for batch in intact if batch.crc_matches()]))
        self.flush()

    def crash_before_truncation(self) -> None:
        """Like `crash`, on a disk that had not done the last truncation: the old tail is back."""
        tail = list(self._truncated)
        self.truncate_to(self._flushed_end_offset)
        if tail and tail[0].base_offset == self.end_offset:
            self._put(b"".join([batch.data for batch in tail]))
        self.flush()

    def restart_at(self, start: OffsetAndEpoch) -> None:
        """Empties the log; it goes on behind a snapshot."""
        self._batches.clear()
        self._bases.clear()
        self._start = start
        self.flush()

    def advance_start(self, start: OffsetAndEpoch) -> None:
        """Drops what a snapshot covers: batches [0, 3) [3, 7) [7, 9), start 7 → [7, 9)."""
        covered = bisect_right(self._batches, start.offset, key=lambda batch: batch.next_offset)
        del self._batches[:covered], self._bases[:covered]
        self._start = start
        self._flushed_end_offset = max(self._flushed_end_offset, start.offset)


class MemorySnapshots:
    """A `SnapshotPort` beside a `MemoryLog`."""

    def __init__(self, log: MemoryLog) -> None:
        self._log = log
        self._data: dict[OffsetAndEpoch, bytes] = {}
        self._ids: list[OffsetAndEpoch] = []

    @property
    def latest_id(self) -> OffsetAndEpoch | None:
        return self._ids[-1] if self._ids else None

    @property
    def earliest_id(self) -> OffsetAndEpoch | None:
        return self._ids[0] if self._ids else None

    def size(self, snapshot_id: OffsetAndEpoch) -> int | None:
        data = self._data.get(snapshot_id)
        return None if data is None else len(data)

    def read(self, snapshot_id: OffsetAndEpoch, position: int, max_bytes: int) -> bytes:
        return self._data[snapshot_id][position : position + max_bytes]

    def store(self, snapshot_id: OffsetAndEpoch, data: bytes) -> None:
        self._data[snapshot_id] = data
        self._ids = sorted(self._data)

    def part_writer(self, snapshot_id: OffsetAndEpoch) -> "MemorySnapshotPart":
        return MemorySnapshotPart(self, snapshot_id)

    def restart_log_at(self, snapshot_id: OffsetAndEpoch) -> None:
        self._log.restart_at(snapshot_id)
        self._forget_before(snapshot_id)

    def delete_before(self, snapshot_id: OffsetAndEpoch) -> None:
        self._log.advance_start(snapshot_id)
        self._forget_before(snapshot_id)

    def _forget_before(self, snapshot_id: OffsetAndEpoch) -> None:
        self._data = {known: data for known, data in self._data.items() if known >= snapshot_id}
        self._ids = sorted(self._data)


class MemorySnapshotPart:
    """A snapshot on its way in."""

    def __init__(self, snapshots: MemorySnapshots, snapshot_id: OffsetAndEpoch) -> None:
        self._snapshots = snapshots
        self._snapshot_id = snapshot_id
        self._data = bytearray()

    @property
    def size(self) -> int:
        return len(self._data)

    def append(self, data: bytes) -> None:
        self._data += data

    def freeze(self) -> None:
        self._snapshots.store(self._snapshot_id, bytes(self._data))

    def discard(self) -> None:
        self._data.clear()


class MemoryQuorumState:
    """A `QuorumStatePort`."""

    def __init__(self, text: str | None = None) -> None:
        self.text = text

    def read(self) -> str | None:
        return self.text

    def write(self, text: str) -> None:
        self.text = text
