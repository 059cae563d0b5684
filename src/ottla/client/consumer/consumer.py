"""The blocking consumer: the same consumer, in an event loop of its own, with the user's code in the user's thread.

Records are decoded, deserialized and handed out in the thread that calls `poll`, straight from what the loop's thread
has fetched ahead; the loop is asked only if something else has to be looked after. Any thread may use the consumer, one
at a time; `wakeup()` may be called from everywhere.
"""

import re
import time
from collections.abc import Callable, Collection, Coroutine, Mapping, Sequence
from types import TracebackType
from typing import TYPE_CHECKING, Any, Final, Never, TypeVar

from ottla.client import other_client
from ottla.client.cluster.cluster_view import TopicView
from ottla.client.config.consumer import CONSUMER_KEYS
from ottla.client.config.settings import ClientSettings
from ottla.client.consumer.access import ThreadAccess
from ottla.client.consumer.choice import chosen_listener, chosen_offsets, chosen_partitions, refuse_topics
from ottla.client.consumer.core import ConsumerCore, UserContext
from ottla.client.consumer.errors import ConcurrentModificationError
from ottla.client.consumer.fetch.arrow_columns import COLUMNS, arrow_reader
from ottla.client.consumer.fetch.records import Records
from ottla.client.consumer.iteration import Iteration
from ottla.client.consumer.membership import GroupMetadata, LeaveOperation
from ottla.client.consumer.offset.committer import Committed
from ottla.client.consumer.rebalance_listener import RebalanceListener, Told
from ottla.client.consumer.subscription_pattern import SubscriptionPattern
from ottla.client.consumer.user_thread import UserThread
from ottla.client.errors import ClosedError
from ottla.client.facade.loop_thread import LoopThread
from ottla.client.record import OffsetAndMetadata, OffsetAndTimestamp, TopicPartition

_CLOSE_TIMEOUT_S: Final = 30.0
_T = TypeVar("_T")


class Consumer:
    """Reads records; time-outs are seconds. Settings as Kafka names them, in a mapping or as keyword arguments::

    with Consumer(bootstrap_servers="localhost:9092", group_id="billing") as consumer:
        consumer.subscribe(["orders"])
        for record in consumer:
            print(record.value)
    """

    def __init__(self, config: Mapping[str, object] | None = None, /, *more: Never, **settings: object) -> None:
        refuse_topics(config, more)
        chosen = ClientSettings.of(CONSUMER_KEYS, config, **settings)
        self._thread: Final = LoopThread("ottla-consumer")
        self._user: Final = UserThread(self._thread)
        self._access: Final = ThreadAccess()
        try:
            self._core: Final = ConsumerCore(chosen, UserContext(self._user.invoke, self._thread.call_soon))
        except BaseException:
            self._thread.close()
            raise
        self._core.rebalance.facade = self

    def __enter__(self) -> "Consumer":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.close()

    def __iter__(self) -> Iteration:
        """Records one by one; when the loop is left the position is behind the last one that it got."""
        return Iteration(self)

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
        three functions in its place, hear of partitions that come and go, inside of `poll`, `unsubscribe` and `close`.
        """
        chosen = chosen_listener(listener, on_assigned, on_revoked, on_lost)
        self._call(lambda: self._core.subscribe(topics, pattern, chosen))

    def assign(self, partitions: Collection[TopicPartition]) -> None:
        """Reads exactly these partitions, without sharing them with a group."""
        self._call(lambda: self._core.assign(chosen_partitions(partitions)))

    def unsubscribe(self) -> None:
        """Gives up all partitions and leaves the group."""
        self._run(self._core.unsubscribe(_CLOSE_TIMEOUT_S))

    def assignment(self) -> frozenset[TopicPartition]:
        """The partitions that are being read."""
        return self._core.subscription.assignment()

    def subscription(self) -> frozenset[str]:
        """The subscribed topics; with a pattern those that match now."""
        return self._core.subscription.topics

    def poll(self, timeout: float = 1.0, **unknown: Never) -> Records:
        """Records, up to `max.poll.records`, as soon as there are some; an empty list after `timeout` seconds."""
        if unknown:
            other_client.refuse_keywords("poll()", unknown)
        with self._access.checked():
            found = self._collected(self._core.collect, timeout)
            return Records() if found is None else found

    def poll_arrow(self, timeout: float = 1.0, columns: Sequence[str] = COLUMNS) -> Any:
        """The records of one fetch as a `pyarrow.RecordBatch` with these columns; None after `timeout` seconds.

        A batch holds what one answer brought of one partition; `max.poll.records` and deserializers don't apply.
        """
        with self._access.checked():
            reader = arrow_reader(tuple(columns))
            return self._collected(lambda: self._core.collect_arrow(reader), timeout)

    def commit(
        self,
        offsets: Mapping[TopicPartition, OffsetAndMetadata | int] | None = None,
        timeout: float | None = None,
        **unknown: Never,
    ) -> None:
        """Commits the positions, or these offsets (of the next record to read), and waits; tries until the time-out."""
        other_client.refuse_keywords("commit()", unknown)
        self._run(self._core.commit(chosen_offsets(offsets), timeout))

    def commit_async(
        self,
        offsets: Mapping[TopicPartition, OffsetAndMetadata | int] | None = None,
        callback: Committed | None = None,
    ) -> None:
        """Commits without waiting; `callback(offsets, error)` is called inside of a later call, in order."""
        self._call(lambda: self._core.committer.commit_later(chosen_offsets(offsets), callback))

    def committed(
        self, partitions: Collection[TopicPartition], timeout: float | None = None
    ) -> dict[TopicPartition, OffsetAndMetadata | None]:
        """The group's committed offsets; None for partitions without one."""
        return self._run(self._core.offsets.committed(partitions, timeout))

    def position(self, partition: TopicPartition, timeout: float | None = None) -> int:
        """The offset of the next record that poll will return."""
        return self._run(self._core.offsets.position(partition, timeout))

    def seek(self, partition: TopicPartition, offset: int | OffsetAndMetadata) -> None:
        """Goes on at this offset with the next poll."""
        self._call(lambda: self._core.offsets.seek(partition, offset))

    def seek_to_beginning(self, partitions: Collection[TopicPartition] = ()) -> None:
        """Goes on at the first offset of these, or all, partitions."""
        self._call(lambda: self._core.offsets.seek_to_beginning(partitions))

    def seek_to_end(self, partitions: Collection[TopicPartition] = ()) -> None:
        """Goes on behind the last record of these, or all, partitions."""
        self._call(lambda: self._core.offsets.seek_to_end(partitions))

    def beginning_offsets(
        self, partitions: Collection[TopicPartition], timeout: float | None = None
    ) -> dict[TopicPartition, int]:
        """The first offset that each partition still has."""
        return self._run(self._core.offsets.beginning(partitions, timeout))

    def end_offsets(
        self, partitions: Collection[TopicPartition], timeout: float | None = None
    ) -> dict[TopicPartition, int]:
        """The offset behind the last record that this consumer could read of each partition."""
        return self._run(self._core.offsets.end(partitions, timeout))

    def offsets_for_times(
        self, timestamps_ms: Mapping[TopicPartition, int], timeout: float | None = None
    ) -> dict[TopicPartition, OffsetAndTimestamp | None]:
        """The first record at or after each time; None where there is none."""
        return self._run(self._core.offsets.for_times(timestamps_ms, timeout))

    def current_lag(self, partition: TopicPartition) -> int | None:
        """The number of offsets between position and end, as of the last fetch; None if nothing was fetched yet."""
        return self._call(lambda: self._core.offsets.lag(partition))

    def pause(self, partitions: Collection[TopicPartition]) -> None:
        """Hands out no records of these partitions until `resume`; poll goes on with the others."""
        self._call(lambda: self._core.offsets.pause(partitions))

    def resume(self, partitions: Collection[TopicPartition]) -> None:
        """Hands out records of these partitions again."""
        self._call(lambda: self._core.offsets.resume(partitions))

    def paused(self) -> frozenset[TopicPartition]:
        """The paused partitions."""
        return self._core.offsets.paused()

    def partitions_for(self, topic: str, timeout: float | None = None) -> TopicView:
        """A topic's partitions, with leaders and replicas."""
        return self._run(self._core.offsets.topic(topic, timeout))

    def list_topics(self, timeout: float | None = None) -> dict[str, TopicView]:
        """All topics that this client may see."""
        return self._run(self._core.offsets.topics(timeout))

    def group_metadata(self) -> GroupMetadata:
        """This consumer's identity in its group, for `send_offsets_to_transaction`."""
        return self._call(self._core.group_metadata)

    def enforce_rebalance(self, reason: str = "the user asked for it") -> None:
        """Has the group rebalance with the next poll."""
        self._call(lambda: self._core.enforce_rebalance(reason))

    def wakeup(self) -> None:
        """Ends a call that waits, or the next that would, with `WakeupError`; from any thread."""
        self._thread.call_soon(self._core.wakeup)

    def metrics(self) -> dict[Any, float]:
        """The metrics, by Kafka's names."""
        return self._call(self._core.all_metrics)

    def close(self, timeout: float = _CLOSE_TIMEOUT_S, leave: LeaveOperation = LeaveOperation.DEFAULT) -> None:
        """Commits if that is automatic, leaves the group, ends all connections and the thread. May be called again."""
        if self._access.is_closed:
            return
        with self._access.checked():
            try:
                if self._thread.is_usable:
                    self._user.run(self._core.close(timeout, leave))
            finally:
                self._access.is_closed = True
                self._thread.close()

    if not TYPE_CHECKING:

        def __getattr__(self, name: str) -> object:
            """Names what to call instead, for users of other clients."""
            raise other_client.missing(self, name, other_client.CONSUMER)

    def _collected(self, collect: Callable[[], _T], timeout: float) -> _T | None:
        """Fetched records: at once if they are at hand; else the loop does its duties and waits for them."""
        core = self._core
        self._thread.check()
        deadline = time.monotonic() + timeout
        left = timeout
        while True:
            if not core.is_quiet:
                self._user.run(core.await_fetched(left))
            elif left > 0 and not core.has_fetched:
                core.await_fetched_here(left)
            found = collect()
            left = deadline - time.monotonic()
            if found or left <= 0:
                return found

    def _run(self, work: Coroutine[Any, Any, _T]) -> _T:
        """Waits for the loop."""
        try:
            with self._access.checked():
                return self._user.run(work)
        except (ClosedError, ConcurrentModificationError):
            # Refused at the door. Whatever else is raised: the coroutine belongs to the loop.
            work.close()
            raise

    def _call(self, function: Callable[[], _T]) -> _T:
        """Has something done in the loop, where positions and partitions belong."""
        return self._run(_awaitable(function))


async def _awaitable(function: Callable[[], _T]) -> _T:
    return function()
