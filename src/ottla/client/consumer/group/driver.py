"""Runs a membership's state machine: feeds it with events, does what it asks for, keeps its timer.

Everything happens in one event loop. `feed` is synchronous; whatever takes time runs in a task that feeds the event in
which it ended. There is one task for the step under way and any number beside it; after `leave` there are none.
"""

import asyncio
import logging
import time
from abc import ABC, abstractmethod
from collections.abc import Coroutine
from typing import Any, Protocol

from ottla.client.cluster.cluster_client import ClusterClient
from ottla.client.cluster.coordinator_lookup import CoordinatorKind
from ottla.client.cluster.node_pool import Purpose
from ottla.client.consumer.group import rebalance_log
from ottla.client.consumer.group.effect import (
    AbandonStep,
    AdoptAssignment,
    ForgetCoordinator,
    LogRebalance,
    LogTrouble,
    ReleasePartitions,
    Report,
)
from ottla.client.consumer.group.event import (
    AssignmentAdopted,
    IdentityDoubted,
    LeaveRequested,
    PartitionsReleased,
    Started,
    StepBroke,
    Subscribed,
    TimePassed,
)
from ottla.client.consumer.group.group_subscription import GroupSubscription
from ottla.client.consumer.group.member_config import MemberConfig
from ottla.client.consumer.group.membership_metric import MembershipMetrics
from ottla.client.consumer.membership import GroupMetadata, LeaveOperation, ListenerError, RebalanceHost
from ottla.client.errors import ClientError
from ottla.protocol.definition import Request, Response
from ottla.protocol.errors import ApiError

_log = logging.getLogger(__name__)
_TICK_S_MIN = 0.01


class Machine(Protocol):
    """A state machine of either protocol."""

    def handle(self, event: Any, now_ms: int) -> list[Any]:
        """The effects of an event."""

    def next_ms(self, now_ms: int) -> int | None:
        """The latest time for the next `TimePassed`."""


class MembershipError(ClientError):
    """Something unforeseen ended the membership: the cause is what was raised, perhaps by a custom assignor."""


class MembershipDriver(ABC):
    """The common part of both protocols; subclasses perform the effects of their own."""

    def __init__(self, cluster: ClusterClient, config: MemberConfig, host: RebalanceHost, machine: Machine) -> None:
        self.needs_attention = True
        self._cluster = cluster
        self._config = config
        self._host = host
        self._machine = machine
        self._metrics = MembershipMetrics(cluster.metrics)
        self._polled_s = 0.0
        self._failure: Report | None = None
        self._failure_was_raised = False
        self._step: asyncio.Task[None] | None = None
        self._tasks: set[asyncio.Task[None]] = set()
        self._leaving: asyncio.Task[None] | None = None
        self._timer: asyncio.TimerHandle | None = None
        self._changed = asyncio.Event()
        self._hearers: list[asyncio.Future[None]] = []
        self._is_running = False

    @property
    @abstractmethod
    def is_stable(self) -> bool:
        """Whether nothing is left to be done before records may be read."""

    @abstractmethod
    def metadata(self) -> GroupMetadata:
        """The present identity in the group."""

    @abstractmethod
    def _perform_own(self, effect: Any) -> None:
        """Does what only this protocol asks for."""

    # What the consumer asks for.

    def start(self) -> None:
        """Begins to join in the background; does nothing if that has begun."""
        if not self._is_running:
            self._is_running = True
            self.polled()
            self._feed(TimePassed(self._polled_ms))
        self._feed(Subscribed(self._wanted()))
        if self._failure is None:
            self._feed(Started())

    def subscription_changed(self) -> None:
        """The subscribed topics changed, or their partitions did."""
        if self._is_running:
            self._feed(Subscribed(self._wanted()))

    def polled(self) -> None:
        """The user polled; from any thread."""
        self._polled_s = time.monotonic()

    async def ensure_active(self, deadline_s: float) -> None:
        """Returns when the membership is stable, or at the deadline; raises what ended it, once."""
        loop = asyncio.get_running_loop()
        self._begin_again()
        while True:
            self._raise_failure()
            if not self.needs_attention or not self._is_running:
                return
            self._changed.clear()
            try:
                async with asyncio.timeout_at(max(deadline_s, loop.time())):
                    await self._changed.wait()
            except TimeoutError:
                self._raise_failure()
                return

    def rejoin_needed(self, error: ApiError) -> None:
        """The coordinator refused a commit because it does not know us as we are; a heartbeat will tell."""
        _log.debug("[group=%s] a commit was refused: %s", self._config.group_id, error)
        self._feed(IdentityDoubted())

    async def leave(self, deadline_s: float, operation: LeaveOperation) -> None:
        """Ends the membership and everything that runs for it; may be called again."""
        if not self._is_running:
            return
        self._is_running = False
        self._feed(LeaveRequested(operation, "the consumer is being closed or unsubscribed"))
        if self._leaving is not None:
            await asyncio.wait({self._leaving}, timeout=max(0.0, deadline_s - asyncio.get_running_loop().time()))
        if self._timer is not None:
            self._timer.cancel()
        await self._end_tasks()
        self._failure = None

    async def _hear_from_coordinator(self, question: Any) -> bool:
        """Feeds an event that asks for a heartbeat and waits until one has been answered; whether it was."""
        heard: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._hearers.append(heard)
        self._feed(question)
        try:
            async with asyncio.timeout(self._cluster.request_timeout_ms / 1000):
                await heard
        except TimeoutError:
            return False
        return True

    def _heard(self) -> None:
        """A heartbeat has been answered, and the machine knows."""
        hearers, self._hearers = self._hearers, []
        for heard in hearers:
            if not heard.done():
                heard.set_result(None)

    # Events in.

    def _feed(self, event: Any) -> None:
        """Lets the machine handle an event and begins what it asks for."""
        for effect in self._machine.handle(event, _now_ms()):
            self._perform(effect)
        self._arm()
        self._look()

    def _arm(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        now_ms = _now_ms()
        at_ms = self._machine.next_ms(now_ms)
        if at_ms is not None and self._is_running:
            delay_s = max((at_ms - now_ms) / 1000, _TICK_S_MIN)
            self._timer = asyncio.get_running_loop().call_later(delay_s, self._tick)

    def _tick(self) -> None:
        self._feed(TimePassed(self._polled_ms))

    def _look(self) -> None:
        """Lets the user's poll know whether it has to look after us."""
        needed = self._failure is not None or not self.is_stable
        if needed != self.needs_attention:
            self.needs_attention = needed
            if needed:
                self._host.attention_needed()
        self._changed.set()

    @property
    def _polled_ms(self) -> int:
        return int(self._polled_s * 1000)

    def _wanted(self) -> GroupSubscription:
        subscription = self._host.subscription
        pattern = subscription.server_pattern
        return GroupSubscription(subscription.topics, subscription.pattern, pattern.pattern if pattern else None)

    # Effects out.

    def _perform(self, effect: Any) -> None:
        match effect:
            case ReleasePartitions():
                self._begin_step(self._release(effect))
            case AdoptAssignment():
                self._begin_step(self._adopt(effect))
            case AbandonStep():
                self._cancel_step()
            case ForgetCoordinator():
                self._cluster.forget_coordinator(CoordinatorKind.GROUP, self._config.group_id)
                # The next coordinator may be a broker that we have not heard of.
                self._cluster.refresh_soon()
            case Report():
                self._failure, self._failure_was_raised = effect, False
                self._metrics.failed_rebalances.record()
                self._host.attention_needed()
            case LogRebalance():
                self._metrics.rebalanced(effect.took_ms)
                rebalance_log.log_rebalance(self._config.group_id, effect)
            case LogTrouble():
                rebalance_log.log_trouble(self._config.group_id, self.metadata().member_id, effect.text)
            case _:
                self._perform_own(effect)

    async def _release(self, effect: ReleasePartitions) -> None:
        if effect.are_lost:
            await self._told(self._host.lose(effect.partitions))
        else:
            self._host.stop_delivery(effect.partitions)
            await self._told(self._host.revoke(effect.partitions))
        self._feed(PartitionsReleased())

    async def _adopt(self, effect: AdoptAssignment) -> None:
        if effect.revoked:
            self._host.stop_delivery(effect.revoked)
            await self._told(self._host.revoke(effect.revoked))
        await self._told(self._host.assign(effect.assigned, effect.added))
        self._feed(AssignmentAdopted())

    async def _told(self, telling: Coroutine[Any, Any, None]) -> None:
        """Waits until the user's listener is done; what it raises is the user's to see, in the user's own call."""
        try:
            await telling
        except ListenerError as error:
            _log.warning("[group=%s] %s", self._config.group_id, error)

    async def _ask(
        self, request: Request, *, timeout_ms: int | None = None, purpose: Purpose = Purpose.COORDINATOR
    ) -> Response:
        """Asks the coordinator, wherever it is."""
        node_id = await self._cluster.coordinator(CoordinatorKind.GROUP, self._config.group_id)
        return await self._cluster.request(node_id, request, timeout_ms=timeout_ms, purpose=purpose)

    # Tasks.

    def _begin_step(self, work: Coroutine[Any, Any, None]) -> None:
        self._cancel_step()
        self._step = self._begin(work)

    def _begin(self, work: Coroutine[Any, Any, None]) -> "asyncio.Task[None]":
        task = asyncio.get_running_loop().create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._ended)
        return task

    def _begin_leaving(self, work: Coroutine[Any, Any, None]) -> None:
        self._leaving = self._begin(work)

    def _cancel_step(self) -> None:
        # A step ends by feeding the event that begins the next one, from within itself.
        if self._step is not None and self._step is not asyncio.current_task():
            self._step.cancel()
        self._step = None

    def _ended(self, task: "asyncio.Task[None]") -> None:
        self._tasks.discard(task)
        cause = None if task.cancelled() else task.exception()
        if cause is not None and self._is_running:
            error = MembershipError(f"the membership of group {self._config.group_id} failed: {cause!r}")
            error.__cause__ = cause
            self._feed(StepBroke(error))

    async def _end_tasks(self) -> None:
        tasks = {task for task in self._tasks if task is not asyncio.current_task()}
        for task in tasks:
            task.cancel()
        if tasks:
            await asyncio.wait(tasks)

    # Failures.

    def _raise_failure(self) -> None:
        failure = self._failure
        if failure is None or self._failure_was_raised:
            return
        self._failure_was_raised = not failure.is_final
        raise failure.error

    def _begin_again(self) -> None:
        """The user goes on after an error: so do we, unless another process has our place."""
        if self._failure is not None and self._failure_was_raised:
            self._failure = None
            self._feed(Started())
        elif self._is_running:
            self._feed(TimePassed(self._polled_ms))


def _now_ms() -> int:
    return int(time.monotonic() * 1000)
