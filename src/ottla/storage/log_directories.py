"""The log directories of a broker, and which of them holds which partition.

Makes and locks them, reads whose they are, and chooses one for a new partition: the one with the fewest. A directory
that cannot be used when the broker starts is offline from the beginning; if none is left the broker cannot start.
"""

import os
import threading
from typing import Final, NamedTuple

from immutables import Map

from ottla.base.ids import Uuid
from ottla.storage.directory_lock import DirectoryInUseError
from ottla.storage.errors import CorruptFileError, StorageError
from ottla.storage.log.log import Log
from ottla.storage.log_directory import LogDirectory
from ottla.storage.log_manager_options import LogManagerOptions
from ottla.storage.meta_properties import MetaProperties, check_meta_properties, read_meta_properties
from ottla.storage.topic_partition import TopicPartition


class Place(NamedTuple):
    """A partition's log and its directory."""

    home: LogDirectory
    log: Log


class LogDirectories:
    """All directories in the order of the configuration. Any thread may use it.

    Which logs there are is an immutable map that is replaced, so a log that moves is in one place or in the other, and
    never in none.
    """

    def __init__(self, options: LogManagerOptions) -> None:
        self._options: Final = options
        self._topics: Map[str, Map[int, Place]] = Map()
        self._settling: Final = threading.Lock()
        paths = [os.path.abspath(path) for path in options.directories]
        if len(set(paths)) != len(paths):
            raise StorageError("a log directory is named twice", ", ".join(paths))
        self._directories: list[LogDirectory] = []
        try:
            for path in paths:
                self._directories.append(self._open(path))
        except StorageError:
            self.release()
            raise
        self.check_any_online()

    def _open(self, path: str) -> LogDirectory:
        """The directory, ours alone; offline if it cannot be made or written."""
        options = self._options
        try:
            if options.disk.status(path) is None:
                options.disk.make_directory(path)
                options.disk.flush_directory(os.path.dirname(path))
            lock = options.lock_directory(path) if options.lock_directory is not None else None
        except DirectoryInUseError:
            raise
        except StorageError as error:
            directory = LogDirectory(path, options.disk, options.clock, None)
            directory.go_offline(error)
            return directory
        directory = LogDirectory(path, options.disk, options.clock, lock)
        directory.pace.is_always_slow = options.appends_always_on_thread
        return directory

    def identify(self, cluster_id: str | None, node_id: int) -> dict[str, MetaProperties]:
        """Reads every `meta.properties` and refuses one that is not this node's; what they say, by directory."""
        found: dict[str, MetaProperties] = {}
        for directory in self.online():
            try:
                properties = read_meta_properties(directory.disk, directory.path)
            except StorageError as error:
                if isinstance(error, CorruptFileError) and error.was_read:
                    raise
                directory.go_offline(error)
                continue
            if properties is not None:
                found[directory.path] = properties
                directory.directory_id = properties.directory_id
        check_meta_properties(found, cluster_id, node_id)
        self.check_any_online()
        return found

    # Which there are

    def all(self) -> tuple[LogDirectory, ...]:
        """Every directory, offline ones too."""
        return tuple(self._directories)

    def online(self) -> list[LogDirectory]:
        """The directories in use."""
        return [directory for directory in self._directories if directory.is_online]

    def offline(self) -> list[LogDirectory]:
        """The directories that are offline."""
        return [directory for directory in self._directories if not directory.is_online]

    def named(self, path: str) -> LogDirectory:
        """The online directory at a path."""
        wanted = os.path.abspath(path)
        for directory in self.online():
            if directory.path == wanted:
                return directory
        raise StorageError("no log directory that is online", path)

    def containing(self, path: str) -> LogDirectory | None:
        """The directory that a file is in."""
        for directory in self._directories:
            if path == directory.path or path.startswith(directory.path + "/"):
                return directory
        return None

    def check_any_online(self) -> None:
        """A broker without a single directory is of no use."""
        if not self.online():
            raise StorageError(
                f"no log directory is usable: {self.offline_reasons()}", ", ".join(self._options.directories)
            )

    def offline_reasons(self) -> str:
        """Why directories are offline, for a line that an operator reads."""
        return "; ".join(str(directory.offline_error) for directory in self.offline())

    def check_all_online(self, partition: TopicPartition) -> None:
        """Refuses to say anything about a partition that may be in a directory which is offline."""
        offline = [directory.path for directory in self.offline()]
        if offline:
            raise StorageError(f"{partition} may be in a log directory that is offline", ", ".join(offline))

    # What is where

    def home_of(self, partition: TopicPartition) -> LogDirectory | None:
        """The online directory that holds the partition's log."""
        place = self._place(partition)
        return place.home if place is not None and place.home.is_online else None

    def future_home_of(self, partition: TopicPartition) -> LogDirectory | None:
        """The online directory that the partition is being moved to."""
        for directory in self._directories:
            if directory.is_online and partition in directory.future_logs:
                return directory
        return None

    def log_of(self, partition: TopicPartition) -> Log | None:
        """The partition's log, if its directory is online."""
        topic, index = partition
        places = self._topics.get(topic)
        place = None if places is None else places.get(index)
        if place is None:
            return None
        home, log = place
        return log if home.offline_error is None else None

    def logs_of(self, topic: str) -> list[tuple[TopicPartition, Log]]:
        """A topic's logs that are online."""
        places = self._topics.get(topic, _NOWHERE)
        return [(TopicPartition(topic, index), log) for index, (home, log) in places.items() if home.is_online]

    def _place(self, partition: TopicPartition) -> Place | None:
        topic, index = partition
        return self._topics.get(topic, _NOWHERE).get(index)

    def offline_partitions(self) -> set[TopicPartition]:
        """Partitions whose directory failed since the start, or whose files are damaged."""
        failed = {
            TopicPartition(topic, index)
            for topic, places in self._topics.items()
            for index, place in places.items()
            if not place.home.is_online
        }
        return failed.union(*(directory.damaged for directory in self._directories))

    def damaged_home_of(self, partition: TopicPartition) -> LogDirectory | None:
        """The online directory that holds the partition's damaged log."""
        return next((directory for directory in self.online() if partition in directory.damaged), None)

    def check_undamaged(self, partition: TopicPartition) -> None:
        """Refuses a partition whose log is here and cannot be used: nothing may take its place."""
        home = self.damaged_home_of(partition)
        damaged = None if home is None else home.damaged.get(partition)
        if damaged is not None:
            raise damaged.error

    def settle(self, partition: TopicPartition, home: LogDirectory, log: Log) -> None:
        """The partition's log is in this directory now, and in no other."""
        topic, index = partition
        home.take_over(log)
        with self._settling:
            before = self._place(partition)
            home.logs[partition] = log
            self._topics = self._topics.set(topic, self._topics.get(topic, _NOWHERE).set(index, Place(home, log)))
            if before is not None and before.home is not home:
                before.home.logs.pop(partition)
        home.taken_over(log)

    def unsettle(self, partition: TopicPartition) -> None:
        """The partition's log is nowhere now."""
        topic, index = partition
        with self._settling:
            place = self._place(partition)
            if place is not None:
                rest = self._topics[topic].delete(index)
                self._topics = self._topics.set(topic, rest) if rest else self._topics.delete(topic)
                place.home.logs.pop(partition)

    def candidates(self, directory_id: Uuid | None) -> list[LogDirectory]:
        """The directories for a new partition: the one of that id, or all that are not cordoned, emptiest first."""
        usable = self.online()
        if directory_id is not None:
            named = [directory for directory in usable if directory.directory_id == directory_id]
            if named:
                return named
        cordoned = self._options.cordoned
        open_ones = [directory for directory in usable if not {"*", directory.path} & cordoned]
        return sorted(open_ones, key=lambda directory: len(directory.logs) + len(directory.future_logs))

    def release(self) -> None:
        """Gives every lock back."""
        for directory in self._directories:
            directory.release()


_NOWHERE: Final[Map[int, Place]] = Map()
