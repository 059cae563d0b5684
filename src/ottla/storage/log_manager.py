"""All logs of a broker: finds, opens, makes, deletes and moves them, and hands out their settings.

An I/O error takes the directory offline that it happened in, not the broker. The periodic work is in
`log_maintenance`, what one log does in `log`, what compaction does in `cleaner`.
"""

import logging
import threading
from collections.abc import Callable, Iterable, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from functools import partial
from typing import Final

from ottla.base.collector import collector_off
from ottla.base.ids import Uuid
from ottla.protocol.errors import InconsistentTopicIdError
from ottla.storage.clean_shutdown import UNKNOWN_BROKER_EPOCH, write_clean_shutdown
from ottla.storage.cleaner.cleaning_state import CleaningState
from ottla.storage.disk.tree import remove_tree
from ottla.storage.errors import StorageError
from ottla.storage.log.loader import LoadOptions, Shutdown
from ottla.storage.log.log import Log
from ottla.storage.log.truncation import Truncation
from ottla.storage.log_config import LogConfig
from ottla.storage.log_directories import LogDirectories
from ottla.storage.log_directory import LogDirectory
from ottla.storage.log_loading import DirectoryLoading, LoadedLog, LoadingRules, second_directory
from ottla.storage.log_maintenance import LogMaintenance
from ottla.storage.log_manager_options import LogManagerOptions
from ottla.storage.partition_metadata import write_partition_metadata
from ottla.storage.topic_config import TopicConfigs
from ottla.storage.topic_partition import DirectoryKind, TopicPartition, directory_name

_log = logging.getLogger(__name__)


def _never_stray(partition: TopicPartition, topic_id: Uuid | None) -> bool:
    return False


class LogManager:
    """The logs of one broker. Make it, `load`, use it, `shutdown`."""

    def __init__(self, options: LogManagerOptions) -> None:
        self._options: Final = options
        self._clock: Final = options.clock
        self.configs: Final = TopicConfigs(options.default_config)
        self.directories: Final = LogDirectories(options)
        self.cleaning: Final = CleaningState()
        self.run_on_writer: Final = options.run_on_writer
        self.maintenance: Final = LogMaintenance(self.directories, self.cleaning, options.run_on_writer)
        # Making and deleting logs is rare, and two threads doing it to one partition would be a mess.
        self._changing: Final = threading.RLock()

    # Finding

    def get(self, partition: TopicPartition) -> Log | None:
        """The partition's log, if it is here and online."""
        return self.directories.log_of(partition)

    def get_future(self, partition: TopicPartition) -> Log | None:
        """The copy of the log that is being made in another directory."""
        home = self.directories.future_home_of(partition)
        return home.future_logs.get(partition) if home is not None else None

    def all_logs(self) -> list[tuple[TopicPartition, Log]]:
        """Every log that is online."""
        return [item for directory in self.directories.online() for item in directory.logs.items()]

    def topic_id(self, partition: TopicPartition) -> Uuid | None:
        """The topic id that the partition's directory was made for."""
        log = self.directories.log_of(partition)
        return log.topic_id if log is not None else None

    # Starting and stopping

    def load(
        self,
        topic_configs: Mapping[str, Mapping[str, object]] | None = None,
        is_stray: Callable[[TopicPartition, Uuid | None], bool] = _never_stray,
    ) -> None:
        """Opens every log in every directory; `topic_configs` are the topics' own settings by dotted name.

        `CorruptFileError` if a directory holds what it must not; the broker should then not start. One log that is
        damaged is no reason: see `damaged_log`.
        """
        self.configs.replace_all(topic_configs or {})
        rules = LoadingRules(
            clock=self._clock,
            config_of=self.configs.get,
            is_stray=is_stray,
            unique_id=self._options.unique_id,
            producer_id_expiration_ms=self._options.producer_id_expiration_ms,
            threads=self._options.recovery_threads,
        )
        directories = self.directories.online()
        with collector_off(), ThreadPoolExecutor(max(len(directories), 1), "log-loading") as pool:
            jobs = [(home, pool.submit(DirectoryLoading(home, rules).run)) for home in directories]
            for home, job in jobs:
                for loaded in job.result():
                    self._take_loaded(home, loaded)
        self.directories.check_any_online()
        for home in directories:
            for partition, damaged in home.damaged.items():
                other = self.directories.home_of(partition)
                if other is not None:
                    raise second_directory(partition, other.path, damaged.directory)

    def _take_loaded(self, home: LogDirectory, loaded: LoadedLog) -> None:
        partition, kind, log = loaded
        if kind is DirectoryKind.FUTURE:
            if self.get_future(partition) is None:
                home.future_logs[partition] = log
            else:
                # The move was to go elsewhere in the end, and a copy is made again at any time.
                self._rename_away(home, partition, log)
            return
        other = self.directories.home_of(partition)
        if other is None:
            self.directories.settle(partition, home, log)
        else:
            self._settle_moved(partition, (other, other.logs[partition]), (home, log))

    def _settle_moved(self, partition: TopicPartition, *places: tuple[LogDirectory, Log]) -> None:
        """A move that was cut short at its very end left the log in two places: the one that was written to last stays.

        Of the old one the new one has everything, unless the power went: then it is the one that was flushed. One that
        never held anything is what a disk left that failed while the log was made, and another was taken.
        """
        (old_home, old), (new_home, new) = sorted(places, key=_last_written)
        was_used = old.log_end_offset > 0 or old.size_bytes > 0
        if was_used and (old.topic_id is None or old.topic_id != new.topic_id):
            raise second_directory(partition, new_home.path, old.directory)
        _log.warning("[%s] in two directories: %s stays, %s goes", partition, new.directory, old.directory)
        self.directories.settle(partition, new_home, new)
        self._rename_away(old_home, partition, old)

    def shutdown(self, broker_epoch: int = UNKNOWN_BROKER_EPOCH) -> None:
        """Flushes and closes every log, writes all checkpoints, and marks each directory as left in order.

        A directory that fails gets no mark, and the others are closed all the same; then its `StorageError` is raised.
        """
        for home in self.directories.online():
            home.group_commit.close()
            home.roll_flush.stop()
            home.appends.finish_all()
            try:
                self._close_directory(home, broker_epoch)
            except StorageError as error:
                home.go_offline(error)
        self.directories.release()
        for home in self.directories.offline():
            if home.is_loaded and home.offline_error is not None:
                raise home.offline_error

    def _close_directory(self, home: LogDirectory, broker_epoch: int) -> None:
        logs = [*home.logs.values(), *home.future_logs.values()]
        with ThreadPoolExecutor(self._options.recovery_threads, f"log-closing-{home.path}") as pool:
            for job in [pool.submit(log.close, self._clock.now_ms()) for log in logs]:
                job.result()
        home.checkpoint_recovery_points()
        home.checkpoint_log_starts()
        home.checkpoint_high_watermarks()
        if home.is_loaded:
            write_clean_shutdown(home.disk, home.path, broker_epoch)

    # Making, deleting, moving

    def get_or_create(
        self,
        partition: TopicPartition,
        topic_id: Uuid | None,
        *,
        is_new: bool = False,
        directory_id: Uuid | None = None,
    ) -> Log:
        """The partition's log, made if it is not here, in the named directory or the one with the fewest.

        While a directory is offline only a partition that `is_new` to this broker is made: the log of another may be
        in there. `CorruptFileError` if the log is here and damaged. `InconsistentTopicIdError` if it is of another
        topic by the same name.
        """
        with self._changing:
            log = self.directories.log_of(partition)
            if log is None:
                self.directories.check_undamaged(partition)
                if not is_new:
                    self.directories.check_all_online(partition)
                return self._create(partition, topic_id, directory_id)
            if topic_id is not None and topic_id != log.topic_id:
                self._take_topic_id(partition, log, topic_id)
            return log

    def _take_topic_id(self, partition: TopicPartition, log: Log, topic_id: Uuid) -> None:
        """A log from before there were topic ids gets one; one that has another is another topic's."""
        if log.topic_id is not None:
            raise InconsistentTopicIdError(f"the log of {partition} is of topic id {log.topic_id}, not of {topic_id}")
        home = self.directories.home_of(partition)
        if home is not None:
            with home.offline_on_error():
                write_partition_metadata(log.disk, log.directory, topic_id)
            log.topic_id = topic_id

    def _create(self, partition: TopicPartition, topic_id: Uuid | None, directory_id: Uuid | None) -> Log:
        failed: StorageError | None = None
        for home in self.directories.candidates(directory_id):
            try:
                with home.offline_on_error():
                    log = self._open_new(home, partition, topic_id, DirectoryKind.LIVE)
                self.directories.settle(partition, home, log)
                home.check_online()  # It may have failed before it knew this log.
                if log.config is not self.configs.get(partition.topic):
                    self.run_on_writer(partial(self._catch_up, partition, log))
                return log
            except StorageError as error:
                failed = error
        raise failed or StorageError(f"no log directory takes {partition}", ", ".join(self._options.directories))

    def _catch_up(self, partition: TopicPartition, log: Log) -> None:
        """Gives a log that was opened just now the settings that its topic got meanwhile; on the writer's thread."""
        while log.config is not (config := self.configs.get(partition.topic)):
            log.update_config(config)

    def _open_new(
        self, home: LogDirectory, partition: TopicPartition, topic_id: Uuid | None, kind: DirectoryKind
    ) -> Log:
        path = f"{home.path}/{directory_name(partition, kind, self._options.unique_id())}"
        options = LoadOptions(
            topic=partition.topic,
            partition=partition.partition,
            now_ms=self._clock.now_ms(),
            shutdown=Shutdown.CLEAN,
            topic_id=topic_id,
            producer_id_expiration_ms=self._options.producer_id_expiration_ms,
        )
        log = Log.open(home.disk, path, self.configs.get(partition.topic), options)
        if topic_id is not None:
            write_partition_metadata(home.disk, path, topic_id)
        return log

    def open_future(self, partition: TopicPartition, directory: str) -> Log:
        """Makes a copy of the log in another directory, empty yet; waits for the disk, so it is not for the loop."""
        with self._changing:
            home = self.directories.named(directory)
            current = self.directories.home_of(partition)
            if current is home or current is None:
                raise StorageError(f"{partition} cannot be moved here", directory)
            with home.offline_on_error():
                return self._open_new(home, partition, self.topic_id(partition), DirectoryKind.FUTURE)

    def add_future(self, partition: TopicPartition, copy: Log) -> None:
        """Makes a copy known; the caller fills it, then calls `begin_replacement`."""
        home = self.directories.containing(copy.directory)
        if home is not None:
            home.future_logs[partition] = copy
            copy.pace = home.pace
            self._catch_up(partition, copy)

    def checkpoint_future(self, copy: Log) -> None:
        """Writes where a copy begins, before it takes its log's place: deleted records are not to come back with it."""
        home = self.directories.containing(copy.directory)
        if home is not None:
            with home.offline_on_error():
                home.checkpoint_recovery_points()
                home.checkpoint_log_starts()

    def begin_replacement(self, partition: TopicPartition) -> Callable[[], None]:
        """Puts the copy in the place of the log, for this process and for a start after kill -9.

        The returned function brings that to the disk and removes the old log, on a thread that may wait. Until then no
        flush of the new log ends, so that nothing is confirmed that a power cut would take. A cut in between leaves two
        directories, and the next start takes the one with more in it.
        """
        source, target = self.directories.home_of(partition), self.directories.future_home_of(partition)
        if source is None or target is None:
            raise StorageError(f"{partition} is not being moved", ", ".join(self._options.directories))
        old, new = source.logs[partition], target.future_logs[partition]
        with target.offline_on_error():
            new.relocate(f"{target.path}/{partition}")
        claimed = new.claim()
        assert claimed, "a copy is never flushed"
        new.update_high_watermark(old.high_watermark)
        self.directories.settle(partition, target, new)
        target.future_logs.pop(partition)

        def finish() -> None:
            try:
                with target.offline_on_error():
                    new.flush_claimed()
                    target.disk.flush_directory(target.path)
                clean_offset = source.cleaner_offsets.read().get(partition)
                if clean_offset is not None:
                    moved = {partition: clean_offset}
                    target.cleaner_offsets.update(lambda offsets: offsets | moved)
                self._checkpoint_homes([target])
                self._rename_away(source, partition, old)
                self._checkpoint_homes([source])
            finally:
                new.release_claim()

        return finish

    def delete(self, partitions: Iterable[TopicPartition]) -> None:
        """Takes logs away: their directories are renamed at once and removed after `file.delete.delay.ms`."""
        with self._changing:
            changed = set()
            for partition in partitions:
                with self.cleaning.paused(partition):
                    future_home = self.directories.future_home_of(partition)
                    copy = None if future_home is None else future_home.future_logs.pop(partition)
                    if future_home is not None and copy is not None:
                        self._rename_away(future_home, partition, copy)
                    home, log = self.directories.home_of(partition), self.directories.log_of(partition)
                    if home is None or log is None:
                        if not self._delete_damaged(partition):
                            self.directories.check_all_online(partition)
                        continue
                    self._discard(home, partition, log)
                    changed.add(home)
            self._checkpoint_homes(changed)

    def _delete_damaged(self, partition: TopicPartition) -> bool:
        """Removes a damaged log, which is not served; returns whether there was one."""
        home = self.directories.damaged_home_of(partition)
        if home is None:
            return False
        name = directory_name(partition, DirectoryKind.DELETE, self._options.unique_id())
        with home.offline_on_error():
            home.disk.rename(home.damaged[partition].directory, f"{home.path}/{name}")
            home.disk.flush_directory(home.path)
            home.damaged.pop(partition)
            home.checkpoint_damaged()
            remove_tree(home.disk, f"{home.path}/{name}")
        self._checkpoint_homes([home])
        return True

    def _discard(self, home: LogDirectory, partition: TopicPartition, log: Log) -> None:
        self.directories.unsettle(partition)
        self._rename_away(home, partition, log)

    def _rename_away(self, home: LogDirectory, partition: TopicPartition, log: Log) -> None:
        name = directory_name(partition, DirectoryKind.DELETE, self._options.unique_id())
        with home.offline_on_error():
            log.discard(f"{home.path}/{name}")
            home.disk.flush_directory(home.path)
        self.maintenance.removal.add_log(log, self._clock.now_ms() + log.config.file_delete_delay_ms)

    def _checkpoint_homes(self, homes: Iterable[LogDirectory]) -> None:
        """Keeps checkpoints from naming logs that are gone: a new log of the name would take them as its own."""
        for home in homes:
            with home.offline_on_error():
                home.checkpoint_recovery_points()
                home.checkpoint_log_starts()
                home.checkpoint_high_watermarks()
                _forget_clean_offsets(home)

    # Changing

    def update_topic_config(self, topic: str, overrides: Mapping[str, object]) -> None:
        """Gives a topic's logs new settings; `ConfigError` if they are wrong, and nothing changes then."""
        config = self.configs.set(topic, overrides)
        for partition, log in self.directories.logs_of(topic):
            self._reconfigure(partition, log, config)

    def update_default_config(self, config: LogConfig) -> None:
        """Gives all logs new defaults, under what their topics say themselves."""
        self.configs.set_default(config)
        for partition, log in self.all_logs():
            self._reconfigure(partition, log, self.configs.get(partition.topic))

    def _reconfigure(self, partition: TopicPartition, log: Log, config: LogConfig) -> None:
        if log.config.compact and not config.compact:
            with self.cleaning.paused(partition):
                log.update_config(config)
        else:
            log.update_config(config)
        future = self.get_future(partition)
        if future is not None:
            future.update_config(config)

    def truncate_to(self, offsets: Mapping[TopicPartition, int]) -> None:
        """Cuts logs back to offsets, and says so in the checkpoints before it returns."""
        for partition, offset in offsets.items():
            while (finish := self.begin_truncation(partition, offset)) is None:
                log = self.get(partition)
                if log is not None:
                    log.wait_for_flush()
            finish()

    def begin_truncation(self, partition: TopicPartition, offset: int) -> Callable[[], None] | None:
        """Cuts a log back for its readers; the returned function has to be called before the next append.

        That brings it to the disk, checkpoints too, on a thread that may wait. None if the log is being flushed.
        """
        return self._begin_cut(partition, lambda log: log.begin_truncation(offset))

    def begin_restart(self, partition: TopicPartition, offset: int) -> Callable[[], None] | None:
        """Like `begin_truncation`, for a log that is emptied and then begins at the offset."""
        return self._begin_cut(partition, lambda log: log.begin_restart(offset))

    def _begin_cut(self, partition: TopicPartition, begin: Callable[[Log], Truncation]) -> Callable[[], None] | None:
        home, log = self.directories.home_of(partition), self.get(partition)
        if home is None or log is None:
            return _nothing
        log.check_online()
        if not log.claim():
            return None
        start_before = log.log_start_offset
        with ExitStack() as stack:
            stack.enter_context(self.cleaning.paused(partition))
            with home.offline_on_error():
                begun = begin(log)
            pause = stack.pop_all()

        def finish() -> None:
            with pause, home.offline_on_error():
                log.finish_truncation(begun)
                if begun.is_cut:
                    _lower_clean_offset(home, partition, log.active_segment.base_offset)
                    home.checkpoint_recovery_points()
                if log.log_start_offset != start_before:
                    # A start beyond the new end would have the next one begin with nothing.
                    home.checkpoint_log_starts()

        return finish

    # Failing

    def fail(self, error: StorageError) -> LogDirectory | None:
        """Takes note of an error in the directory where it happened; that directory, None if it is none of ours."""
        home = self.directories.containing(error.path)
        if home is not None:
            home.note(error)
        return home


def _last_written(place: tuple[LogDirectory, Log]) -> tuple[int, int, bool]:
    """Orders places of one log by how late they were written to."""
    log = place[1]
    return log.epochs.latest_epoch, log.log_end_offset, log.topic_id is not None


def _nothing() -> None:
    """Finishes the truncation of a log that is not here: nothing to do."""


def _lower_clean_offset(home: LogDirectory, partition: TopicPartition, offset: int) -> None:
    """Lowers the cleaner's offset: records that replace a truncated part are dirty."""
    home.cleaner_offsets.update(
        lambda offsets: offsets | {partition: offset} if offsets.get(partition, 0) > offset else offsets
    )


def _forget_clean_offsets(home: LogDirectory) -> None:
    """Forgets the logs that are gone."""
    home.cleaner_offsets.update(
        lambda offsets: {partition: offset for partition, offset in offsets.items() if partition in home.logs}
    )
