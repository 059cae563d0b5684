"""Makes sure that a segment's transaction index lacks nothing and says nothing wrong.

A segment without aborted transactions has no such file, so a lost file is not missed, nor are entries that were cut
off: Apache Kafka then serves aborted records as committed. Here a segment that was not written or recovered by this
process is read once before its index is believed: every abort marker has to have its entry, and every entry its marker.
Segments that no transaction can have ended in, by what is known of the producers after them, need no reading.
"""

import logging
from collections.abc import Sequence
from typing import TYPE_CHECKING

from ottla.protocol.records.batch import Batch
from ottla.protocol.records.control import ControlRecordType, read_key
from ottla.protocol.records.reader import decode_batch
from ottla.storage.errors import RebuildableFileError
from ottla.storage.index.transaction_index import AbortedTransaction
from ottla.storage.log.producer_replay import load_snapshot, replay_segments
from ottla.storage.producer_state.entry import ProducerEntry
from ottla.storage.producer_state.snapshot import read_snapshot
from ottla.storage.producer_state.state import ProducerState
from ottla.storage.segment.segment import Segment

if TYPE_CHECKING:
    from ottla.storage.log.log import Log

_log = logging.getLogger(__name__)


def ensure_complete(log: "Log", segment: Segment) -> None:
    """Checks the index once, and writes it anew if it is damaged or missing."""
    index = segment.transaction_index
    if index.is_complete:
        return
    try:
        is_right = _is_right(log, segment, index.entries())
    except RebuildableFileError:
        is_right = False
    if not is_right:
        aborted = _replayed(log, segment)
        _log.warning("%s: lost or wrong, built anew from the batches: %d entries", index.path, len(aborted))
        index.reset()
        for entry in aborted:
            index.append(entry)
        index.flush()
    index.is_complete = True


def _is_right(log: "Log", segment: Segment, entries: Sequence[AbortedTransaction]) -> bool:
    if not entries and not _saw_transactions(log, segment):
        return True
    unlisted = _unlisted_aborts(segment, entries)
    if not unlisted:
        return unlisted is not None
    # A marker may end a transaction that wrote nothing here, or whose records compaction took: only a replay tells.
    return not any(aborted.last_offset in unlisted for aborted in _replayed(log, segment))


def _unlisted_aborts(segment: Segment, entries: Sequence[AbortedTransaction]) -> set[int] | None:
    """The abort markers that have no entry; None if an entry says what the batches do not."""
    listed = {entry.last_offset: entry for entry in entries}
    began: dict[int, int] = {}
    unlisted: set[int] = set()
    for batch in segment.scan():
        if not isinstance(batch, Batch) or not batch.is_transactional:
            continue
        if not batch.is_control:
            began.setdefault(batch.producer_id, batch.base_offset)
            continue
        first_offset = began.pop(batch.producer_id, batch.base_offset)
        if not _is_abort(batch):
            continue
        entry = listed.pop(batch.base_offset, None)
        if entry is None:
            unlisted.add(batch.base_offset)
        elif (
            entry.producer_id != batch.producer_id
            or entry.first_offset > first_offset
            or entry.last_stable_offset > batch.base_offset + 1
        ):
            return None
    return None if listed else unlisted


def _is_abort(batch: Batch) -> bool:
    """Whether a control batch ends a transaction by aborting it; one that compaction emptied ends nothing."""
    return bool(batch.records_count) and read_key(decode_batch(batch)[0][2]) is ControlRecordType.ABORT


def _saw_transactions(log: "Log", segment: Segment) -> bool:
    """Whether a transaction can have ended in the segment, by what is known of the producers after it."""
    following = log.segments.after(segment)
    if following is None:
        # Producers that were silent for long are forgotten at the start, but the snapshot of the stop has them.
        if _any_ended(list(log.producers.entries.values())):
            return True
        offset = max(log.snapshots.offsets, default=segment.base_offset)
        if offset <= segment.base_offset:
            return False
    else:
        offset = following.base_offset
        if offset not in log.snapshots.offsets:
            return True
    try:
        return _any_ended(read_snapshot(log.disk, log.snapshots.path(offset)))
    except RebuildableFileError:
        return True


def _any_ended(entries: list[ProducerEntry]) -> bool:
    return any(entry.coordinator_epoch >= 0 for entry in entries)


def _replayed(log: "Log", segment: Segment) -> list[AbortedTransaction]:
    """The transactions whose abort marker lies in the segment, as the batches have it."""
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
    return aborted
