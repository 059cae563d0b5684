"""Dropping the end of a log, when a follower finds that its leader's is another.

The log is cut on disk before the epochs and snapshots are: a crash in between leaves epochs and snapshots that lie
beyond the log end, which loading removes.
"""

from typing import TYPE_CHECKING

from ottla.storage.log.deletion import drop
from ottla.storage.log.producer_replay import load_snapshot, replay_segments
from ottla.storage.segment.segment import Segment

if TYPE_CHECKING:
    from ottla.storage.log.log import Log


def truncate_to(log: "Log", offset: int) -> bool:
    """See `Log.truncate_to`.

    A batch that begins before the offset and reaches beyond it goes too, and the log then ends where it began: the
    leader has those offsets, so they must be fetched again. Segments [0,50) [50,80) [80,99], truncate to 60 with a
    batch [58,62] → [0,50) [50,58), log end 58.
    """
    if offset >= log.log_end_offset:
        # An epoch that began here and wrote nothing may be none of the leader's.
        log.epochs.truncate_from_end(offset)
        return False
    if offset < log.segments.first.base_offset:
        truncate_fully_and_start_at(log, offset)
        return True
    dropped = [segment for segment in log.segments if segment.base_offset > offset]
    drop(log, list(reversed(dropped)))
    end_offset = log.segments.active.truncate_to(offset)
    log.disk.flush_directory(log.directory)
    log.epochs.truncate_from_end(end_offset)
    log.restart_at(min(log.log_start_offset, end_offset), end_offset)
    _reload_producers(log)
    return True


def truncate_fully_and_start_at(log: "Log", offset: int) -> None:
    """See `Log.truncate_fully_and_start_at`."""
    old = log.segments.all()
    for segment in reversed(old):
        segment.release()
        segment.change_suffix(".deleted")
    log.disk.flush_directory(log.directory)
    new = Segment.create(log.disk, log.directory, offset, log.config)
    log.segments.replace(old, [new])
    log.doom(old)
    log.epochs.clear()
    log.snapshots.remove_outside(offset, -1)
    log.restart_at(offset, offset)
    log.producers.clear(offset)


def _reload_producers(log: "Log") -> None:
    """Producer state as of the new end; whether a producer expired is decided by the next round of expiry."""
    end_offset = log.log_end_offset
    log.snapshots.remove_outside(log.segments.first.base_offset, end_offset)
    load_snapshot(log.disk, log.snapshots, log.producers, end_offset, now_ms=0)
    replay_segments(log.producers, log.segments.all(), end_offset)
    log.producers.transactions.replicated(log.high_watermark)
