"""The states of a classic member, and which may follow which."""

from enum import Enum
from typing import Final


class ClassicState(Enum):
    """A member's state."""

    UNJOINED = "unjoined"
    """In no group: not started, or left."""
    PREPARING = "preparing"
    """About to join; the user is giving up partitions first."""
    JOINING = "joining"
    """JoinGroup is on its way, or is tried again after a pause; the answer comes when all members have joined."""
    SYNCING = "syncing"
    """Joined; the leader assigns, and SyncGroup brings the assignment."""
    ADOPTING = "adopting"
    """The user is told of the assignment."""
    STABLE = "stable"
    """Every member reads its partitions."""
    OVERDUE = "overdue"
    """Out of the group because the user did not poll; the next poll joins again."""
    FAILED = "failed"
    """The group won't have us; the user is told by an exception."""


_U, _P, _J, _Y, _A, _S, _O, _F = ClassicState

NEXT: Final[dict[ClassicState, frozenset[ClassicState]]] = {
    _U: frozenset({_U, _P, _F}),
    _P: frozenset({_J, _P, _O, _U, _F}),
    _J: frozenset({_J, _Y, _P, _O, _U, _F}),
    _Y: frozenset({_A, _J, _P, _O, _U, _F}),
    _A: frozenset({_S, _O, _U, _F}),
    _S: frozenset({_P, _O, _U, _F}),
    _O: frozenset({_P, _U, _F}),
    _F: frozenset({_P, _U, _F}),
}
"""For each state those that may follow it. Every state may end in unjoined (leaving) and in failed."""

BEATING: Final = frozenset({_P, _Y, _A, _S})
"""States in which the coordinator counts on heartbeats; while JoinGroup waits there, it needs none."""
