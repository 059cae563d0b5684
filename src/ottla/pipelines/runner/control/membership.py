"""Which partitions of specs are this control process's: a consumer group's word, and the records in them.

The statuses of the same partitions are read beside, by a consumer of its own without a group.
"""

import asyncio
import logging
from collections.abc import Awaitable, Callable, Collection, Sequence
from typing import Any, Final

from ottla.base.errors import OttlaError
from ottla.client.consumer.async_consumer import AsyncConsumer
from ottla.client.record import TopicPartition
from ottla.pipelines.runner.control.option import ControlOptions
from ottla.pipelines.runner.control.share import Share
from ottla.pipelines.runner.supervision import event as e

_log: Final = logging.getLogger(__name__)
_POLL_S: Final = 0.2
_PAUSE_S: Final = 1.0

Tell = Callable[[Sequence[e.Event]], None]


class Membership:
    """One member of the group of control processes."""

    def __init__(
        self, options: ControlOptions, tell: Tell, released: Callable[[Collection[str]], Awaitable[None]]
    ) -> None:
        """`tell` hears what has changed; `released` is awaited before partitions go to another member."""
        self._options: Final = options
        self._tell: Final = tell
        self._released: Final = released
        self._count = 0
        self._shares: Final[dict[int, Share]] = {}
        self._loading: Final[set[int]] = set()
        self._task: asyncio.Task[None] | None = None

    def start(self, partitions: int) -> None:
        """Takes part from now on; the topics have so many partitions."""
        self._count = partitions
        self._task = asyncio.get_running_loop().create_task(self._run())

    async def stop(self) -> None:
        """Leaves the group, after everything was let go."""
        if self._task is not None:
            self._task.cancel()
            await asyncio.wait({self._task})

    async def _run(self) -> None:
        while True:
            try:
                await self._take_part()
            except OttlaError as error:
                _log.warning("The topics of pipelines can't be read: %s", error)
                self._lose(list(self._shares))
                await asyncio.sleep(_PAUSE_S)

    async def _take_part(self) -> None:
        options = self._options
        common = {"auto.offset.reset": "earliest", "enable.auto.commit": False, "allow.auto.create.topics": False}
        grouped = {
            "group.id": options.group,
            "session.timeout.ms": options.session_timeout_ms,
            "heartbeat.interval.ms": max(options.session_timeout_ms // 4, 1),
            "partition.assignment.strategy": ("cooperative-sticky",),
        }
        async with (
            AsyncConsumer({**options.client, **common, **grouped}) as specs,
            AsyncConsumer({**options.client, **common}) as statuses,
        ):
            specs.subscribe(
                [options.specs_topic], on_assigned=self._assigned, on_revoked=self._revoked, on_lost=self._were_lost
            )
            while True:
                self._hear(await specs.poll(_POLL_S), Share.read_spec)
                await self._load(specs, statuses)
                if self._shares:
                    self._hear(await statuses.poll(0.01), Share.read_status)

    def _hear(self, records: Any, read: Callable[[Share, bytes, bytes | None], list[e.Event]]) -> None:
        for record in records:
            share = self._shares.get(record.partition)
            if share is not None and record.key is not None:
                value = None if record.value is None else bytes(record.value)
                events = read(share, bytes(record.key), value)
                if events:
                    self._tell(events)

    async def _load(self, specs: AsyncConsumer, statuses: AsyncConsumer) -> None:
        """Reads partitions that are new here to their ends."""
        if not self._loading:
            return
        options, numbers = self._options, sorted(self._loading)
        statuses.assign([TopicPartition(options.status_topic, number) for number in self._shares])
        fresh = [TopicPartition(options.status_topic, number) for number in numbers]
        statuses.seek_to_beginning(fresh)
        await self._read_to_end(statuses, fresh, Share.read_status)
        await self._read_to_end(
            specs, [TopicPartition(options.specs_topic, number) for number in numbers], Share.read_spec
        )
        for number in numbers:
            share = self._shares.get(number)
            if share is not None and number in self._loading:
                self._loading.discard(number)
                self._tell(share.loaded())

    async def _read_to_end(
        self,
        consumer: AsyncConsumer,
        places: list[TopicPartition],
        read: Callable[[Share, bytes, bytes | None], list[e.Event]],
    ) -> None:
        ends = await consumer.end_offsets(places)
        for place, end in ends.items():
            while place.partition in self._loading and await consumer.position(place) < end:
                self._hear(await consumer.poll(_POLL_S), read)

    def _assigned(self, consumer: AsyncConsumer, places: Collection[TopicPartition]) -> None:
        if not places:
            return
        consumer.seek_to_beginning(places)
        for _, number in places:
            self._shares[number] = Share(number, self._count, self._options.name, self._options.owner)
            self._loading.add(number)
        _log.info("Looks after %d of %d partitions of pipelines", len(self._shares), self._count)

    async def _revoked(self, _: AsyncConsumer, places: Collection[TopicPartition]) -> None:
        names = self._drop([number for _, number in places])
        self._tell([e.PipelineRevoked(name) for name in names])
        await self._released(names)

    def _were_lost(self, _: AsyncConsumer, places: Collection[TopicPartition]) -> None:
        self._lose([number for _, number in places])

    def _lose(self, numbers: Collection[int]) -> None:
        self._tell([e.PipelineLost(name) for name in self._drop(numbers)])

    def _drop(self, numbers: Collection[int]) -> list[str]:
        names = []
        for number in numbers:
            self._loading.discard(number)
            share = self._shares.pop(number, None)
            if share is not None:
                names += [*share.specs, *(name for name in share.statuses if name not in share.specs)]
        return names
