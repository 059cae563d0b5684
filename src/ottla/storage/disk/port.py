"""The interfaces of a disk. All of `ottla.storage` goes through these two.

Both raise `StorageError` with the path, never `OSError`. Nothing is durable before `File.flush` (for contents) and
`Disk.flush_directory` (for names: created, renamed, removed) returned.
"""

from collections.abc import Sequence
from enum import Enum, auto
from typing import Protocol

from ottla.base.buffer import Buffer
from ottla.base.frozen import frozen


class Access(Enum):
    """The mode in which a file is opened."""

    READ = auto()
    """The file must be there."""
    WRITE = auto()
    """Read and write; the file must be there."""
    CREATE = auto()
    """Read and write; made if it is not there."""


@frozen
class FileStatus:
    """The status of a path."""

    size_bytes: int
    modified_ms: int
    is_directory: bool


class File(Protocol):
    """An open file.

    There is no `close`: the descriptor goes when the last holder lets go, because a region of the file may still be on
    its way into a socket after the segment was deleted.
    """

    path: str

    def fileno(self) -> int:
        """The descriptor, for `sendfile`."""

    def size(self) -> int:
        """Bytes in the file."""

    def read(self, position: int, size: int) -> bytes:
        """Up to `size` bytes from a position; fewer only at the end of the file."""

    def is_cached(self, position: int, size: int) -> bool:
        """Whether a stretch can be read without waiting for the disk, as far as a few looks at it tell."""

    def write(self, position: int, buffers: Sequence[Buffer]) -> None:
        """Writes the buffers one after the other at a position: all of it, or `StorageError`."""

    def truncate(self, size: int) -> None:
        """Cuts the file, or makes it longer with zeros."""

    def allocate(self, position: int, size: int) -> None:
        """Makes sure there is room on the disk for a stretch of the file; a full disk says so here.

        Writing through a map into a hole of the file has no way to say it: the process would die of SIGBUS.
        """

    def flush(self) -> None:
        """Returns once contents and length are on the disk; so are writes to its maps."""

    def map(self, size: int) -> memoryview:
        """The first `size` bytes as shared memory, writable if the file is. The map needs no descriptor."""


class Holder(Protocol):
    """An object with a file or map that it can open again."""

    @property
    def written(self) -> int:
        """A number that changes when it is written to."""

    def let_go(self) -> None:
        """Closes the file on any thread; current users go on with it."""


class Held(Protocol):
    """The holders that have something open, of one kind: a bounded number. On any thread."""

    def note(self, holder: Holder) -> None:
        """It has opened something; others may have to let go."""

    def forget(self, holder: Holder) -> None:
        """It has closed what was open, by itself."""


class Device(Protocol):
    """The device of a directory."""

    def is_idle_with_work(self) -> bool:
        """Whether requests were waiting at the last look, are now, and none was completed in between."""


class Disk(Protocol):
    """A file system. Paths are strings, absolute or as the caller likes them."""

    @property
    def files(self) -> Held:
        """Keeps files open that may be opened again at any time."""

    @property
    def maps(self) -> Held:
        """Keeps maps open that may be opened again at any time."""

    def open(self, path: str, access: Access) -> File:
        """An open file."""

    def list(self, directory: str) -> list[str]:
        """The names in a directory, in no order."""

    def status(self, path: str) -> FileStatus | None:
        """The status of the path; None if nothing is there."""

    def make_directory(self, path: str) -> None:
        """Makes a directory, and those above it; fine if it is there."""

    def rename(self, path: str, new_path: str) -> None:
        """Moves a file or directory, replacing a file of the new name."""

    def remove(self, path: str) -> None:
        """Removes a file or an empty directory; fine if it is gone."""

    def flush_directory(self, directory: str) -> None:
        """Returns once the directory's names are on the disk."""

    def device(self, path: str) -> Device | None:
        """The device below a directory; None for a disk in memory, which is never slow."""

    def free_bytes(self, path: str) -> int:
        """Bytes left on the file system that holds the path."""
