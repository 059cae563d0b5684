"""The life of a member of a classic group, without clocks, sockets or tasks: events in, effects out.

A rebalance runs prepare → join → (the leader computes) → sync → adopt. Invariants: only one step is under way at a
time; partitions are given up before JoinGroup says that we don't own them; what was owned in a generation that is not
ours any more is lost, not revoked, since others may have it already (KIP-429); a reset of the generation always goes
through prepare.
"""

from collections.abc import Callable, Sequence
from typing import Any

from ottla.base.errors import OttlaError
from ottla.client.consumer.assignor.assignor_table import protocol_of
from ottla.client.consumer.assignor.partition_assignor import PartitionAssignor, RebalanceProtocol
from ottla.client.consumer.assignor.subscription import decode_assignment
from ottla.client.consumer.group import event as common
from ottla.client.consumer.group.classic import effect as effects
from ottla.client.consumer.group.classic import event as events
from ottla.client.consumer.group.classic import leader
from ottla.client.consumer.group.classic.effect import ClassicEffect
from ottla.client.consumer.group.classic.event import ClassicEvent, Generation
from ottla.client.consumer.group.classic.heartbeat_timer import HeartbeatTimer
from ottla.client.consumer.group.classic.reaction import Reaction, reaction_to
from ottla.client.consumer.group.classic.request import ClassicRequests
from ottla.client.consumer.group.classic.state import BEATING, NEXT, ClassicState
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
from ottla.client.consumer.group.member_config import PROTOCOL_TYPE, MemberConfig
from ottla.client.consumer.group.transition import TransitionError
from ottla.client.consumer.membership import LeaveOperation
from ottla.client.record import TopicPartition
from ottla.protocol.errors import DecodeError, ErrorCode, InconsistentGroupProtocolError, error_for

Effects = list[ClassicEffect]


class ClassicMachine:
    """One member. `handle` takes events in the order in which they happen, with the time in milliseconds."""

    def __init__(self, config: MemberConfig, assignors: Sequence[PartitionAssignor]) -> None:
        self.state = ClassicState.UNJOINED
        self.generation = Generation()
        self.is_leader = False
        self.owned: frozenset[TopicPartition] = frozenset()
        self.group_topics: frozenset[str] = frozenset()
        self.requests = ClassicRequests(config, assignors)
        self.timer = HeartbeatTimer(config)
        self._config = config
        self._protocol = protocol_of(assignors)
        self._wanted = GroupSubscription()
        self._joined_topics: frozenset[str] = frozenset()
        self._assigned_for: events.TopicSnapshot | None = None
        self._current_snapshot: events.TopicSnapshot | None = None
        self._rejoin_reason: str | None = None
        self._reason = ""
        self._failures = 0
        self._members = 0
        self._began_ms = 0
        self._now_ms = 0
        self._step: effects.Step | None = None
        self._handlers: dict[type, Callable[[Any], Effects]] = {
            common.Subscribed: self._on_subscribed,
            common.Started: self._on_started,
            events.RebalanceEnforced: self._on_rebalance_enforced,
            events.MetadataChanged: self._on_metadata_changed,
            common.PartitionsReleased: self._on_partitions_released,
            events.JoinAnswered: self._on_join_answered,
            events.AssignmentComputed: self._on_assignment_computed,
            events.AssignmentFailed: self._on_assignment_failed,
            events.SyncAnswered: self._on_sync_answered,
            common.AssignmentAdopted: self._on_assignment_adopted,
            events.CoordinatorUnreachable: self._on_coordinator_unreachable,
            events.PauseEnded: self._on_pause_ended,
            events.HeartbeatAnswered: self._on_heartbeat_answered,
            events.HeartbeatFailed: self._on_heartbeat_failed,
            common.StepBroke: self._on_step_broke,
            common.IdentityDoubted: self._on_identity_doubted,
            common.TimePassed: self._on_time_passed,
            common.LeaveRequested: self._on_leave_requested,
        }

    def handle(self, event: ClassicEvent, now_ms: int) -> Effects:
        """The effects of an event."""
        self._now_ms = now_ms
        return self._handlers[type(event)](event)

    @property
    def protocol(self) -> RebalanceProtocol:
        """The way in which members give partitions up."""
        return self._protocol

    def next_ms(self, now_ms: int) -> int | None:
        """The latest time for the next `TimePassed`."""
        if self.state in BEATING and self.generation.id >= 0:
            return self.timer.next_ms(now_ms)
        return now_ms + self._config.heartbeat_interval_ms if self.state is ClassicState.OVERDUE else None

    def _enter(self, state: ClassicState) -> None:
        if state not in NEXT[self.state]:
            raise TransitionError(f"{self.state.value} cannot turn into {state.value}")
        self.state = state

    # What the user wants.

    def _on_subscribed(self, event: common.Subscribed) -> Effects:
        self._wanted = event.subscription
        return self._settle()

    def _on_started(self, event: common.Started) -> Effects:
        if self.state in (ClassicState.UNJOINED, ClassicState.FAILED):
            self._failures = 0
            return self._prepare("the consumer subscribed")
        return []

    def _on_rebalance_enforced(self, event: events.RebalanceEnforced) -> Effects:
        self._rejoin_reason = event.reason
        return self._settle()

    def _on_metadata_changed(self, event: events.MetadataChanged) -> Effects:
        self._current_snapshot = event.snapshot
        return self._settle()

    def _settle(self) -> Effects:
        """Joins again if, in a stable group, anything has happened that asks for it."""
        if self.state is not ClassicState.STABLE:
            return []
        if self._rejoin_reason is not None:
            return self._prepare(self._rejoin_reason)
        if self._wanted.topics != self._joined_topics:
            return self._prepare("the subscription has changed")
        if self.is_leader and self._current_snapshot is not None and self._differ():
            return self._prepare("the partitions of subscribed topics have changed")
        return []

    def _differ(self) -> bool:
        """Whether the assignment was made for other partitions than there are now.

        Racks count only if we have one ourselves, as in Kafka: the racks of a broker that is down are unknown, and that
        alone should move no partition.
        """
        before, after = self._assigned_for or {}, self._current_snapshot or {}
        if self._config.rack_id is not None:
            return before != after
        return {topic: len(racks) for topic, racks in before.items()} != {
            topic: len(racks) for topic, racks in after.items()
        }

    # Prepare, join.

    def _prepare(self, reason: str) -> Effects:
        """Begins a rebalance: lets the user give up what may not be kept through it."""
        if self.state is not ClassicState.PREPARING:
            self._began_ms = self._now_ms
            self._reason = reason
        self._enter(ClassicState.PREPARING)
        self._rejoin_reason = None
        are_lost = self.generation.id < 0 or not self.generation.member_id
        if are_lost or self._protocol is RebalanceProtocol.EAGER:
            released = self.owned
        else:
            released = frozenset(partition for partition in self.owned if not self._wanted.accepts(partition.topic))
        if not released:
            return self._join()
        return self._do(ReleasePartitions(released, are_lost))

    def _do(self, step: effects.Step) -> Effects:
        self._step = step
        return [step]

    def _on_partitions_released(self, event: common.PartitionsReleased) -> Effects:
        if isinstance(self._step, ReleasePartitions):
            self.owned -= self._step.partitions
        return self._join()

    def _join(self) -> Effects:
        self._enter(ClassicState.JOINING)
        self.is_leader = False
        self._assigned_for = self._current_snapshot = None
        self.group_topics = self._joined_topics = self._wanted.topics
        request = self.requests.join(self.generation, self._joined_topics, self.owned, self._reason)
        return self._do(effects.SendJoin(request))

    def _on_join_answered(self, event: events.JoinAnswered) -> Effects:
        response = event.response
        if response.error_code == ErrorCode.MEMBER_ID_REQUIRED:
            self.generation = Generation(member_id=response.member_id)
            return self._join()
        if response.error_code:
            return self._refused(response.error_code, "JoinGroup")
        if response.protocol_type not in (None, PROTOCOL_TYPE):
            return self._fail(InconsistentGroupProtocolError(f"the group's protocol type is {response.protocol_type}"))
        self.generation = Generation(response.generation_id, response.member_id, response.protocol_name)
        self._failures = 0
        self._members = len(response.members)
        self._enter(ClassicState.SYNCING)
        self.timer.restart(self._now_ms)
        self.is_leader = response.leader == response.member_id
        if not self.is_leader:
            return self._do(effects.SendSync(self.requests.sync(self.generation, {})))
        try:
            members = leader.read_members(response.members)
        except DecodeError as error:
            return self._fail(error)
        self.group_topics = leader.topics_of(members)
        protocol = response.protocol_name or ""
        return self._do(effects.ComputeAssignment(protocol, members, response.skip_assignment))

    # Sync, adopt.

    def _on_assignment_computed(self, event: events.AssignmentComputed) -> Effects:
        self._assigned_for = event.snapshot
        return self._do(effects.SendSync(self.requests.sync(self.generation, event.assignments)))

    def _on_assignment_failed(self, event: events.AssignmentFailed) -> Effects:
        return self._fail(event.error)

    def _on_sync_answered(self, event: events.SyncAnswered) -> Effects:
        response = event.response
        if response.error_code:
            return self._refused(response.error_code, "SyncGroup")
        if response.protocol_name not in (None, self.generation.protocol):
            return self._fail(InconsistentGroupProtocolError(f"the group's protocol is {response.protocol_name}"))
        try:
            assignment = decode_assignment(response.assignment)
        except DecodeError as error:
            return self._fail(error)
        unwanted = {partition.topic for partition in assignment.partitions if not self._wanted.accepts(partition.topic)}
        if unwanted:
            self._reason = f"the assignment has {', '.join(sorted(unwanted))}, which is not subscribed to any more"
            return self._join()
        assigned = frozenset(assignment.partitions)
        if self._wanted.pattern is not None:
            # The leader heard of new topics before us: no reason to rebalance when we hear of them too.
            found = self._wanted.topics | {partition.topic for partition in assigned}
            self._wanted = GroupSubscription(found, self._wanted.pattern)
            self._joined_topics |= found
        self._enter(ClassicState.ADOPTING)
        revoked, added = self.owned - assigned, assigned - self.owned
        # Both, until the user is done: whatever happens in between, nothing that the user has may be overlooked.
        self.owned |= assigned
        told = effects.TellAssignor(self.generation.protocol or "", assignment, self.generation.id)
        return [told, *self._do(AdoptAssignment(revoked, assigned, added))]

    def _on_assignment_adopted(self, event: common.AssignmentAdopted) -> Effects:
        step = self._step
        assert isinstance(step, AdoptAssignment)
        self.owned = step.assigned
        self._enter(ClassicState.STABLE)
        log = LogRebalance(
            reason=self._reason,
            member_id=self.generation.member_id,
            generation_id=self.generation.id,
            change=step,
            took_ms=self._now_ms - self._began_ms,
            by=self._decision(),
        )
        if step.revoked and self._rejoin_reason is None:
            # KIP-429: who gave something up joins again, so that its new owner can have it.
            self._rejoin_reason = f"it gave up {len(step.revoked)} partitions that go to other members"
        return [log, *self._settle()]

    def _decision(self) -> str:
        protocol = self.generation.protocol or ""
        return f"{protocol}, decided here for {self._members}" if self.is_leader else protocol

    # When things go wrong.

    def _refused(self, code: int, api: str) -> Effects:
        """JoinGroup or SyncGroup was refused."""
        match reaction_to(code):
            case Reaction.TRY_AGAIN:
                return self._pause()
            case Reaction.FIND_COORDINATOR:
                return [ForgetCoordinator(), *self._pause()]
            case Reaction.JOIN_AGAIN:
                return self._pause() if self.state is ClassicState.JOINING else self._join()
            case Reaction.FORGET_MEMBER | Reaction.FORGET_GENERATION as reaction:
                return [*self._forget(reaction, f"{api} was refused: {_name(code)}"), *self._prepare(self._reason)]
            case _:
                return self._fail(error_for(code))

    def _pause(self) -> Effects:
        self._failures += 1
        self._enter(ClassicState.JOINING)
        return self._do(effects.Pause(self._failures))

    def _on_pause_ended(self, event: events.PauseEnded) -> Effects:
        return self._join()

    def _on_coordinator_unreachable(self, event: events.CoordinatorUnreachable) -> Effects:
        if not getattr(event.error, "retriable", False):
            return self._fail(event.error)
        return [ForgetCoordinator(), *self._pause()]

    def _forget(self, reaction: Reaction, why: str) -> Effects:
        """Drops the generation, and the member id too if the group does not know it."""
        keeps_id = reaction is Reaction.FORGET_GENERATION
        self.generation = Generation(member_id=self.generation.member_id if keeps_id else "")
        return [LogTrouble(why)]

    def _on_step_broke(self, event: common.StepBroke) -> Effects:
        return self._fail(event.error)

    def _fail(self, error: OttlaError) -> Effects:
        is_final = getattr(error, "code", None) == ErrorCode.FENCED_INSTANCE_ID
        self.generation = Generation(member_id="" if is_final else self.generation.member_id)
        self._enter(ClassicState.FAILED)
        return [AbandonStep(), Report(error, is_final)]

    def _on_identity_doubted(self, event: common.IdentityDoubted) -> Effects:
        if self.state not in BEATING or self.generation.id < 0 or self.timer.is_waiting:
            return []
        return self._beat()

    def _thrown_out(self, code: int) -> Effects:
        """The coordinator does not know us as we are any more, while no join is under way."""
        if self.state not in BEATING or self.state is ClassicState.SYNCING:
            return []
        reaction = reaction_to(code)
        why = f"a heartbeat was refused: {_name(code)}"
        if reaction is Reaction.FAIL:
            return self._fail(error_for(code))
        if reaction is Reaction.FIND_COORDINATOR:
            return [ForgetCoordinator()]
        told: Effects = []
        if reaction in (Reaction.FORGET_MEMBER, Reaction.FORGET_GENERATION):
            told = self._forget(reaction, why)
        elif reaction is Reaction.TRY_AGAIN or self.state is ClassicState.PREPARING:
            return []
        self._rejoin_reason = "the group is rebalancing" if reaction is Reaction.JOIN_AGAIN else why
        if self.state is ClassicState.ADOPTING:
            return told
        return [*told, *self._prepare(self._rejoin_reason)]

    # Heartbeats and time.

    def _on_heartbeat_answered(self, event: events.HeartbeatAnswered) -> Effects:
        if event.generation != self.generation:
            return []
        self.timer.answered(self._now_ms)
        return self._thrown_out(event.error_code) if event.error_code else []

    def _on_heartbeat_failed(self, event: events.HeartbeatFailed) -> Effects:
        self.timer.failed()
        return [ForgetCoordinator()]

    def _on_time_passed(self, event: common.TimePassed) -> Effects:
        self.timer.polled_ms = event.polled_ms
        if self.state is ClassicState.OVERDUE:
            return [] if self.timer.is_poll_overdue(self._now_ms) else self._prepare("the consumer polls again")
        if self.state not in BEATING or self.generation.id < 0:
            return []
        if self.timer.is_poll_overdue(self._now_ms):
            return self._leave_overdue()
        told: Effects = []
        if self.timer.is_session_over(self._now_ms):
            self.timer.restart(self._now_ms)
            told = [LogTrouble("the coordinator has not answered for a session"), ForgetCoordinator()]
        return [*told, *self._beat()] if self.timer.is_due(self._now_ms) else told

    def _beat(self) -> Effects:
        self.timer.sent(self._now_ms)
        return [effects.SendHeartbeat(self.generation, self.requests.heartbeat(self.generation))]

    def _leave_overdue(self) -> Effects:
        reason = (
            f"no poll for longer than max.poll.interval.ms={self._config.max_poll_interval_ms}: poll more often, take "
            "fewer records at a time (max.poll.records) or raise it"
        )
        left = self._leaving(reason) if not self._config.is_static else []
        self.generation = Generation()
        self._enter(ClassicState.OVERDUE)
        return [AbandonStep(), *left, LogTrouble(reason)]

    def _leaving(self, reason: str) -> Effects:
        return [effects.SendLeave(self.generation.member_id, reason)] if self.generation.member_id else []

    def _on_leave_requested(self, event: common.LeaveRequested) -> Effects:
        by_default = event.operation is LeaveOperation.DEFAULT and not self._config.is_static
        goes = by_default or event.operation is LeaveOperation.LEAVE_GROUP
        left = self._leaving(event.reason) if goes and self.state is not ClassicState.UNJOINED else []
        self.generation = Generation()
        self.owned = frozenset()
        self._rejoin_reason = None
        self._enter(ClassicState.UNJOINED)
        return [AbandonStep(), *left]


def _name(code: int) -> str:
    return error_for(code).code.name
