"""From an offset to a position near it: entries of relative offset int32 and file position int32, sparse.

An entry holds the last offset of the batch that starts at the position. Both columns rise strictly. Offsets are kept
relative to the segment's base, so they fit as long as the segment spans less than 2^31 of them.
"""

import struct
from bisect import bisect_left

from ottla.storage.disk.port import Disk
from ottla.storage.errors import CorruptFileError, RebuildableFileError
from ottla.storage.index.mapped_entries import MappedEntries
from ottla.storage.index.search import floor_entry, floor_slot_int32

RELATIVE_OFFSET_MAX = 2**31 - 1
"""Indexes keep offsets relative to the base as int32; a segment that would outgrow that has to roll."""

_ENTRY = struct.Struct(">ii")


class OffsetIndex:
    """A segment's `.index`."""

    __slots__ = ("base_offset", "entries", "last_offset", "last_position")

    def __init__(self, disk: Disk, path: str, base_offset: int, bytes_max: int) -> None:
        self.entries = MappedEntries(disk, path, _ENTRY, bytes_max)
        self.base_offset = base_offset
        self.last_offset = base_offset
        """The offset of the last entry; the base offset if there is none."""
        self.last_position = 0
        """Its position; 0 if there is none."""

    def load(self) -> None:
        """Reads how much there is; `RebuildableFileError` if it cannot be an index."""
        last = self.entries.load()
        if last is not None and not (last[0] > 0 and last[1] > 0):
            raise RebuildableFileError(f"an entry of offset {last[0]} and position {last[1]}", self.entries.path)
        self._note_last(last)

    @property
    def is_full(self) -> bool:
        """Whether there is no room for another entry, which is a reason to roll."""
        return self.entries.count >= self.entries.entries_max

    def append(self, offset: int, position: int) -> None:
        """Adds an entry; offsets only rise."""
        relative = offset - self.base_offset
        if (self.entries.count > 0 and offset <= self.last_offset) or not 0 <= relative <= RELATIVE_OFFSET_MAX:
            raise CorruptFileError(f"offset {offset} after {self.last_offset}", self.entries.path)
        self.entries.append(relative, position)
        self.last_offset, self.last_position = offset, position

    def floor(self, offset: int) -> tuple[int, int]:
        """The entry with the largest offset that is not above the one given; base offset and 0 if there is none.

        Entries (10, 500) (20, 900): 19 → (10, 500), 20 → (20, 900), 5 → (base, 0).
        """
        if offset >= self.last_offset:
            return self.last_offset, self.last_position
        entries = self.entries
        found = floor_entry(entries.map(), entries.count, offset - self.base_offset) if entries.count > 0 else None
        return (self.base_offset, 0) if found is None else (self.base_offset + found[0], found[1])

    def offset_beyond(self, position: int) -> int | None:
        """The offset of the first entry at the position or behind it; None if there is none.

        Entries (10, 500) (20, 900): 500 → 10, 501 → 20, 901 → None.
        """
        entries = self.entries
        if position > self.last_position or entries.count == 0:
            return None
        slot = bisect_left(range(entries.count), position, key=lambda slot: entries.entry(slot)[1])
        return self.base_offset + entries.entry(slot)[0]

    def truncate(self, offset: int) -> None:
        """Forgets entries of this offset and above."""
        count = self.entries.count
        if count > 0 and self.last_offset >= offset:
            left = floor_slot_int32(self.entries.map(), count, offset - self.base_offset - 1) + 1
            self.entries.truncate(left)
            self._note_last(self.entries.entry(left - 1) if left else None)

    def reset(self) -> None:
        """Starts over."""
        self.entries.reset()
        self._note_last(None)

    def _note_last(self, entry: tuple[int, int] | None) -> None:
        relative, self.last_position = entry or (0, 0)
        self.last_offset = self.base_offset + relative
