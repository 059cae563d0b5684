"""Taking segments out of a log: old ones, replaced ones, and at last all of it.

Files are renamed to `.deleted` at once, so that a restart does not bring them back, and removed by the manager after
a delay, so that reads under way can finish.
"""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from ottla.storage.log import append
from ottla.storage.segment import file_name
from ottla.storage.segment.segment import Segment

if TYPE_CHECKING:
    from ottla.storage.log.log import Log


def drop(log: "Log", segments: Sequence[Segment]) -> None:
    """Takes segments out in the order given, which decides what a crash leaves."""
    if not segments:
        return
    for segment in segments:
        segment.release()
        segment.change_suffix(file_name.DELETED)
    log.disk.flush_directory(log.directory)
    log.segments.remove(segments)
    log.doom(segments)


def delete_oldest(log: "Log", segments: Sequence[Segment], now_ms: int) -> None:
    """See `Log.delete_segments`."""
    if tuple(segments) != log.segments.all()[: len(segments)]:
        raise ValueError("only the oldest segments can be deleted")
    if not segments:
        return
    if len(segments) == len(log.segments):
        append.roll(log, now_ms, None)
        if log.segments.active is segments[-1]:
            segments = segments[:-1]
    drop(log, segments)
    first_offset = log.segments.first.base_offset
    if first_offset > log.log_start_offset:
        move_log_start(log, first_offset)


def move_log_start(log: "Log", offset: int) -> None:
    """The log begins at an offset now."""
    log.log_start_offset = offset
    log.epochs.truncate_from_start(offset)
    log.snapshots.remove_outside(log.segments.first.base_offset, log.log_end_offset)
    log.producers.transactions.replicated(min(offset, log.high_watermark))
    log.high_watermark = max(log.high_watermark, offset)


def replace(log: "Log", old: Sequence[Segment], new: Sequence[Segment]) -> None:
    """See `Log.replace_segments`.

    Once all new files are called `.swap` the change is decided: loading completes it. Before that it undoes it.
    """
    for segment in reversed(new):
        segment.change_suffix(file_name.SWAP)
    log.disk.flush_directory(log.directory)
    for segment in old:
        segment.release()
        segment.change_suffix(file_name.DELETED)
    for segment in new:
        segment.change_suffix("")
    log.disk.flush_directory(log.directory)
    log.segments.replace(old, new)
    log.doom(old)


def take_directory(log: "Log", directory: str) -> None:
    """Tells everything that has paths that the directory was renamed."""
    log.directory = directory
    log.snapshots.directory = directory
    log.epochs.path = f"{directory}/{log.epochs.path.rpartition('/')[2]}"
    for segment in (*log.segments, *log.deleted):
        segment.relocate(directory)


def close(log: "Log") -> None:
    """Leaves on the disk what a clean start expects to find."""
    end_offset = log.log_end_offset
    if end_offset > log.log_start_offset or log.producers.entries:
        log.snapshots.write(end_offset, log.producers.entries.values())
        log.snapshots.flush(end_offset, end_offset)
    active = log.segments.active
    active.seal()
    for segment in log.segments:
        if segment is active or segment.has_unflushed_trim:
            segment.flush()
    log.disk.flush_directory(log.directory)
    for segment in log.segments:
        segment.release()


def delete_directory(log: "Log") -> None:
    """See `Log.delete`."""
    for segment in log.segments:
        segment.release()
    for name in log.disk.list(log.directory):
        log.disk.remove(f"{log.directory}/{name}")
    log.disk.remove(log.directory)
