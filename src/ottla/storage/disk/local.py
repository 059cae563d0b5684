"""The machine's own file system."""

import os
from collections.abc import Sequence

from ottla.base.buffer import Buffer
from ottla.storage.disk.block_device import BlockDevice
from ottla.storage.disk.held_open import HeldOpen, held_files, held_maps
from ottla.storage.disk.memory_map import map_file
from ottla.storage.disk.port import Access, FileStatus
from ottla.storage.errors import OUT_OF_RESOURCES, StorageError

_FLAGS = {
    Access.READ: os.O_RDONLY | os.O_CLOEXEC,
    Access.WRITE: os.O_RDWR | os.O_CLOEXEC,
    Access.CREATE: os.O_RDWR | os.O_CREAT | os.O_CLOEXEC,
}
_PERMISSIONS = 0o644
_READAHEAD_BYTES = 131_072
"""Bytes that Linux reads ahead, by default."""


class LocalFile:
    """A file descriptor that is closed with the last reference to the object."""

    __slots__ = ("_access", "_descriptor", "_maps", "path")

    def __init__(self, path: str, descriptor: int, access: Access, maps: HeldOpen) -> None:
        self.path = path
        self._maps = maps
        self._descriptor = descriptor
        self._access = access

    def __del__(self) -> None:
        os.close(self._descriptor)

    def fileno(self) -> int:
        return self._descriptor

    def size(self) -> int:
        try:
            return os.fstat(self._descriptor).st_size
        except OSError as error:
            raise StorageError.from_os(error, self.path) from error

    def read(self, position: int, size: int) -> bytes:
        try:
            data = os.pread(self._descriptor, size, position)
            while len(data) < size and (more := os.pread(self._descriptor, size - len(data), position + len(data))):
                data += more
        except OSError as error:
            raise StorageError.from_os(error, self.path) from error
        return data

    def is_cached(self, position: int, size: int) -> bool:
        seen = [bytearray(1)]
        try:
            for place in (*range(position, position + size, _READAHEAD_BYTES), max(position + size - 1, position)):
                os.preadv(self._descriptor, seen, place, os.RWF_NOWAIT)
        except BlockingIOError:
            return False
        except OSError:
            return True  # This file system does not say, or the read itself will.
        return True

    def write(self, position: int, buffers: Sequence[Buffer]) -> None:
        try:
            if len(buffers) == 1:
                data = buffers[0]
                written = os.pwrite(self._descriptor, data, position)
                if written != len(data):
                    self._write_rest(position, data, written)
            else:
                written = os.pwritev(self._descriptor, buffers, position)
                if written != sum(map(len, buffers)):
                    self._write_rest(position, b"".join(buffers), written)
        except OSError as error:
            raise StorageError.from_os(error, self.path) from error

    def _write_rest(self, position: int, data: Buffer, written: int) -> None:
        """A write may stop early (a signal, a full disk); the next one says why, or goes on."""
        view = memoryview(data)
        while written < len(data):
            written += os.pwrite(self._descriptor, view[written:], position + written)

    def truncate(self, size: int) -> None:
        try:
            os.ftruncate(self._descriptor, size)
        except OSError as error:
            raise StorageError.from_os(error, self.path) from error

    def allocate(self, position: int, size: int) -> None:
        try:
            os.posix_fallocate(self._descriptor, position, size)
        except OSError as error:
            raise StorageError.from_os(error, self.path) from error

    def flush(self) -> None:
        try:
            os.fsync(self._descriptor)
        except OSError as error:
            raise StorageError.from_os(error, self.path) from error

    def map(self, size: int) -> memoryview:
        while True:
            try:
                return map_file(self._descriptor, size, writable=self._access is not Access.READ)
            except OSError as error:
                if error.errno not in OUT_OF_RESOURCES or not self._maps.shrink():
                    raise StorageError.from_os(error, self.path) from error


class LocalDisk:
    """See `port.Disk`. Where the system has no descriptor left for a file, others are closed until it has."""

    __slots__ = ("files", "maps")

    def __init__(self) -> None:
        self.files = held_files()
        self.maps = held_maps()

    def open(self, path: str, access: Access) -> LocalFile:
        while True:
            try:
                return LocalFile(path, os.open(path, _FLAGS[access], _PERMISSIONS), access, self.maps)
            except OSError as error:
                if error.errno not in OUT_OF_RESOURCES or not self.files.shrink():
                    raise StorageError.from_os(error, path) from error

    def list(self, directory: str) -> list[str]:
        while True:
            try:
                return os.listdir(directory)
            except OSError as error:
                if error.errno not in OUT_OF_RESOURCES or not self.files.shrink():
                    raise StorageError.from_os(error, directory) from error

    def status(self, path: str) -> FileStatus | None:
        try:
            found = os.stat(path)
        except (FileNotFoundError, NotADirectoryError):
            return None
        except OSError as error:
            raise StorageError.from_os(error, path) from error
        return FileStatus(found.st_size, found.st_mtime_ns // 1_000_000, (found.st_mode & 0o170000) == 0o040000)

    def make_directory(self, path: str) -> None:
        try:
            os.makedirs(path, exist_ok=True)
        except OSError as error:
            raise StorageError.from_os(error, path) from error

    def rename(self, path: str, new_path: str) -> None:
        try:
            os.replace(path, new_path)
        except OSError as error:
            raise StorageError.from_os(error, path) from error

    def remove(self, path: str) -> None:
        try:
            os.unlink(path)
        except FileNotFoundError:
            return
        except IsADirectoryError:
            self._remove_directory(path)
        except OSError as error:
            raise StorageError.from_os(error, path) from error

    def _remove_directory(self, path: str) -> None:
        try:
            os.rmdir(path)
        except OSError as error:
            raise StorageError.from_os(error, path) from error

    def flush_directory(self, directory: str) -> None:
        self.open(directory, Access.READ).flush()

    def device(self, path: str) -> BlockDevice:
        return BlockDevice(path)

    def free_bytes(self, path: str) -> int:
        try:
            found = os.statvfs(path)
        except OSError as error:
            raise StorageError.from_os(error, path) from error
        return found.f_bavail * found.f_frsize
