"""The work that keeps logs in order: flushes, checkpoints, retention, removal of files.

Plain calls, for the caller to run when they are due and on a thread of its liking; there is no timer in here. An I/O
error takes its directory offline and the work goes on with the others; so it does if one log is damaged.
"""

from typing import Final

from ottla.base.system_clock import SystemClock
from ottla.storage.cleaner.cleaning_state import CleaningState
from ottla.storage.closed_segment_change import RunOnWriter, change_closed_segments
from ottla.storage.delayed_removal import DelayedRemoval
from ottla.storage.errors import StorageError
from ottla.storage.group_commit import FlushDone
from ottla.storage.log.hole import tell_of_holes
from ottla.storage.log.log import Log
from ottla.storage.log_directories import LogDirectories
from ottla.storage.retention import OldTimestampWarning, delete_old_segments, wants_all
from ottla.storage.topic_partition import TopicPartition

_OVER: Final = object()
_TRIES: Final = 10
"""How often a disk is asked that does not answer; after that its logs have to wait for the next round."""


class LogMaintenance:
    """The periodic work of a broker on its logs."""

    def __init__(
        self,
        directories: LogDirectories,
        cleaning: CleaningState,
        run_on_writer: RunOnWriter,
    ) -> None:
        self._directories: Final = directories
        self._cleaning: Final = cleaning
        self._run_on_writer: Final = run_on_writer
        self.removal: Final = DelayedRemoval()
        self._old_timestamps: Final = OldTimestampWarning(SystemClock())
        self._examined: frozenset[Log] = frozenset()
        """Logs that were looked at for holes, of those that were there the last time."""

    def flush_after_append(self, log: Log, offset: int, done: FlushDone) -> bool:
        """Has an append flushed before it is acknowledged, if the log's settings ask for it.

        True if `done` will be called, on another thread, once everything below `offset` is on the disk; False if
        there is nothing to wait for.
        """
        config = log.config
        if not config.flush_on_ack and log.unflushed_messages < config.flush_messages:
            return False
        home = self._directories.home_of(TopicPartition(log.topic, log.partition))
        if home is None:
            raise StorageError("the log directory is offline", log.directory)
        home.group_commit.submit(log, offset, done)
        return True

    def flush_due(self, now_ms: int) -> int:
        """Flushes logs whose last flush is `flush.ms` ago; how many."""
        flushed = 0
        for home in self._directories.online():
            for log in home.logs.values():
                if now_ms - log.last_flush_ms >= log.config.flush_ms and log.unflushed_messages:
                    with home.offline_quietly():
                        log.flush(now_ms)
                        flushed += 1
        return flushed

    def checkpoint(self) -> None:
        """Writes recovery points, log starts and high watermarks of every directory."""
        for home in self._directories.online():
            with home.offline_quietly():
                home.checkpoint_recovery_points()
                home.checkpoint_log_starts()
                home.checkpoint_high_watermarks()

    def cleanup(self, now_ms: int) -> int:
        """Deletes segments that retention no longer wants, forgets silent producers, removes files that are due.

        The first time it tells of logs that lack a file.

        Logs that are just being compacted have to wait for the next time, and so has a directory whose disk does not
        answer. How many segments went.
        """
        deleted = 0
        examined: set[Log] = set()
        for home in self._directories.online():
            for partition, log in home.all_logs():
                with home.offline_quietly():
                    removed = self._clean_up(partition, log, now_ms)
                    if removed is None:
                        break
                    deleted += removed
                    examined.add(log)
                    if log not in self._examined:
                        tell_of_holes(log, self._run_on_writer)
        self._examined = frozenset(examined)
        self.remove_due(now_ms)
        return deleted

    def _clean_up(self, partition: TopicPartition, log: Log, now_ms: int) -> int | None:
        """Applies retention to a log: the number of deleted segments; None if the disk does not answer."""
        ticket = self._cleaning.begin(partition, _do_nothing)
        if ticket is None:
            return 0
        deleted = 0
        begins_anew = has_more_producers = False
        expiry = log.remove_expired_producers(now_ms)

        def forget_producers() -> None:  # Some of them: others are served between two calls.
            nonlocal has_more_producers
            has_more_producers = next(expiry, _OVER) is not _OVER

        def delete() -> None:
            nonlocal deleted
            if not ticket.is_void:
                deleted = delete_old_segments(log, now_ms, self._old_timestamps)
                forget_producers()

        def begin_anew_or_delete() -> None:
            nonlocal begins_anew
            begins_anew = not ticket.is_void and wants_all(log, now_ms)
            if begins_anew:
                log.roll(now_ms)
            else:
                delete()

        try:
            # Snapshots are written here, before they are needed: they take time for each producer.
            log.write_snapshots()
            is_answered = change_closed_segments(log, self._run_on_writer, begin_anew_or_delete, _TRIES)
            if begins_anew:
                log.write_snapshots()
                is_answered = change_closed_segments(log, self._run_on_writer, delete, _TRIES)
            while has_more_producers:
                self._run_on_writer(forget_producers)
            if deleted:
                log.flush_names()
                self._run_on_writer(lambda: self.collect_deleted(log, now_ms))
        finally:
            self._cleaning.end(ticket)
        return deleted if is_answered else None

    def collect_deleted(self, log: Log, now_ms: int) -> None:
        """Puts the segments that a log dropped on the list for delayed removal."""
        self.removal.add_segments(log.take_deleted(), now_ms + log.config.file_delete_delay_ms)

    def remove_due(self, now_ms: int) -> None:
        """Removes files whose delay is over."""
        for error in self.removal.run_due(now_ms):
            home = self._directories.containing(error.path)
            if home is not None:
                home.go_offline(error)


def _do_nothing() -> None:
    """The stop function of retention, which checks its ticket instead and is soon over."""
