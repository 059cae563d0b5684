"""Entries of one fixed size in a file that is read and written as shared memory.

While entries are added the file is as long as it may become, filled up with zeros; `trim` cuts it to what it holds.
The map is made when first needed and let go with `release`, and holds no descriptor, so that an idle segment costs
nothing. Entries are only read below `count`, which is raised after the entry is in place: readers on other threads
never see half of one, and never touch pages that `trim` cut off. The map that is written to is the writer's alone to
make, so a reader that makes one for itself does not take it away. Disk space is asked for page by page before it is
written to, so that a full disk is a `StorageError` here too.
"""

import errno
import struct

from ottla.storage.disk.atomic import flush_if_there
from ottla.storage.disk.port import Access, Disk, File
from ottla.storage.errors import RebuildableFileError, StorageError

_ALLOCATION_BYTES = 4096


class MappedEntries:
    """The file of one index. Its owner knows what the entries mean."""

    __slots__ = (
        "__weakref__",
        "_allocated_bytes",
        "_disk",
        "_form",
        "_is_growing",
        "_map",
        "_written",
        "count",
        "entries_max",
        "path",
    )

    def __init__(self, disk: Disk, path: str, form: struct.Struct, bytes_max: int) -> None:
        self._disk = disk
        self._form = form
        self._map: memoryview | None = None
        """The map that readers made while the writer had none."""
        self._written: memoryview | None = None
        self._is_growing = False
        self._allocated_bytes = 0
        self.path = path
        self.entries_max = bytes_max // form.size
        self.count = -1
        """Entries in the file; -1 before it was looked at."""

    @property
    def is_loaded(self) -> bool:
        """Whether the number of entries is known."""
        return self.count >= 0

    @property
    def is_writable(self) -> bool:
        """Whether entries are being added."""
        return self._is_growing

    @property
    def written(self) -> int:
        """See `port.Holder`."""
        return self.count

    def load(self) -> tuple[int, int] | None:
        """Finds out how many entries there are, and answers the last; `RebuildableFileError` if it can be no index."""
        try:
            file = self._disk.open(self.path, Access.READ)
        except StorageError as error:
            if error.errno != errno.ENOENT:
                raise
            raise RebuildableFileError("the index is missing", self.path) from None
        size, entry_size = file.size(), self._form.size
        if size % entry_size:
            raise RebuildableFileError(f"{size} bytes are no whole entries", self.path)
        self.count = size // entry_size
        if not size:
            return None
        last = file.read(size - entry_size, entry_size)
        if any(last):
            first, second = self._form.unpack(last)
            return first, second
        # Not trimmed: the process that filled it did not end well.
        self.count = self._used()
        return self.entry(self.count - 1) if self.count else None

    def entry(self, slot: int) -> tuple[int, int]:
        """The entry at a place; the first is 0."""
        first, second = self._form.unpack_from(self.map(), slot * self._form.size)
        return first, second

    def map(self) -> memoryview:
        """The entries as bytes. Call it once per search and keep the result: `release` may come at any time."""
        mapped = self._written
        if mapped is None:
            mapped = self._map
        if mapped is None:
            mapped = self._disk.open(self.path, Access.READ).map(self.count * self._form.size)
            self._map = mapped
            self._disk.maps.note(self)
        return mapped

    def append(self, first: int, second: int) -> None:
        """Adds an entry; the owner checked that there is room."""
        written = self._written
        if written is None:
            written = self._make_writable()
        position = self.count * self._form.size
        if position + self._form.size > self._allocated_bytes:
            self._allocate(self._disk.open(self.path, Access.WRITE))
        self._form.pack_into(written, position, first, second)
        self.count += 1

    def truncate(self, count: int) -> None:
        """Forgets the entries from `count` on.

        What is left goes into a new file. The old one lives on for readers that map it; cutting it would kill them.
        """
        if count < self.count:
            kept = bytes(self.map()[: count * self._form.size])
            self.reset()
            self._disk.open(self.path, Access.WRITE).write(0, (kept,))
            self.count = count

    def reset(self) -> None:
        """Begins a new, empty file; as with `truncate`, the old one lives on for its readers."""
        self.count = 0
        self.release()
        self._disk.remove(self.path)
        self._disk.open(self.path, Access.CREATE)

    def trim(self) -> None:
        """Cuts the file to its entries; made if it was not there."""
        if self.count < 0:
            return
        self.release()
        self._disk.open(self.path, Access.CREATE).truncate(self.count * self._form.size)

    def flush(self) -> None:
        """Returns once the entries are on the disk."""
        flush_if_there(self._disk, self.path)

    def release(self) -> None:
        """Lets go of the map; it comes back when needed."""
        self._is_growing = False
        self.let_go()
        self._disk.maps.forget(self)

    def let_go(self) -> None:
        """See `port.Holder`: the writer makes the map anew."""
        self._written = None
        self._map = None

    def _make_writable(self) -> memoryview:
        file = self._disk.open(self.path, Access.CREATE)
        size = max(self.entries_max, self.count + 1) * self._form.size
        file.truncate(self.count * self._form.size)
        file.truncate(size)
        self._allocated_bytes = self.count * self._form.size
        self._allocate(file)
        self._is_growing = True
        self._written = written = file.map(size)
        self._map = None
        self._disk.maps.note(self)
        return written

    def _allocate(self, file: File) -> None:
        """Another page's worth of room."""
        size = min(_ALLOCATION_BYTES, max(self.entries_max, self.count + 1) * self._form.size - self._allocated_bytes)
        file.allocate(self._allocated_bytes, size)
        self._allocated_bytes += size

    def _used(self) -> int:
        """Entries before the zeros that fill up a file which was not trimmed."""
        mapped, size = self.map(), self._form.size
        empty = bytes(size)
        low, high = 0, self.count - 1
        while low < high:
            middle = (low + high) // 2
            if mapped[middle * size : (middle + 1) * size] == empty:
                high = middle
            else:
                low = middle + 1
        return low
