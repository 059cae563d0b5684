"""Reads all topics of a worker with one consumer, and keeps their tables.

Invariants: the tables are what all records before `positions` say; who waits for an offset hears once the record is in
its table. A topic that was cut or made anew is read again from its beginning, with all others.
"""

import asyncio
import logging
from collections.abc import Mapping, Sequence
from typing import Final

from ottla.base.errors import OttlaError
from ottla.client.admin.async_admin import AsyncAdmin
from ottla.client.admin.value.offset import IsolationLevel, OffsetSpec
from ottla.client.consumer.async_consumer import AsyncConsumer
from ottla.client.errors import OffsetResetNeededError
from ottla.client.record import TopicPartition
from ottla.web.connect.store.table import Tables

_log: Final = logging.getLogger(__name__)
_POLL_S: Final = 1.0
_PAUSE_S: Final = 0.5
_SLICE: Final = 2_000


class TopicReader:
    """The one reader of a worker."""

    def __init__(self, client: Mapping[str, object], admin: AsyncAdmin) -> None:
        self.tables = Tables()
        self.version = 0
        """Goes up with each change of the tables."""
        self.trouble: OttlaError | None = None
        """Why nothing can be read right now."""
        self.positions: Final[dict[TopicPartition, int]] = {}
        self._client: Final = client
        self._admin: Final = admin
        self._names: list[str] = []
        self._next = self.tables
        self._goal: dict[TopicPartition, int] = {}
        """The offsets that a second reading has to reach before its tables count."""
        self._news: Final = asyncio.Condition()
        self._task: asyncio.Task[None] | None = None

    def start(self, topics: Mapping[str, int]) -> None:
        """Begins to read these topics, in the order of the tables, with their numbers of partitions."""
        self._names = list(topics)
        for name, count in topics.items():
            self.positions.update({TopicPartition(name, number): 0 for number in range(count)})
        self._task = asyncio.get_running_loop().create_task(self._run())

    async def stop(self) -> None:
        """Ends reading."""
        if self._task is not None:
            self._task.cancel()
            await asyncio.wait({self._task})

    async def changed(self, since: int, timeout_s: float) -> None:
        """Waits until something was read after the version `since`, or for so long."""
        try:
            async with asyncio.timeout(timeout_s), self._news:
                await self._news.wait_for(lambda: self.version != since)
        except TimeoutError:
            return

    async def reach(self, positions: Mapping[TopicPartition, int]) -> None:
        """Waits until all before these positions is in the tables."""
        async with self._news:
            await self._news.wait_for(
                lambda: not self._goal and all(self.positions[place] >= at for place, at in positions.items())
            )

    async def catch_up(self) -> None:
        """Waits until all that is in the topics now is in the tables."""
        await self.reach(await self._ends())

    async def _ends(self) -> dict[TopicPartition, int]:
        asked = dict.fromkeys(self.positions, OffsetSpec.LATEST)
        found = await self._admin.list_offsets(asked, isolation_level=IsolationLevel.READ_COMMITTED)
        return {place: listed.offset for place, listed in found.items()}

    async def _run(self) -> None:
        while True:
            try:
                await self._read()
            except OttlaError as error:
                self.trouble = error
                _log.warning("The worker's topics can't be read: %s", error)
                await asyncio.sleep(_PAUSE_S)

    async def _read(self) -> None:
        settings = {
            **self._client,
            "auto.offset.reset": "none",
            "enable.auto.commit": False,
            "allow.auto.create.topics": False,
            "isolation.level": "read_committed",
            "max.poll.records": 10_000,
        }
        places = list(self.positions)
        async with AsyncConsumer(settings) as consumer:
            consumer.assign(places)
            beginnings = await consumer.beginning_offsets(places)
            for place in places:
                consumer.seek(place, self.positions[place] or beginnings[place])
            while True:
                try:
                    await self._poll(consumer)
                except OffsetResetNeededError as error:
                    _log.error("A topic of the worker was cut or made anew, so all are read again: %s", error)
                    await self._begin_again(places)
                    raise

    async def _begin_again(self, places: Sequence[TopicPartition]) -> None:
        self._next = Tables()
        self._goal = await self._ends()
        self.positions.update(dict.fromkeys(places, 0))

    async def _poll(self, consumer: AsyncConsumer) -> None:
        records = await consumer.poll(_POLL_S)
        self.trouble = None
        tables = dict(zip(self._names, self._next.in_order, strict=True))
        for index, record in enumerate(records):
            if record.key is not None:
                value = None if record.value is None else bytes(record.value)
                tables[record.topic].apply(bytes(record.key), value)
            if index % _SLICE == _SLICE - 1:
                await asyncio.sleep(0)
        for place, ahead in records.next_offsets().items():
            self.positions[place] = max(self.positions[place], ahead.offset)
        for place in self.positions:
            # Markers of transactions move a position without a record.
            at = await consumer.position(place)
            self.positions[place] = max(self.positions[place], at)
        if self._goal and all(self.positions[place] >= end for place, end in self._goal.items()):
            self._goal = {}
        if not self._goal:
            if records or self.tables is not self._next:
                self.version += 1
            self.tables = self._next
            async with self._news:
                self._news.notify_all()
