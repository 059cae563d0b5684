"""Appends to a disk that is not well: the loop places batches, a thread writes them, in the order of their offsets.

What the loop decides is decided as ever, and at once: sequence numbers, offsets, epochs, when a segment is full. The
log ends where the thread has come (`log_end_offset`), so nobody reads, replicates or acknowledges what is not in the
file; the next batch goes where the last one that was placed ends (`next_offset`). Producers are ahead of the file
meanwhile. A snapshot of them that belongs to a new segment is therefore made when the segment is decided on, and a log
that could not write something that was placed is offline for good: what its producers sent may not be taken for
repeats.
"""

import threading
from functools import partial
from typing import Final, NamedTuple

from ottla.protocol.records.batch import Batch, batches
from ottla.storage.errors import LogOfflineError, StorageError
from ottla.storage.index.offset_index import RELATIVE_OFFSET_MAX
from ottla.storage.index.transaction_index import AbortedTransaction
from ottla.storage.log.appending.backlog import Backlog, Room
from ottla.storage.log.appending.placed import Placed
from ottla.storage.log.appending.write import index_aborted, put, roll
from ottla.storage.log.state import LogState
from ottla.storage.producer_state.snapshot import encode_snapshot

_TRIES: Final = 100
_TRY_AGAIN_SECONDS: Final = 0.1
"""How long a thread waits for descriptors or memory that the system does not give, which is no fault of the disk."""


class _NewSegment(NamedTuple):
    """A write begins a segment."""

    base_offset: int
    snapshot: bytes
    """Of the producers, as of the base offset."""


class _Deferred(NamedTuple):
    """One write for the thread."""

    begins_at: int
    """Where the log ended when it was placed."""
    placed: Placed
    new_segment: _NewSegment | None
    aborted: list[AbortedTransaction]


def defer(log: LogState, placed: Placed) -> None:
    """Has the thread write batches, which take effect at once for all that is placed after them."""
    assert log.appends is not None
    backlog = log.backlog
    if backlog is None:
        backlog = log.backlog = Backlog(log.log_end_offset, Room(log.tail[1]))
    # The caller's buffer is used for the next request by the time that the thread comes to this.
    placed = _kept(placed)
    new_segment = _new_segment(log, backlog, placed)
    backlog.room.take(len(placed.data), placed.batches)
    for epoch, start_offset in placed.epochs:
        log.epochs.note(epoch, start_offset)
    deferred = _Deferred(backlog.end_offset, placed, new_segment, placed.change.take_effect())
    backlog.end_offset = placed.last_offset + 1
    backlog.unwritten += 1
    log.appends.submit(partial(_write, log, deferred), partial(_written, log, backlog), len(placed.data))


def _kept(placed: Placed) -> Placed:
    data = bytes(placed.data)
    kept: list[Batch] = list(batches(data))
    return Placed(data, kept, placed.change, placed.epochs, placed.now_ms)


def _new_segment(log: LogState, backlog: Backlog, placed: Placed) -> _NewSegment | None:
    room, now_ms = backlog.room, placed.now_ms
    if room.takes(log.config, len(placed.data), placed.batches, now_ms):
        return None
    base_offset = max(backlog.end_offset, placed.last_offset - RELATIVE_OFFSET_MAX)
    room.begin(log.directory, base_offset, log.config, now_ms)
    return _NewSegment(base_offset, encode_snapshot(log.producers.entries.values()))


def _write(log: LogState, deferred: _Deferred) -> StorageError | None:
    """On the thread: writes what was placed, or takes the log offline and says why."""
    try:
        for tries_left in reversed(range(_TRIES)):
            try:
                _write_once(log, deferred)
            except StorageError as error:
                if not error.is_passing or not tries_left:
                    raise
            else:
                return None
            threading.Event().wait(_TRY_AGAIN_SECONDS)
    except StorageError as error:
        log.go_offline(error)
        return error
    return None


def _write_once(log: LogState, deferred: _Deferred) -> None:
    begins_at, placed, new_segment, aborted = deferred
    with log.writing:
        if log.is_discarded:
            raise LogOfflineError("the log is deleted", log.directory)
        if log.offline_error is not None:
            raise LogOfflineError(f"offline since: {log.offline_error}", log.directory)
        log_end_offset, segment, _ = log.tail
        if not begins_at <= log_end_offset <= placed.first_offset:
            raise StorageError(f"an append at {begins_at}, and the log ends at {log_end_offset}", log.directory)
        if new_segment is not None:
            segment = roll(log, placed.now_ms, new_segment.base_offset, new_segment.snapshot)
        put(log, segment, placed)
        try:
            index_aborted(segment, aborted)
        except StorageError as error:
            # The batch is in the file: it must not be written again.
            raise StorageError(error.reason, error.path, error.errno) from error
        log.advance(placed.last_offset + 1, segment)


def _written(log: LogState, backlog: Backlog, error: StorageError | None) -> None:
    """On the loop: a write has come back."""
    backlog.unwritten -= 1
    if not backlog.unwritten and log.backlog is backlog:
        log.backlog = None
    if error is not None:
        log.go_offline(error)
    due = backlog.due(log.log_end_offset) if error is None else backlog.all_waiting()
    for done in due:
        done(error)
