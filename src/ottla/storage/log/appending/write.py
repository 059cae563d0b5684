"""Bringing batches that were placed into the file, with a new segment where they need one.

Before the write everything may be refused and nothing has changed; after it nothing may fail but the disk. Producer
state and the log end follow once the bytes are in the file.
"""

import time

from ottla.storage.index.transaction_index import AbortedTransaction
from ottla.storage.log.appending.placed import Placed
from ottla.storage.log.appending.segment_age import SegmentAge
from ottla.storage.log.state import LogState
from ottla.storage.log.transaction_index_repair import ensure_complete
from ottla.storage.segment.segment import RELATIVE_OFFSET_MAX, Segment


def write(log: LogState, placed: Placed) -> None:
    """Writes batches and has them take effect; with `StorageError` neither has happened."""
    begun = time.monotonic()
    last_offset, size = placed.last_offset, len(placed.data)
    segment = room_for(log, size, last_offset, placed.max_timestamp, placed.now_ms)
    for epoch, start_offset in placed.epochs:
        log.epochs.note(epoch, start_offset)
    put(log, segment, placed)
    index_aborted(segment, placed.change.take_effect())
    log.advance(last_offset + 1, segment)
    log.pace.took(time.monotonic() - begun)


def put(log: LogState, segment: Segment, placed: Placed) -> None:
    """Writes the bytes. An index that is going to get an entry has to be whole before."""
    if placed.change.ends_aborted:
        make_index_ready(log, segment)
    if len(placed.batches) == 1:
        segment.append(placed.data, placed.last_offset, placed.max_timestamp)
    else:
        segment.append_many(placed.data, placed.batches)


def make_index_ready(log: LogState, segment: Segment) -> None:
    """Makes the transaction index whole, and opens it, before the batches that it is to tell of are written."""
    ensure_complete(log, segment)
    segment.transaction_index.make_ready()


def index_aborted(segment: Segment, aborted: list[AbortedTransaction]) -> None:
    """Writes down which transactions were aborted by markers in the segment."""
    for entry in aborted:
        segment.transaction_index.append(entry)


def room_for(log: LogState, size: int, last_offset: int, max_timestamp: int, now_ms: int) -> Segment:
    """The active segment, or a new one if an append does not fit it."""
    segment = log.tail[1]
    if (
        segment.size_bytes + size > log.config.segment_bytes
        or last_offset > segment.offset_max
        or segment.is_index_full
    ):
        return roll(log, now_ms, last_offset - RELATIVE_OFFSET_MAX)
    roll_after_ms = log.roll_after_ms
    if (roll_after_ms is None or max_timestamp > roll_after_ms) and _is_old(log, segment, max_timestamp, now_ms):
        return roll(log, now_ms, None)
    return segment


def _is_old(log: LogState, segment: Segment, max_timestamp: int, now_ms: int) -> bool:
    """Whether the segment is too old for a batch; the moment is worked out once and kept in `log.roll_after_ms`."""
    if not segment.size_bytes:
        return False
    age = SegmentAge(segment.path(), segment.first_timestamp, segment.created_ms)
    if not log.snapshots.is_promised:
        log.roll_after_ms = age.due_ms(log.config)
    return age.is_past(log.config, max_timestamp, now_ms)


def roll(log: LogState, now_ms: int, base_offset: int | None) -> Segment:
    """See `Log.roll`."""
    active = log.segments.active
    new_offset = log.log_end_offset if base_offset is None else max(base_offset, log.log_end_offset)
    if active.base_offset == new_offset and not active.size_bytes:
        return active
    promise_snapshot(log, new_offset)
    return begin_segment(log, now_ms, new_offset)


def promise_snapshot(log: LogState, offset: int) -> None:
    """Has the producers as they are now written down for a segment that begins at the offset."""
    log.snapshots.promise(offset, log.producers.entries.values())
    # The compiled short cut, which changes entries in place, asks for this time; `_is_old` leaves it unknown meanwhile.
    log.roll_after_ms = None


def begin_segment(log: LogState, now_ms: int, new_offset: int) -> Segment:
    """Ends the active segment and begins a new one; its snapshot of the producers is promised."""
    active = log.segments.active
    if active.base_offset == new_offset and not active.size_bytes:
        return active
    active.seal()
    if new_offset > log.log_end_offset and log.contiguity.raise_to(new_offset):
        # A leader's gap that no index can express: too rare for another thread.
        log.disk.flush_directory(log.directory)
    segment = Segment.create(log.disk, log.directory, new_offset, log.config)
    segment.created_ms = now_ms
    log.segments.add(segment)
    log.roll_after_ms = None
    log.warm(active)
    log.advance(max(new_offset, log.log_end_offset), segment)
    log.rolled(log, new_offset)
    return segment
