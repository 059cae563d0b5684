"""Reads that need a disk, on threads of their own: other clients do not wait for a consumer of old records.

What the loop would have to wait for is read by a thread first: the index entries, the batch headers and the bytes that
`sendfile` is to take. Then the fetch reads again, and all of it is in the page cache. Each log directory has threads of
its own, so that a disk which does not answer holds up no reads from another disk.
"""

from collections import deque
from collections.abc import Callable, Sequence
from contextlib import suppress
from functools import partial
from typing import Final, TypeAlias

from ottla.protocol.errors import OffsetOutOfRangeError
from ottla.replication.partition.partition import Partition
from ottla.replication.ports import EventLoop, Worker
from ottla.replication.request.fetch import READ_COMMITTED, FetchParams, FetchPartition
from ottla.replication.request.offset_query import MAX_TIMESTAMP
from ottla.replication.schedule.mailbox import Mailbox
from ottla.storage.disk.atomic import directory_of
from ottla.storage.errors import StorageError

_THREADS: Final = 2
"""For each log directory."""
_WARM_S: Final = 2.0
"""How long data that was read is assumed to be in the page cache."""

_Place: TypeAlias = tuple[Partition, int]


class ColdReads:
    """Loop thread only, but for what its workers do."""

    def __init__(
        self,
        loop: EventLoop,
        mailbox: Mailbox,
        make_worker: Callable[[str], Worker],
        finished: Callable[[Partition], None],
    ) -> None:
        self._loop: Final = loop
        self._mailbox: Final = mailbox
        self._make_worker: Final = make_worker
        self._finished: Final = finished
        self._workers: Final[dict[str, deque[Worker]]] = {}
        self._under_way: Final[set[_Place]] = set()
        self._warm: Final[dict[_Place, float]] = {}

    def is_under_way(self, partition: Partition, offset: int) -> bool:
        """Whether a thread is reading there now."""
        return (partition, offset) in self._under_way

    def is_warm(self, partition: Partition, offset: int) -> bool:
        """Whether a thread has just read there."""
        return self._warm.get((partition, offset), 0.0) > self._loop.time()

    def begin(self, partition: Partition, params: FetchParams, wanted: FetchPartition, bytes_max: int) -> None:
        """Has a thread read what is wanted; `finished` hears of it."""
        place = (partition, wanted.fetch_offset)
        if place in self._under_way:
            return
        self._under_way.add(place)
        is_committed = params.replica_id < 0 and params.isolation_level == READ_COMMITTED

        def job() -> None:
            try:
                with suppress(StorageError, OffsetOutOfRangeError):  # The fetch comes upon it, too, and answers it.
                    partition.log.read_ahead(wanted.fetch_offset, bytes_max, is_committed=is_committed)
            finally:
                self._mailbox.post(lambda: self._done(place))

        self._worker(directory_of(partition.log.directory)).submit(job)

    def search(self, wanted: Sequence[tuple[Partition, int]], done: Callable[[], None]) -> None:
        """Has threads look for the timestamps in the partitions; `done` is called when all have."""
        by_directory: dict[str, list[tuple[Partition, int]]] = {}
        for partition, timestamp in wanted:
            by_directory.setdefault(directory_of(partition.log.directory), []).append((partition, timestamp))
        left = set(by_directory)

        def found(directory: str) -> None:
            left.discard(directory)
            if not left:
                done()

        for directory, here in by_directory.items():
            self._worker(directory).submit(partial(self._search, here, partial(found, directory)))

    def _search(self, wanted: Sequence[tuple[Partition, int]], found: Callable[[], None]) -> None:
        try:
            for partition, timestamp in wanted:
                with suppress(StorageError):  # Who looks there afterwards comes upon it, too, and answers it.
                    if timestamp == MAX_TIMESTAMP:
                        partition.log.offset_of_max_timestamp()
                    else:
                        partition.log.offset_for_timestamp(timestamp)
        finally:
            self._mailbox.post(found)

    def _done(self, place: _Place) -> None:
        self._under_way.discard(place)
        now = self._loop.time()
        self._warm.pop(place, None)
        self._warm[place] = now + _WARM_S
        self._forget_old(now)
        self._finished(place[0])

    def _forget_old(self, now: float) -> None:
        """Drops what is not warm any more, and with it partitions that are gone; the oldest stand in front."""
        while (oldest := next(iter(self._warm))) and self._warm[oldest] <= now:
            del self._warm[oldest]

    def _worker(self, directory: str) -> Worker:
        workers = self._workers.get(directory)
        if workers is None:
            name = directory.rpartition("/")[2]
            made = (self._make_worker(f"disk-read-{name}-{number}") for number in range(_THREADS))
            workers = self._workers[directory] = deque(made)
        workers.rotate()
        return workers[0]
