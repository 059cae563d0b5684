"""The sessions of classic members: each ends unless a heartbeat, or what counts as one, moves its end.

A session is a timer of the shard. Sessions of members that wait for a join or a sync answer may end without effect:
the answer starts them anew.
"""

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Final

from ottla.coordinator.runtime.coordinator_result import CoordinatorResult
from ottla.coordinator.runtime.timers import Timers

if TYPE_CHECKING:
    from ottla.coordinator.group.group_state import GroupsState


class Sessions:
    """The sessions of all members, and of ids that were handed out, in one shard."""

    def __init__(self, timers: Timers, ended: "Callable[[str, str, GroupsState, int], CoordinatorResult]") -> None:
        """`ended` is the operation for the end of a session, after the group's and the member's id."""
        self._timers: Final = timers
        self._ended: Final = ended

    def extend(self, group_id: str, member_id: str, end_ms: int) -> None:
        """The session ends at `end_ms`, not before."""
        key = ("session", group_id, member_id)
        self._timers.set(key, end_ms, partial(self._ended, group_id, member_id))

    def drop(self, group_id: str, member_id: str) -> None:
        """The member is gone."""
        self._timers.cancel(("session", group_id, member_id))
