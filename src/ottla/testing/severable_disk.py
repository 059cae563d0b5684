"""The machine's disk, until it is cut off: later writes do not reach it, and report no error.

This is how a broker inside of a living process dies: the parts that still run for a moment, to give their threads and
descriptors back, write into the void, and the files stay as they were at the moment of the cut. What was written before
and not flushed is still there, as after a SIGKILL: the kernel has it. Index files are shared memory; an entry that is
put into one after the cut is not held back, and the recovery that follows rebuilds those indexes anyway.
"""

import os
from collections.abc import Sequence

from ottla.base.buffer import Buffer
from ottla.storage.disk.local import LocalDisk
from ottla.storage.disk.port import Access, File, FileStatus


class SeverableFile:
    """A file on a `SeverableDisk`; see `port.File`."""

    __slots__ = ("_disk", "_file", "fileno", "is_cached", "path", "read", "size")

    def __init__(self, disk: "SeverableDisk", file: File) -> None:
        self._disk = disk
        self._file = file
        self.path = file.path
        self.fileno = file.fileno
        self.is_cached = file.is_cached
        self.read = file.read
        self.size = file.size

    def write(self, position: int, buffers: Sequence[Buffer]) -> None:
        if not self._disk.is_severed:
            self._file.write(position, buffers)

    def truncate(self, size: int) -> None:
        if not self._disk.is_severed:
            self._file.truncate(size)

    def allocate(self, position: int, size: int) -> None:
        if not self._disk.is_severed:
            self._file.allocate(position, size)

    def flush(self) -> None:
        if not self._disk.is_severed:
            self._file.flush()

    def map(self, size: int) -> memoryview:
        if not self._disk.is_severed:
            return self._file.map(size)
        return memoryview(bytearray(self.read(0, size).ljust(size, b"\0")))


class SeverableDisk:
    """See `port.Disk`. `sever` may be called on any thread, and once is enough."""

    __slots__ = ("_disk", "_void", "files", "is_severed", "maps")

    def __init__(self) -> None:
        self._disk = LocalDisk()
        self.files = self._disk.files
        self.maps = self._disk.maps
        self._void: set[str] = set()
        """Files that were made since the cut: those who made them find them, empty."""
        self.is_severed = False

    def sever(self) -> None:
        """Nothing reaches the disk any more."""
        self.is_severed = True

    def open(self, path: str, access: Access) -> SeverableFile:
        if self.is_severed and access is Access.CREATE and not os.path.exists(path):
            self._void.add(path)
        return SeverableFile(self, self._disk.open(os.devnull if path in self._void else path, access))

    def list(self, directory: str) -> list[str]:
        return self._disk.list(directory)

    def status(self, path: str) -> FileStatus | None:
        return self._disk.status(path)

    def make_directory(self, path: str) -> None:
        if not self.is_severed:
            self._disk.make_directory(path)

    def rename(self, path: str, new_path: str) -> None:
        if not self.is_severed:
            self._disk.rename(path, new_path)
        elif path in self._void:
            self._void.add(new_path)

    def remove(self, path: str) -> None:
        if not self.is_severed:
            self._disk.remove(path)

    def flush_directory(self, directory: str) -> None:
        if not self.is_severed:
            self._disk.flush_directory(directory)

    def device(self, path: str) -> None:
        """Not looked at: how busy the machine is must not change what a test sees."""

    def free_bytes(self, path: str) -> int:
        return self._disk.free_bytes(path)
