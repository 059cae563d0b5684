"""Which transactions were aborted: entries of 34 bytes, in the order of their markers.

version int16 (0), producer id int64, first offset int64, last offset int64 (of the marker), last stable offset int64
(as it was when the marker was written). A segment without an aborted transaction has no such file. The index of a
segment lists transactions whose *marker* lies in the segment; a reader of an earlier segment therefore looks on
through later ones until an entry's last stable offset is past what it reads.
"""

import struct
from collections.abc import Sequence
from typing import NamedTuple

from ottla.protocol.checksum import crc32c
from ottla.storage.disk.atomic import flush_if_there, read_whole
from ottla.storage.disk.port import Access, Disk, File
from ottla.storage.errors import RebuildableFileError

_ENTRY = struct.Struct(">hqqqq")
_VERSION = 0


class AbortedTransaction(NamedTuple):
    """One aborted transaction in one partition."""

    producer_id: int
    first_offset: int
    last_offset: int
    last_stable_offset: int


class IndexDigest(NamedTuple):
    """A summary of an index."""

    entries: int
    crc: int


class TransactionIndex:
    """A segment's `.txnindex`; its entries are kept in memory once they were asked for."""

    __slots__ = ("_disk", "_entries", "_file", "is_complete", "path")

    def __init__(self, disk: Disk, path: str) -> None:
        self._disk = disk
        self.path = path
        self._entries: list[AbortedTransaction] | None = None
        self._file: File | None = None
        self.is_complete = False
        """Whether it is known that nothing is missing: a lost file looks like one that was never needed."""

    @property
    def exists(self) -> bool:
        """Whether the file is there."""
        return self._disk.status(self.path) is not None

    def entries(self) -> Sequence[AbortedTransaction]:
        """Everything in it, growing as transactions are added; `RebuildableFileError` if it is no such index."""
        return self._loaded()

    def _loaded(self) -> list[AbortedTransaction]:
        known = self._entries
        if known is None:
            known = _read(read_whole(self._disk, self.path) or b"", self.path)
            self._entries = known
        return known

    def digest(self, count: int | None = None) -> IndexDigest:
        """Of the first so many entries, of all if no number is given."""
        entries = self._loaded()[:count]
        return IndexDigest(len(entries), crc32c(b"".join(_ENTRY.pack(_VERSION, *entry) for entry in entries)))

    def make_ready(self) -> None:
        """Before a batch is written that brings an entry: then the entry does not fail for want of a descriptor."""
        self._loaded()
        self._file = self._disk.open(self.path, Access.CREATE)

    def append(self, aborted: AbortedTransaction) -> None:
        """Adds a transaction; they come in the order of their markers."""
        entries = self._loaded()
        if entries and entries[-1].last_offset >= aborted.last_offset:
            raise RebuildableFileError(f"offset {aborted.last_offset} after {entries[-1].last_offset}", self.path)
        file, self._file = self._file or self._disk.open(self.path, Access.CREATE), None
        file.write(len(entries) * _ENTRY.size, (_ENTRY.pack(_VERSION, *aborted),))
        entries.append(aborted)

    def truncate(self, offset: int) -> None:
        """Forgets the transactions whose marker is at this offset or above."""
        if not self.exists:
            return
        try:
            kept = [entry for entry in self.entries() if entry.last_offset < offset]
        except RebuildableFileError:
            # Nothing is lost that could have been read: it is rebuilt at its next use.
            kept, self.is_complete = [], False
        self._disk.open(self.path, Access.WRITE).truncate(len(kept) * _ENTRY.size)
        self._entries = kept

    def reset(self) -> None:
        """Starts over."""
        if self.exists:
            self._disk.open(self.path, Access.WRITE).truncate(0)
        self._entries = []
        self.is_complete = True

    def flush(self) -> None:
        """Returns once the entries are on the disk."""
        flush_if_there(self._disk, self.path)

    def release(self) -> None:
        """Lets go of the entries; they come back when needed."""
        self._entries = self._file = None


def _read(data: bytes, path: str) -> list[AbortedTransaction]:
    if len(data) % _ENTRY.size:
        raise RebuildableFileError(f"{len(data)} bytes are no whole entries", path)
    entries: list[AbortedTransaction] = []
    for version, *fields in _ENTRY.iter_unpack(data):
        entry = AbortedTransaction(*fields)
        if version != _VERSION:
            raise RebuildableFileError(f"version {version}", path)
        if entry.last_offset < entry.first_offset or (entries and entries[-1].last_offset >= entry.last_offset):
            raise RebuildableFileError(f"entry {len(entries)} is out of order", path)
        entries.append(entry)
    return entries
