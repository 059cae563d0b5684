"""The consumer for asyncio. One task uses it at a time; `wakeup()` may be called by any."""

import asyncio
import re
from collections.abc import Collection, Mapping, Sequence
from types import TracebackType
from typing import TYPE_CHECKING, Any, Final, Never

from ottla.base.ids import Uuid
from ottla.client import other_client
from ottla.client.cluster.cluster_view import TopicView
from ottla.client.config.consumer import CONSUMER_KEYS
from ottla.client.config.settings import ClientSettings
from ottla.client.consumer.access import Access
from ottla.client.consumer.choice import chosen_listener, chosen_offsets, chosen_partitions, refuse_topics
from ottla.client.consumer.core import ConsumerCore, UserContext
from ottla.client.consumer.fetch.arrow_columns import COLUMNS, arrow_reader
from ottla.client.consumer.fetch.records import Records
from ottla.client.consumer.iteration import AsyncIteration
from ottla.client.consumer.membership import GroupMetadata, LeaveOperation
from ottla.client.consumer.offset.committer import Committed
from ottla.client.consumer.rebalance_listener import RebalanceListener, Told
from ottla.client.consumer.subscription_pattern import SubscriptionPattern
from ottla.client.consumer.user_call import invoke_here
from ottla.client.record import OffsetAndMetadata, OffsetAndTimestamp, TopicPartition

_CLOSE_TIMEOUT_S: Final = 30.0


class AsyncConsumer:
    """Reads records; time-outs are seconds. Settings as Kafka names them, in a mapping or as keyword arguments::

    async with AsyncConsumer(bootstrap_servers="localhost:9092", group_id="billing") as consumer:
        consumer.subscribe(["orders"])
        async for record in consumer:
            print(record.value)
    """

    def __init__(self, config: Mapping[str, object] | None = None, /, *more: Never, **settings: object) -> None:
        refuse_topics(config, more)
        context = UserContext(invoke_here, lambda function: function())
        self._core: Final = ConsumerCore(ClientSettings.of(CONSUMER_KEYS, config, **settings), context)
        self._core.rebalance.facade = self
        self._access: Final = Access()

    async def __aenter__(self) -> "AsyncConsumer":
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        await self.close()

    def __aiter__(self) -> AsyncIteration:
        """Records one by one; when the loop is left the position is behind the last one that it got."""
        return AsyncIteration(self)

    @property
    def is_closed(self) -> bool:
        """Whether `close` was called."""
        return self._access.is_closed

    def subscribe(
        self,
        topics: Collection[str] | None = None,
        *,
        pattern: re.Pattern[str] | SubscriptionPattern | None = None,
        listener: RebalanceListener | None = None,
        on_assigned: Told | None = None,
        on_revoked: Told | None = None,
        on_lost: Told | None = None,
    ) -> None:
        """Shares these topics, or those that match a pattern, with the group; replaces what was subscribed before.

        A `re.Pattern` is matched here against whole names, a `SubscriptionPattern` by the broker. The listener, or the
        three functions in its place, hear of partitions that come and go; they may be coroutine functions.
        """
        with self._access:
            self._core.subscribe(topics, pattern, chosen_listener(listener, on_assigned, on_revoked, on_lost))

    def assign(self, partitions: Collection[TopicPartition]) -> None:
        """Reads exactly these partitions, without sharing them with a group."""
        with self._access:
            self._core.assign(chosen_partitions(partitions))

    async def unsubscribe(self) -> None:
        """Gives up all partitions and leaves the group."""
        with self._access:
            await self._core.unsubscribe(_CLOSE_TIMEOUT_S)

    def assignment(self) -> frozenset[TopicPartition]:
        """The partitions that are being read."""
        return self._core.subscription.assignment()

    def subscription(self) -> frozenset[str]:
        """The subscribed topics; with a pattern those that match now."""
        return self._core.subscription.topics

    async def poll(self, timeout: float = 1.0, **unknown: Never) -> Records:
        """Records, up to `max.poll.records`, as soon as there are some; an empty list after `timeout` seconds."""
        if unknown:
            other_client.refuse_keywords("poll()", unknown)
        with self._access:
            core = self._core
            deadline = asyncio.get_running_loop().time() + timeout
            if not core.is_quiet or not core.has_fetched:
                await core.await_fetched(timeout)
            while not (records := core.collect()) and (left := deadline - asyncio.get_running_loop().time()) > 0:
                await core.await_fetched(left)
            return records

    async def poll_arrow(self, timeout: float = 1.0, columns: Sequence[str] = COLUMNS) -> Any:
        """The records of one fetch as a `pyarrow.RecordBatch` with these columns; None after `timeout` seconds.

        A batch holds what one answer brought of one partition; `max.poll.records` and deserializers don't apply.
        """
        with self._access:
            core, reader = self._core, arrow_reader(tuple(columns))
            deadline = asyncio.get_running_loop().time() + timeout
            if not core.is_quiet or not core.has_fetched:
                await core.await_fetched(timeout)
            while (batch := core.collect_arrow(reader)) is None:
                left = deadline - asyncio.get_running_loop().time()
                if left <= 0:
                    return None
                await core.await_fetched(left)
            return batch

    async def commit(
        self,
        offsets: Mapping[TopicPartition, OffsetAndMetadata | int] | None = None,
        timeout: float | None = None,
        **unknown: Never,
    ) -> None:
        """Commits the positions, or these offsets (of the next record to read), and waits; tries until the time-out."""
        other_client.refuse_keywords("commit()", unknown)
        with self._access:
            await self._core.commit(chosen_offsets(offsets), timeout)

    def commit_async(
        self,
        offsets: Mapping[TopicPartition, OffsetAndMetadata | int] | None = None,
        callback: Committed | None = None,
    ) -> None:
        """Commits without waiting; `callback(offsets, error)` is called inside of a later call, in order."""
        with self._access:
            self._core.committer.commit_later(chosen_offsets(offsets), callback)

    async def committed(
        self, partitions: Collection[TopicPartition], timeout: float | None = None
    ) -> dict[TopicPartition, OffsetAndMetadata | None]:
        """The group's committed offsets; None for partitions without one."""
        with self._access:
            return await self._core.offsets.committed(partitions, timeout)

    async def position(self, partition: TopicPartition, timeout: float | None = None) -> int:
        """The offset of the next record that poll will return."""
        with self._access:
            return await self._core.offsets.position(partition, timeout)

    def positions(self) -> dict[TopicPartition, int]:
        """The offset of the next record of each partition whose position is known; waits for nothing."""
        return {place: found.offset for place, found in self._core.subscription.positions().items()}

    def seek(self, partition: TopicPartition, offset: int | OffsetAndMetadata) -> None:
        """Goes on at this offset with the next poll."""
        with self._access:
            self._core.offsets.seek(partition, offset)

    def seek_to_beginning(self, partitions: Collection[TopicPartition] = ()) -> None:
        """Goes on at the first offset of these, or all, partitions."""
        with self._access:
            self._core.offsets.seek_to_beginning(partitions)

    def seek_to_end(self, partitions: Collection[TopicPartition] = ()) -> None:
        """Goes on behind the last record of these, or all, partitions."""
        with self._access:
            self._core.offsets.seek_to_end(partitions)

    async def beginning_offsets(
        self, partitions: Collection[TopicPartition], timeout: float | None = None
    ) -> dict[TopicPartition, int]:
        """The first offset that each partition still has."""
        with self._access:
            return await self._core.offsets.beginning(partitions, timeout)

    async def end_offsets(
        self, partitions: Collection[TopicPartition], timeout: float | None = None
    ) -> dict[TopicPartition, int]:
        """The offset behind the last record that this consumer could read of each partition."""
        with self._access:
            return await self._core.offsets.end(partitions, timeout)

    async def offsets_for_times(
        self, timestamps_ms: Mapping[TopicPartition, int], timeout: float | None = None
    ) -> dict[TopicPartition, OffsetAndTimestamp | None]:
        """The first record at or after each time; None where there is none."""
        with self._access:
            return await self._core.offsets.for_times(timestamps_ms, timeout)

    def topic_id(self, topic: str) -> Uuid | None:
        """The id of a topic as the brokers said it last: another one than before is another topic of that name."""
        found = self._core.cluster.view.topics.get(topic)
        return None if found is None else found.id

    def current_lag(self, partition: TopicPartition) -> int | None:
        """The number of offsets between position and end, as of the last fetch; None if nothing was fetched yet."""
        with self._access:
            return self._core.offsets.lag(partition)

    def pause(self, partitions: Collection[TopicPartition]) -> None:
        """Hands out no records of these partitions until `resume`; poll goes on with the others."""
        with self._access:
            self._core.offsets.pause(partitions)

    def resume(self, partitions: Collection[TopicPartition]) -> None:
        """Hands out records of these partitions again."""
        with self._access:
            self._core.offsets.resume(partitions)

    def paused(self) -> frozenset[TopicPartition]:
        """The paused partitions."""
        return self._core.offsets.paused()

    async def partitions_for(self, topic: str, timeout: float | None = None) -> TopicView:
        """A topic's partitions, with leaders and replicas."""
        with self._access:
            return await self._core.offsets.topic(topic, timeout)

    async def list_topics(self, timeout: float | None = None) -> dict[str, TopicView]:
        """All topics that this client may see."""
        with self._access:
            return await self._core.offsets.topics(timeout)

    def group_metadata(self) -> GroupMetadata:
        """This consumer's identity in its group, for `send_offsets_to_transaction`."""
        with self._access:
            return self._core.group_metadata()

    def enforce_rebalance(self, reason: str = "the user asked for it") -> None:
        """Has the group rebalance with the next poll."""
        with self._access:
            self._core.enforce_rebalance(reason)

    def wakeup(self) -> None:
        """Ends a call that waits, or the next that would, with `WakeupError`; from the event loop's thread."""
        self._core.wakeup()

    def metrics(self) -> dict[Any, float]:
        """The metrics, by Kafka's names."""
        return self._core.all_metrics()

    async def close(self, timeout: float = _CLOSE_TIMEOUT_S, leave: LeaveOperation = LeaveOperation.DEFAULT) -> None:
        """Commits if that is automatic, leaves the group, ends all connections. May be called again."""
        if self._access.is_closed:
            return
        with self._access:
            try:
                await self._core.close(timeout, leave)
            finally:
                self._access.is_closed = True

    if not TYPE_CHECKING:

        def __getattr__(self, name: str) -> object:
            """Names what to call instead, for users of other clients."""
            raise other_client.missing(self, name, other_client.CONSUMER)
