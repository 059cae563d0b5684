"""The life of a member of a consumer group (KIP-848), without clocks, sockets or tasks: events in, effects out.

Everything goes by heartbeats: they join (epoch 0), say what is wanted and owned, bring the target assignment, and
leave. The member then reconciles: gives up what is not in the target, takes over what is, and acknowledges both with
the next heartbeat. Invariants: one heartbeat is under way at a time; what is owned is never reported before the user
has it nor kept from the report after the user has given it up; a fenced member loses everything before it joins again.
"""

from collections.abc import Callable
from typing import Any

from ottla.base.errors import OttlaError
from ottla.base.ids import Uuid
from ottla.client.consumer.group import event as common
from ottla.client.consumer.group.consumer import assignment, heartbeat_request
from ottla.client.consumer.group.consumer import effect as effects
from ottla.client.consumer.group.consumer import event as events
from ottla.client.consumer.group.consumer.assignment import ById, OwnedPartitions
from ottla.client.consumer.group.consumer.effect import ConsumerEffect
from ottla.client.consumer.group.consumer.event import ConsumerEvent, TopicNames
from ottla.client.consumer.group.consumer.heartbeat_request import HeartbeatRequests
from ottla.client.consumer.group.consumer.reaction import Reaction, explained, reaction_to
from ottla.client.consumer.group.consumer.state import MEMBER, NEXT, ConsumerState
from ottla.client.consumer.group.effect import (
    AbandonStep,
    AdoptAssignment,
    ForgetCoordinator,
    LogRebalance,
    LogTrouble,
    ReleasePartitions,
    Report,
)
from ottla.client.consumer.group.group_subscription import GroupSubscription
from ottla.client.consumer.group.member_config import MemberConfig
from ottla.client.consumer.group.transition import TransitionError
from ottla.client.consumer.membership import LeaveOperation
from ottla.client.record import TopicPartition
from ottla.protocol.errors import ErrorCode, UnsupportedVersionError, error_for

Effects = list[ConsumerEffect]
_FIRST_INTERVAL_MS = 5_000


class ConsumerMachine:
    """One member. `handle` takes events in the order in which they happen, with the time in milliseconds."""

    def __init__(self, config: MemberConfig, member_id: str) -> None:
        self.state = ConsumerState.UNJOINED
        self.member_id = member_id
        self.epoch = heartbeat_request.LEAVE_EPOCH
        self._config = config
        self._wanted = GroupSubscription()
        self._said_subscription: GroupSubscription | None = None
        self._requests = HeartbeatRequests(config)
        self._owned = OwnedPartitions()
        self._target: ById | None = None
        self._names: TopicNames = {}
        self._adopting: tuple[ById, AdoptAssignment] | None = None
        self._serial = 0
        self._is_waiting = False
        self._is_wanted = False
        self._failures = 0
        self._interval_ms = _FIRST_INTERVAL_MS
        self._sent_ms = self._polled_ms = self._began_ms = self._now_ms = 0
        self._reason = ""
        self._handlers: dict[type, Callable[[Any], Effects]] = {
            common.Subscribed: self._on_subscribed,
            common.Started: self._on_started,
            common.PartitionsReleased: self._on_partitions_released,
            common.AssignmentAdopted: self._on_assignment_adopted,
            common.StepBroke: self._on_step_broke,
            common.IdentityDoubted: self._on_heartbeat_wanted,
            common.TimePassed: self._on_time_passed,
            common.LeaveRequested: self._on_leave_requested,
            events.HeartbeatAnswered: self._on_heartbeat_answered,
            events.HeartbeatFailed: self._on_heartbeat_failed,
            events.TopicsNamed: self._on_topics_named,
            events.HeartbeatWanted: self._on_heartbeat_wanted,
        }

    def handle(self, event: ConsumerEvent, now_ms: int) -> Effects:
        """The effects of an event."""
        self._now_ms = now_ms
        return self._handlers[type(event)](event)

    def next_ms(self, now_ms: int) -> int | None:
        """The latest time for the next `TimePassed`."""
        if self.state in MEMBER:
            beat_ms = (now_ms if self._is_waiting else self._sent_ms) + self._interval_ms
            return min(beat_ms, self._polled_ms + self._config.max_poll_interval_ms + 1)
        return now_ms + self._interval_ms if self.state is ConsumerState.OVERDUE else None

    @property
    def owned(self) -> frozenset[TopicPartition]:
        """The partitions that the user has, or is being given."""
        being_given = self._adopting[1].assigned if self._adopting else frozenset()
        return self._owned.partitions() | being_given

    @property
    def assigned_topics(self) -> frozenset[Uuid]:
        """Topics that the coordinator has assigned."""
        return frozenset(self._target or ())

    def _enter(self, state: ConsumerState) -> None:
        if state not in NEXT[self.state]:
            raise TransitionError(f"{self.state.value} cannot turn into {state.value}")
        self.state = state

    # What the user wants.

    def _on_subscribed(self, event: common.Subscribed) -> Effects:
        self._wanted = event.subscription
        return self._beat()

    def _on_started(self, event: common.Started) -> Effects:
        if self.state in (ConsumerState.UNJOINED, ConsumerState.FAILED):
            self._failures = 0
            return self._lose("the consumer subscribed")
        return []

    def _lose(self, reason: str) -> Effects:
        """Begins anew: whatever the user still has is lost first."""
        self._began_ms, self._reason = self._now_ms, reason
        lost = self.owned
        self._enter(ConsumerState.FENCED)
        self.epoch = heartbeat_request.LEAVE_EPOCH
        self._target = self._adopting = None
        self._ignore_answer()
        if not lost:
            return [AbandonStep(), *self._join()]
        return [AbandonStep(), ReleasePartitions(lost, are_lost=True)]

    def _on_partitions_released(self, event: common.PartitionsReleased) -> Effects:
        return self._join()

    def _join(self) -> Effects:
        self._owned.clear()
        self._requests.say_all()
        self.epoch = heartbeat_request.JOIN_EPOCH
        self._enter(ConsumerState.JOINING)
        return self._beat()

    # Heartbeats.

    def _ignore_answer(self) -> None:
        """An answer that is still to come was meant for who we were."""
        self._serial += 1
        self._is_waiting = False

    def _beat(self) -> Effects:
        """Sends a heartbeat if there is news and none is under way."""
        if self._is_waiting or self.state not in MEMBER:
            return []
        has_news = self.state in (ConsumerState.JOINING, ConsumerState.ACKNOWLEDGING)
        if not (has_news or self._is_wanted or self._said_subscription != self._wanted):
            return []
        return self._send()

    def _send(self) -> Effects:
        request = self._requests.heartbeat(self.member_id, self.epoch, self._wanted, self._owned.by_id)
        self._said_subscription = self._wanted
        self._sent_ms, self._is_waiting, self._is_wanted = self._now_ms, True, False
        self._serial += 1
        told: Effects = [effects.SendHeartbeat(request, self._failures, self._serial)]
        if self.state is ConsumerState.ACKNOWLEDGING:
            self._enter(ConsumerState.STABLE)
            told += self._reconcile()
        return told

    def _on_heartbeat_wanted(self, event: events.HeartbeatWanted | common.IdentityDoubted) -> Effects:
        self._is_wanted = True
        return self._beat()

    def _on_heartbeat_answered(self, event: events.HeartbeatAnswered) -> Effects:
        if event.serial != self._serial:
            return []
        self._is_waiting = False
        response = event.response
        if response.error_code:
            return self._refused(response.error_code, response.error_message)
        self._failures = 0
        self.epoch = response.member_epoch
        self.member_id = response.member_id or self.member_id
        self._interval_ms = response.heartbeat_interval_ms
        self._names = {**self._names, **event.names}
        if response.assignment is not None:
            self._begin_rebalance(assignment.read(response.assignment))
        elif self.state is ConsumerState.JOINING:
            self._target = {}
        return [*self._reconcile(), *self._beat()]

    def _begin_rebalance(self, target: ById) -> None:
        if self.state is ConsumerState.STABLE and target != self._target:
            self._began_ms, self._reason = self._now_ms, "the coordinator assigned anew"
        self._target = target

    def _on_heartbeat_failed(self, event: events.HeartbeatFailed) -> Effects:
        if event.serial != self._serial:
            return []
        self._is_waiting = False
        if isinstance(event.error, UnsupportedVersionError) or not getattr(event.error, "retriable", False):
            return self._fail(explained(event.error, self._wanted))
        self._requests.say_all()
        self._failures += 1
        self._is_wanted = True
        return [ForgetCoordinator(), *self._beat()]

    def _refused(self, code: int, message: str | None) -> Effects:
        error = error_for(code, message)
        reaction = reaction_to(code)
        if reaction is Reaction.FAIL:
            return self._fail(error)
        if reaction is Reaction.JOIN_ANEW:
            why = f"a heartbeat was refused: {error.code.name}"
            return [LogTrouble(why), *self._lose(why)]
        self._requests.say_all()
        self._failures += 1
        self._is_wanted = True
        told: Effects = [Report(error)] if reaction is Reaction.REPORT else []
        if reaction is Reaction.FIND_COORDINATOR:
            told.append(ForgetCoordinator())
        return [*told, *self._beat()]

    # Reconciliation.

    def _on_topics_named(self, event: events.TopicsNamed) -> Effects:
        self._names = {**self._names, **event.names}
        return [*self._reconcile(), *self._beat()]

    def _reconcile(self) -> Effects:
        """Takes over as much of the target as is named, unless the user is busy with an earlier one."""
        if self._adopting is not None or self._target is None:
            return []
        if self.state not in (ConsumerState.JOINING, ConsumerState.STABLE):
            return []
        unnamed = frozenset(self._target.keys() - self._names.keys())
        told: Effects = [effects.NameTopics(unnamed)] if unnamed else []
        known, change = self._owned.change_to(self._target, self._names)
        is_first = self.state is ConsumerState.JOINING
        if not (is_first or change.revoked or change.added):
            return told
        self._enter(ConsumerState.RECONCILING)
        self._adopting = known, change
        return [*told, change]

    def _on_assignment_adopted(self, event: common.AssignmentAdopted) -> Effects:
        assert self._adopting is not None
        owned, change = self._adopting
        self._adopting = None
        self._owned.adopt(owned, self._names)
        self._enter(ConsumerState.ACKNOWLEDGING)
        log = LogRebalance(self._reason, self.member_id, self.epoch, change, self._now_ms - self._began_ms)
        return [log, *self._beat()]

    # Time, and ends.

    def _on_time_passed(self, event: common.TimePassed) -> Effects:
        self._polled_ms = event.polled_ms
        is_overdue = self._now_ms - self._polled_ms > self._config.max_poll_interval_ms
        if self.state is ConsumerState.OVERDUE:
            return [] if is_overdue else self._lose("the consumer polls again")
        if self.state not in MEMBER:
            return []
        if is_overdue:
            return self._leave_overdue()
        if not self._is_waiting and self._now_ms - self._sent_ms >= self._interval_ms:
            return self._send()
        return self._beat()

    def _leave_overdue(self) -> Effects:
        reason = (
            f"no poll for longer than max.poll.interval.ms={self._config.max_poll_interval_ms}: poll more often, take "
            "fewer records at a time (max.poll.records) or raise it"
        )
        left = self._leaving(LeaveOperation.DEFAULT)
        self._enter(ConsumerState.OVERDUE)
        return [AbandonStep(), *left, LogTrouble(reason)]

    def _leaving(self, operation: LeaveOperation) -> Effects:
        """Static members only say that they are away, unless told otherwise."""
        remains = operation is LeaveOperation.REMAIN_IN_GROUP
        epoch = heartbeat_request.LEAVE_EPOCH
        if self._config.is_static and operation is not LeaveOperation.LEAVE_GROUP:
            epoch, remains = heartbeat_request.LEAVE_STATIC_EPOCH, False
        self.epoch = heartbeat_request.LEAVE_EPOCH
        self._said_subscription = None
        self._ignore_answer()
        goes = self.state in MEMBER and not remains
        return [effects.SendLeave(self._requests.leave(self.member_id, epoch))] if goes else []

    def _on_leave_requested(self, event: common.LeaveRequested) -> Effects:
        left = self._leaving(event.operation)
        self._owned.clear()
        self._target = self._adopting = None
        self._enter(ConsumerState.UNJOINED)
        return [AbandonStep(), *left]

    def _on_step_broke(self, event: common.StepBroke) -> Effects:
        return self._fail(event.error)

    def _fail(self, error: OttlaError) -> Effects:
        self.epoch = heartbeat_request.LEAVE_EPOCH
        self._ignore_answer()
        self._enter(ConsumerState.FAILED)
        is_final = getattr(error, "code", None) == ErrorCode.FENCED_INSTANCE_ID
        return [AbandonStep(), Report(error, is_final)]
