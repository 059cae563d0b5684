"""One log directory: its lock, its identity, its logs and the checkpoints about them.

A directory is online until an I/O error says otherwise; then nothing in it is touched any more, and its partitions
are gone from this broker until the next start. Other directories know nothing of it. A log whose files hold what cannot
be is no such error: it is that log's trouble, and the others in the directory go on.
"""

import logging
import os
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

from ottla.base.clock import Clock
from ottla.base.ids import Uuid
from ottla.base.shared_map import SharedMap
from ottla.storage.append_queue import AppendQueue
from ottla.storage.checkpoint import (
    CLEANER_CHECKPOINT,
    HIGH_WATERMARK_CHECKPOINT,
    LOG_START_CHECKPOINT,
    RECOVERY_POINT_CHECKPOINT,
    OffsetCheckpoint,
)
from ottla.storage.damaged_log import DAMAGED_CHECKPOINT, DamagedLog
from ottla.storage.directory_lock import DirectoryLock
from ottla.storage.disk.pace import DiskPace
from ottla.storage.disk.port import Disk
from ottla.storage.errors import CorruptFileError, LogOfflineError, StorageError
from ottla.storage.group_commit import GroupCommit
from ottla.storage.log.log import Log
from ottla.storage.roll_flush import RollFlush
from ottla.storage.topic_partition import TopicPartition

_log = logging.getLogger(__name__)


class LogDirectory:
    """A directory that holds logs; the manager fills and empties `logs` and `future_logs`. Any thread may use it.

    A copy that takes its log's place is among `logs` before it leaves `future_logs`, so copies are listed first.
    """

    def __init__(self, path: str, disk: Disk, clock: Clock, lock: DirectoryLock | None) -> None:
        self.path: Final = path
        self.disk: Final = disk
        self._lock = lock
        self.directory_id: Uuid | None = None
        self.offline_error: StorageError | None = None
        self._failing: Final = threading.Lock()
        self.logs: Final = SharedMap[TopicPartition, Log]()
        self.future_logs: Final = SharedMap[TopicPartition, Log]()
        """Copies that are being made here of logs in other directories."""
        self.damaged: Final = SharedMap[TopicPartition, DamagedLog]()
        """Partitions here that are offline because of what is in their files."""
        self._told: Final[set[str]] = set()
        """Damaged files that were named already."""
        self.stray_paths: list[str] = []
        self.is_loaded = False
        self.clean_shutdown_epoch: int | None = None
        """The broker epoch of the clean stop before this start; None if it was none."""
        self.recovery_points: Final = OffsetCheckpoint(disk, path, RECOVERY_POINT_CHECKPOINT)
        self.log_starts: Final = OffsetCheckpoint(disk, path, LOG_START_CHECKPOINT)
        self.high_watermarks: Final = OffsetCheckpoint(disk, path, HIGH_WATERMARK_CHECKPOINT)
        self.cleaner_offsets: Final = OffsetCheckpoint(disk, path, CLEANER_CHECKPOINT)
        self.damaged_points: Final = OffsetCheckpoint(disk, path, DAMAGED_CHECKPOINT)
        self.group_commit: Final = GroupCommit(os.path.basename(path), clock, self.go_offline)
        self.roll_flush: Final = RollFlush(clock, self.note)
        self._device: Final = disk.device(path)
        self.pace: Final = DiskPace(is_timed=self._device is not None)
        self.pace.changed = self._pace_changed
        self.appends: Final = AppendQueue(path, self.pace)
        self.is_deferring = False
        """Whether a thread is to write what is appended here. It changes on the loop alone, between two appends: one
        that has begun to write by itself is answered as written."""

    def __repr__(self) -> str:
        return f"LogDirectory({self.path!r}, {len(self.logs)} logs)"

    @property
    def is_online(self) -> bool:
        """Whether it may be used."""
        return self.offline_error is None

    def go_offline(self, error: StorageError) -> None:
        """Stops reading and writing in the directory, if it is the disk that failed."""
        if error.is_passing and self.is_loaded:
            _log.error("[%s] this process, not the disk, ran short of something: %s", self.path, error)
            return
        with self._failing:
            if self.offline_error is not None:
                return
            self.offline_error = error
        _log.error("[%s] log directory offline with %d logs: %s", self.path, len(self.logs), error.with_remedy)
        for _, log in self.all_logs():
            log.go_offline(error)

    def take_over(self, log: Log) -> None:
        """The log is served from here from now on."""
        log.rolled = self.roll_flush.request
        log.pace = self.pace
        log.appends = self.appends
        log.is_deferring = self.is_deferring

    def taken_over(self, log: Log) -> None:
        """The log is one of `logs`: what has changed since `take_over` counts for it, too."""
        if log.is_deferring != self.is_deferring:
            self.appends.on_loop(self._follow_pace)

    def look_after(self) -> None:
        """Finds out how well the disk is; for the loop, several times a second."""
        if self._device is not None and self._device.is_idle_with_work():
            self.pace.note_sign()
        self.pace.look()
        if self.is_deferring != (self.pace.is_slow and self.appends.is_started):
            self._follow_pace()

    def _pace_changed(self, is_slow: bool) -> None:
        """Any thread may be the one that finds out."""
        if not self.appends.is_started:
            return
        if not self.pace.is_always_slow:
            found = "slow: a thread appends to its logs" if is_slow else "well again: the loop appends to its logs"
            _log.warning("[%s] the disk is %s", self.path, found)
        self.appends.on_loop(self._follow_pace)

    def _follow_pace(self) -> None:
        """On the loop: has appends go through the thread, or no longer; those under way keep their order."""
        self.is_deferring = self.pace.is_slow and self.appends.is_started
        for log in self.logs.values():
            log.is_deferring = self.is_deferring

    def check_online(self) -> None:
        """Raises if the directory may not be used any more."""
        if self.offline_error is not None:
            raise LogOfflineError(f"offline since: {self.offline_error}", self.path)

    def note(self, error: StorageError) -> None:
        """Takes the directory offline if an I/O error happened in it, and names a damaged file once."""
        if isinstance(error, CorruptFileError) and (error.was_read or self._is_there()):
            if error.path not in self._told:
                self._told.add(error.path)
                _log.error("[%s] damaged, the other logs go on: %s", self.path, error)
        elif not isinstance(error, LogOfflineError):
            self.go_offline(error)

    def _is_there(self) -> bool:
        """Whether it is still a directory: what is no directory any more has none of its files."""
        try:
            status = self.disk.status(self.path)
        except StorageError:
            return False
        return status is not None and status.is_directory

    @contextmanager
    def offline_on_error(self) -> Iterator[None]:
        """Work for a caller that has to know: an I/O error takes the directory offline and goes on up."""
        try:
            yield
        except StorageError as error:
            self.note(error)
            raise

    @contextmanager
    def offline_quietly(self) -> Iterator[None]:
        """Work on all logs or directories in turn: one that fails shows by being offline, and the rest go on."""
        try:
            yield
        except StorageError as error:
            self.note(error)

    def checkpoint_recovery_points(self) -> None:
        """Writes up to where each log is on the disk, so that a start after a crash reads no more than the rest."""
        with self.recovery_points.lock:
            points = {partition: log.recovery_point for partition, log in self.damaged.items()}
            points |= {partition: log.recovery_point for partition, log in self.all_logs()}
            self.recovery_points.write(points)

    def checkpoint_log_starts(self) -> None:
        """Writes where logs begin whose first segment holds more than that, so that it does not come back."""
        with self.log_starts.lock:
            starts = {partition: log.log_start_offset for partition, log in self.damaged.items()}
            starts |= {
                partition: log.log_start_offset
                for partition, log in self.all_logs()
                if log.has_unflushed_deletion or log.log_start_offset > log.segments.first.base_offset
            }
            self.log_starts.write(starts)

    def checkpoint_high_watermarks(self) -> None:
        """Writes how far each log is replicated, so that a restarted replica serves that far at once."""
        with self.high_watermarks.lock:
            logs: list[tuple[TopicPartition, Log | DamagedLog]] = [*self.damaged.items(), *self.logs.items()]
            self.high_watermarks.write({partition: log.high_watermark for partition, log in logs})

    def checkpoint_damaged(self) -> None:
        """Writes which logs are damaged, if that changed."""
        points = {partition: log.recovery_point for partition, log in self.damaged.items()}
        if points != self.damaged_points.read():
            self.damaged_points.write(points)

    def all_logs(self) -> list[tuple[TopicPartition, Log]]:
        """Logs and copies; a copy that takes its log's place this moment may be named twice."""
        return [*self.future_logs.items(), *self.logs.items()]

    def release(self) -> None:
        """Ends the worker and gives the lock back."""
        self.group_commit.close()
        if self._lock is not None:
            self._lock.release()
            self._lock = None
