"""The partitions that are being cleaned, and those that must not be: all that cleaner and log manager share.

A round of cleaning or retention holds its partition with a `Ticket`. A caller that truncates, deletes or moves a log
pauses its cleaning: the round is told to stop and its ticket is void. Neither waits for the other, as both change logs
on the writer's thread only, one after the other: a round asks there whether its ticket is still good.
"""

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from ottla.storage.topic_partition import TopicPartition


class Ticket:
    """The right to change a partition's old segments."""

    __slots__ = ("is_void", "partition", "stop")

    def __init__(self, partition: TopicPartition, stop: Callable[[], None]) -> None:
        self.partition = partition
        self.stop = stop
        self.is_void = False


class CleaningState:
    """Rounds under way and pauses, by partition. Any thread may call."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._tickets: dict[TopicPartition, Ticket] = {}
        self._pauses: dict[TopicPartition, int] = {}

    def begin(self, partition: TopicPartition, stop: Callable[[], None]) -> Ticket | None:
        """A ticket, unless another round is under way or cleaning is paused; `stop` is called if it becomes void."""
        with self._lock:
            if partition in self._tickets or partition in self._pauses:
                return None
            ticket = self._tickets[partition] = Ticket(partition, stop)
            return ticket

    def end(self, ticket: Ticket) -> None:
        """The round is over."""
        with self._lock:
            ticket.is_void = True
            del self._tickets[ticket.partition]

    def is_busy(self, partition: TopicPartition) -> bool:
        """Whether a round is under way or cleaning is paused."""
        with self._lock:
            return partition in self._tickets or partition in self._pauses

    @contextmanager
    def paused(self, partition: TopicPartition) -> Iterator[None]:
        """No change by a round while this lasts; one under way changes nothing any more."""
        with self._lock:
            self._pauses[partition] = self._pauses.get(partition, 0) + 1
            ticket = self._tickets.get(partition)
            if ticket is not None:
                ticket.is_void = True
        if ticket is not None:
            ticket.stop()
        try:
            yield
        finally:
            with self._lock:
                self._pauses[partition] -= 1
                if not self._pauses[partition]:
                    del self._pauses[partition]
