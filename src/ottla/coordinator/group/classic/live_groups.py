"""The classic groups of a shard that have soft state beside their records.

A group without members needs none, so ten thousand idle ones cost nothing here. A group is added when it is loaded
with members or when a member joins, and removed once it is empty and that is committed.
"""

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, Final

from ottla.coordinator.group.classic.group import ClassicGroup
from ottla.coordinator.group.classic.live_group import LiveGroup
from ottla.coordinator.group.classic.result_builder import ResultBuilder
from ottla.coordinator.group.classic.session import Sessions
from ottla.coordinator.group.classic.state import ClassicState
from ottla.coordinator.runtime.coordinator_result import Done
from ottla.coordinator.runtime.timers import Timers
from ottla.protocol.errors import ApiError, CoordinatorNotAvailableError

if TYPE_CHECKING:
    from ottla.coordinator.group.group_state import GroupsState


class LiveGroups:
    """Groups by id; those that the replicated state no longer has, or has as another kind, are dropped when met."""

    def __init__(self, timers: Timers, sessions: Sessions) -> None:
        self.timers: Final = timers
        self.sessions: Final = sessions
        self.now_ms = 0
        """The latest time that was given, for the effects of committed records."""
        self._groups: dict[str, LiveGroup] = {}

    def __len__(self) -> int:
        return len(self._groups)

    def __iter__(self) -> Iterator[LiveGroup]:
        return iter(list(self._groups.values()))

    def find(self, state: "GroupsState", group_id: str, result: ResultBuilder) -> LiveGroup | None:
        """The group for an operation; None if there is none, or one of another kind.

        A group without members is made for the occasion: a caller that adds a member must `keep` it.
        """
        self.now_ms = max(self.now_ms, result.now_ms)
        stored = state.groups.get(group_id)
        group = self._groups.get(group_id)
        if not isinstance(stored, ClassicGroup):
            if group is not None:
                result.answer_all(self.drop(group, CoordinatorNotAvailableError()))
            return None
        if group is not None:
            return group
        return self.adopt(group_id, stored, result.now_ms) if stored.members else LiveGroup(group_id, stored)

    def keep(self, group: LiveGroup) -> None:
        """Notes that the group has members now."""
        self._groups[group.group_id] = group

    def peek(self, state: "GroupsState", group_id: str) -> LiveGroup | None:
        """The group for a look at it, made up from the log's word if it has no soft state."""
        stored = state.groups.get(group_id)
        if not isinstance(stored, ClassicGroup):
            return None
        group = self._groups.get(group_id)
        return LiveGroup(group_id, stored) if group is None else group

    def idle(self, state: "GroupsState", group_id: str) -> ClassicGroup | None:
        """The stored group if it has no members and it has no soft state."""
        stored = state.groups.get(group_id)
        return stored if isinstance(stored, ClassicGroup) and self.is_idle(group_id, stored) else None

    def is_idle(self, group_id: str, stored: ClassicGroup) -> bool:
        """Whether a stored group has no members and it has no soft state."""
        return not stored.members and group_id not in self._groups

    def adopt(self, group_id: str, stored: ClassicGroup, now_ms: int) -> LiveGroup:
        """Takes a group in; its members go on as they were, with a session each from now."""
        group = self._groups[group_id] = LiveGroup(group_id, stored)
        for member in stored.members:
            self.sessions.extend(group_id, member.member_id, now_ms + member.session_timeout_ms)
        return group

    def release(self, group: LiveGroup) -> None:
        """Lets go of a group if the log says all there is to know of it."""
        if group.is_idle and self._groups.get(group.group_id) is group:
            del self._groups[group.group_id]

    def drop(self, group: LiveGroup, error: ApiError) -> list[tuple[Done, Any]]:
        """The group is deleted, or no longer ours: its timers end, and who waits is to be told `error`."""
        group_id = group.group_id
        if self._groups.get(group_id) is not group:
            return []
        del self._groups[group_id]
        for key in ("join", "sync", "rebalance"):
            self.timers.cancel((key, group_id))
        for member_id in (*group.members, *group.pending_members):
            self.sessions.drop(group_id, member_id)
        group.transition(ClassicState.DEAD, self.now_ms)
        waiting = (*group.joining.values(), *group.syncing.values())
        group.joining.clear()
        group.syncing.clear()
        return [(done, error) for done in waiting]
