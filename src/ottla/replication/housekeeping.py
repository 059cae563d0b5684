"""The broker's work in the background on its logs: checkpoints, flushes, retention, removal of files, compaction.

What touches the disk runs on worker threads; changes to logs come back to the loop through the log manager's
`run_on_writer`. Checkpoints are written on the thread that also deletes logs, so that no two write one file at a time.
"""

import os
from collections.abc import Callable
from contextlib import ExitStack
from functools import partial
from typing import Final

from ottla.base.clock import Clock
from ottla.replication.ports import EventLoop, Worker
from ottla.replication.schedule.mailbox import Mailbox
from ottla.replication.schedule.periodic import PeriodicTask
from ottla.replication.settings import ReplicationSettings
from ottla.storage.cleaner.log_cleaner import LogCleaner
from ottla.storage.log_config_keys import LONG_MAX
from ottla.storage.log_directory import LogDirectory
from ottla.storage.log_manager import LogManager
from ottla.storage.topic_partition import TopicPartition

_REMOVAL_INTERVAL_MS: Final = 1_000
_LOOK_INTERVAL_MS: Final = 200
_DAY_MS: Final = 86_400_000


class Housekeeping:
    """All periodic work on logs. `checked` is called on the loop after each piece of it."""

    def __init__(self, logs: LogManager, clock: Clock, loop: EventLoop, checked: Callable[[], None]) -> None:
        self._logs: Final = logs
        self._clock: Final = clock
        self._loop: Final = loop
        self._mailbox: Final = Mailbox(loop)
        self._checked: Final = checked
        self._tasks: list[PeriodicTask] = []
        self._high_watermarks: dict[str, dict[TopicPartition, int]] = {}
        self._is_cleaning_paused = False

    def start(self, settings: Callable[[], ReplicationSettings], changes: Worker, maintenance: Worker) -> None:
        """Begins, after `log.initial.task.delay.ms`; high watermarks are checkpointed from the start."""
        delay_ms = settings().log_initial_task_delay_ms
        self._every(
            lambda: settings().replica_high_watermark_checkpoint_interval_ms, self.checkpoint_high_watermarks, changes
        ).start(settings().replica_high_watermark_checkpoint_interval_ms)
        self._every(
            lambda: settings().log_flush_offset_checkpoint_interval_ms, self.checkpoint_recovery_points, changes
        ).start(delay_ms)
        self._every(
            lambda: settings().log_flush_start_offset_checkpoint_interval_ms, self.checkpoint_log_starts, changes
        ).start(delay_ms)
        self._every(lambda: settings().log_retention_check_interval_ms, self.retain, maintenance).start(delay_ms)
        self._every(lambda: _REMOVAL_INTERVAL_MS, self.remove_due, maintenance).start(_REMOVAL_INTERVAL_MS)
        if settings().log_flush_scheduler_interval_ms != LONG_MAX:
            self._every(lambda: settings().log_flush_scheduler_interval_ms, self.flush, maintenance).start(delay_ms)

    def start_flushing(self, make_worker: Callable[[str], Worker]) -> None:
        """Begins to flush segments as they are closed, on a thread for each directory."""
        for home in self._logs.directories.online():
            worker = make_worker(f"log-flush-{os.path.basename(home.path)}")
            home.roll_flush.start(partial(self._submit_flush, home, worker))

    def start_appending(self, make_worker: Callable[[str], Worker]) -> None:
        """Begins to look how well the disks are; where one is not, a thread appends to its logs."""
        for home in self._logs.directories.online():
            worker = make_worker(f"log-append-{os.path.basename(home.path)}")
            home.appends.start(worker.submit, self._mailbox.post)
            home.look_after()

        def look(done: Callable[[], None]) -> None:
            for home in self._logs.directories.online():
                home.look_after()
            done()

        task = PeriodicTask(self._loop, lambda: _LOOK_INTERVAL_MS, look)
        self._tasks.append(task)
        task.start(_LOOK_INTERVAL_MS)

    def finish_appends(self) -> None:
        """Writes what is left to write when the threads have ended; on a thread that may wait."""
        for home in self._logs.directories.all():
            home.appends.finish_all()

    def _submit_flush(self, home: LogDirectory, worker: Worker, job: Callable[[], None]) -> None:
        def run() -> None:
            try:
                job()
            finally:
                if not home.is_online:
                    self._mailbox.post(self._checked)

        worker.submit(run)

    def start_cleaner(self, cleaner: LogCleaner, worker: Worker) -> None:
        """Begins to compact on a thread: round after round while there is something to do, then a pause."""
        cleaned = False

        def clean() -> None:
            nonlocal cleaned
            cleaned = not self._is_cleaning_paused and cleaner.clean_filthiest(self._clock.now_ms()) is not None

        self._every(lambda: 0 if cleaned else cleaner.config.backoff_ms, clean, worker).start(cleaner.config.backoff_ms)

    def stop(self) -> None:
        """Stops all tasks; a round of compaction that is under way is told to end."""
        self._is_cleaning_paused = True
        for task in self._tasks:
            task.stop()
        for home in self._logs.directories.all():
            home.roll_flush.stop()
        with ExitStack() as stack:
            for name, log in self._logs.all_logs():
                if log.config.compact and self._logs.cleaning.is_busy(name):
                    stack.enter_context(self._logs.cleaning.paused(name))

    def _every(self, interval_ms: Callable[[], int], work: Callable[[], None], worker: Worker) -> PeriodicTask:
        def run(done: Callable[[], None]) -> None:
            def finished() -> None:
                self._checked()
                done()

            def job() -> None:
                try:
                    work()
                finally:
                    self._mailbox.post(finished)

            worker.submit(job)

        task = PeriodicTask(self._loop, lambda: min(interval_ms(), _DAY_MS), run)
        self._tasks.append(task)
        return task

    def checkpoint_log_starts_then(self, worker: Worker, done: Callable[[], None]) -> None:
        """Has a worker write where logs begin, and calls back on the loop."""

        def finished() -> None:
            self._checked()
            done()

        def job() -> None:
            try:
                self.checkpoint_log_starts()
            finally:
                self._mailbox.post(finished)

        worker.submit(job)

    # The work, each on a worker's thread

    def checkpoint_high_watermarks(self) -> None:
        """Writes how far each log is replicated, if that changed since the last time."""
        for home in self._logs.directories.online():
            offsets = {name: log.high_watermark for name, log in home.logs.items()}
            if offsets != self._high_watermarks.get(home.path):
                with home.offline_quietly():
                    home.checkpoint_high_watermarks()
                    self._high_watermarks[home.path] = offsets

    def checkpoint_recovery_points(self) -> None:
        """Writes up to where each log is on the disk."""
        for home in self._logs.directories.online():
            with home.offline_quietly():
                home.checkpoint_recovery_points()

    def checkpoint_log_starts(self) -> None:
        """Writes where logs begin."""
        for home in self._logs.directories.online():
            with home.offline_quietly():
                home.checkpoint_log_starts()

    def retain(self) -> None:
        """Deletes old segments and forgets silent producers."""
        self._logs.maintenance.cleanup(self._clock.now_ms())

    def remove_due(self) -> None:
        """Removes files whose delay is over."""
        due_ms = self._logs.maintenance.removal.next_due_ms()
        if due_ms is not None and due_ms <= self._clock.now_ms():
            self._logs.maintenance.remove_due(self._clock.now_ms())

    def flush(self) -> None:
        """Flushes logs whose `flush.ms` is over."""
        self._logs.maintenance.flush_due(self._clock.now_ms())
