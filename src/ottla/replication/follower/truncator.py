"""Cuts followers' logs back without keeping the loop waiting for a disk.

The loop hides the end of a log from its readers, a worker then changes the disk; until that is done the log is not
appended to. `when_settled` calls back when a partition may go on.
"""

from collections.abc import Callable
from functools import partial
from typing import Final

from ottla.replication.directory.disk_errand import DiskErrands, ErrandDone, Finish
from ottla.replication.partition.partition import Partition
from ottla.replication.ports import Worker
from ottla.replication.schedule.mailbox import Mailbox
from ottla.storage.errors import StorageError


class Truncator:
    """All truncations of a broker. Loop thread only, but for what the worker does."""

    def __init__(self, mailbox: Mailbox, worker: Worker) -> None:
        self._errands: Final[DiskErrands[Partition]] = DiskErrands(mailbox, worker)
        self._waiters: dict[Partition, list[Callable[[], None]]] = {}

    def submit(self, partition: Partition, finish: Finish, done: ErrandDone) -> None:
        """Has the rest of a truncation done."""
        self._waiters[partition] = []
        self._errands.submit(partition, finish, partial(self._finished, partition, done))

    def when_settled(self, partition: Partition, callback: Callable[[], None]) -> None:
        """Calls back once no truncation of the log is under way; at once if none is."""
        waiters = self._waiters.get(partition)
        if waiters is None:
            callback()
        else:
            waiters.append(callback)

    def finish_all(self) -> None:
        """Does what is left when the worker has ended; on a thread that may wait."""
        self._errands.finish_all()

    def _finished(self, partition: Partition, done: ErrandDone, problem: StorageError | None) -> None:
        waiters = self._waiters.pop(partition)
        done(problem)
        for waiter in waiters:
            waiter()
