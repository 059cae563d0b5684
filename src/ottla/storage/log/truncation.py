"""Drops the end of a log, when a follower finds that its leader's is another.

It takes two steps, so that the thread which serves clients waits for no disk. After `begin` readers get nothing of the
dropped end; `finish`, on any thread, brings that to the disk. In between nothing is appended.

Segments that go are renamed on disk before the last one that stays is cut, and the log is cut before the epochs and
snapshots are: a crash in between leaves a shorter log, or epochs and snapshots that lie beyond its end, which loading
removes.
"""

from typing import NamedTuple

from ottla.storage.log.deletion import abandon_swap, rename_away
from ottla.storage.log.producer_replay import load_snapshot, replay_segments
from ottla.storage.log.state import LogState
from ottla.storage.producer_state.state import ProducerState
from ottla.storage.segment.segment import Segment


class Truncation(NamedTuple):
    """The part of a truncation that is left to be done on the disk."""

    dropped: tuple[Segment, ...] = ()
    """Segments that go as a whole."""
    cut_segment: Segment | None = None
    """The one that is the last now, and has to be cut."""
    offset: int = -1
    restarts: bool = False
    """Whether nothing stays, and a new segment begins at the offset."""

    @property
    def is_cut(self) -> bool:
        """Whether there was anything to drop."""
        return self.offset >= 0


def begin(log: LogState, offset: int) -> Truncation:
    """See `Log.begin_truncation`.

    A batch that begins before the offset and reaches beyond it goes too, and the log then ends where it began: the
    leader has those offsets, so they must be fetched again. Segments [0,50) [50,80) [80,99], truncate to 60 with a
    batch [58,62] → [0,50) [50,58), log end 58.
    """
    if offset >= log.log_end_offset:
        # An epoch that began here and wrote nothing may be none of the leader's.
        log.epochs.forget_from_end(offset)
        return Truncation()
    if offset < log.segments.first.base_offset:
        return begin_restart(log, offset)
    abandon_swap(log)
    dropped = tuple(segment for segment in log.segments if segment.base_offset > offset)
    log.segments.remove(dropped)
    end_offset = log.segments.active.hide_from(offset)
    log.epochs.forget_from_end(end_offset)
    log.restart_at(min(log.log_start_offset, end_offset), end_offset)
    rename_away(tuple(reversed(dropped)))
    return Truncation(dropped, log.segments.active, offset)


def begin_restart(log: LogState, offset: int) -> Truncation:
    """See `Log.begin_restart`. What is read meanwhile comes from the files that go."""
    abandon_swap(log)
    dropped = log.segments.all()
    rename_away(tuple(reversed(dropped)))
    return Truncation(dropped, None, offset, restarts=True)


def finish(log: LogState, truncation: Truncation) -> None:
    """See `Log.finish_truncation`."""
    if truncation.is_cut:
        log.disk.flush_directory(log.directory)
        if truncation.restarts:
            _restart(log, truncation)
        else:
            _cut(log, truncation)
        log.contiguity.lower_to(log.log_end_offset)
        log.doom(truncation.dropped)
    log.epochs.flush_noted()


def _restart(log: LogState, truncation: Truncation) -> None:
    offset = truncation.offset
    new = Segment.create(log.disk, log.directory, offset, log.config)
    log.segments.replace(truncation.dropped, [new])
    log.epochs.forget_from_end(-1)
    log.snapshots.remove_outside(offset, -1)
    producers = ProducerState(log.producers.expiration_ms)
    producers.clear(offset)
    log.producers = producers
    log.restart_at(offset, offset)


def _cut(log: LogState, truncation: Truncation) -> None:
    assert truncation.cut_segment is not None
    truncation.cut_segment.cut_hidden(truncation.offset)
    log.disk.flush_directory(log.directory)
    log.epochs.flush_noted()
    _reload_producers(log)


def _reload_producers(log: LogState) -> None:
    """Producer state as of the new end; whether a producer expired is decided by the next round of expiry."""
    end_offset = log.log_end_offset
    log.snapshots.remove_outside(log.segments.first.base_offset, end_offset)
    # Others ask the present one for the last stable offset until this one is complete.
    producers = ProducerState(log.producers.expiration_ms)
    load_snapshot(log.disk, log.snapshots, producers, end_offset, now_ms=0)
    replay_segments(producers, log.segments.all(), end_offset)
    producers.transactions.replicated(log.high_watermark)
    log.producers = producers
