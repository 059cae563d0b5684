"""Indexes and producer snapshots of a log, as `kafka-dump-log` shows and checks them.

The files are taken as they are, also those that a broker would throw away and rebuild; zeros that stand behind the
last entry of an index in use are not shown.
"""

import os
import struct
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Final, NamedTuple

from ottla.base.frozen import frozen
from ottla.cli.kafka.argument.option import ToolError
from ottla.cli.kafka.record.dump_log_record import batch_views, last_offset, log_bytes, optional_long, records_of
from ottla.storage.disk.local import LocalDisk
from ottla.storage.errors import RebuildableFileError
from ottla.storage.producer_state.snapshot import read_snapshot

if TYPE_CHECKING:
    from ottla.cli.kafka.record.dump_log_complaint import Complaints

_OFFSET_ENTRY: Final = struct.Struct(">ii")
_TIME_ENTRY: Final = struct.Struct(">qi")
_ABORTED_ENTRY: Final = struct.Struct(">hqqqq")
_CORRUPT: Final = "org.apache.kafka.storage.internals.log.CorruptIndexException: "


class IndexFile(NamedTuple):
    """An index as it lies on the disk."""

    path: str
    base_offset: int
    size: int
    entries: list[tuple[int, ...]]

    @classmethod
    def read(cls, path: str, form: struct.Struct) -> "IndexFile":
        """The whole entries of a file."""
        data = Path(path).read_bytes()
        base = Path(path).name.partition(".")[0]
        if not base.isdigit():
            raise ToolError(f'java.lang.NumberFormatException: For input string: "{base}"')
        whole = len(data) - len(data) % form.size
        return cls(path, int(base), len(data), list(form.iter_unpack(data[:whole])))

    @property
    def absolute_path(self) -> str:
        """The path from the root on."""
        return os.path.join(os.getcwd(), self.path)

    def sibling(self, suffix: str) -> str:
        """Another file of the same segment."""
        return os.path.join(os.path.dirname(self.path), os.path.basename(self.path).partition(".")[0] + suffix)


@frozen
class IndexDump:
    """How indexes are checked, and whether entries are shown."""

    is_sanity_only: bool
    is_verify_only: bool
    max_message_bytes: int
    complaints: "Complaints"

    def dump_offsets(self, path: str) -> None:
        """Shows an offset index; each entry must be the last offset of the batch at its position."""
        index = IndexFile.read(path, _OFFSET_ENTRY)
        data = log_bytes(index.sibling(".log"))
        if not index.entries:
            print(f"{path} is empty.")
            return
        if self.is_sanity_only:
            _check_offsets(index)
            print(f"{path} passed sanity check.")
            return
        for slot, (relative, position) in enumerate(index.entries):
            offset = index.base_offset + relative
            if relative == 0 and slot > 0:
                return
            found = self._last_offset_at(data, position, index)
            if found != offset:
                self.complaints.add("index", index.absolute_path, offset, found)
            if not self.is_verify_only:
                print(f"offset: {offset} position: {position}")

    def _last_offset_at(self, data: memoryview, position: int, index: IndexFile) -> int:
        if not 0 <= position <= len(data):
            raise ToolError(
                f"java.lang.IllegalArgumentException: Slice from position {position} exceeds end position of "
                f"{index.sibling('.log')}"
            )
        piece = data[position : position + self.max_message_bytes]
        for _, view in batch_views(piece, index.sibling(".log")):
            return last_offset(view)
        raise ToolError("java.util.NoSuchElementException: no batch where the index points to")

    def dump_times(self, path: str) -> None:
        """Shows a time index; each entry must be the last offset of a batch whose highest timestamp it holds."""
        index = IndexFile.read(path, _TIME_ENTRY)
        data = log_bytes(index.sibling(".log"))
        offsets = IndexFile.read(index.sibling(".index"), _OFFSET_ENTRY)
        if self.is_sanity_only:
            _check_times(index)
            print(f"{path} passed sanity check.")
            return
        before = -1
        for slot, (timestamp, relative) in enumerate(index.entries):
            offset = index.base_offset + relative
            if relative == 0 and slot > 0:
                return
            start = _floor_position(offsets, relative)
            self._check_time(index, _batch_with(data[start:], offset, index), timestamp, offset, before)
            if not self.is_verify_only:
                print(f"timestamp: {timestamp} offset: {offset}")
            before = timestamp

    def _check_time(self, index: IndexFile, view: memoryview | None, timestamp: int, offset: int, before: int) -> None:
        found = -1 if view is None else last_offset(view)
        if view is None or found != offset:
            self.complaints.add("missing", index.absolute_path, offset, found)
            return
        highest = max((record[1] for record in records_of(view)), default=-1)
        if highest != timestamp:
            self.complaints.add("timestamp", index.absolute_path, timestamp, highest)
        if before >= timestamp:
            self.complaints.add("order", index.absolute_path, timestamp, before)


def _floor_position(offsets: IndexFile, relative: int) -> int:
    """Where to begin looking for an offset: entries (10, 500) (20, 900): 19 → 500, 5 → 0."""
    position = 0
    for slot, (entry, there) in enumerate(offsets.entries):
        if entry > relative or (entry == 0 and slot > 0):
            break
        position = there
    return position


def _batch_with(data: memoryview, offset: int, index: IndexFile) -> memoryview | None:
    for _, view in batch_views(data, index.sibling(".log")):
        if last_offset(view) >= offset:
            return view
    return None


def _check_offsets(index: IndexFile) -> None:
    last = index.base_offset + index.entries[-1][0]
    if last < index.base_offset:
        raise ToolError(
            f"{_CORRUPT}Corrupt index found, index file {index.absolute_path} has non-zero size but the last offset "
            f"is {last} which is less than the base offset {index.base_offset}"
        )
    _check_size(index, _OFFSET_ENTRY.size, "Index file")


def _check_times(index: IndexFile) -> None:
    if index.entries:
        timestamp, relative = index.entries[-1]
        place = f"{_CORRUPT}Corrupt time index found, time index file ({index.absolute_path}) has non-zero size but "
        if timestamp < index.entries[0][0]:
            first = index.entries[0][0]
            raise ToolError(f"{place}the last timestamp is {timestamp} which is less than the first timestamp {first}")
        if relative < 0:
            last, base = index.base_offset + relative, index.base_offset
            raise ToolError(f"{place}the last offset is {last} which is less than the first offset {base}")
    _check_size(index, _TIME_ENTRY.size, "Time index file")


def _check_size(index: IndexFile, entry_bytes: int, name: str) -> None:
    if index.size % entry_bytes:
        raise ToolError(
            f"{_CORRUPT}{name} {index.absolute_path} is corrupt, found {index.size} bytes which is neither positive "
            f"nor a multiple of {entry_bytes}"
        )


def dump_transactions(path: str) -> None:
    """Shows the aborted transactions of a segment; an entry that is cut short is left out."""
    data = Path(path).read_bytes()
    for start in range(0, len(data) - _ABORTED_ENTRY.size + 1, _ABORTED_ENTRY.size):
        version, producer_id, first, last, stable = _ABORTED_ENTRY.unpack_from(data, start)
        print(
            f"version: {version} producerId: {producer_id} firstOffset: {first} "
            f"lastOffset: {last} lastStableOffset: {stable}"
        )


def dump_producers(path: str) -> None:
    """Shows the producers of a snapshot; a damaged one is only told of."""
    try:
        lines = list(_producer_lines(path))
    except RebuildableFileError as error:
        print(error, file=sys.stderr)
        return
    for line in lines:
        print(line)


def _producer_lines(path: str) -> Iterator[str]:
    if not Path(path).exists():
        raise FileNotFoundError(2, "no such file", path)
    for entry in read_snapshot(LocalDisk(), path):
        line = (
            f"producerId: {entry.producer_id} producerEpoch: {entry.producer_epoch} "
            f"coordinatorEpoch: {entry.coordinator_epoch} "
            f"currentTxnFirstOffset: {optional_long(entry.transaction_first_offset)} "
            f"lastTimestamp: {entry.last_timestamp}"
        )
        if entry.batches:
            batch = entry.batches[0]
            line += (
                f" firstSequence: {batch.first_sequence} lastSequence: {batch.last_sequence} "
                f"lastOffset: {batch.last_offset} offsetDelta: {batch.offset_delta} timestamp: {batch.timestamp}"
            )
        yield line
