"""The batches that a log's thread has yet to write: the log end after them, the room in their segment, and callbacks.

The loop counts ahead of the thread: batches have their offsets before they are in the file, and segments end before
the next one exists. Loop thread only.
"""

from collections import deque
from collections.abc import Callable, Sequence
from typing import Final, TypeAlias

from ottla.protocol.records.batch import Batch
from ottla.storage.append_queue import LogWriter
from ottla.storage.errors import StorageError
from ottla.storage.index.offset_index import RELATIVE_OFFSET_MAX
from ottla.storage.log.appending.segment_age import SegmentAge
from ottla.storage.log_config import LogConfig
from ottla.storage.segment import file_name
from ottla.storage.segment.segment import Segment

_INDEX_ENTRY_BYTES: Final = 12
"""The larger of the two kinds."""

WrittenDone: TypeAlias = Callable[[StorageError | None], None]
"""Called on the loop: with None once what was waited for is in the file, or with why it never will be."""


class Room:
    """The room in the segment of the next batch: bytes, index entries, offsets and age."""

    __slots__ = ("_age", "_entries_left", "_offset_max", "_size_bytes")

    def __init__(self, segment: Segment) -> None:
        self._age = SegmentAge(segment.path(), segment.first_timestamp, segment.created_ms)
        self._size_bytes = segment.size_bytes
        self._offset_max = segment.offset_max
        indexes = segment.offset_index.entries, segment.time_index.entries
        self._entries_left = min(index.entries_max - max(index.count, 0) for index in indexes)

    def takes(self, config: LogConfig, size: int, batches: Sequence[Batch], now_ms: int) -> bool:
        """Whether batches fit. An empty segment takes any; each batch may need an index entry."""
        if not self._size_bytes:
            return batches[-1].last_offset <= self._offset_max
        return (
            self._size_bytes + size <= config.segment_bytes
            and batches[-1].last_offset <= self._offset_max
            and len(batches) < self._entries_left
            and not self._age.is_past(config, max(batch.max_timestamp for batch in batches), now_ms)
        )

    def begin(self, directory: str, base_offset: int, config: LogConfig, now_ms: int) -> None:
        """Begins a new segment for the next batch."""
        self._age = SegmentAge(f"{directory}/{file_name.name_of(base_offset, file_name.LOG)}", None, now_ms)
        self._size_bytes = 0
        self._offset_max = base_offset + RELATIVE_OFFSET_MAX
        self._entries_left = config.segment_index_bytes // _INDEX_ENTRY_BYTES

    def take(self, size: int, batches: Sequence[Batch]) -> None:
        """Counts batches in."""
        if not self._size_bytes and batches[0].max_timestamp >= 0:
            self._age = self._age._replace(first_timestamp=batches[0].max_timestamp)
        self._size_bytes += size
        self._entries_left -= len(batches)


class Backlog:
    """The batches of one log that are placed and not written."""

    __slots__ = ("_waiting", "end_offset", "room", "unwritten", "writer")

    def __init__(self, end_offset: int, room: Room) -> None:
        self.end_offset = end_offset
        """Where the log ends once all is written."""
        self.room: Final = room
        self.writer: LogWriter
        """Brings it into the file."""
        self.unwritten = 0
        """Writes that were handed to the thread and have not come back."""
        self._waiting: deque[tuple[int, WrittenDone]] = deque()

    def when_written(self, offset: int, done: WrittenDone) -> None:
        """Calls back once everything below the offset is in the file, or cannot be written."""
        self._waiting.append((offset, done))

    def due(self, log_end_offset: int) -> list[WrittenDone]:
        """Removes and returns the callbacks whose offset the log has reached."""
        due: list[WrittenDone] = []
        while self._waiting and self._waiting[0][0] <= log_end_offset:
            due.append(self._waiting.popleft()[1])
        return due

    def all_waiting(self) -> list[WrittenDone]:
        """Removes and returns all callbacks, when no more will be written."""
        waiting, self._waiting = self._waiting, deque()
        return [done for _, done in waiting]
