"""The lock on a log directory: one process writes there, whether it is Ottla's or Apache Kafka's.

A lock on the file `.lock` that belongs to the open file (not to the process, as plain POSIX locks do), so that two
brokers in one process see each other too; Java's `FileChannel.tryLock` and ours exclude each other. A clean release
removes the file, so after taking the lock one has to check that the file is still the directory's.
"""

import contextlib
import errno
import fcntl
import os
import struct
import time
from typing import Final

from ottla.storage.errors import StorageError

LOCK_FILE: Final = ".lock"
PATIENCE_MS: Final = 500
"""A cleaning process that is just being started when its broker is killed holds the lock until it runs."""
_PAUSE_MS: Final = 20
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
    def acquire(cls, directory: str, patience_ms: int = PATIENCE_MS) -> "DirectoryLock":
        """Takes the lock; raises `DirectoryInUseError` if another process holds it for longer than the patience."""
        path = f"{directory}/{LOCK_FILE}"
        while True:
            try:
                descriptor = _try_lock(path)
            except OSError as error:
                raise StorageError.from_os(error, path) from error
            if descriptor is not None:
                return cls(path, descriptor)
            if patience_ms <= 0:
                reason = "a Kafka or Ottla instance in another process or thread is using this directory"
                raise DirectoryInUseError(reason, path, errno.EAGAIN)
            patience_ms -= _PAUSE_MS
            time.sleep(_PAUSE_MS / 1000)

    def release(self) -> None:
        """Gives the directory back and removes the file; a second call does nothing."""
        if self._descriptor is not None:
            # A directory whose disk is gone cannot be tidied, but the lock goes with the descriptor all the same.
            with contextlib.suppress(OSError):
                os.unlink(self._path)
            os.close(self._descriptor)
            self._descriptor = None


def _try_lock(path: str) -> int | None:
    """The descriptor of the locked file; None if another process holds it, or removed it just now."""
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o644)
    try:
        fcntl.fcntl(descriptor, fcntl.F_OFD_SETLK, _WHOLE_FILE_FOR_WRITING)
        is_ours = os.path.samestat(os.fstat(descriptor), os.stat(path))
    except FileNotFoundError:
        is_ours = False
    except OSError as error:
        if error.errno not in (errno.EACCES, errno.EAGAIN):
            os.close(descriptor)
            raise
        is_ours = False
    if is_ours:
        return descriptor
    os.close(descriptor)
    return None
