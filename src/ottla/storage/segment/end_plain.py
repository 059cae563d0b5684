"""The end of a segment: what every append looks at and changes.

`Segment` adds all that happens less often. The two are apart because this half exists twice, here and compiled in
`_end.pyx`: a broker of small requests is here as often as in its sockets. The twins do the same in the same order.
"""

from abc import ABC, abstractmethod
from typing import Final

from ottla.base.buffer import Buffer
from ottla.protocol.records.timestamp import NO_TIMESTAMP
from ottla.storage.disk.port import File
from ottla.storage.errors import StorageError
from ottla.storage.index.offset_index import RELATIVE_OFFSET_MAX


class SegmentEnd(ABC):
    """The end of a segment, for its next batch."""

    __slots__ = (
        "_file",
        "_index_interval_bytes",
        "_max_timestamp",
        "_max_timestamp_offset",
        "_next_offset",
        "_unindexed_bytes",
        "is_index_full",
        "offset_max",
        "size_bytes",
    )

    def __init__(self, base_offset: int, index_interval_bytes: int) -> None:
        self._file: File | None = None
        self._index_interval_bytes: Final = index_interval_bytes
        self._unindexed_bytes = 0
        self._max_timestamp = NO_TIMESTAMP
        self._max_timestamp_offset = base_offset
        self._next_offset = base_offset
        self.offset_max: Final = base_offset + RELATIVE_OFFSET_MAX
        """The last offset that the indexes can express."""
        self.is_index_full = False
        """Whether an index has no room for another entry."""
        self.size_bytes = 0
        """Bytes of its batches; a file that was preallocated is longer, until `seal` trims it."""

    @abstractmethod
    def file(self) -> File:
        """The open log file."""

    @abstractmethod
    def _add_entries(self, last_offset: int, position: int) -> None:
        """Adds the batch at the position to the indexes."""

    def append(self, data: Buffer, last_offset: int, max_timestamp: int) -> None:
        """Writes one batch. On `StorageError` the segment is as it was before."""
        position, size = self.size_bytes, len(data)
        self._write(position, data)
        self._note(position, size, last_offset, max_timestamp)
        self.size_bytes = position + size

    def _note(self, position: int, size: int, last_offset: int, max_timestamp: int) -> None:
        """Keeps indexes and timestamps in step with a batch that was written at the position."""
        if max_timestamp > self._max_timestamp:
            self._max_timestamp = max_timestamp
            self._max_timestamp_offset = last_offset
        if self._unindexed_bytes > self._index_interval_bytes:
            self._add_entries(last_offset, position)
            self._unindexed_bytes = 0
        self._unindexed_bytes += size
        self._next_offset = last_offset + 1

    def _write(self, position: int, data: Buffer) -> None:
        try:
            (self._file or self.file()).write(position, (data,))
        except StorageError:
            # What may have reached the file must not be there when the log is read again.
            self.file().truncate(position)
            raise
