"""The timers of consumer group members: soft state, set up again after a load.

All of them end in the member being fenced: because it was silent for too long (session), did not give up partitions
in time (rebalance), or, in the classic protocol, did not join again (join) or ask for its assignment (sync).
"""

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Final, TypeAlias

from ottla.coordinator.group.consumer.group import ConsumerGroup
from ottla.coordinator.runtime.coordinator_result import NOTHING, CoordinatorResult
from ottla.coordinator.runtime.timers import Timers

if TYPE_CHECKING:
    from ottla.coordinator.group.group_state import GroupsState

Fence: TypeAlias = "Callable[[GroupsState, str, str, str, int], CoordinatorResult]"
"""Removes a member: state, group, member, which timer ran out, and the time."""

SESSION: Final = "session"
REBALANCE: Final = "rebalance"
JOIN: Final = "join"
SYNC: Final = "sync"


class MemberTimers:
    """The timers of all members in one shard."""

    def __init__(self, timers: Timers, fence: "Fence") -> None:
        self._timers: Final = timers
        self._fence: Final = fence

    def set(self, kind: str, group_id: str, member_id: str, end_ms: int) -> None:
        """Fences the member at `end_ms`, instead of when the timer of that kind would have."""
        self._timers.set(("consumer", kind, group_id, member_id), end_ms, self._operation(kind, group_id, member_id))

    def set_if_absent(self, kind: str, group_id: str, member_id: str, end_ms: int) -> None:
        """Sets a timer unless it is set already."""
        key = ("consumer", kind, group_id, member_id)
        self._timers.set_if_absent(key, end_ms, self._operation(kind, group_id, member_id))

    def set_rebalance(self, group_id: str, member_id: str, epoch: int, end_ms: int) -> None:
        """Fences the member at `end_ms` if it is still in the epoch."""
        operation = partial(self._rebalance_ended, group_id, member_id, epoch)
        self._timers.set(("consumer", REBALANCE, group_id, member_id), end_ms, operation)

    def cancel(self, kind: str, group_id: str, member_id: str) -> None:
        """The member did what was waited for."""
        self._timers.cancel(("consumer", kind, group_id, member_id))

    def cancel_all(self, group_id: str, member_id: str) -> None:
        """The member is gone."""
        for kind in (SESSION, REBALANCE, JOIN, SYNC):
            self.cancel(kind, group_id, member_id)

    def _operation(self, kind: str, group_id: str, member_id: str) -> "Callable[[GroupsState, int], CoordinatorResult]":
        return partial(self._ended, kind, group_id, member_id)

    def _ended(self, kind: str, group_id: str, member_id: str, state: "GroupsState", now_ms: int) -> CoordinatorResult:
        return self._fence(state, group_id, member_id, kind, now_ms)

    def _rebalance_ended(
        self, group_id: str, member_id: str, epoch: int, state: "GroupsState", now_ms: int
    ) -> CoordinatorResult:
        group = state.groups.get(group_id)
        member = group.members.get(member_id) if isinstance(group, ConsumerGroup) else None
        if member is None or member.member_epoch != epoch:
            return NOTHING
        return self._fence(state, group_id, member_id, REBALANCE, now_ms)
