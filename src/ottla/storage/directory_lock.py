"""The lock on a log directory: one process writes there, whether it is Ottla's or Apache Kafka's.

A lock on the file `.lock` that belongs to the open file (not to the process, as plain POSIX locks do), so that two
brokers in one process see each other too; Java's `FileChannel.tryLock` and ours exclude each other. A clean release
removes the file.
"""

import contextlib
import errno
import fcntl
import os
import struct
from typing import Final

from ottla.storage.errors import StorageError

LOCK_FILE: Final = ".lock"
# struct flock: type, whence, start, length (0 is: all of it), process id (0 for locks of open files).
_WHOLE_FILE_FOR_WRITING: Final = struct.pack("@hhqqi0q", fcntl.F_WRLCK, os.SEEK_SET, 0, 0, 0)


class DirectoryInUseError(StorageError):
    """Another process, or another broker in this one, holds the directory."""


class DirectoryLock:
    """A directory that is ours until `release`."""

    __slots__ = ("_descriptor", "_path")

    def __init__(self, path: str, descriptor: int) -> None:
        self._path = path
        self._descriptor: int | None = descriptor

    @classmethod
    def acquire(cls, directory: str) -> "DirectoryLock":
        """Takes the lock; `DirectoryInUseError` if somebody has it."""
        path = f"{directory}/{LOCK_FILE}"
        try:
            descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o644)
        except OSError as error:
            raise StorageError.from_os(error, path) from error
        try:
            fcntl.fcntl(descriptor, fcntl.F_OFD_SETLK, _WHOLE_FILE_FOR_WRITING)
        except OSError as error:
            os.close(descriptor)
            if error.errno in (errno.EACCES, errno.EAGAIN):
                reason = "a Kafka or Ottla instance in another process or thread is using this directory"
                raise DirectoryInUseError(reason, path, error.errno) from error
            raise StorageError.from_os(error, path) from error
        return cls(path, descriptor)

    def release(self) -> None:
        """Gives the directory back and removes the file; a second call does nothing."""
        if self._descriptor is not None:
            # A directory whose disk is gone cannot be tidied, but the lock goes with the descriptor all the same.
            with contextlib.suppress(OSError):
                os.unlink(self._path)
            os.close(self._descriptor)
            self._descriptor = None
