"""A disk in memory that loses what was not flushed, and fails on command.

>>> from random import Random
>>> disk = SimulatedDisk()
>>> disk.make_directory("/data")
>>> disk.open("/data/file", Access.CREATE).write(0, [b"hello"])
>>> disk.crash(Random(1))
>>> disk.status("/data/file") is None
True
"""

import errno
import os
from collections.abc import Sequence
from dataclasses import dataclass
from random import Random

from ottla.base.buffer import Buffer
from ottla.storage.disk.held_open import unbounded
from ottla.storage.disk.memory_map import map_file
from ottla.storage.disk.port import Access, FileStatus
from ottla.storage.disk.simulated_node import DirectoryNode, FileNode, Node
from ottla.storage.errors import StorageError

_CHANGES = ("write", "truncate", "allocate", "flush", "create", "make_directory", "rename", "remove")


class PowerCut(Exception):  # noqa: N818 - it is an event of the simulation, not an error of the storage
    """The moment that `SimulatedDisk.cut_after` asked for: nothing after it happens."""


@dataclass(slots=True)
class Fault:
    """Operations of a kind (`write`, `flush`, `read`, …) on paths with an ending fail."""

    operation: str
    error: int = errno.EIO
    path_ending: str = ""


class SimulatedFile:
    """See `port.File`."""

    __slots__ = ("_access", "_disk", "_node", "path")

    def __init__(self, disk: "SimulatedDisk", path: str, node: FileNode, access: Access) -> None:
        self._disk = disk
        self._node = node
        self._access = access
        self.path = path

    def fileno(self) -> int:
        return self._node.descriptor

    def size(self) -> int:
        return self._node.size()

    def read(self, position: int, size: int) -> bytes:
        self._disk.check("read", self.path)
        return os.pread(self._node.descriptor, size, position)

    def is_cached(self, position: int, size: int) -> bool:
        return not self._disk.is_cold

    def write(self, position: int, buffers: Sequence[Buffer]) -> None:
        data = b"".join(buffers)
        is_last = self._disk.step("write", self.path)
        room = self._disk.take_room(max(position + len(data) - self._node.size(), 0))
        written = data if room is None else data[: max(len(data) - room, 0)]
        os.pwrite(self._node.descriptor, written, position)
        self._node.modified_ms = self._disk.now_ms
        if is_last:
            raise PowerCut(self.path)
        if len(written) < len(data):
            raise StorageError.from_os(OSError(errno.ENOSPC, "No space left on device"), self.path)

    def truncate(self, size: int) -> None:
        if self._disk.step("truncate", self.path):
            raise PowerCut(self.path)
        os.ftruncate(self._node.descriptor, size)

    def allocate(self, position: int, size: int) -> None:
        if self._disk.step("allocate", self.path):
            raise PowerCut(self.path)
        if self._disk.take_room(size) is not None:
            raise StorageError.from_os(OSError(errno.ENOSPC, "No space left on device"), self.path)
        os.posix_fallocate(self._node.descriptor, position, size)

    def flush(self) -> None:
        if self._disk.step("flush", self.path):
            raise PowerCut(self.path)
        self._node.flush()

    def map(self, size: int) -> memoryview:
        return map_file(self._node.descriptor, size, writable=self._access is not Access.READ)


class SimulatedDisk:
    """See `port.Disk`. `operations` counts everything that changes the disk or flushes it."""

    def __init__(self) -> None:
        self.files = unbounded()
        self.maps = unbounded()
        self._root = DirectoryNode()
        self._faults: list[Fault] = []
        self._cut_at: int | None = None
        self._is_cut = False
        self._room_bytes: int | None = None
        self.operations = 0
        self.now_ms = 0
        self.is_cold = False
        """Whether every read has to come from the disk."""

    # Making it fail

    def cut_after(self, operations: int) -> None:
        """The operation after that many raises `PowerCut`, as does every one after it."""
        self._cut_at = self.operations + operations

    def crash(self, random: Random) -> None:
        """The power goes and comes back: what was not flushed may be gone, kept, or torn. Files that are open belong
        to the time before."""
        self._root = self._root.after_crash(random)
        self._cut_at = None
        self._is_cut = False

    def fail(self, fault: Fault) -> None:
        """From now on such operations fail."""
        self._faults.append(fault)

    def make_read_only(self) -> None:
        """From now on nothing can be changed, as when a file system found itself damaged."""
        for operation in _CHANGES:
            self.fail(Fault(operation, errno.EROFS))

    def heal(self) -> None:
        """No more faults, and room for everything."""
        self._faults = []
        self._room_bytes = None

    def fill_up(self, room_bytes: int) -> None:
        """From now on only so many bytes fit."""
        self._room_bytes = room_bytes

    def check_power(self) -> None:
        """Raises if the power went, for those who learn of it late."""
        if self._is_cut:
            raise PowerCut("any path")

    def step(self, operation: str, path: str) -> bool:
        """Counts a change; says whether the power goes with it."""
        if self._is_cut:
            raise PowerCut(path)
        self.check(operation, path)
        self._is_cut = self.operations == self._cut_at
        self.operations += 1
        return self._is_cut

    def check(self, operation: str, path: str) -> None:
        """Raises if this operation is to fail."""
        for fault in self._faults:
            if fault.operation == operation and path.endswith(fault.path_ending):
                raise StorageError.from_os(OSError(fault.error, os.strerror(fault.error)), path)

    def take_room(self, size: int) -> int | None:
        """Uses up room; how much of the size did not fit, None if all did."""
        if self._room_bytes is None:
            return None
        missing = max(size - self._room_bytes, 0)
        self._room_bytes = max(self._room_bytes - size, 0)
        return missing or None

    # What a disk does

    def open(self, path: str, access: Access) -> SimulatedFile:
        parent, name = self._parent(path)
        node = parent.names.get(name)
        if node is None and access is Access.CREATE:
            if self.step("create", path):
                raise PowerCut(path)
            node = FileNode(modified_ms=self.now_ms)
            parent.change(((name, node),))
        self.check("open", path)
        if not isinstance(node, FileNode):
            number = errno.ENOENT if node is None else errno.EISDIR
            raise StorageError.from_os(OSError(number, os.strerror(number)), path)
        return SimulatedFile(self, path, node, access)

    def list(self, directory: str) -> list[str]:
        return list(self._directory(directory).names)

    def status(self, path: str) -> FileStatus | None:
        node = self._find(path)
        if node is None:
            return None
        if isinstance(node, DirectoryNode):
            return FileStatus(0, 0, is_directory=True)
        return FileStatus(node.size(), node.modified_ms, is_directory=False)

    def make_directory(self, path: str) -> None:
        node = self._root
        for name in _parts(path):
            child = node.names.get(name)
            if child is None:
                if self.step("make_directory", path):
                    raise PowerCut(path)
                child = DirectoryNode()
                node.change(((name, child),))
            if not isinstance(child, DirectoryNode):
                raise StorageError.from_os(OSError(errno.ENOTDIR, "Not a directory"), path)
            node = child

    def rename(self, path: str, new_path: str) -> None:
        parent, name = self._parent(path)
        new_parent, new_name = self._parent(new_path)
        node = parent.names.get(name)
        if node is None:
            raise StorageError.from_os(OSError(errno.ENOENT, "No such file or directory"), path)
        if self.step("rename", path):
            raise PowerCut(path)
        if parent is new_parent:
            parent.change(((name, None), (new_name, node)))
        else:
            new_parent.change(((new_name, node),))
            parent.change(((name, None),))

    def remove(self, path: str) -> None:
        parent, name = self._parent(path)
        node = parent.names.get(name)
        if node is None:
            return
        if isinstance(node, DirectoryNode) and node.names:
            raise StorageError.from_os(OSError(errno.ENOTEMPTY, "Directory not empty"), path)
        if self.step("remove", path):
            raise PowerCut(path)
        parent.change(((name, None),))

    def flush_directory(self, directory: str) -> None:
        node = self._directory(directory)
        if self.step("flush", directory):
            raise PowerCut(directory)
        node.flush()

    def device(self, path: str) -> None:
        """In memory: how long something takes says nothing, and may not decide anything in a simulation."""

    def free_bytes(self, path: str) -> int:
        return 2**40 if self._room_bytes is None else self._room_bytes

    def _find(self, path: str) -> Node | None:
        node: Node | None = self._root
        for name in _parts(path):
            node = node.names.get(name) if isinstance(node, DirectoryNode) else None
        return node

    def _directory(self, path: str) -> DirectoryNode:
        node = self._find(path)
        if not isinstance(node, DirectoryNode):
            number = errno.ENOENT if node is None else errno.ENOTDIR
            raise StorageError.from_os(OSError(number, os.strerror(number)), path)
        return node

    def _parent(self, path: str) -> tuple[DirectoryNode, str]:
        directory, _, name = path.rstrip("/").rpartition("/")
        return self._directory(directory), name


def _parts(path: str) -> list[str]:
    return [part for part in path.split("/") if part]
