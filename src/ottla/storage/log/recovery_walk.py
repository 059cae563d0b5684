"""Walks over a segment that may not be whole, up to the first batch that cannot be what was written there.

The CRC covers neither the offset that a batch begins at nor its leader epoch, so both are held against the batches
around it. A batch that leaves a gap is held back until the one behind it has been seen:

    [10,19] [84,93] [20,29]   the second has a wrong offset, and the walk ends at 20
    [10,19] [84,93] [94,99]   compaction took 20 to 83
"""

from collections.abc import Iterator
from typing import NamedTuple

from ottla.protocol.errors import DecodeError
from ottla.storage.segment.scan import BatchScan, StoredBatch


class _Held(NamedTuple):
    position: int
    batch: StoredBatch


class RecoveryWalk:
    """The batches of one segment with their positions; `problem` says what ended the walk, if not the segment's end."""

    __slots__ = ("_epoch", "_flushed_end", "_offset_max", "_scan", "end", "next_offset", "problem")

    def __init__(self, scan: BatchScan, base_offset: int, offset_max: int, flushed_end: int) -> None:
        """`flushed_end` is an offset that no gap reaches across, as a batch ended there; 0 if there is none."""
        self._scan = scan
        self._flushed_end = flushed_end
        self._offset_max = offset_max
        self._epoch = -1
        self.next_offset = base_offset
        """The offset after the last batch."""
        self.end = scan.position
        """The position after it."""
        self.problem: str | None = None

    def __iter__(self) -> Iterator[tuple[int, StoredBatch]]:
        held: _Held | None = None
        for batch in self._scan:
            position = self._scan.batch_position
            if held is not None:
                if self._is_behind_a_wrong_one(held.batch, batch):
                    self.problem = f"offset {held.batch.base_offset} before a lower one"
                    return
                yield self._passed(held)
                held = None
            self.problem = self._problem(batch)
            if self.problem is not None:
                return
            if batch.base_offset > self.next_offset:
                held = _Held(position, batch)
            else:
                yield self._passed(_Held(position, batch))
        if held is not None:
            yield self._passed(held)
        self.problem = self._scan.problem

    def _passed(self, held: _Held) -> tuple[int, StoredBatch]:
        batch = held.batch
        self.end, self.next_offset = held.position + batch.size, batch.next_offset
        self._epoch = max(self._epoch, batch.partition_leader_epoch)
        return held

    def _is_behind_a_wrong_one(self, held: StoredBatch, batch: StoredBatch) -> bool:
        try:
            return batch.base_offset < held.next_offset and self._problem(batch) is None
        except DecodeError:
            return False

    def _problem(self, batch: StoredBatch) -> str | None:
        """The reason why a batch can not follow those before it; None if it can."""
        if not batch.crc_matches():
            return "the CRC does not match"
        try:
            base_offset = batch.base_offset
        except DecodeError as error:
            return str(error)
        is_across = self.next_offset < self._flushed_end < base_offset
        if is_across or not self.next_offset <= base_offset <= batch.last_offset <= self._offset_max:
            return f"offset {base_offset} where {self.next_offset} is next"
        if 0 <= batch.partition_leader_epoch < self._epoch:
            return f"leader epoch {batch.partition_leader_epoch} after {self._epoch}"
        return None
