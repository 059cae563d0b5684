"""All consumer groups of a shard: the kind of group that the machine knows, and the APIs that speak to it."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

from ottla.coordinator.group.classic.classic_groups import ClassicGroups
from ottla.coordinator.group.consumer.assignment.membership import Membership
from ottla.coordinator.group.consumer.assignment.regex_refresh import RegexRefresh
from ottla.coordinator.group.consumer.context import ConsumerGroupContext
from ottla.coordinator.group.consumer.description import describe
from ottla.coordinator.group.consumer.entry import Entry
from ottla.coordinator.group.consumer.group import ConsumerGroup
from ottla.coordinator.group.consumer.heartbeat import Heartbeats, MemberHeartbeat
from ottla.coordinator.group.consumer.leave import Leaving
from ottla.coordinator.group.consumer.member import MemberState
from ottla.coordinator.group.consumer.member_timer import SESSION, MemberTimers
from ottla.coordinator.group.consumer.migration.classic_member import ClassicMembers
from ottla.coordinator.group.consumer.migration.downgrade import Downgrade
from ottla.coordinator.group.consumer.migration.upgrade import Upgrade
from ottla.coordinator.group.consumer.offset_check import ConsumerOffsetRules
from ottla.coordinator.group.consumer.record import group_tombstones
from ottla.coordinator.group.consumer.replay import KEY_TYPES, replay_consumer
from ottla.coordinator.group.group_kind import GroupListing, Join, Sync
from ottla.coordinator.runtime.coordinator_result import CoordinatorResult
from ottla.coordinator.runtime.timers import Timers
from ottla.protocol.coordinator_record import CoordinatorKey, CoordinatorRecord
from ottla.protocol.errors import GroupIdNotFoundError
from ottla.protocol.messages.consumer_group_describe import DescribedGroup
from ottla.protocol.messages.heartbeat import HeartbeatRequest
from ottla.protocol.messages.leave_group import LeaveGroupRequest

if TYPE_CHECKING:
    from ottla.coordinator.group.group_state import GroupsState

_PROTOCOL_TYPE: Final = "consumer"


class ConsumerGroups:
    """A `GroupKind`, a `ClassicProtocol` and a `TopicWatcher`."""

    key_types: Final[Sequence[type[CoordinatorKey]]] = KEY_TYPES

    def __init__(self, context: ConsumerGroupContext, timers: Timers, classic: ClassicGroups) -> None:
        """`classic` are the classic groups of the same shard, from and to which groups change."""
        self._surroundings: Final = context
        self._timers: Final = MemberTimers(timers, self._fence)
        self._membership: Final = Membership(context, self._timers)
        self._downgrade: Final = Downgrade(self._membership, classic)
        self._regexes: Final = RegexRefresh(self._membership, timers)
        self._leaving: Final = Leaving(self._membership, self._downgrade)
        entry = Entry(self._membership, classic, Upgrade(self._membership, classic))
        self._heartbeats: Final = Heartbeats(self._membership, self._regexes, entry, self._leaving)
        self._classic_members: Final = ClassicMembers(self._membership, self._regexes, entry, self._leaving)

    def replay(self, state: "GroupsState", record: CoordinatorRecord) -> "GroupsState":
        """The state after a record."""
        return replay_consumer(state, record)

    def loaded(self, state: "GroupsState", now_ms: int) -> None:
        """Every member has a session from now, and as long as ever to give up what it must.

        Sessions that end together end in the order they were set in: that of the names, so that a seed gives one run.
        """
        for group_id, group in sorted(state.groups.items()):
            if not isinstance(group, ConsumerGroup):
                continue
            for member_id, member in sorted(group.members.items()):
                classic = member.classic
                timeout_ms = (
                    self._surroundings.session_timeout_ms(group_id) if classic is None else classic.session_timeout_ms
                )
                self._timers.set(SESSION, group_id, member_id, now_ms + timeout_ms)
                if member.state is MemberState.UNREVOKED:
                    end_ms = now_ms + member.rebalance_timeout_ms
                    self._timers.set_rebalance(group_id, member_id, member.member_epoch, end_ms)

    def unloaded(self) -> None:
        """No request waits here; the shard drops the timers."""
        self._membership.clear()
        self._regexes.clear()

    def listing(self, state: "GroupsState", group_id: str) -> GroupListing:
        """The group as ListGroups shows it."""
        return GroupListing(_found(state, group_id).state.value, _PROTOCOL_TYPE)

    def is_empty(self, state: "GroupsState", group_id: str) -> bool:
        """Whether it has no members."""
        return not _found(state, group_id).members

    def deletion(self, state: "GroupsState", group_id: str) -> Sequence[CoordinatorRecord]:
        """The tombstones of all its parts."""
        self._membership.forget(group_id)
        self._regexes.forget(group_id)
        return group_tombstones(group_id, _found(state, group_id))

    def rules(self, state: "GroupsState", group_id: str) -> ConsumerOffsetRules:
        """The group's rules for its offsets."""
        return ConsumerOffsetRules(group_id, _found(state, group_id))

    def topics_changed(self, state: "GroupsState", topics: frozenset[str]) -> None:
        """Groups look at their topics, and at what their expressions match, with their members' next heartbeats."""
        self._membership.topics_changed(topics)
        self._regexes.topics_changed()

    def member_heartbeat(self, state: "GroupsState", beat: MemberHeartbeat, now_ms: int) -> CoordinatorResult:
        """ConsumerGroupHeartbeat."""
        return self._heartbeats.heartbeat(state, beat, now_ms)

    def describe(self, state: "GroupsState", group_id: str) -> DescribedGroup:
        """ConsumerGroupDescribe, of one group; GROUP_ID_NOT_FOUND if it is none of ours."""
        group = _found(state, group_id)
        return describe(group_id, group, self._surroundings.metadata, self._surroundings.config.consumer.assignors)

    def join(self, state: "GroupsState", join: Join, now_ms: int) -> CoordinatorResult:
        """JoinGroup."""
        return self._classic_members.join(state, join, self._downgrade, now_ms)

    def sync(self, state: "GroupsState", sync: Sync, now_ms: int) -> CoordinatorResult:
        """SyncGroup."""
        return self._classic_members.sync(state, sync, now_ms)

    def heartbeat(self, state: "GroupsState", request: HeartbeatRequest, now_ms: int) -> CoordinatorResult:
        """Heartbeat."""
        return self._classic_members.heartbeat(state, request, now_ms)

    def leave(self, state: "GroupsState", request: LeaveGroupRequest, now_ms: int) -> CoordinatorResult:
        """LeaveGroup, with the members in `request.members` in every version."""
        return self._classic_members.leave(state, request, now_ms)

    def _fence(self, state: "GroupsState", group_id: str, member_id: str, kind: str, now_ms: int) -> CoordinatorResult:
        return self._leaving.fence(state, group_id, member_id, kind, now_ms)


def _found(state: "GroupsState", group_id: str) -> ConsumerGroup:
    group = state.groups.get(group_id)
    if isinstance(group, ConsumerGroup):
        return group
    known = "is not a consumer group" if group_id in state.groups else "not found"
    raise GroupIdNotFoundError(f"Group {group_id} {known}.")
