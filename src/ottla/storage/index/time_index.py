"""From a timestamp to an offset: entries of timestamp int64 and relative offset int32, sparse.

An entry (t, o) says that no record before the batch that ends at o is later than t, and that this batch holds one of
exactly t. Timestamps rise strictly, offsets too. One place is kept free for the entry that sealing a segment adds.
"""

import struct

from ottla.protocol.records.timestamp import NO_TIMESTAMP
from ottla.storage.disk.port import Disk
from ottla.storage.index.mapped_entries import MappedEntries
from ottla.storage.index.search import floor_slot_timestamp

_ENTRY = struct.Struct(">qi")


class TimeIndex:
    """A segment's `.timeindex`."""

    __slots__ = ("base_offset", "entries", "last_offset", "last_timestamp")

    def __init__(self, disk: Disk, path: str, base_offset: int, bytes_max: int) -> None:
        self.entries = MappedEntries(disk, path, _ENTRY, bytes_max)
        self.base_offset = base_offset
        self.last_timestamp = NO_TIMESTAMP
        self.last_offset = base_offset

    def load(self) -> None:
        """Reads how much there is; `RebuildableFileError` if it cannot be an index."""
        self._note_last(self.entries.load())

    @property
    def is_full(self) -> bool:
        """Whether only the place for the sealing entry is left."""
        return self.entries.count >= self.entries.entries_max - 1

    def maybe_append(self, timestamp: int, offset: int) -> None:
        """Adds an entry if its timestamp is new; an older or equal one would say nothing."""
        if timestamp > self.last_timestamp:
            self.entries.append(timestamp, offset - self.base_offset)
            self.last_timestamp = timestamp
            self.last_offset = offset

    def floor(self, timestamp: int) -> tuple[int, int]:
        """The entry with the largest timestamp that is not above the one given; (-1, base offset) if there is none."""
        count = self.entries.count
        if count <= 0:
            return NO_TIMESTAMP, self.base_offset
        mapped = self.entries.map()
        slot = floor_slot_timestamp(mapped, min(count, len(mapped) // 12), timestamp)
        if slot < 0:
            return NO_TIMESTAMP, self.base_offset
        found, relative = _ENTRY.unpack_from(mapped, slot * 12)
        return found, self.base_offset + relative

    def truncate(self, offset: int) -> None:
        """Forgets entries of this offset and above; offsets rise with the entries, so they are the last ones."""
        count = self.entries.count
        while count > 0 and self.entries.entry(count - 1)[1] + self.base_offset >= offset:
            count -= 1
        self.entries.truncate(count)
        self._note_last(self.entries.entry(count - 1) if count > 0 else None)

    def reset(self) -> None:
        """Starts over."""
        self.entries.reset()
        self._note_last(None)

    def _note_last(self, entry: tuple[int, int] | None) -> None:
        self.last_timestamp, relative = entry or (NO_TIMESTAMP, 0)
        self.last_offset = self.base_offset + relative
