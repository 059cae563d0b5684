"""Reads a closed segment in large pieces that begin and end with whole batches, and checks what it hands out.

`view[at:]` begins with the next batch; the caller moves `at` on over those it has dealt with, one by one or many at
once. Bytes that are no batch or a wrong CRC end the reading with the position.
"""

from collections.abc import Callable
from typing import Final

from ottla.protocol.errors import DecodeError
from ottla.protocol.records.batch import LOG_OVERHEAD, MAGIC, Batch, frame_at
from ottla.storage.disk.port import File
from ottla.storage.errors import CorruptFileError
from ottla.storage.segment.legacy import LegacyMessage
from ottla.storage.segment.scan import StoredBatch

_READ_BYTES_MIN: Final = 64
"""Bytes that contain the size of a batch."""


class SegmentReader:
    """A file being read from front to back, mostly `buffer_bytes` at a time; `pulse` is told of what was read."""

    __slots__ = ("_buffer_bytes", "_file", "_pulse", "_size", "_start", "at", "view")

    def __init__(self, file: File, buffer_bytes: int, pulse: Callable[[int], None]) -> None:
        self._file = file
        self._buffer_bytes = max(buffer_bytes, _READ_BYTES_MIN)
        self._size = file.size()
        self._pulse = pulse
        self._start = 0
        self.view = memoryview(b"")
        self.at = 0

    @property
    def position(self) -> int:
        """The position of the next batch in the file."""
        return self._start + self.at

    def has_batch(self) -> bool:
        """Makes sure that all of the next batch is in `view`; False at the end of the file."""
        if self.position >= self._size:
            return False
        if self._frame_bytes() is None:
            self._read(self._buffer_bytes)
            if self._frame_bytes() is None:
                self._read(max(int.from_bytes(self.view[8:LOG_OVERHEAD]) + LOG_OVERHEAD, LOG_OVERHEAD))
                if self._frame_bytes() is None:
                    raise self.corrupt("the file ends inside it")
        return True

    def next_batch(self) -> StoredBatch:
        """The batch at `at`, checked; `at` moves behind it."""
        frame = frame_at(self.view, self.at)
        batch: StoredBatch
        if frame is None or frame.magic == MAGIC:
            batch = Batch(self.view, self.at)
        else:
            batch = LegacyMessage(self.view[self.at : self.at + frame.size])
        if not batch.crc_matches():
            raise self.corrupt("a wrong CRC")
        self.at += batch.size
        return batch

    def corrupt(self, reason: str) -> CorruptFileError:
        """The error for the batch at `at`."""
        return CorruptFileError(f"the batch at position {self.position}: {reason}", self._file.path)

    def _frame_bytes(self) -> int | None:
        try:
            frame = frame_at(self.view, self.at)
        except DecodeError as error:
            raise self.corrupt(str(error)) from error
        return None if frame is None else frame.size

    def _read(self, size: int) -> None:
        position = self.position
        data = self._file.read(position, min(size, self._size - position))
        self._start, self.at, self.view = position, 0, memoryview(data)
        self._pulse(len(data))
