"""The snapshots in a partition's directory: which there are, which may go.

One is taken whenever a segment is rolled, named after the new segment's base offset, and one at a clean stop, named
after the log end; so state is rebuilt by reading at most the segments after the newest good one.

Writing one takes time for each producer, so a roll only promises it, and the next flush, on another thread, writes it
before anything else. Until then nobody changes a producer's entry: who has to puts a changed copy in its place.
"""

import threading
from collections.abc import Collection, Iterable, Sequence

from ottla.storage.disk.atomic import flush_if_there
from ottla.storage.disk.port import Disk
from ottla.storage.producer_state.entry import ProducerEntry
from ottla.storage.producer_state.snapshot import write_snapshot
from ottla.storage.segment import file_name


class SnapshotDirectory:
    """The snapshot files of one partition, by offset."""

    __slots__ = ("_changing", "_disk", "_promised", "directory", "offsets")

    def __init__(self, disk: Disk, directory: str, offsets: Iterable[int]) -> None:
        self._disk = disk
        self._changing = threading.Lock()
        self.directory = directory
        self.offsets = sorted(offsets)
        """Of the files."""
        self._promised: dict[int, Sequence[ProducerEntry]] = {}

    def path(self, offset: int) -> str:
        """The path of the snapshot at an offset, whether it exists or not."""
        return f"{self.directory}/{file_name.name_of(offset, file_name.SNAPSHOT)}"

    def write(self, offset: int, entries: Collection[ProducerEntry]) -> None:
        """Takes a snapshot, replacing one of the same offset."""
        write_snapshot(self._disk, self.path(offset), entries)
        with self._changing:
            self.offsets = sorted({*self.offsets, offset})

    @property
    def is_promised(self) -> bool:
        """Whether there is one to write, of entries that must not change."""
        return bool(self._promised)

    def promise(self, offset: int, entries: Iterable[ProducerEntry]) -> None:
        """Has a snapshot written by the next flush that gets that far."""
        with self._changing:
            self._promised[offset] = tuple(entries)

    def keep_promises(self, offset_max: int) -> None:
        """Writes the snapshots that were promised up to an offset, inclusive; the log is flushed or claimed."""
        for offset in sorted(self._promised):
            entries = self._promised.get(offset)
            if offset <= offset_max and entries is not None:
                self.write(offset, entries)
                with self._changing:
                    if self._promised.get(offset) is entries:
                        del self._promised[offset]

    def flush(self, offset_min: int, offset_max: int) -> bool:
        """Returns once the snapshots of these offsets, both inclusive, are on the disk; whether there are any.

        One that is removed meanwhile on another thread is no loss.
        """
        found = [offset for offset in self.offsets if offset_min <= offset <= offset_max]
        for offset in found:
            flush_if_there(self._disk, self.path(offset))
        return bool(found)

    def remove(self, offset: int) -> None:
        """Deletes the snapshot of an offset; fine if there is none."""
        self._disk.remove(self.path(offset))
        with self._changing:
            self._promised.pop(offset, None)
            self.offsets = [kept for kept in self.offsets if kept != offset]

    def remove_below(self, offset_min: int) -> None:
        """Deletes those of the log's beginning that is gone."""
        for offset in self._all():
            if offset < offset_min:
                self.remove(offset)

    def remove_outside(self, offset_min: int, offset_max: int) -> None:
        """Deletes snapshots below `offset_min` and above `offset_max`.

        The one at the beginning of the log stays: it knows producers whose batches were deleted, but who go on.
        """
        for offset in self._all():
            if not offset_min <= offset <= offset_max:
                self.remove(offset)

    def remove_between(self, offset_min: int, offset_max: int, kept: Collection[int]) -> None:
        """Deletes those of a range of offsets, both inclusive, except for some."""
        for offset in self._all():
            if offset_min <= offset <= offset_max and offset not in kept:
                self.remove(offset)

    def remove_strays(self, base_offsets: Iterable[int], log_end_offset: int) -> None:
        """Deletes snapshots that belong neither to a segment's beginning nor to the log's end."""
        wanted = {*base_offsets, log_end_offset}
        for offset in self.offsets:
            if offset not in wanted:
                self.remove(offset)

    def _all(self) -> list[int]:
        with self._changing:
            return sorted({*self.offsets, *self._promised})
