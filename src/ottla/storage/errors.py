"""Errors of the disk, always with their path.

`StorageError` is a `KafkaStorageError`, so a handler that lets it through answers KAFKA_STORAGE_ERROR. After one the
log that raised it is offline: its directory has to be looked at before anything is served from it again.
"""

import errno

from ottla.base.errors import OttlaError
from ottla.protocol.errors import KafkaStorageError

_FULL = "make room there and start the node again"
_BROKEN = "see the system's log, mend the disk and start the node again"
_REMEDIES = {
    errno.ENOSPC: _FULL,
    errno.EDQUOT: _FULL,
    errno.EROFS: "the system made it read-only: see its log, mount it anew and start the node again",
    errno.EACCES: "give this process the right to write there and start it again",
}
OUT_OF_RESOURCES = frozenset((errno.EMFILE, errno.ENFILE, errno.ENOMEM))


class StorageError(KafkaStorageError):
    """The disk refused, or holds what cannot be: `path` says where, `errno` why if the system said so."""

    def __init__(self, reason: str, path: str, errno: int | None = None) -> None:
        super().__init__(f"{path}: {reason}")
        self.reason = reason
        self.path = path
        self.errno = errno

    @property
    def is_passing(self) -> bool:
        """Whether the disk is sound, and the same may go well later."""
        return False

    @property
    def with_remedy(self) -> str:
        """The error and, where the system refused, an operator's next step.

        >>> StorageError("No space left on device", "/data", errno.ENOSPC).with_remedy
        '/data: No space left on device; make room there and start the node again'
        """
        if self.errno is None:
            return str(self)
        return f"{self}; {_REMEDIES.get(self.errno, _BROKEN)}"

    @classmethod
    def from_os(cls, error: OSError, path: str) -> "StorageError":
        """The storage error for an error of the system.

        A file where a directory should be, or the other way round, is no failure of the disk: a user put it there.
        Neither is it one that the system gives this process no more descriptors or maps.
        """
        kind = cls
        if error.errno in (errno.EISDIR, errno.ENOTDIR):
            kind = CorruptFileError
        elif error.errno in OUT_OF_RESOURCES:
            kind = ResourceShortageError
        return kind(error.strerror or str(error), path, error.errno)


class CorruptFileError(StorageError):
    """A file whose contents break an invariant and cannot be rebuilt from anything else."""

    @property
    def was_read(self) -> bool:
        """Whether it is what the file says that is wrong, and not that it is no file at all."""
        return self.errno is None


class ResourceShortageError(StorageError):
    """The system gives no more descriptors, memory or maps, though we have let go of all that we could."""

    @property
    def is_passing(self) -> bool:
        return True


class ColdReadError(StorageError):
    """The data may have to come from the disk, and the caller does not wait for it."""

    @property
    def is_passing(self) -> bool:
        return True


class BusyDiskError(StorageError):
    """No append is taken just now: as much waits for the disk as may, or the log is about to move to another one."""

    @property
    def is_passing(self) -> bool:
        return True


class LogOfflineError(StorageError):
    """An earlier I/O error took the log offline."""


class RebuildableFileError(OttlaError):
    """A derived file (index, snapshot) is missing or wrong; loading the log rebuilds it from the batches."""

    def __init__(self, reason: str, path: str) -> None:
        super().__init__(f"{path}: {reason}")
        self.reason = reason
        self.path = path


class UnexpectedOffsetError(OttlaError):
    """A follower was given batches that do not go on where its log ends."""
