"""Producer state on disk: `<offset>.snapshot` covers the log up to the offset, exclusive.

version int16 (1), CRC-32C uint32 of all that follows it, count int32, then 46 bytes for each producer. A snapshot
that does not check out is no disaster: an older one is taken and the log replayed from there.
"""

import struct
from collections.abc import Collection, Iterator
from itertools import islice

from ottla.protocol.checksum import crc32c
from ottla.storage.disk.atomic import read_whole
from ottla.storage.disk.port import Access, Disk
from ottla.storage.errors import RebuildableFileError
from ottla.storage.producer_state.entry import NO_SEQUENCE, BatchMetadata, ProducerEntry

_HEAD = struct.Struct(">hI")
_COUNT = struct.Struct(">i")
_ENTRY = struct.Struct(">qhiqiqiq")
_VERSION = 1
_NONE = -1
_PIECE_ENTRIES = 1_000


def write_snapshot(disk: Disk, path: str, entries: Collection[ProducerEntry]) -> None:
    """Writes the file; the caller flushes it when the log is flushed.

    What comes after the first piece is written before it: half a file is damaged. Between two pieces, with each of
    which a thread gives the interpreter away, others have a turn.
    """
    file = disk.open(path, Access.CREATE)
    file.truncate(0)
    left = iter(entries)
    first = _COUNT.pack(len(entries)) + _rows(left)
    crc, position = crc32c(first), _HEAD.size + len(first)
    while piece := _rows(left):
        file.write(position, (piece,))
        crc, position = crc32c(piece, crc), position + len(piece)
    file.write(0, (_HEAD.pack(_VERSION, crc) + first,))


def _rows(entries: Iterator[ProducerEntry]) -> bytes:
    return b"".join([_ENTRY.pack(*_row(entry)) for entry in islice(entries, _PIECE_ENTRIES)])


def read_snapshot(disk: Disk, path: str) -> list[ProducerEntry]:
    """The producers in the file; `RebuildableFileError` if it is damaged."""
    raw = read_whole(disk, path) or b""
    if len(raw) < _HEAD.size + _COUNT.size:
        raise RebuildableFileError(f"{len(raw)} bytes are no snapshot", path)
    version, crc = _HEAD.unpack_from(raw)
    if version != _VERSION:
        raise RebuildableFileError(f"version {version}", path)
    body = memoryview(raw)[_HEAD.size :]
    if crc32c(body) != crc:
        raise RebuildableFileError("the CRC does not match", path)
    rows = body[_COUNT.size :]
    if len(rows) != _COUNT.unpack_from(body)[0] * _ENTRY.size:
        raise RebuildableFileError("the number of producers does not match", path)
    return [_entry(row) for row in _ENTRY.iter_unpack(rows)]


def _row(entry: ProducerEntry) -> tuple[int, ...]:
    last = entry.batches[-1] if entry.batches else BatchMetadata(NO_SEQUENCE, _NONE, 0, entry.last_timestamp)
    first_offset = entry.transaction_first_offset
    return (
        entry.producer_id,
        entry.producer_epoch,
        last.last_sequence,
        last.last_offset,
        last.offset_delta,
        entry.last_timestamp,
        entry.coordinator_epoch,
        _NONE if first_offset is None else first_offset,
    )


def _entry(row: tuple[int, ...]) -> ProducerEntry:
    producer_id, epoch, last_sequence, last_offset, delta, timestamp, coordinator_epoch, first_offset = row
    entry = ProducerEntry(producer_id)
    entry.producer_epoch = epoch
    entry.coordinator_epoch = coordinator_epoch
    entry.last_timestamp = timestamp
    entry.transaction_first_offset = first_offset if first_offset >= 0 else None
    if last_offset >= 0:
        entry.batches = (BatchMetadata(last_sequence, last_offset, delta, timestamp),)
        entry.is_from_snapshot = True
    return entry
