"""Files and directories of a simulated disk, each with its visible content and the content that survives a crash.

Contents live in anonymous memory files, so descriptors, maps and `sendfile` work as on a real disk. Between two
flushes nothing is promised: at a crash a file may keep its old contents, the new ones, a part of the new ones cut at
any byte, or a mixture of old, new and zero sectors. Of a directory's changes the first few survive, in order.
"""

import os
from random import Random

_SECTOR_BYTES = 512


class FileNode:
    """A file: its contents in memory, and those that were flushed."""

    __slots__ = ("descriptor", "durable", "modified_ms")

    def __init__(self, contents: bytes = b"", modified_ms: int = 0) -> None:
        self.descriptor = os.memfd_create("simulated", os.MFD_CLOEXEC)
        os.pwrite(self.descriptor, contents, 0)
        self.durable = contents
        self.modified_ms = modified_ms

    def __del__(self) -> None:
        os.close(self.descriptor)

    def size(self) -> int:
        return os.fstat(self.descriptor).st_size

    def contents(self) -> bytes:
        """The visible content."""
        return os.pread(self.descriptor, self.size(), 0)

    def flush(self) -> None:
        self.durable = self.contents()

    def after_crash(self, random: Random) -> "FileNode":
        """The file as it may be found after the power came back."""
        return FileNode(_survivor(self.durable, self.contents(), random), self.modified_ms)


def _survivor(durable: bytes, current: bytes, random: Random) -> bytes:
    if durable == current:
        return durable
    fate = random.randrange(4)
    if fate == 0:
        return durable
    if fate == 1:
        return current
    if fate == 2 and len(current) > len(durable):
        torn = random.randint(len(durable), len(current))
        return current[:torn] + bytes(random.choice((0, 0, random.randint(0, len(current) - torn))))
    return _mixture(durable, current, random)


def _mixture(durable: bytes, current: bytes, random: Random) -> bytes:
    """Sectors of either, or zeros where a sector was added; the length is one of the two."""
    size = random.choice((len(durable), len(current)))
    mixed = bytearray()
    for start in range(0, size, _SECTOR_BYTES):
        end = min(start + _SECTOR_BYTES, size)
        chosen = random.choice((durable, current))[start:end]
        mixed += chosen + bytes(end - start - len(chosen))
    return bytes(mixed)


Change = tuple[tuple[str, "Node | None"], ...]
"""Names that came or went together: a rename is one change of two names."""


class DirectoryNode:
    """A directory: the names that are visible, those that were flushed, and the changes in between."""

    __slots__ = ("durable", "names", "pending")

    def __init__(self, names: "dict[str, Node] | None" = None) -> None:
        self.names: dict[str, Node] = dict(names or {})
        self.durable: dict[str, Node] = dict(self.names)
        self.pending: list[Change] = []

    def change(self, change: Change) -> None:
        _apply(self.names, change)
        self.pending.append(change)

    def flush(self) -> None:
        self.durable = dict(self.names)
        self.pending = []

    def after_crash(self, random: Random) -> "DirectoryNode":
        """The directory as it may be found after the power came back."""
        names = dict(self.durable)
        for change in self.pending[: random.randint(0, len(self.pending))]:
            _apply(names, change)
        return DirectoryNode({name: node.after_crash(random) for name, node in names.items()})


def _apply(names: "dict[str, Node]", change: Change) -> None:
    for name, node in change:
        if node is None:
            names.pop(name, None)
        else:
            names[name] = node


Node = FileNode | DirectoryNode
