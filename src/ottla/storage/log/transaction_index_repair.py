"""Makes sure that a segment's transaction index lacks nothing.

A segment without aborted transactions has no such file, so a lost file is not missed: Apache Kafka then serves
aborted records as committed. Here a segment without the file is read once before it is believed, if any producer
that the log knew of at its end ever ended a transaction; the others need no reading.
"""

from typing import TYPE_CHECKING

from ottla.protocol.records.batch import Batch
from ottla.storage.errors import RebuildableFileError
from ottla.storage.index.transaction_index import AbortedTransaction
from ottla.storage.log.producer_replay import load_snapshot, replay_segments
from ottla.storage.producer_state.entry import ProducerEntry
from ottla.storage.producer_state.snapshot import read_snapshot
from ottla.storage.producer_state.state import ProducerState
from ottla.storage.segment.segment import Segment

if TYPE_CHECKING:
    from ottla.storage.log.log import Log


def ensure_complete(log: "Log", segment: Segment) -> None:
    """Checks the index once, and writes it anew if it is damaged or missing."""
    index = segment.transaction_index
    if index.is_complete:
        return
    try:
        complete = bool(index.entries()) or not _saw_transactions(log, segment) or not _has_markers(segment)
    except RebuildableFileError:
        complete = False
    if not complete:
        _rebuild(log, segment)
    index.is_complete = True


def _saw_transactions(log: "Log", segment: Segment) -> bool:
    """Whether a transaction can have ended in the segment, by what is known of the producers after it."""
    following = log.segments.after(segment)
    if following is None:
        return _any_ended(list(log.producers.entries.values()))
    if following.base_offset not in log.snapshots.offsets:
        return True
    try:
        return _any_ended(read_snapshot(log.disk, log.snapshots.path(following.base_offset)))
    except RebuildableFileError:
        return True


def _any_ended(entries: list[ProducerEntry]) -> bool:
    return any(entry.coordinator_epoch >= 0 for entry in entries)


def _has_markers(segment: Segment) -> bool:
    return any(batch.is_control and batch.producer_id >= 0 for batch in segment.scan())


def _rebuild(log: "Log", segment: Segment) -> None:
    state = ProducerState(log.producers.expiration_ms)
    now_ms = 0  # Nobody is expired here: every open transaction matters.
    load_snapshot(log.disk, log.snapshots, state, segment.base_offset, now_ms)
    before = [older for older in log.segments if older.base_offset < segment.base_offset]
    replay_segments(state, before, segment.base_offset)
    aborted: list[AbortedTransaction] = []
    for batch in segment.scan():
        if isinstance(batch, Batch) and batch.producer_id >= 0:
            completed = state.replay(batch)
            entry = None if completed is None else state.complete(completed)
            if entry is not None:
                aborted.append(entry)
    segment.transaction_index.reset()
    for entry in aborted:
        segment.transaction_index.append(entry)
    segment.transaction_index.flush()
