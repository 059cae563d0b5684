"""A consumer as an iterator: one record after the other, and a position that keeps up with them.

`poll` brings many records and moves the position behind all of them. A loop that is left in the middle has not seen
the rest: when the iterator is let go, the position goes back to the first record that was not handed out, so that a
commit, also the one of `close`, does not pass over it.
"""

from collections.abc import Mapping, Set
from typing import Final, Protocol

from ottla.client.consumer.fetch.record import Record
from ottla.client.consumer.fetch.records import Records
from ottla.client.record import TopicPartition


class _Seekable(Protocol):
    """The support of both consumers for an iterator that ends early."""

    @property
    def is_closed(self) -> bool: ...

    def assignment(self) -> Set[TopicPartition]: ...

    def seek(self, partition: TopicPartition, offset: int) -> None: ...


class _Polled(_Seekable, Protocol):
    def poll(self) -> Records: ...


class _AsyncPolled(_Seekable, Protocol):
    async def poll(self) -> Records: ...


class _Handout:
    """Records of one poll, and how many of them were taken."""

    __slots__ = ("_records", "_taken")

    def __init__(self) -> None:
        self._records = Records()
        self._taken = 0

    def take(self) -> Record | None:
        """The next one; None if all are taken."""
        if self._taken == len(self._records):
            return None
        self._taken += 1
        return self._records[self._taken - 1]

    def refill(self, records: Records) -> None:
        """Goes on with the next poll's."""
        self._records, self._taken = records, 0

    def left(self) -> Mapping[TopicPartition, int]:
        """The first offset of each partition that was not taken."""
        rest = Records(self._records[self._taken :])
        return {partition: records[0].offset for partition, records in rest.by_partition().items()}


class Iteration:
    """The iterator of `for record in consumer`; it ends when the consumer is closed."""

    def __init__(self, consumer: _Polled) -> None:
        self._consumer: Final = consumer
        self._handout: Final = _Handout()

    def __iter__(self) -> "Iteration":
        return self

    def __next__(self) -> Record:
        while (record := self._handout.take()) is None:
            if self._consumer.is_closed:
                raise StopIteration
            self._handout.refill(self._consumer.poll())
        return record

    def __del__(self) -> None:
        _go_back(self._consumer, self._handout)


class AsyncIteration:
    """The iterator of `async for record in consumer`."""

    def __init__(self, consumer: _AsyncPolled) -> None:
        self._consumer: Final = consumer
        self._handout: Final = _Handout()

    def __aiter__(self) -> "AsyncIteration":
        return self

    async def __anext__(self) -> Record:
        while (record := self._handout.take()) is None:
            if self._consumer.is_closed:
                raise StopAsyncIteration
            self._handout.refill(await self._consumer.poll())
        return record

    def __del__(self) -> None:
        _go_back(self._consumer, self._handout)


def _go_back(consumer: _Seekable, handout: _Handout) -> None:
    left = handout.left()
    if not left or consumer.is_closed:
        return
    assigned = consumer.assignment()
    for partition, offset in left.items():
        if partition in assigned:
            consumer.seek(partition, offset)
