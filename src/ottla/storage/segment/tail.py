"""The end of a segment as its indexes see it: checked against the log when a segment is first used.

Apache Kafka believes an index that is well-formed, and hands out offsets again if it is wrong. Here the last entries
must point at the batches that they name, and no entry may be missing after them; entries before them are checked as
they are used (`Segment.locate`). That costs one small read per segment.
"""

from typing import NamedTuple

from ottla.storage.errors import RebuildableFileError
from ottla.storage.index.offset_index import RELATIVE_OFFSET_MAX, OffsetIndex
from ottla.storage.index.time_index import TimeIndex
from ottla.storage.segment.scan import BatchScan


class Tail(NamedTuple):
    """The end of a log, as appending needs it."""

    next_offset: int
    max_timestamp: int
    max_timestamp_offset: int
    unindexed_bytes: int
    """Bytes since the last index entry, the batch that it points at included."""


def read_tail(offset_index: OffsetIndex, time_index: TimeIndex, scan: BatchScan, interval_bytes: int) -> Tail:
    """Walks from the last index entry to the end; `scan` starts at that entry's position.

    `RebuildableFileError` if the entry points at another batch than it says, or if one is missing after it. What comes
    after the last batch in order is the scan's `problem`.
    """
    entry_offset, entry_position = offset_index.last_offset, offset_index.last_position
    next_offset = offset_index.base_offset
    max_timestamp, max_timestamp_offset = time_index.last_timestamp, time_index.last_offset
    unindexed_bytes = 0
    path = offset_index.entries.path
    for batch in scan.in_order(next_offset, next_offset + RELATIVE_OFFSET_MAX):
        if scan.batch_position == entry_position > 0 and batch.last_offset != entry_offset:
            raise RebuildableFileError(f"the entry for offset {entry_offset} points elsewhere", path)
        if unindexed_bytes > interval_bytes:
            raise RebuildableFileError(f"no entry for offset {batch.last_offset}", path)
        if batch.max_timestamp > max_timestamp:
            max_timestamp, max_timestamp_offset = batch.max_timestamp, batch.last_offset
        unindexed_bytes += batch.size
        next_offset = batch.next_offset
    if entry_position >= scan.position > 0 or (entry_position and not unindexed_bytes):
        raise RebuildableFileError(f"an entry for position {entry_position}, where no batch is", path)
    return Tail(next_offset, max_timestamp, max_timestamp_offset, unindexed_bytes)


def check_last_timestamp(time_index: TimeIndex, scan: BatchScan, next_offset: int) -> None:
    """The last entry must name the batch that holds its timestamp, as a torn one does not; `scan` starts before it."""
    timestamp, offset = time_index.last_timestamp, time_index.last_offset
    path = time_index.entries.path
    if time_index.entries.count == 0:
        return
    if not time_index.base_offset <= offset < next_offset:
        raise RebuildableFileError(f"an entry for offset {offset}, which the segment does not hold", path)
    for batch in scan:
        if batch.last_offset >= offset:
            if batch.last_offset != offset or batch.max_timestamp != timestamp:
                raise RebuildableFileError(f"the entry for timestamp {timestamp} points elsewhere", path)
            return
