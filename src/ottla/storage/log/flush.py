"""Bringing a log to the disk. It runs beside appends, on another thread.

The order is that of what loading relies on: batches and indexes, what the transaction indexes held, producer snapshots,
epochs, at last the names of all these files. Only then the recovery point moves, below which a crash re-reads nothing.
Each roll asks for it (`Log.rolled`), so that a crash costs the active segment and what was rolled a moment ago.
"""

from ottla.storage.disk.atomic import directory_of
from ottla.storage.log import transaction_index_checkpoint
from ottla.storage.log.state import LogState


def flush(log: LogState, end: int) -> None:
    """Returns once everything below the offset is on the disk, for the one who claimed the log."""
    # First: appends cost more until it is done.
    log.snapshots.keep_promises(end)
    begin = log.recovery_point
    if end <= begin:
        return
    active = log.segments.active
    written = [segment for segment in log.segments.from_offset(begin) if segment.base_offset < end]
    # The one that ends right there was on the disk before it was trimmed.
    last_flushed = log.segments.from_offset(begin - 1)[0]
    if last_flushed.has_unflushed_trim and last_flushed not in written:
        written.append(last_flushed)
    for segment in written:
        segment.flush()
    # One that was flushed to its end before it was rolled is not among the written.
    sealed = [segment for segment in {*written, last_flushed} if segment is not active]
    if sealed:
        transaction_index_checkpoint.note(log, sealed)
    for segment in written:
        if segment is not active and not log.is_warm(segment):
            segment.release()
    has_snapshots = log.snapshots.flush(begin, end)
    # Recovery finds the epochs of batches from here on only.
    log.epochs.flush_noted()
    if log.has_new_directory:
        log.disk.flush_directory(directory_of(log.directory))
    if log.has_new_directory or has_snapshots or any(segment.base_offset >= begin for segment in written):
        flush_names(log)
    log.has_new_directory = False
    log.recovery_point = end


def flush_names(log: LogState) -> None:
    """Returns once it is on the disk which files there are."""
    # Before it is true: segments that go meanwhile need the next flush.
    log.has_unflushed_deletion = False
    log.disk.flush_directory(log.directory)
