"""A produce request that was written and waits: for replicas (acks=-1), for the disk (`flush.on.ack`), or both."""

from typing import Final

from ottla.protocol.errors import ErrorCode
from ottla.replication.partition.partition import Partition
from ottla.replication.partition_table import PartitionTable
from ottla.replication.request.produce import AppendDone, AppendResult
from ottla.replication.schedule.purgatory import Purgatory

_SUCCESS: Final = ErrorCode.NONE


class PendingAppend:
    """The answers so far, and what is still open of each."""

    __slots__ = ("_disk_waits", "_done", "_is_begun", "_replicating", "_results", "_table", "_watched_in")

    def __init__(self, table: PartitionTable, results: list[AppendResult], done: AppendDone) -> None:
        self._table = table
        self._results = results
        self._done = done
        self._disk_waits = 0
        self._is_begun = False
        """Whether `wait` was called: what ends before that is answered there."""
        self._replicating: dict[Partition, tuple[int, int]] = {}
        """Place among the results, and the offset that the replicas have to reach, of those that wait for them."""
        self._watched_in: tuple[Purgatory[Partition], Partition] | None = None

    def replicate(self, partition: Partition, place: int, end_offset: int) -> None:
        """Has a partition wait for its replicas, unless they have it already."""
        self._replicating[partition] = (place, end_offset)
        self.is_ready(partition)

    def wait_for_disk(self) -> None:
        """Has the request wait for a write or a flush of a partition; `on_disk` ends it."""
        self._disk_waits += 1

    def on_disk(self, place: int, code: int) -> None:
        """A partition's records are where they have to be, or could not be brought there."""
        self._disk_waits -= 1
        if code != _SUCCESS:
            self._refuse(place, code)
        if self._replicating or self._disk_waits or not self._is_begun:
            return
        if self._watched_in is None:
            self._done(self._results)
        else:
            purgatory, key = self._watched_in
            purgatory.check(key)

    def wait(self, purgatory: Purgatory[Partition], timeout_ms: int) -> None:
        """Answers at once if nothing is open."""
        self._is_begun = True
        if self._replicating:
            keys = tuple(self._replicating)
            self._watched_in = (purgatory, keys[0])
            purgatory.watch(self, keys, timeout_ms)
        elif not self._disk_waits:
            self._done(self._results)

    def is_ready(self, key: Partition) -> bool:
        """Whether the replicas of `key` were the last thing to wait for."""
        waiting = self._replicating.get(key)
        if waiting is not None:
            place, end_offset = waiting
            if self._table.is_here(key):
                code = key.replicated(end_offset)
            else:
                code = self._table.absence(key.topic, key.index).code
            if code is not None:
                del self._replicating[key]
                if code != _SUCCESS:
                    self._refuse(place, code)
        return not self._replicating and not self._disk_waits

    def complete(self) -> None:
        """Answers."""
        self._done(self._results)

    def expired(self) -> None:
        """Answers partitions that are not replicated yet with a time-out; a write to the disk has no time limit."""
        self._watched_in = None
        for place, _ in self._replicating.values():
            self._refuse(place, ErrorCode.REQUEST_TIMED_OUT)
        self._replicating.clear()
        if not self._disk_waits:
            self._done(self._results)

    def _refuse(self, place: int, code: int) -> None:
        self._results[place] = self._results[place]._replace(error_code=code)
