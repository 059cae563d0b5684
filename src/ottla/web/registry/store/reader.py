"""Reads the topic from its beginning and keeps the state that its records make.

Invariants: `state` is what all records before `position` say, in their order; a waiter for an offset hears once the
record at that offset is part of the state. A topic that was cut or made anew is read again from its beginning; until
that is done, the state of before is what there is. The reader notices when its position is beyond the end or the topic
has another id, and the writer when it is given an offset that was read already.
"""

import asyncio
import heapq
import itertools
import logging
import time
from collections.abc import Mapping
from typing import Final

from ottla.base.errors import OttlaError
from ottla.base.ids import ZERO_UUID, Uuid
from ottla.client.consumer.async_consumer import AsyncConsumer
from ottla.client.errors import OffsetResetNeededError
from ottla.client.record import TopicPartition
from ottla.web.registry.state.registry_state import RegistryState
from ottla.web.registry.state.replay import apply


class LogCutError(OttlaError):
    """The topic holds other records than those that were read."""


_log: Final = logging.getLogger(__name__)
_POLL_S: Final = 1.0
_PAUSE_S: Final = 0.5
_SLICE: Final = 2_000
"""Records that are applied before other work gets its turn."""


class LogReader:
    """The one reader of an instance."""

    def __init__(self, topic: str, client: Mapping[str, object]) -> None:
        self.state = RegistryState()
        """The state by the records read so far; a new value after each poll."""
        self.position = 0
        """The offset of the next record."""
        self.trouble: OttlaError | None = None
        """Why nothing can be read right now."""
        self._next = self.state
        """The state of what was read, ahead of `state` while the topic is read again."""
        self._reads_again = False
        self._doubt: LogCutError | None = None
        """Why all of it has to be read again; the loop that reads acts on it."""
        self._topic_id: Uuid | None = None
        self._partition: Final = TopicPartition(topic, 0)
        self._client: Final = client
        self._waiting: Final[list[tuple[int, int, asyncio.Future[None]]]] = []
        self._numbers: Final = itertools.count()
        self._task: asyncio.Task[None] | None = None

    def start(self) -> None:
        """Begins to read."""
        self._task = asyncio.get_running_loop().create_task(self._run())

    async def stop(self) -> None:
        """Ends reading."""
        if self._task is not None:
            self._task.cancel()
            await asyncio.wait({self._task})

    async def reach(self, offset: int) -> None:
        """Waits until the record at `offset` is part of the state."""
        if self.position > offset and not self._reads_again and self._doubt is None:
            return
        future: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        heapq.heappush(self._waiting, (offset, next(self._numbers), future))
        await future

    def written(self, offset: int, position: int) -> None:
        """A record was written at `offset` when all before `position` had been read: it can't be one of those."""
        if offset < position and not self._reads_again:
            self._doubt = LogCutError(f"a record was written at offset {offset}, and all before {position} were read")

    async def _run(self) -> None:
        while True:
            try:
                await self._read()
            except OttlaError as error:
                self.trouble = error
                _log.warning("The schemas' topic can't be read: %s", error)
                await asyncio.sleep(_PAUSE_S)

    async def _read(self) -> None:
        settings = {
            **self._client,
            "auto.offset.reset": "none",
            "enable.auto.commit": False,
            "allow.auto.create.topics": False,
            "max.poll.records": 10_000,
            "max.partition.fetch.bytes": 8 << 20,
        }
        async with AsyncConsumer(settings) as consumer:
            consumer.assign([self._partition])
            if not self.position:
                # Compaction and deletion move the beginning, so it is asked for and not assumed.
                self.position = (await consumer.beginning_offsets([self._partition]))[self._partition]
            consumer.seek(self._partition, self.position)
            while True:
                try:
                    await self._poll(consumer)
                except (OffsetResetNeededError, LogCutError) as error:
                    _log.error("The schemas' topic was cut or made anew, so all of it is read again: %s", error)
                    self._next, self.position = RegistryState(), 0
                    self._reads_again, self._doubt, self._topic_id = True, None, None
                    raise

    async def _poll(self, consumer: AsyncConsumer) -> None:
        records = await consumer.poll(_POLL_S)
        if self._doubt is not None:
            raise self._doubt
        self._check_topic(consumer.topic_id(self._partition.topic))
        self.trouble = None
        state = self._next
        began = time.monotonic()
        for index, record in enumerate(records):
            if record.key is not None:
                state = apply(state, bytes(record.key), _bytes(record.value), record.timestamp)
            if index % _SLICE == _SLICE - 1:
                await asyncio.sleep(0)
        ahead = records.next_offsets().get(self._partition)
        if ahead is not None:
            self._next, self.position = state, max(self.position, ahead.offset)
        elif self._reads_again:
            self._reads_again = False
        if not self._reads_again:
            self.state = self._next
            self._wake()
        if len(records) > _SLICE:
            _log.info("Read %d records in %.0f ms", len(records), (time.monotonic() - began) * 1000)

    def _check_topic(self, found: Uuid | None) -> None:
        """Raises `LogCutError` for a topic of the same name that is not the one that was read so far."""
        if found in (None, ZERO_UUID):
            return  # not known, or a broker without ids
        if self._topic_id not in (None, found):
            raise LogCutError(f"it was {self._topic_id}, and is {found}")
        self._topic_id = found

    def _wake(self) -> None:
        while self._waiting and self._waiting[0][0] < self.position:
            future = heapq.heappop(self._waiting)[2]
            if not future.done():
                future.set_result(None)


def _bytes(value: object) -> bytes | None:
    return None if value is None else bytes(value)  # type: ignore[call-overload]
