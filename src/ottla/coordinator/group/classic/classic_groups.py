"""All classic groups of a shard: the kind of group that the machine knows, and the classic protocol's four APIs."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

from ottla.base.chance import Chance
from ottla.coordinator.group.classic.description import describe, describe_missing
from ottla.coordinator.group.classic.group import ClassicGroup, group_tombstone, stored_group
from ottla.coordinator.group.classic.heartbeat import heartbeat
from ottla.coordinator.group.classic.join import Joining
from ottla.coordinator.group.classic.leave import Leaving
from ottla.coordinator.group.classic.live_group import LiveGroup
from ottla.coordinator.group.classic.live_groups import LiveGroups
from ottla.coordinator.group.classic.offset_check import ClassicOffsetRules, IdleOffsetRules
from ottla.coordinator.group.classic.rebalance import Rebalancer
from ottla.coordinator.group.classic.result_builder import ResultBuilder
from ottla.coordinator.group.classic.session import Sessions
from ottla.coordinator.group.classic.state import ClassicState
from ottla.coordinator.group.classic.sync import Syncing
from ottla.coordinator.group.config import ClassicGroupConfig
from ottla.coordinator.group.group_kind import GroupListing, Join, Sync
from ottla.coordinator.group.offsets.offset_rules import OffsetRules
from ottla.coordinator.group.rebalance_reason import RebalanceLog, RebalanceReason
from ottla.coordinator.runtime.coordinator_result import CoordinatorResult
from ottla.coordinator.runtime.timers import Timers
from ottla.protocol.coordinator_record import CoordinatorKey, CoordinatorRecord
from ottla.protocol.errors import CoordinatorNotAvailableError, GroupIdNotFoundError, NotCoordinatorError
from ottla.protocol.group_log.classic import GroupMetadataKey, GroupMetadataValue
from ottla.protocol.messages.describe_groups import DescribedGroup
from ottla.protocol.messages.heartbeat import HeartbeatRequest
from ottla.protocol.messages.leave_group import LeaveGroupRequest

if TYPE_CHECKING:
    from ottla.coordinator.group.group_state import GroupsState


class ClassicGroups:
    """A `GroupKind` and a `ClassicProtocol`; `groups` and `rebalancer` are for groups that change their kind."""

    key_types: Final[Sequence[type[CoordinatorKey]]] = (GroupMetadataKey,)

    def __init__(self, config: ClassicGroupConfig, timers: Timers, chance: Chance, log: RebalanceLog) -> None:
        self.groups: Final = LiveGroups(timers, Sessions(timers, self._session_ended))
        self.rebalancer: Final = Rebalancer(self.groups, config, log)
        self._joining: Final = Joining(self.rebalancer, chance)
        self._syncing: Final = Syncing(self.rebalancer)
        self._leaving: Final = Leaving(self.rebalancer)

    def replay(self, state: "GroupsState", record: CoordinatorRecord) -> "GroupsState":
        """The state after a group's record; a tombstone leaves a group alone that became one of another kind."""
        key, value, _ = record
        if not isinstance(key, GroupMetadataKey):
            raise TypeError(f"{type(key).__name__} is no key of a classic group")
        groups = state.groups
        if isinstance(value, GroupMetadataValue):
            return state._replace(groups=groups.set(key.group, stored_group(value)))
        if isinstance(groups.get(key.group), ClassicGroup):
            return state._replace(groups=groups.delete(key.group))
        return state

    def loaded(self, state: "GroupsState", now_ms: int) -> None:
        """Members go on as they were, with a fresh session each.

        A group rebalances if it is too large now, or if it turned classic and has no leader yet.
        """
        self.groups.now_ms = now_ms
        size_max = self.rebalancer.config.max_size
        for group_id, group in sorted(state.groups.items()):
            if isinstance(group, ClassicGroup) and group.members:
                self.groups.adopt(group_id, group, now_ms)
                if len(group.members) > size_max:
                    detail = f"{len(group.members)} members were loaded, {size_max} are allowed"
                    self.rebalancer.rebalance_soon(group_id, RebalanceReason.OVER_CAPACITY, detail)
                elif group.leader is None:
                    detail = "it turned classic, and was loaded before its members had joined as such"
                    self.rebalancer.rebalance_soon(group_id, RebalanceReason.LEADERLESS, detail)

    def unloaded(self) -> None:
        """Forgets all; who waits is sent to the new coordinator."""
        for group in self.groups:
            for done, answer in self.groups.drop(group, NotCoordinatorError()):
                done(answer)

    def listing(self, state: "GroupsState", group_id: str) -> GroupListing:
        """The group as ListGroups shows it."""
        stored = self.groups.idle(state, group_id)
        if stored is not None:
            return GroupListing(ClassicState.EMPTY.value, stored.protocol_type or "")
        group = self._seen(state, group_id)
        return GroupListing(group.state.value, group.protocol_type or "")

    def is_empty(self, state: "GroupsState", group_id: str) -> bool:
        """Whether it has no members; ids that were only handed out don't count."""
        if self.groups.idle(state, group_id) is not None:
            return True
        return self._seen(state, group_id).state is ClassicState.EMPTY

    def deletion(self, state: "GroupsState", group_id: str) -> Sequence[CoordinatorRecord]:
        """The tombstone of an empty group; an id that was handed out to join with becomes unknown."""
        group = self.groups.peek(state, group_id)
        if group is not None:
            self.groups.drop(group, CoordinatorNotAvailableError())
        return (group_tombstone(group_id),)

    def rules(self, state: "GroupsState", group_id: str) -> OffsetRules:
        """The group's rules for its offsets."""
        stored = self.groups.idle(state, group_id)
        if stored is not None:
            return IdleOffsetRules(stored)
        return ClassicOffsetRules(self._seen(state, group_id), self.groups.sessions)

    def describe(self, state: "GroupsState", group_id: str, api_version: int) -> DescribedGroup:
        """The group as DescribeGroups shows it, Dead if it is none of ours."""
        group = self.groups.peek(state, group_id)
        if group is not None:
            return describe(group)
        is_known = group_id in state.groups
        message = f"Group {group_id} is not a classic group." if is_known else f"Group {group_id} not found."
        return describe_missing(group_id, message, api_version)

    def join(self, state: "GroupsState", join: Join, now_ms: int) -> CoordinatorResult:
        """JoinGroup."""
        return self._joining.join(state, join, ResultBuilder(now_ms))

    def join_in_place(
        self, state: "GroupsState", join: Join, deletion: Sequence[CoordinatorRecord], now_ms: int
    ) -> CoordinatorResult:
        """JoinGroup to an empty group of another kind, which `deletion` makes room for a classic one."""
        result = ResultBuilder(now_ms)
        result.records.extend(deletion)
        return self._joining.join(state, join, result)

    def sync(self, state: "GroupsState", sync: Sync, now_ms: int) -> CoordinatorResult:
        """SyncGroup."""
        return self._syncing.sync(state, sync, now_ms)

    def heartbeat(self, state: "GroupsState", request: HeartbeatRequest, now_ms: int) -> CoordinatorResult:
        """Heartbeat."""
        return heartbeat(self.rebalancer, state, request, now_ms)

    def leave(self, state: "GroupsState", request: LeaveGroupRequest, now_ms: int) -> CoordinatorResult:
        """LeaveGroup, with the members in `request.members` in every version."""
        return self._leaving.leave(state, request, now_ms)

    def _session_ended(self, group_id: str, member_id: str, state: "GroupsState", now_ms: int) -> CoordinatorResult:
        return self.rebalancer.session_ended(group_id, member_id, state, now_ms)

    def _seen(self, state: "GroupsState", group_id: str) -> LiveGroup:
        group = self.groups.peek(state, group_id)
        if group is None:
            raise GroupIdNotFoundError(f"Group {group_id} not found.")
        return group
