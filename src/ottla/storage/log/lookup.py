"""Finding things in a log other than by offset: by timestamp, and aborted transactions.

A segment that cleaning left without a byte holds nothing and is passed over.
"""

from collections.abc import Iterator

from ottla.protocol.errors import DecodeError, MessageTooLargeError, UnsupportedCompressionTypeError
from ottla.protocol.records.batch import Batch
from ottla.protocol.records.reader import iterate_batch
from ottla.protocol.records.record import RecordTuple
from ottla.storage.errors import CorruptFileError
from ottla.storage.index.transaction_index import AbortedTransaction
from ottla.storage.log.fetch_data import FetchData, TimestampOffset
from ottla.storage.log.state import LogState
from ottla.storage.log.transaction_index_repair import ensure_complete
from ottla.storage.segment.scan import StoredBatch
from ottla.storage.segment.segment import Segment


def offset_for_timestamp(log: LogState, timestamp: int) -> TimestampOffset | None:
    """See `Log.offset_for_timestamp`."""
    for segment in log.segments:
        if segment.size_bytes and segment.readable_max_timestamp >= timestamp:
            found = _first_since(log, segment, timestamp)
            if found is not None:
                return found
    return None


def _first_since(log: LogState, segment: Segment, timestamp: int) -> TimestampOffset | None:
    """The first record of the segment, at or after the log start, that is not older than the timestamp."""
    start = log.log_start_offset
    for batch in _scan_since(segment, timestamp, start):
        if batch.max_timestamp < timestamp or batch.last_offset < start:
            continue
        for record in _records(batch, segment):
            if record[1] >= timestamp and record[0] >= start:
                return TimestampOffset(record[1], record[0], _epoch(batch))
    return None


def _scan_since(segment: Segment, timestamp: int, start: int) -> Iterator[StoredBatch]:
    """Batches from where the time index says that nothing before is as new."""
    _, near = segment.time_index.floor(timestamp - 1)
    found = segment.locate(max(near, start))
    return iter(()) if found is None else iter(segment.scan(found[0]))


def offset_of_max_timestamp(log: LogState) -> TimestampOffset | None:
    """See `Log.offset_of_max_timestamp`."""
    newest: Segment | None = None
    for segment in log.segments:
        if segment.size_bytes and (newest is None or segment.readable_max_timestamp > newest.readable_max_timestamp):
            newest = segment
    if newest is None or newest.readable_max_timestamp < 0:
        return None
    for batch in _scan_since(newest, newest.readable_max_timestamp, log.log_start_offset):
        if batch.max_timestamp == newest.readable_max_timestamp:
            return _max_in(batch, newest)
    return None


def _max_in(batch: StoredBatch, segment: Segment) -> TimestampOffset:
    newest = (record[0] for record in _records(batch, segment) if record[1] == batch.max_timestamp)
    return TimestampOffset(batch.max_timestamp, next(newest, batch.last_offset), _epoch(batch))


def _records(batch: StoredBatch, segment: Segment) -> Iterator[RecordTuple]:
    """A batch's records; they were readable when they were appended, so the file is damaged if they are not now."""
    try:
        yield from iterate_batch(batch) if isinstance(batch, Batch) else batch.records()
    except (DecodeError, MessageTooLargeError, UnsupportedCompressionTypeError) as error:
        raise CorruptFileError(f"the batch up to offset {batch.last_offset}: {error}", segment.path()) from error


def _epoch(batch: StoredBatch) -> int | None:
    epoch = batch.partition_leader_epoch
    return epoch if epoch >= 0 else None


def aborted_in(log: LogState, found: FetchData, offset: int, end_offset: int) -> list[AbortedTransaction]:
    """See `Log.aborted_in`.

    Far from the end of a log with many aborted transactions, a list of all up to `end_offset` would be longer than the
    records that it goes with. The index knows an offset beyond these, which is near enough.
    """
    if found.records is not None:
        segment = log.segments.from_offset(found.segment_base_offset)[0]
        bound = segment.offset_beyond(found.records.position + found.records.length)
        if bound is None:
            following = log.segments.after(segment)
            bound = end_offset if following is None else following.base_offset
        end_offset = min(end_offset, bound)
    return aborted_transactions(log, offset, end_offset)


def aborted_transactions(log: LogState, start_offset: int, end_offset: int) -> list[AbortedTransaction]:
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
