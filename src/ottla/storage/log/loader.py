"""Opens a partition's directory: finishes what was interrupted, recovers after a crash, finds where the log ends.

After a clean stop only the active segment is looked at. After a crash the segment that holds the recovery point and
all later ones are read and checked batch by batch; see `recovery`. A clean stop flushes everything, so a log that ends
before its recovery point then has lost what the disk had confirmed, and is not opened: its offsets would be given out
again.
"""

import logging

from ottla.storage.checkpoint import LOG_START_CHECKPOINT
from ottla.storage.disk.port import Disk
from ottla.storage.errors import CorruptFileError
from ottla.storage.leader_epoch import checkpoint
from ottla.storage.leader_epoch.cache import LeaderEpochCache
from ottla.storage.log.contiguity import Contiguity
from ottla.storage.log.epoch_repair import rebuild_epochs
from ottla.storage.log.leftover import finish_interrupted
from ottla.storage.log.loaded import LoadedLog, LoadOptions, Shutdown
from ottla.storage.log.producer_replay import load_snapshot, replay_segments
from ottla.storage.log.recovery import recover
from ottla.storage.log.segments import Segments
from ottla.storage.log_config import LogConfig
from ottla.storage.producer_state.snapshot_directory import SnapshotDirectory
from ottla.storage.producer_state.state import ProducerState
from ottla.storage.segment import file_name
from ottla.storage.segment.file_name import FileName
from ottla.storage.segment.segment import Segment

__all__ = ["LoadOptions", "LoadedLog", "Shutdown", "load"]

_log = logging.getLogger(__name__)


def load(disk: Disk, directory: str, config: LogConfig, options: LoadOptions) -> LoadedLog:
    """See `Log.open`."""
    is_new = disk.status(directory) is None
    if is_new:
        disk.make_directory(directory)
    names = disk.list(directory)
    files = finish_interrupted(disk, directory, names, config)
    segments = Segments(Segment.open(disk, directory, base, config) for base in _offsets(files, file_name.LOG))
    loaded = LoadedLog(
        directory,
        segments,
        _read_epochs(disk, f"{directory}/{checkpoint.FILE_NAME}"),
        ProducerState(options.producer_id_expiration_ms),
        SnapshotDirectory(disk, directory, _offsets(files, file_name.SNAPSHOT)),
        Contiguity(disk, directory, names),
        options.log_start_offset,
        0,
        options.recovery_point,
    )
    _find_lost_epochs(disk, loaded, options)
    if len(segments) and options.shutdown is not Shutdown.CLEAN:
        recover(disk, loaded, options.now_ms)
    _check_flushed(loaded, options.shutdown)
    _check_start(loaded, options.shutdown)
    _find_bounds(disk, loaded, config)
    loaded.contiguity.begin(loaded.log_end_offset)
    if options.shutdown is Shutdown.CLEAN:
        _load_producers(disk, loaded, options.now_ms)
    loaded.producers.transactions.replicated(loaded.log_start_offset)
    active = loaded.segments.active
    active.created_ms = options.now_ms
    # Most partitions of a broker are idle most of the time: they get their files when somebody comes.
    active.release()
    return loaded


def _offsets(files: list[FileName], kind: str) -> list[int]:
    return [file.base_offset for file in files if file.kind == kind]


def _read_epochs(disk: Disk, path: str) -> LeaderEpochCache:
    """The history of epochs. A file that cannot be read says nothing, and is as good as lost."""
    try:
        return LeaderEpochCache(disk, path)
    except CorruptFileError as problem:
        _log.warning("%s; it goes, and is built anew from the batches", problem)
        disk.remove(path)
        return LeaderEpochCache(disk, path)


def _find_lost_epochs(disk: Disk, loaded: LoadedLog, options: LoadOptions) -> None:
    """Makes up for a lost history of epochs; what recovery is going to read is left to it.

    With nothing flushed yet there is no file to lose: the first flush of a log that follows writes it.
    """
    epochs, segments = loaded.epochs, loaded.segments
    status = disk.status(epochs.path)
    # An empty file is what Apache Kafka begins with, and what some file systems leave of one after a crash.
    is_there = status is not None and status.size_bytes > 0
    if epochs.entries or is_there or not any(segment.size_bytes for segment in segments):
        return
    is_clean = options.shutdown is Shutdown.CLEAN
    trusted = len(segments) if is_clean else len(segments) - len(segments.from_offset(options.recovery_point))
    if trusted:
        rebuild_epochs(epochs, segments.all()[:trusted])


def _check_flushed(loaded: LoadedLog, shutdown: Shutdown) -> None:
    """Looks whether everything below the recovery point is there, and after a clean stop nothing above it.

    After a crash it need not: it may have come between a truncation and its checkpoint.
    """
    end_offset = loaded.segments.active.next_offset if len(loaded.segments) else 0
    if shutdown is Shutdown.CLEAN and end_offset > loaded.recovery_point > 0:
        raise CorruptFileError(f"ends at {end_offset} and was left at {loaded.recovery_point}", loaded.directory)
    if end_offset >= loaded.recovery_point:
        return
    problem = f"the log ends at offset {end_offset}, though everything below {loaded.recovery_point} was on the disk"
    if shutdown is not Shutdown.UNCLEAN:
        raise CorruptFileError(problem, loaded.directory)
    _log.warning("%s: %s", loaded.directory, problem)


def _check_start(loaded: LoadedLog, shutdown: Shutdown) -> None:
    """Looks whether the log reaches to where its checkpoint says that it begins.

    After a crash it need not: what DeleteRecords left may have been lost with the tail. Otherwise the checkpoint is
    wrong, and a log that went by it would lose everything that it has.
    """
    end_offset = loaded.segments.active.next_offset if len(loaded.segments) else loaded.log_start_offset
    if shutdown is not Shutdown.UNCLEAN and end_offset < loaded.log_start_offset:
        reason = f"the log ends at offset {end_offset}, and {LOG_START_CHECKPOINT} has it begin at"
        raise CorruptFileError(f"{reason} {loaded.log_start_offset}", loaded.directory)


def _find_bounds(disk: Disk, loaded: LoadedLog, config: LogConfig) -> None:
    """Log start and end, and what of epochs and recovery point lies within."""
    segments = loaded.segments
    end_offset = segments.active.next_offset if len(segments) else -1
    if end_offset < loaded.log_start_offset:
        # What DeleteRecords left was lost with the tail: the log goes on, empty, where it was cut off.
        for segment in reversed(segments.all()):
            segment.delete()
        end_offset = loaded.log_start_offset
        segments.replace(segments.all(), [Segment.create(disk, loaded.directory, end_offset, config)])
        loaded.producers.clear(end_offset)
    loaded.log_end_offset = end_offset
    loaded.log_start_offset = max(loaded.log_start_offset, segments.first.base_offset)
    loaded.recovery_point = min(loaded.recovery_point, end_offset)
    loaded.epochs.forget_from_end(end_offset)
    loaded.epochs.truncate_from_start(loaded.log_start_offset)


def _load_producers(disk: Disk, loaded: LoadedLog, now_ms: int) -> None:
    """Producer state after a clean stop: all of it is in the last snapshot, unless that was lost."""
    end_offset, snapshots = loaded.log_end_offset, loaded.snapshots
    snapshots.remove_outside(loaded.segments.first.base_offset, end_offset)
    load_snapshot(disk, snapshots, loaded.producers, end_offset, now_ms)
    replay_segments(loaded.producers, loaded.segments.all(), end_offset)
    snapshots.remove_strays([segment.base_offset for segment in loaded.segments], end_offset)
