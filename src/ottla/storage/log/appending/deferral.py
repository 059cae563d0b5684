"""Appends to a disk that is not well: the loop places batches, a thread writes them, in the order of their offsets.

What the loop decides is decided as ever, and at once: sequence numbers, offsets, epochs, when a segment is full. The
log ends where the thread has come (`log_end_offset`), so nobody reads, replicates or acknowledges what is not in the
file; the next batch goes where the last one that was placed ends (`next_offset`). Producers are ahead of the file
meanwhile. A snapshot of them that belongs to a new segment is therefore promised when the segment is decided on, and a
log that could not write something that was placed is offline for good: what its producers sent may not be taken for
repeats.

What was placed while the thread was busy becomes one write: [0,9] [10,19] [20,29] are a write of 30 records, unless a
segment begins in between, a transaction index has to be whole before (an aborted transaction ends), or it becomes too
long. A write that fails fails all that it carried, and all behind it.
"""

import logging
import threading
from collections.abc import Sequence
from typing import Final, NamedTuple

from ottla.storage.append_queue import Writes
from ottla.storage.errors import LogOfflineError, StorageError
from ottla.storage.index.offset_index import RELATIVE_OFFSET_MAX
from ottla.storage.index.transaction_index import AbortedTransaction
from ottla.storage.log.appending.backlog import Backlog, Room, WrittenDone
from ottla.storage.log.appending.placed import Placed
from ottla.storage.log.appending.write import begin_segment, index_aborted, make_index_ready, promise_snapshot
from ottla.storage.log.state import LogState
from ottla.storage.segment.scan import Extent

_log = logging.getLogger(__name__)

_TOGETHER_BYTES_MAX: Final = 1 << 20
"""What is written together has to be copied first; readers and who waits see all of it at once."""
_TRIES: Final = 100
_TRY_AGAIN_SECONDS: Final = 0.1
"""How long a thread waits for descriptors or memory that the system does not give, which is no fault of the disk."""


class _Deferred(NamedTuple):
    """One append for the thread. It holds nothing of the caller's buffer, which is used for the next request."""

    begins_at: int
    """Where the log ended when it was placed."""
    data: bytes
    extents: Sequence[Extent]
    first_offset: int
    last_offset: int
    now_ms: int
    new_segment: int | None
    """Where a segment begins with it."""
    ends_aborted: bool
    aborted: list[AbortedTransaction]

    @property
    def is_plain(self) -> bool:
        """Whether it may be written with what is before it."""
        return self.new_segment is None and not self.ends_aborted


def defer(log: LogState, placed: Placed) -> None:
    """Has the thread write batches, which take effect at once for all that is placed after them."""
    assert log.appends is not None
    backlog = log.backlog
    if backlog is None:
        backlog = log.backlog = Backlog(log.log_end_offset, Room(log.tail[1]))
        backlog.writer = _Writer(log, backlog)
    data, last_offset = bytes(placed.data), placed.last_offset
    extents = [Extent(batch.size, batch.last_offset, batch.max_timestamp) for batch in placed.batches]
    new_segment = _new_segment(log, backlog, placed)
    backlog.room.take(len(data), placed.batches)
    for epoch, start_offset in placed.epochs:
        log.epochs.note(epoch, start_offset)
    deferred = _Deferred(
        begins_at=backlog.end_offset,
        data=data,
        extents=extents,
        first_offset=placed.first_offset,
        last_offset=last_offset,
        now_ms=placed.now_ms,
        new_segment=new_segment,
        ends_aborted=placed.change.ends_aborted,
        aborted=placed.change.take_effect(),
    )
    backlog.end_offset = last_offset + 1
    backlog.unwritten += 1
    log.appends.submit(backlog.writer, deferred, len(data))


def _new_segment(log: LogState, backlog: Backlog, placed: Placed) -> int | None:
    room, now_ms = backlog.room, placed.now_ms
    if room.takes(log.config, len(placed.data), placed.batches, now_ms):
        return None
    base_offset = max(backlog.end_offset, placed.last_offset - RELATIVE_OFFSET_MAX)
    room.begin(log.directory, base_offset, log.config, now_ms)
    promise_snapshot(log, base_offset)
    return base_offset


class _Writer:
    """Writes what one backlog holds: the `LogWriter` of its log."""

    __slots__ = ("_backlog", "_log")

    def __init__(self, log: LogState, backlog: Backlog) -> None:
        self._log = log
        self._backlog = backlog

    def write(self, line: Sequence[_Deferred]) -> Writes:
        """Writes the first of what was placed, or takes the log offline and says why."""
        together = _together(line)
        log = self._log
        try:
            for tries_left in reversed(range(_TRIES)):
                try:
                    _write(log, together)
                except StorageError as error:
                    if not error.is_passing or not tries_left:
                        raise
                else:
                    break
                threading.Event().wait(_TRY_AGAIN_SECONDS)
        except StorageError as error:
            log.go_offline(error)
            return Writes(len(together), error)
        return Writes(len(together), None)

    def written(self, writes: Writes) -> None:
        """On the loop: tells those who wait."""
        log, backlog = self._log, self._backlog
        backlog.unwritten -= writes.appends
        if not backlog.unwritten and log.backlog is backlog:
            log.backlog = None
        _call(backlog.due(log.log_end_offset), None)
        if writes.error is not None:
            log.go_offline(writes.error)
            _call(backlog.all_waiting(), writes.error)


def _together(line: Sequence[_Deferred]) -> Sequence[_Deferred]:
    """The first of what was placed, and what goes into the file with it."""
    size_bytes = len(line[0].data)
    count = 1
    if not line[0].ends_aborted:
        while count < len(line) and line[count].is_plain:
            size_bytes += len(line[count].data)
            if size_bytes > _TOGETHER_BYTES_MAX:
                break
            count += 1
    return line[:count]


def _write(log: LogState, together: Sequence[_Deferred]) -> None:
    first, last = together[0], together[-1]
    with log.writing:
        if log.is_discarded:
            raise LogOfflineError("the log is deleted", log.directory)
        if log.offline_error is not None:
            raise LogOfflineError(f"offline since: {log.offline_error}", log.directory)
        log_end_offset, segment, _ = log.tail
        if not first.begins_at <= log_end_offset <= first.first_offset:
            raise StorageError(f"an append at {first.begins_at}, and the log ends at {log_end_offset}", log.directory)
        if first.new_segment is not None:
            segment = begin_segment(log, first.now_ms, max(first.new_segment, log_end_offset))
        if first.ends_aborted:
            make_index_ready(log, segment)
        if last is first:
            segment.append_many(first.data, first.extents)
        else:
            data = b"".join([deferred.data for deferred in together])
            segment.append_many(data, [extent for deferred in together for extent in deferred.extents])
        try:
            index_aborted(segment, first.aborted)
        except StorageError as error:
            # The batch is in the file: it must not be written again.
            raise StorageError(error.reason, error.path, error.errno) from error
        log.advance(last.last_offset + 1, segment)


def _call(waiting: Sequence[WrittenDone], error: StorageError | None) -> None:
    for done in waiting:
        try:
            done(error)
        except Exception:  # noqa: BLE001 - others wait for the write as well
            _log.exception("who waited for a write failed")
