"""Loads all logs of a log directory, several at once, and says how far it is.

Names decide what a directory is: `-delete` is removed, `-stray` stays aside, `-future` is a copy under way; one
that is named like nothing of ours refuses, because it means that the directory is somebody else's. An I/O error takes
the directory offline. A log whose files hold what cannot be is damaged: the others load without it. Noise in a file of
the directory itself refuses the start, because guessing could lose records.
"""

import logging
import threading
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from typing import Final, NamedTuple

from ottla.base.clock import Clock
from ottla.base.frozen import frozen
from ottla.base.ids import Uuid
from ottla.storage.clean_shutdown import read_clean_shutdown, remove_clean_shutdown
from ottla.storage.damaged_log import DamagedLog
from ottla.storage.disk.tree import remove_tree
from ottla.storage.errors import CorruptFileError, StorageError
from ottla.storage.log.loader import LoadOptions, Shutdown
from ottla.storage.log.log import Log
from ottla.storage.log_config import LogConfig
from ottla.storage.log_directory import LogDirectory
from ottla.storage.partition_metadata import read_partition_metadata
from ottla.storage.topic_partition import (
    DirectoryKind,
    PartitionDirectory,
    TopicPartition,
    directory_name,
    parse_directory_name,
)

METADATA_TOPIC: Final = "__cluster_metadata"
"""The quorum's own log lives among the others and is opened by the quorum."""
_NOT_LOGS: Final = frozenset({"remote-log-index-cache"})
_PROGRESS_MS: Final = 5000
_LOGS_PER_JOB: Final = 32
"""A clean log opens in less time than two threads need to take turns."""

_log = logging.getLogger(__name__)


@frozen(kw_only=True)
class LoadingRules:
    """The input of loading."""

    clock: Clock
    config_of: Callable[[str], LogConfig]
    is_stray: Callable[[TopicPartition, Uuid | None], bool]
    """Whether the cluster does not know this partition, or knows it by another topic id."""
    unique_id: Callable[[], str]
    """A name that was never used, for directories that are put aside."""
    producer_id_expiration_ms: int
    threads: int


class LoadedLog(NamedTuple):
    """A log that was opened, and whether it is the partition's own or a copy under way."""

    topic_partition: TopicPartition
    kind: DirectoryKind
    log: Log


class DirectoryLoading:
    """The loading of one directory; `run` answers what it found once all of it is open."""

    def __init__(self, directory: LogDirectory, rules: LoadingRules) -> None:
        self._directory = directory
        self._rules = rules
        self._lock = threading.Lock()
        self._loaded: list[LoadedLog] = []
        self._total = 0
        self._told_ms = 0

    def run(self) -> list[LoadedLog]:
        """Loads everything. An I/O error leaves the directory offline; noise (`CorruptFileError`) goes through."""
        directory = self._directory
        try:
            self._run()
        except StorageError as error:
            if isinstance(error, CorruptFileError) and error.was_read:
                raise
            directory.go_offline(error)
            return []
        directory.is_loaded = True
        return self._loaded

    def _run(self) -> None:
        directory, clock = self._directory, self._rules.clock
        names = self._names()
        directory.clean_shutdown_epoch = read_clean_shutdown(directory.disk, directory.path)
        # Gone before anything is opened: a crash while loading must not look like the clean stop before it.
        remove_clean_shutdown(directory.disk, directory.path)
        bounds = _Bounds(
            Shutdown.UNCLEAN if directory.clean_shutdown_epoch is None else Shutdown.CLEAN,
            directory.recovery_points.read(),
            directory.log_starts.read(),
            directory.high_watermarks.read(),
            frozenset(directory.damaged_points.read()),
        )
        _mend_clean_offsets(directory)
        self._total, self._told_ms = len(names), clock.monotonic_ms()
        _log.info("[%s] loading %d logs after %s stop", directory.path, len(names), bounds.shutdown.name.lower())
        started_ms = clock.monotonic_ms()
        # Clean logs are a few small reads each, and threads that take turns at those are half as fast as one alone.
        threads = 1 if bounds.shutdown is Shutdown.CLEAN else self._rules.threads
        with ThreadPoolExecutor(threads, f"log-recovery-{directory.path}") as pool:
            parts = [names[at : at + _LOGS_PER_JOB] for at in range(0, len(names), _LOGS_PER_JOB)]
            jobs = [pool.submit(self._load_some, part, bounds) for part in parts]
            try:
                for job in jobs:
                    job.result()
            except StorageError:
                pool.shutdown(wait=True, cancel_futures=True)
                raise
        directory.checkpoint_damaged()
        _log.info("[%s] loaded %d logs in %d ms", directory.path, len(names), clock.monotonic_ms() - started_ms)

    def _names(self) -> list[tuple[str, PartitionDirectory]]:
        """The directories to open, each with what its name says."""
        directory = self._directory
        found = []
        for name in directory.disk.list(directory.path):
            status = directory.disk.status(f"{directory.path}/{name}")
            if status is None or not status.is_directory or name in _NOT_LOGS:
                continue
            parsed = parse_directory_name(name)
            if parsed is None:
                raise CorruptFileError(
                    "not in the form of topic-partition or topic-partition.uniqueId-delete (if marked for deletion); "
                    "log directories should only contain topic data",
                    f"{directory.path}/{name}",
                )
            if parsed.topic_partition.topic != METADATA_TOPIC:
                found.append((name, parsed))
        live = {parsed.topic_partition for _, parsed in found if parsed.kind is DirectoryKind.LIVE}
        for name, parsed in found:
            # The checkpoints have room for one of them.
            if parsed.kind is DirectoryKind.FUTURE and parsed.topic_partition in live:
                raise second_directory(parsed.topic_partition, directory.path, f"{directory.path}/{name}")
        return found

    def _load_some(self, names: Sequence[tuple[str, PartitionDirectory]], bounds: "_Bounds") -> None:
        for name, parsed in names:
            self._load(name, parsed, bounds)

    def _load(self, name: str, parsed: PartitionDirectory, bounds: "_Bounds") -> None:
        directory, rules = self._directory, self._rules
        partition, kind = parsed
        path = f"{directory.path}/{name}"
        if kind is DirectoryKind.DELETE:
            remove_tree(directory.disk, path)
            return
        if kind is DirectoryKind.STRAY:
            directory.stray_paths.append(path)
            return
        options = self._options(partition, bounds)
        try:
            options = replace(options, topic_id=read_partition_metadata(directory.disk, path))
            if rules.is_stray(partition, options.topic_id):
                self._put_aside(partition, path)
                return
            log = self._open(path, options)
        except CorruptFileError as error:
            self._take_damaged(_DamagedDirectory(parsed, path, options, error), bounds)
            return
        log.update_high_watermark(bounds.high_watermarks.get(partition, 0))
        # Most partitions are idle: their descriptors come back with their next use.
        log.active_segment.release()
        with self._lock:
            self._loaded.append(LoadedLog(partition, kind, log))
            self._tell()

    def _open(self, path: str, options: LoadOptions) -> Log:
        """Opens a log. One that is not as a clean stop leaves it is read in full: it may hold all that it has to."""
        config = self._rules.config_of(options.topic)
        try:
            return Log.open(self._directory.disk, path, config, options)
        except CorruptFileError as problem:
            if options.shutdown is not Shutdown.CLEAN:
                raise
            _log.warning("[%s] not as a clean stop leaves it, and read as after a crash: %s", path, problem)
            return Log.open(self._directory.disk, path, config, replace(options, shutdown=Shutdown.DAMAGED))

    def _take_damaged(self, found: "_DamagedDirectory", bounds: "_Bounds") -> None:
        """Keeps a damaged log out of use as it is; a copy that was being made is made again instead."""
        directory = self._directory
        partition, kind = found.name
        if kind is DirectoryKind.FUTURE:
            _log.warning("[%s] the copy of %s is damaged and goes: %s", directory.path, partition, found.error)
            remove_tree(directory.disk, found.path)
            return
        _log.error("[%s] %s is offline, its log is damaged: %s", directory.path, partition, found.error)
        directory.damaged[partition] = DamagedLog(
            directory=found.path,
            error=found.error,
            topic_id=found.options.topic_id,
            recovery_point=found.options.recovery_point,
            log_start_offset=found.options.log_start_offset,
            high_watermark=bounds.high_watermarks.get(partition, 0),
        )

    def _put_aside(self, partition: TopicPartition, path: str) -> None:
        """Keeps the records of a partition that the cluster knows nothing of, out of the way of a new one."""
        directory = self._directory
        aside = f"{directory.path}/{directory_name(partition, DirectoryKind.STRAY, self._rules.unique_id())}"
        _log.warning("[%s] %s is no replica of this broker: kept as %s", directory.path, partition, aside)
        directory.disk.rename(path, aside)
        directory.disk.flush_directory(directory.path)
        directory.stray_paths.append(aside)

    def _options(self, partition: TopicPartition, bounds: "_Bounds") -> LoadOptions:
        return LoadOptions(
            topic=partition.topic,
            partition=partition.partition,
            now_ms=self._rules.clock.now_ms(),
            log_start_offset=bounds.log_starts.get(partition, 0),
            recovery_point=bounds.recovery_points.get(partition, 0),
            # A clean stop says nothing of a log that was not open.
            shutdown=Shutdown.DAMAGED if partition in bounds.damaged else bounds.shutdown,
            producer_id_expiration_ms=self._rules.producer_id_expiration_ms,
        )

    def _tell(self) -> None:
        now_ms = self._rules.clock.monotonic_ms()
        if now_ms - self._told_ms >= _PROGRESS_MS:
            self._told_ms = now_ms
            _log.info("[%s] %d of %d logs loaded", self._directory.path, len(self._loaded), self._total)


def _mend_clean_offsets(directory: LogDirectory) -> None:
    """Noise in the cleaner's checkpoint is as good as none: the logs are cleaned from their beginning."""
    try:
        directory.cleaner_offsets.read()
    except CorruptFileError as problem:
        _log.warning("%s; it goes, and cleaning begins anew", problem)
        directory.cleaner_offsets.write({})


def second_directory(partition: TopicPartition, other: str, directory: str) -> CorruptFileError:
    """The error for a partition that is in two directories."""
    return CorruptFileError(
        f"{partition} has a second directory, in {other}; a move between directories broke off half way. "
        "Delete the one on the disk that failed",
        directory,
    )


class _Bounds(NamedTuple):
    """The directory's checkpoints about its logs."""

    shutdown: Shutdown
    recovery_points: dict[TopicPartition, int]
    log_starts: dict[TopicPartition, int]
    high_watermarks: dict[TopicPartition, int]
    damaged: frozenset[TopicPartition]


class _DamagedDirectory(NamedTuple):
    """A partition's directory that could not be opened, and why."""

    name: PartitionDirectory
    path: str
    options: LoadOptions
    error: CorruptFileError
