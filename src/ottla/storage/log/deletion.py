"""Taking segments out of a log: old ones, replaced ones, and at last all of it.

Files are renamed to `.deleted` at once, so that a restart does not bring them back, and removed by the manager after
a delay, so that reads under way can finish.
"""

from collections.abc import Sequence

from ottla.storage.disk.tree import remove_tree
from ottla.storage.log import transaction_index_checkpoint
from ottla.storage.log.appending.write import roll
from ottla.storage.log.flush import flush
from ottla.storage.log.state import LogState
from ottla.storage.segment import file_name
from ottla.storage.segment.segment import Segment


def rename_away(segments: Sequence[Segment]) -> None:
    """Has a restart not bring segments back, in the order given, which decides what a crash leaves."""
    for segment in segments:
        segment.release()
        segment.change_suffix(file_name.DELETED)


def delete_oldest(log: LogState, segments: Sequence[Segment], now_ms: int) -> None:
    """See `Log.delete_segments`."""
    if tuple(segments) != log.segments.all()[: len(segments)]:
        raise ValueError("only the oldest segments can be deleted")
    if not segments:
        return
    if len(segments) == len(log.segments):
        roll(log, now_ms, None)
        if log.segments.active is segments[-1]:
            segments = segments[:-1]
    abandon_swap(log)
    # Of producers whose batches go, the snapshot of the first segment that stays has to tell.
    log.snapshots.keep_promises(segments[-1].next_offset)
    # Without a flush of the directory, which the caller sees to: after a crash old segments may be there again, and
    # retention takes them again.
    log.has_unflushed_deletion = True
    rename_away(segments)
    log.segments.remove(segments)
    log.doom(segments)
    first_offset = log.segments.first.base_offset
    if first_offset > log.log_start_offset:
        move_log_start(log, first_offset)


def move_log_start(log: LogState, offset: int) -> None:
    """The log begins at an offset now."""
    log.log_start_offset = offset
    log.epochs.truncate_from_start(offset)
    log.snapshots.remove_below(log.segments.first.base_offset)
    log.update_high_watermark(max(log.high_watermark, offset))


def begin_swap(log: LogState, new: Sequence[Segment]) -> None:
    """See `Log.begin_swap`.

    Once all new files are called `.swap` the change is decided: loading completes it. Before that it undoes it.
    """
    abandon_swap(log)
    log.swapping = tuple(new)
    for segment in reversed(new):
        segment.change_suffix(file_name.SWAP)


def finish_swap(log: LogState, old: Sequence[Segment]) -> None:
    """See `Log.finish_swap`."""
    new, log.swapping = log.swapping, ()
    transaction_index_checkpoint.forget(log, old)
    rename_away(old)
    for segment in new:
        segment.change_suffix("")
    log.segments.replace(old, new)
    # One for each segment that is there: what lies between them is read from the one before, if it comes to that.
    log.snapshots.remove_between(old[0].base_offset, old[-1].base_offset, {segment.base_offset for segment in new})
    log.doom(old)


def abandon_swap(log: LogState) -> None:
    """Takes back a swap that was begun: what it was made of is about to change. The caller flushes the directory.

    The log file goes last. A crash may leave it with or without its indexes, which are built anew then, but no index
    without it, which loading would put beside the segment as it was.
    """
    abandoned, log.swapping = log.swapping, ()
    for segment in abandoned:
        segment.delete()


def take_directory(log: LogState, directory: str) -> None:
    """Tells everything that has paths that the directory was renamed."""
    log.directory = directory
    log.snapshots.directory = directory
    log.contiguity.directory = directory
    log.epochs.path = f"{directory}/{log.epochs.path.rpartition('/')[2]}"
    for segment in (*log.segments, *log.deleted, *log.swapping):
        segment.relocate(directory)


def close(log: LogState) -> None:
    """Leaves on the disk what a clean start expects to find."""
    end_offset = log.log_end_offset
    is_written = end_offset > log.recovery_point
    log.snapshots.keep_promises(end_offset)
    if end_offset > log.log_start_offset or log.producers.entries:
        # Of a log that nobody wrote to since its last stop the snapshot is there, and says what it would say again.
        if is_written or end_offset not in log.snapshots.offsets:
            log.snapshots.write(end_offset, log.producers.entries.values())
        if not is_written:
            log.snapshots.flush(end_offset, end_offset)
    active = log.segments.active
    active.seal()
    # Each file once: a node has thousands of logs, and a stop waits for all of them.
    flush(log, end_offset)
    for segment in log.segments:
        if segment.has_unflushed_trim:
            segment.flush()
        elif segment is active and not (is_written and segment.base_offset < end_offset):
            segment.flush_indexes()
    transaction_index_checkpoint.note(log, log.segments)
    # Also of epochs in which nothing was written, which no flush waits for.
    log.epochs.flush_noted()
    log.disk.flush_directory(log.directory)
    for segment in log.segments:
        segment.release()


def delete_directory(log: LogState) -> None:
    """See `Log.delete`."""
    for segment in log.segments:
        segment.release()
    remove_tree(log.disk, log.directory)
