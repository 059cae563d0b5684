"""Entries that one thread writes and others read."""

import struct
from collections.abc import Callable
from pathlib import Path

from ottla.storage.disk.local import LocalDisk
from ottla.storage.disk.port import Access, File
from ottla.storage.index.mapped_entries import MappedEntries


class InterruptedDisk(LocalDisk):
    """A disk on which another thread runs while a file is opened to be read."""

    meanwhile: Callable[[], None] | None = None

    def open(self, path: str, access: Access) -> File:
        meanwhile, self.meanwhile = self.meanwhile, None
        if access is Access.READ and meanwhile is not None:
            meanwhile()
        return super().open(path, access)


def test_a_reader_takes_no_map_away_from_the_writer(tmp_path: Path) -> None:
    """A reader that found no map makes one; the writer, which made its own meanwhile, cannot write to that."""
    disk = InterruptedDisk()
    entries = MappedEntries(disk, str(tmp_path / "entries"), struct.Struct(">ii"), 800)
    entries.reset()
    entries.append(1, 10)
    entries.release()
    disk.meanwhile = lambda: entries.append(2, 20)
    assert entries.entry(0) == (1, 10)
    assert entries.is_writable
    entries.append(3, 30)
    assert [entries.entry(slot) for slot in range(3)] == [(1, 10), (2, 20), (3, 30)]
