"""Walks over the batches of a log file in large reads.

A scan ends at the end of its range, or at the first bytes that are no whole batch: `position` then says how far the
whole ones reach and `problem` what comes after. The views it yields stay valid; each holds the read it lies in.
"""

from collections.abc import Iterator
from typing import NamedTuple, Protocol

from ottla.protocol.errors import DecodeError
from ottla.protocol.records.batch import LOG_OVERHEAD, MAGIC, Batch, batches, frame_at
from ottla.storage.disk.port import File
from ottla.storage.segment.legacy import LegacyMessage

READ_BYTES = 1 << 20

StoredBatch = Batch | LegacyMessage
"""A batch as it lies in a log: of today's magic, or from before 2017."""


class Indexed(Protocol):
    """The fields of a batch that a segment's indexes need."""

    @property
    def size(self) -> int:
        """Its bytes."""
        ...

    @property
    def last_offset(self) -> int:
        """Its last record's."""
        ...

    @property
    def max_timestamp(self) -> int:
        """The largest of its records."""
        ...


class Extent(NamedTuple):
    """The place of a batch and its bounds, without the batch."""

    size: int
    last_offset: int
    max_timestamp: int


class BatchScan:
    """An iterator over the batches between two positions of a file."""

    __slots__ = ("_buffer", "_end", "_file", "_start", "_walk", "batch_position", "position", "problem")

    def __init__(self, file: File, position: int, end: int) -> None:
        self._file = file
        self._end = end
        self._buffer = memoryview(b"")
        self._walk = batches(self._buffer)
        self._start = position
        self.position = position
        """Where the next batch begins."""
        self.batch_position = position
        """Where the last one given out began."""
        self.problem: str | None = None

    @property
    def path(self) -> str:
        """The file it walks over."""
        return self._file.path

    def __iter__(self) -> Iterator[StoredBatch]:
        return self

    def __next__(self) -> StoredBatch:
        if self.position >= self._end or self.problem is not None:
            raise StopIteration
        batch: StoredBatch | None
        try:
            batch = next(self._walk, None)
        except DecodeError:
            batch = None
        if batch is None:
            batch = self._look_closer()
        self.batch_position = self.position
        self.position += batch.size
        return batch

    def in_order(self, next_offset: int, offset_max: int) -> Iterator[StoredBatch]:
        """The batches as long as their last offsets rise from one offset to another, which no CRC vouches for."""
        for batch in self:
            if not next_offset <= batch.last_offset <= offset_max:
                self.position = self.batch_position
                self.problem = f"a batch up to offset {batch.last_offset} where {next_offset} is next"
                return
            yield batch
            next_offset = batch.next_offset

    def _look_closer(self) -> StoredBatch:
        """The next batch where there is more to do than to take the next one of the bytes at hand."""
        try:
            batch = self._next()
        except DecodeError as error:
            self.problem = str(error)
            raise StopIteration from None
        if batch is None:
            self.problem = "the bytes end inside a batch"
            raise StopIteration
        self._walk = batches(self._buffer, self.position - self._start + batch.size)
        return batch

    def _next(self) -> StoredBatch | None:
        at = self.position - self._start
        frame = frame_at(self._buffer, at)
        if frame is None:
            self._read()
            at = 0
            frame = frame_at(self._buffer)
            if frame is None:
                return None
        if frame.magic == MAGIC:
            return Batch(self._buffer, at)
        return LegacyMessage(self._buffer[at : at + frame.size])

    def _read(self) -> None:
        """Reads on from the position, all of the batch there if it is larger than a usual read."""
        left = self._end - self.position
        size = READ_BYTES
        unread = self._buffer[self.position - self._start :]
        if len(unread) >= LOG_OVERHEAD:
            size = max(size, int.from_bytes(unread[8:12]) + LOG_OVERHEAD)
        data = self._file.read(self.position, min(size, left))
        self._start, self._buffer = self.position, memoryview(data)
        if size == READ_BYTES < left and frame_at(self._buffer) is None:
            size = int.from_bytes(data[8:12]) + LOG_OVERHEAD
            self._buffer = memoryview(self._file.read(self.position, min(size, left)))


def is_zero(file: File, position: int, end: int) -> bool:
    """Whether the file holds nothing but zeros from a position to its end."""
    while position < end:
        data = file.read(position, min(READ_BYTES, end - position))
        if not data or data.count(0) != len(data):
            return False
        position += len(data)
    return True
