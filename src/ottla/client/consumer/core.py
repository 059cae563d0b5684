"""The consumer behind both facades: connects the parts, and looks after all of them once per poll.

Lives in one event loop; the facades add who may call it and from which thread. `collect` and `is_quiet` alone may be
used from the user's thread, which is what makes a poll with data at hand cheap: no other thread is asked.
"""

import asyncio
import contextlib
import logging
import re
import time
from collections.abc import Callable, Collection, Set
from typing import Any, Final

from ottla.base.frozen import frozen
from ottla.client.cluster.cluster_client import ClusterClient
from ottla.client.cluster.cluster_view import ClusterView
from ottla.client.cluster.topic_interest import check_topics
from ottla.client.config.settings import ClientSettings
from ottla.client.consumer.change_signal import ChangeSignal
from ottla.client.consumer.choice import refuse_pattern
from ottla.client.consumer.fetch.collector import CollectOptions, Collector
from ottla.client.consumer.fetch.deserializing import deserializer_of
from ottla.client.consumer.fetch.fetch_answer import FetchAnswers
from ottla.client.consumer.fetch.fetch_buffer import FetchBuffer
from ottla.client.consumer.fetch.fetch_metric import FetchMetrics
from ottla.client.consumer.fetch.fetch_option import FetchOptions
from ottla.client.consumer.fetch.fetcher import Fetcher
from ottla.client.consumer.fetch.records import Records
from ottla.client.consumer.group.factory import membership_of
from ottla.client.consumer.identity import Identity
from ottla.client.consumer.interceptor import Interceptors
from ottla.client.consumer.membership import GroupMembership, GroupMetadata, LeaveOperation, ListenerError
from ottla.client.consumer.offset.commit_metric import CommitMetrics
from ottla.client.consumer.offset.committed_offset import CommittedOffsets
from ottla.client.consumer.offset.committer import Committer, Offsets
from ottla.client.consumer.offset.group_coordinator import GroupCoordinator
from ottla.client.consumer.offset.offset_commit import OffsetCommits
from ottla.client.consumer.offset.offset_lookup import OffsetLookup
from ottla.client.consumer.offset.offset_query import OffsetQueries
from ottla.client.consumer.offset.offset_reset import OffsetReset
from ottla.client.consumer.offset.position_update import PositionUpdate
from ottla.client.consumer.rebalance_listener import RebalanceListener
from ottla.client.consumer.rebalance_work import RebalanceWork
from ottla.client.consumer.subscription_pattern import SubscriptionPattern
from ottla.client.consumer.subscription_state import SubscriptionKind, SubscriptionState
from ottla.client.consumer.user_call import Invoke, UserCalls
from ottla.client.errors import InvalidStateError, WakeupError
from ottla.client.metric.metric_name import MetricName
from ottla.client.record import TopicPartition
from ottla.protocol.errors import ApiError

_log = logging.getLogger(__name__)

_WAIT_S_MAX: Final = 1.0
"""How long a waiting poll sleeps at most before it shows the group that its user is still there."""


@frozen
class UserContext:
    """The facade's ways to call its user's code, and to call the loop from the user's thread."""

    invoke: Invoke
    in_loop: Callable[[Callable[[], None]], None]


class ConsumerCore:
    """One consumer."""

    def __init__(self, settings: ClientSettings, context: UserContext) -> None:
        self.settings: Final = settings
        self.subscription: Final = SubscriptionState()
        self.interceptors: Final = Interceptors(settings.plugins("interceptor.classes"))
        self.group_id: Final = settings.optional_string("group.id")
        self.cluster: Final = ClusterClient(settings)
        self._options: Final = FetchOptions.of(settings)
        self.metrics: Final = FetchMetrics(
            self.cluster.metrics, self.subscription, is_committed_only=bool(self._options.isolation_level)
        )
        self.membership: GroupMembership | None = None
        self._changed: Final = ChangeSignal()
        self._context: Final = context
        self._is_woken = False
        self._refusal: ApiError | None = None
        """Why a subscribed topic can't be had, until the user was told."""
        self._is_started = False
        self._buffer: Final = FetchBuffer()
        self._fetcher: Fetcher | None = None
        self._calls: Final = UserCalls(context.invoke, self._changed.set)
        self.committer: Final = Committer(settings, self.subscription, self._calls, self.interceptors)
        self.rebalance: Final = RebalanceWork(self.subscription, self._calls, self.committer, self._assignment_changed)
        lookup = OffsetLookup(
            self.cluster,
            isolation_level=self._options.isolation_level,
            request_timeout_ms=self._options.request_timeout_ms,
        )
        reset = OffsetReset.parse(settings.string("auto.offset.reset"))
        self.positions: Final = PositionUpdate(self.cluster, self.subscription, lookup, reset, self._look_again)
        self.offsets: Final = OffsetQueries(self, lookup)
        self._collector: Final = Collector(
            self._buffer,
            CollectOptions(
                settings.integer("max.poll.records"),
                deserializer_of(settings, "key.deserializer"),
                deserializer_of(settings, "value.deserializer"),
                reset,
                self._options.check_crcs,
            ),
            self.metrics,
            self._taken,
            self._reset_requested,
        )

    async def start(self, timeout_s: float) -> None:
        """Connects when a call first needs it; tries for that long."""
        if self._is_started:
            return
        await self.cluster.start(timeout_ms=round(timeout_s * 1000))
        self._is_started = True
        self.cluster.on_change(self._view_changed)
        answers = FetchAnswers(self.cluster, self._options, self.metrics, self._buffer, self._changed.set)
        self._fetcher = Fetcher(self.cluster, self.subscription, answers, self._options)
        if self.group_id is not None:
            self._join_parts(self.group_id)
        self.want_topics()

    def _join_parts(self, group_id: str) -> None:
        coordinator = GroupCoordinator(self.cluster, group_id)
        self.membership = membership_of(self.cluster, self.settings, self.rebalance)
        identity = Identity(group_id, self.subscription, self.membership)
        uses_epochs = self.settings.string("group.protocol").lower() == "consumer"
        self.positions.committed = CommittedOffsets(
            self.cluster, coordinator, identity.metadata if uses_epochs else identity.outsider, identity.refresh_epoch
        )
        metrics = CommitMetrics(self.cluster.metrics, self.subscription)
        self.committer.commits = OffsetCommits(self.cluster, coordinator, identity, metrics)

    # Subscriptions

    def subscribe(
        self,
        topics: Collection[str] | None,
        pattern: re.Pattern[str] | SubscriptionPattern | None,
        listener: RebalanceListener | None,
    ) -> None:
        """Changes what the group is asked for; joining is the next poll's."""
        if self.group_id is None:
            raise InvalidStateError("subscribe() needs a group: set group.id, or assign() partitions")
        if isinstance(topics, str) or (not topics and pattern is None) or (topics and pattern is not None):
            raise InvalidStateError("subscribe() takes a list of topics, or a pattern; unsubscribe() ends it")
        check_topics(topics or ())
        refuse_pattern(topics or ())
        if isinstance(pattern, SubscriptionPattern) and self.settings.string("group.protocol").lower() != "consumer":
            raise InvalidStateError("a SubscriptionPattern needs group.protocol=consumer; a re.Pattern does without")
        if pattern is not None:
            self.subscription.subscribe_pattern(pattern, listener)
        else:
            self.subscription.subscribe_topics(topics or (), listener)
        self.want_topics()
        self.positions.is_needed = True

    def assign(self, partitions: Collection[TopicPartition]) -> None:
        """Reads these partitions, without a group."""
        check_topics(partition.topic for partition in partitions)
        self.committer.commit_automatically()
        self.subscription.assign_manually(partitions)
        self.want_topics()
        self._assignment_changed()

    async def unsubscribe(self, timeout_s: float) -> None:
        """Gives up all partitions and leaves the group."""
        await self._leave(timeout_s, LeaveOperation.DEFAULT)
        self.subscription.unsubscribe()
        self._assignment_changed()
        self._raise_listener_error()

    async def _leave(self, timeout_s: float, operation: LeaveOperation) -> None:
        membership = self.membership
        if membership is None or not self.subscription.is_group_managed:
            return
        partitions = self.subscription.assignment()
        is_lost = membership.metadata().generation_id < 0
        # What a listener raises is kept until all else is done.
        with contextlib.suppress(ListenerError):
            await (self.rebalance.lose_now(partitions) if is_lost else self.rebalance.revoke_now(partitions))
        deadline_s = asyncio.get_running_loop().time() + timeout_s
        if self.committer.commits is not None:
            # Only members may commit: what is under way ends first.
            await self.committer.commits.drain(timeout_s)
        await membership.leave(deadline_s, operation)

    def want_topics(self) -> None:
        """Keeps in the view what the subscription needs; joins the group if there is a subscription."""
        if not self._is_started:
            return
        kind = self.subscription.kind
        if kind is SubscriptionKind.PATTERN:
            self.cluster.want_all_topics()
            self._match(self.cluster.view)
        elif kind is not SubscriptionKind.SERVER_PATTERN:
            topics = {partition.topic for partition in self.subscription.assigned}
            self.cluster.want_only_topics(topics | self.subscription.topics)
        if self.membership is not None and self.subscription.is_group_managed:
            self.membership.start()
            self.membership.subscription_changed()

    def _match(self, view: ClusterView) -> bool:
        with_internal = not self.settings.boolean("exclude.internal.topics")
        return self.subscription.match(
            name for name, topic in view.topics.items() if with_internal or not topic.is_internal
        )

    # What happens in the background

    def _view_changed(self, before: ClusterView, after: ClusterView) -> None:
        self.positions.is_needed = True
        assigned = {partition.topic for partition in self.subscription.assigned}
        self._refusal = _refusal(after, self.subscription.topics | assigned)
        membership = self.membership
        if membership is not None and self.subscription.is_group_managed:
            changed = self._match(after)
            if changed or any(_shape(before, topic) != _shape(after, topic) for topic in self.subscription.topics):
                membership.subscription_changed()
        self._look_again()

    def _assignment_changed(self) -> None:
        self.positions.is_needed = True
        self.metrics.assigned()
        # What was to be revoked and is still here may be handed out again.
        self._buffer.resume()
        if self._is_started and self.subscription.kind is not SubscriptionKind.PATTERN:
            self.cluster.want_topics({partition.topic for partition in self.subscription.assigned})
        self._look_again()

    def _look_again(self) -> None:
        self._wake_fetcher()
        self._changed.set()

    def _wake_fetcher(self) -> None:
        if self._fetcher is not None:
            self._fetcher.wake()

    def _taken(self) -> None:
        """The user's thread took something out of the buffer."""
        fetcher = self._fetcher
        if fetcher is not None and fetcher.waits_for_room:
            self._context.in_loop(fetcher.wake)

    def _reset_requested(self) -> None:
        """The user's thread met a position that is out of range."""
        self.positions.is_needed = True
        self._context.in_loop(self._look_again)

    # Poll

    @property
    def is_quiet(self) -> bool:
        """Whether a poll may just collect; read by the user's thread."""
        membership = self.membership if self.subscription.is_group_managed else None
        return (
            self._is_started
            and not self._is_woken
            and not self.positions.is_needed
            and not self._calls.are_pending
            and not self.rebalance.errors
            and self._refusal is None
            and not self.committer.is_due(time.monotonic())
            and (membership is None or not membership.needs_attention)
        )

    @property
    def has_fetched(self) -> bool:
        """Whether there is something to collect; the user's thread."""
        return self._collector.has_fetched

    def collect(self) -> Records:
        """Fetched records, up to `max.poll.records`; runs in the user's thread."""
        self._note_poll()
        records = self._collector.records()
        return self.interceptors.on_consume(records) if records and self.interceptors else records

    def collect_arrow(self, reader: Any) -> Any:
        """One fetch's records as Arrow columns, or None; the user's thread."""
        self._note_poll()
        return self._collector.arrow(reader)

    def _note_poll(self) -> None:
        self.metrics.polled()
        if self.membership is not None and self.subscription.is_group_managed:
            self.membership.polled()

    def await_fetched_here(self, timeout_s: float) -> None:
        """In the user's thread, while all is quiet: waits for something to collect, or for anything else to happen."""
        self._changed.expect()
        if self.is_quiet and not self._collector.has_fetched:
            self._taken()
            self._changed.wait_here(min(timeout_s, _WAIT_S_MAX))

    async def await_fetched(self, timeout_s: float) -> None:
        """Looks after everything until there is something to collect, or that long; raises what the user must know."""
        self._check_subscribed()
        loop = asyncio.get_running_loop()
        deadline_s = loop.time() + timeout_s
        if not self._is_started:
            self._check_wakeup()
            await self.start(timeout_s)
        while True:
            self._changed.clear()
            await self._attend()
            left_s = deadline_s - loop.time()
            if self._collector.has_fetched or left_s <= 0:
                return
            # It may have found no room just before the user's thread made some.
            self._wake_fetcher()
            await self._changed.wait(min(left_s, _WAIT_S_MAX))

    async def attend(self, timeout_s: float) -> None:
        """Looks after everything, then waits for something to happen; for calls that wait for something else."""
        self._changed.clear()
        await self._attend()
        await self._changed.wait(min(timeout_s, _WAIT_S_MAX))

    def wakeup(self) -> None:
        """Ends the call that waits, or the next one that would; in the loop."""
        self._is_woken = True
        self._changed.set()

    async def _attend(self) -> None:
        self._check_wakeup()
        membership = self.membership
        if membership is not None and self.subscription.is_group_managed:
            membership.polled()
        await self._calls.run()
        self._raise_listener_error()
        self._raise_refusal()
        if membership is not None and self.subscription.is_group_managed and membership.needs_attention:
            # It goes on in the background: what it needs of us comes as a call, so there is nothing to wait for.
            await membership.ensure_active(asyncio.get_running_loop().time())
            await self._calls.run()
        self.committer.commit_if_due()
        self.positions.begin()

    def _raise_listener_error(self) -> None:
        if self.rebalance.errors:
            raise self.rebalance.errors.pop(0)

    def _raise_refusal(self) -> None:
        refusal, self._refusal = self._refusal, None
        if refusal is not None:
            raise refusal

    def _check_wakeup(self) -> None:
        if self._is_woken:
            self._is_woken = False
            raise WakeupError("wakeup() was called")

    def _check_subscribed(self) -> None:
        if self.subscription.kind is SubscriptionKind.NONE:
            raise InvalidStateError("nothing to read: subscribe() to topics or assign() partitions first")

    async def commit(self, offsets: Offsets | None, timeout_s: float | None) -> None:
        """Commits and waits."""
        timeout_s = self.settings.integer("default.api.timeout.ms") / 1000 if timeout_s is None else timeout_s
        await self.start(timeout_s)
        await self.committer.commit(offsets, timeout_s)

    def group_metadata(self) -> GroupMetadata:
        """The consumer's identity in its group."""
        if self.group_id is None:
            raise InvalidStateError("there is no group: set group.id")
        if self.membership is None or not self.subscription.is_group_managed:
            return GroupMetadata(self.group_id, group_instance_id=self.settings.optional_string("group.instance.id"))
        return self.membership.metadata()

    def enforce_rebalance(self, reason: str) -> None:
        """Has the membership join again."""
        if self.membership is None or not self.subscription.is_group_managed:
            raise InvalidStateError("there is nothing to rebalance: subscribe() and poll() first")
        self.membership.enforce_rebalance(reason)

    def all_metrics(self) -> dict[MetricName, float]:
        """All that was counted."""
        return self.cluster.metrics.values()

    def resume_delivery(self) -> None:
        """Partitions that were paused may be handed out again."""
        self._buffer.resume()
        self._look_again()

    def moved(self) -> None:
        """A position was changed on purpose."""
        self.positions.is_needed = True
        self._look_again()

    async def close(self, timeout_s: float, operation: LeaveOperation) -> None:
        """Commits if that is automatic, leaves the group, ends everything within that time."""
        deadline_s = asyncio.get_running_loop().time() + timeout_s
        try:
            if self._is_started:
                await self._close_group(deadline_s, operation)
        finally:
            self._calls.cancel()
            await self.positions.close()
            if self.committer.commits is not None:
                await self.committer.commits.close()
            if self._fetcher is not None:
                await self._fetcher.close()
            await self.cluster.close()
            self.interceptors.close()
        self._raise_listener_error()

    async def _close_group(self, deadline_s: float, operation: LeaveOperation) -> None:
        loop = asyncio.get_running_loop()
        if not self.subscription.is_group_managed:
            left_s = max(0.0, deadline_s - loop.time())
            await self.committer.commit_before_leaving(self.subscription.assignment(), left_s)
        else:
            await self._leave(max(0.0, deadline_s - loop.time()), operation)
        if self.committer.commits is not None:
            await self.committer.commits.drain(max(0.0, deadline_s - loop.time()))
        await self._calls.run()


def _shape(view: ClusterView, topic: str) -> int:
    found = view.topics.get(topic)
    return -1 if found is None else len(found.partitions)


def _refusal(view: ClusterView, topics: Set[str]) -> ApiError | None:
    """Why one of the topics won't ever be served to us: a name that none may have, or that is not for us."""
    for topic in sorted(topics & view.errors.keys()):
        error = view.errors[topic]
        if not error.retriable:
            return type(error)(f"{topic}: {error}")
    return None
