"""Finding things in a log other than by offset: by timestamp, and aborted transactions.

A segment that cleaning left without a byte holds nothing and is passed over.
"""

from collections.abc import Iterator
from typing import TYPE_CHECKING

from ottla.protocol.records.batch import Batch
from ottla.protocol.records.legacy import read_message
from ottla.protocol.records.reader import iterate_batch
from ottla.protocol.records.record import RecordTuple
from ottla.protocol.records.timestamp import TimestampType
from ottla.storage.index.transaction_index import AbortedTransaction
from ottla.storage.log.fetch_data import TimestampOffset
from ottla.storage.log.transaction_index_repair import ensure_complete
from ottla.storage.segment.scan import StoredBatch
from ottla.storage.segment.segment import Segment

if TYPE_CHECKING:
    from ottla.storage.log.log import Log


def offset_for_timestamp(log: "Log", timestamp: int) -> TimestampOffset | None:
    """See `Log.offset_for_timestamp`."""
    for segment in log.segments:
        if segment.size_bytes and segment.max_timestamp >= timestamp:
            found = _first_since(log, segment, timestamp)
            if found is not None:
                return found
    return None


def _first_since(log: "Log", segment: Segment, timestamp: int) -> TimestampOffset | None:
    """The first record of the segment, at or after the log start, that is not older than the timestamp."""
    start = log.log_start_offset
    for batch in _scan_since(segment, timestamp, start):
        if batch.max_timestamp < timestamp or batch.last_offset < start:
            continue
        for record in _records(batch):
            if record[1] >= timestamp and record[0] >= start:
                return TimestampOffset(record[1], record[0], _epoch(batch))
    return None


def _scan_since(segment: Segment, timestamp: int, start: int) -> Iterator[StoredBatch]:
    """Batches from where the time index says that nothing before is as new."""
    _, near = segment.time_index.floor(timestamp - 1)
    found = segment.locate(max(near, start))
    return iter(()) if found is None else iter(segment.scan(found[0]))


def offset_of_max_timestamp(log: "Log") -> TimestampOffset | None:
    """See `Log.offset_of_max_timestamp`."""
    newest: Segment | None = None
    for segment in log.segments:
        if segment.size_bytes and (newest is None or segment.max_timestamp > newest.max_timestamp):
            newest = segment
    if newest is None or newest.max_timestamp < 0:
        return None
    for batch in _scan_since(newest, newest.max_timestamp, log.log_start_offset):
        if batch.max_timestamp == newest.max_timestamp:
            return _max_in(batch)
    return None


def _max_in(batch: StoredBatch) -> TimestampOffset:
    if isinstance(batch, Batch) and batch.timestamp_type is TimestampType.LOG_APPEND_TIME:
        return TimestampOffset(batch.max_timestamp, batch.last_offset, _epoch(batch))
    offset = next((record[0] for record in _records(batch) if record[1] == batch.max_timestamp), batch.last_offset)
    return TimestampOffset(batch.max_timestamp, offset, _epoch(batch))


def _records(batch: StoredBatch) -> Iterator[RecordTuple]:
    return iterate_batch(batch) if isinstance(batch, Batch) else iter(read_message(batch.data))


def _epoch(batch: StoredBatch) -> int | None:
    epoch = batch.partition_leader_epoch
    return epoch if epoch >= 0 else None


def aborted_transactions(log: "Log", start_offset: int, end_offset: int) -> list[AbortedTransaction]:
    """See `Log.aborted_transactions`.

    A transaction that touches the range may have its marker in a later segment, so the search goes on until an entry
    says that everything below the range's end was decided before it.
    """
    found: list[AbortedTransaction] = []
    for segment in log.segments.from_offset(start_offset):
        ensure_complete(log, segment)
        for aborted in segment.transaction_index.entries():
            if aborted.last_offset >= start_offset and aborted.first_offset < end_offset:
                found.append(aborted)
            if aborted.last_stable_offset >= end_offset:
                return found
    return found
