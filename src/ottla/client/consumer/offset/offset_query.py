"""The user's queries about offsets and topics, and the calls that move positions."""

import asyncio
from collections.abc import Collection, Mapping
from typing import TYPE_CHECKING, Final, Protocol

from ottla.base.errors import OttlaError
from ottla.client.cluster.cluster_client import ANY_NODE
from ottla.client.cluster.cluster_view import ClusterView
from ottla.client.cluster.retries import Retries
from ottla.client.consumer.choice import refuse_one
from ottla.client.consumer.offset.offset_lookup import OffsetLookup
from ottla.client.consumer.offset.offset_reset import (
    EARLIEST,
    EARLIEST_TIMESTAMP,
    LATEST,
    LATEST_TIMESTAMP,
    OffsetReset,
)
from ottla.client.consumer.subscription_state import Position
from ottla.client.errors import InvalidStateError, KafkaTimeoutError
from ottla.client.record import OffsetAndMetadata, OffsetAndTimestamp, TopicPartition
from ottla.protocol.messages.metadata import MetadataRequest, MetadataResponse

if TYPE_CHECKING:
    from ottla.client.cluster.cluster_client import ClusterClient
    from ottla.client.cluster.cluster_view import TopicView
    from ottla.client.config.settings import ClientSettings
    from ottla.client.consumer.offset.position_update import PositionUpdate
    from ottla.client.consumer.subscription_state import SubscriptionState


class QueryHost(Protocol):
    """The interface of the consumer to these queries."""

    @property
    def settings(self) -> "ClientSettings": ...

    @property
    def subscription(self) -> "SubscriptionState": ...

    @property
    def cluster(self) -> "ClusterClient": ...

    @property
    def positions(self) -> "PositionUpdate": ...

    async def start(self, timeout_s: float) -> None:
        """Connects, if that has not been done."""
        ...

    async def attend(self, timeout_s: float) -> None:
        """Looks after everything, then waits for something to happen."""
        ...

    def moved(self) -> None:
        """A position was changed on purpose."""
        ...

    def resume_delivery(self) -> None:
        """Partitions that were paused may be handed out again."""
        ...


class OffsetQueries:
    """Part of a consumer's core; time-outs are seconds, None for `default.api.timeout.ms`."""

    def __init__(self, core: QueryHost, lookup: OffsetLookup) -> None:
        self._core: Final = core
        self._lookup: Final = lookup
        self._default_timeout_s: Final = core.settings.integer("default.api.timeout.ms") / 1000

    async def position(self, partition: TopicPartition, timeout_s: float | None) -> int:
        """The offset of the next record; waits until it is known."""
        core, loop = self._core, asyncio.get_running_loop()
        deadline_s = await self._started(timeout_s)
        while (position := core.subscription.state_of(partition).position) is None:
            left_s = deadline_s - loop.time()
            if left_s <= 0:
                raise KafkaTimeoutError(f"the position of {partition} was not known in time")
            await core.attend(left_s)
        return position.offset

    async def committed(
        self, partitions: Collection[TopicPartition], timeout_s: float | None
    ) -> dict[TopicPartition, OffsetAndMetadata | None]:
        """The group's committed offsets."""
        refuse_one(partitions, "committed")
        deadline_s = await self._started(timeout_s)
        committed = self._core.positions.committed
        if committed is None:
            raise InvalidStateError("committed offsets belong to a group: set group.id")
        for topic in {partition.topic for partition in partitions} - self._core.cluster.view.topics.keys():
            self._core.cluster.want_topics((topic,))
        return await committed.read(partitions, deadline_s)

    async def beginning(
        self, partitions: Collection[TopicPartition], timeout_s: float | None
    ) -> dict[TopicPartition, int]:
        """The first offset of each partition."""
        refuse_one(partitions, "beginning_offsets")
        return await self._ends(partitions, EARLIEST_TIMESTAMP, timeout_s)

    async def end(self, partitions: Collection[TopicPartition], timeout_s: float | None) -> dict[TopicPartition, int]:
        """The offset behind the last record that this consumer could read."""
        refuse_one(partitions, "end_offsets")
        return await self._ends(partitions, LATEST_TIMESTAMP, timeout_s)

    async def _ends(
        self, partitions: Collection[TopicPartition], timestamp: int, timeout_s: float | None
    ) -> dict[TopicPartition, int]:
        deadline_s = await self._started(timeout_s)
        found = await self._lookup.offsets(dict.fromkeys(partitions, timestamp), deadline_s)
        return {partition: offset.offset for partition, offset in found.items()}

    async def for_times(
        self, timestamps_ms: Mapping[TopicPartition, int], timeout_s: float | None
    ) -> dict[TopicPartition, OffsetAndTimestamp | None]:
        """The first record at or after each time, None where there is none."""
        negative = [str(partition) for partition, timestamp in timestamps_ms.items() if timestamp < 0]
        if negative:
            raise ValueError(f"times are milliseconds since 1970, not negative: {', '.join(negative)}")
        deadline_s = await self._started(timeout_s)
        found = await self._lookup.offsets(timestamps_ms, deadline_s)
        return {
            partition: OffsetAndTimestamp(*offset) if offset.offset >= 0 else None
            for partition, offset in found.items()
        }

    def lag(self, partition: TopicPartition) -> int | None:
        """The number of offsets between position and end, as of the last fetch; None if unknown."""
        state = self._core.subscription.state_of(partition)
        is_committed_only = self._core.settings.string("isolation.level") == "read_committed"
        end = state.last_stable_offset if is_committed_only else state.high_watermark
        return None if state.position is None or end is None else max(0, end - state.position.offset)

    async def topic(self, name: str, timeout_s: float | None) -> "TopicView":
        """A topic's partitions; waits until the topic is known."""
        loop = asyncio.get_running_loop()
        deadline_s = await self._started(timeout_s)
        return await self._core.cluster.topic(name, timeout_ms=max(1, round((deadline_s - loop.time()) * 1000)))

    async def topics(self, timeout_s: float | None) -> "dict[str, TopicView]":
        """All topics that this client may see."""
        deadline_s = await self._started(timeout_s)
        retries = Retries(self._core.cluster.backoff, deadline_s, "listing topics")
        request = MetadataRequest(topics=None, allow_auto_topic_creation=False)
        while True:
            try:
                response = await self._core.cluster.request(ANY_NODE, request, timeout_ms=retries.left_ms)
            except OttlaError as error:
                await retries.pause(error)
            else:
                assert isinstance(response, MetadataResponse)
                # A view of its own: what is asked for once need not be kept up to date.
                return dict(ClusterView().applied(response, None).topics)

    def seek(self, partition: TopicPartition, target: int | OffsetAndMetadata) -> None:
        """Moves the position."""
        found = OffsetAndMetadata(target) if isinstance(target, int) else target
        if found.offset < 0:
            raise ValueError(f"an offset is not negative: {found.offset}")
        self._core.subscription.state_of(partition).seek(Position(found.offset, found.leader_epoch))
        self._core.moved()

    def seek_to_beginning(self, partitions: Collection[TopicPartition]) -> None:
        """Moves to the first offset; where that is is found out at the next poll."""
        refuse_one(partitions, "seek_to_beginning")
        self._request_reset(partitions, EARLIEST)

    def seek_to_end(self, partitions: Collection[TopicPartition]) -> None:
        """Moves behind the last record."""
        refuse_one(partitions, "seek_to_end")
        self._request_reset(partitions, LATEST)

    def pause(self, partitions: Collection[TopicPartition]) -> None:
        """Hands out no records of these until `resume`."""
        refuse_one(partitions, "pause")
        for state in [self._core.subscription.state_of(partition) for partition in partitions]:
            state.is_paused = True

    def resume(self, partitions: Collection[TopicPartition]) -> None:
        """Goes on with these."""
        refuse_one(partitions, "resume")
        for state in [self._core.subscription.state_of(partition) for partition in partitions]:
            state.is_paused = False
        self._core.resume_delivery()

    def paused(self) -> frozenset[TopicPartition]:
        """Which partitions are paused."""
        return frozenset(key for key, state in self._core.subscription.assigned.items() if state.is_paused)

    def _request_reset(self, partitions: Collection[TopicPartition], reset: OffsetReset) -> None:
        chosen = partitions or self._core.subscription.assignment()
        for state in [self._core.subscription.state_of(partition) for partition in chosen]:
            state.request_reset(reset)
        self._core.moved()

    async def _started(self, timeout_s: float | None) -> float:
        """Connects if need be; the loop's time at which the call has to end."""
        timeout_s = self._default_timeout_s if timeout_s is None else timeout_s
        deadline_s = asyncio.get_running_loop().time() + timeout_s
        await self._core.start(timeout_s)
        return deadline_s
