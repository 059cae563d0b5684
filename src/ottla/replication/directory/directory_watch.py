"""Notices that a log directory failed: takes its partitions off the broker, and tells the controller once.

Errors happen on any thread that touches a disk; the log manager marks the directory, and here is looked, on the loop,
which of them are new.
"""

import logging
from typing import Final

from ottla.replication.follower.fetcher_pool import FetcherPool
from ottla.replication.partition_table import PartitionTable
from ottla.replication.ports import DirectoryEventPort
from ottla.replication.schedule.waiting import Waiting
from ottla.storage.errors import StorageError
from ottla.storage.log_directory import LogDirectory
from ottla.storage.log_manager import LogManager

_log = logging.getLogger(__name__)


class DirectoryWatch:
    """Which directories are known to have failed. Those that did before the start were never announced."""

    def __init__(self, logs: LogManager, table: PartitionTable, waiting: Waiting, port: DirectoryEventPort) -> None:
        self._logs: Final = logs
        self._table: Final = table
        self._waiting: Final = waiting
        self._port: Final = port
        self._known: Final = {home.path for home in logs.directories.offline()}
        self.fetchers: FetcherPool | None = None

    def failed(self, error: StorageError) -> None:
        """An I/O error happened: the directory that it names is not used any more.

        A log that holds what cannot be is one log's trouble, told once for each file, and one that is offline already
        tells nothing new.
        """
        self._logs.fail(error)
        self.check()

    def check(self) -> None:
        """Looks for directories that failed since the last time."""
        directories = self._logs.directories
        if len(directories.online()) + len(self._known) == len(directories.all()):
            return
        for home in directories.offline():
            if home.path not in self._known:
                self._known.add(home.path)
                self._take_offline(home)
                self._port.failed(home.directory_id, home.path)
        if not directories.online():
            self._port.all_failed()

    def _take_offline(self, home: LogDirectory) -> None:
        _log.error("[%s] not served any more: %d partitions", home.path, len(home.logs))
        for name in list(home.logs):
            partition = self._table.online.get(name)
            if partition is None:
                continue
            self._table.take_offline(partition.topic, partition.index, partition.topic_id)
            if self.fetchers is not None:
                self.fetchers.leave(partition)
            self._waiting.check(partition)
