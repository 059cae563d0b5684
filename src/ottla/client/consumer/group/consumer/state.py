"""The states of a member of a consumer group, and which may follow which."""

from enum import Enum
from typing import Final


class ConsumerState(Enum):
    """A member's state."""

    UNJOINED = "unjoined"
    """In no group: not started, or left."""
    JOINING = "joining"
    """The first heartbeat, with epoch 0, is on its way."""
    RECONCILING = "reconciling"
    """The user is giving up and taking over partitions."""
    ACKNOWLEDGING = "acknowledging"
    """The partitions are taken over; the next heartbeat says so, and is due at once."""
    STABLE = "stable"
    """Nothing to do but heartbeats."""
    FENCED = "fenced"
    """Thrown out of the group; the user is told that all partitions are lost, then we join again."""
    OVERDUE = "overdue"
    """Out of the group because the user did not poll; the next poll joins again."""
    FAILED = "failed"
    """The group won't have us; the user is told by an exception."""


_U, _J, _R, _A, _S, _X, _O, _F = ConsumerState

NEXT: Final[dict[ConsumerState, frozenset[ConsumerState]]] = {
    _U: frozenset({_J, _U, _X, _F}),
    _J: frozenset({_R, _S, _X, _O, _U, _F}),
    _R: frozenset({_A, _S, _X, _O, _U, _F}),
    _A: frozenset({_S, _R, _X, _O, _U, _F}),
    _S: frozenset({_R, _X, _O, _U, _F}),
    _X: frozenset({_J, _X, _U, _F}),
    _O: frozenset({_X, _U, _F}),
    _F: frozenset({_X, _U, _F}),
}
"""For each state those that may follow it. Every state may end in unjoined (leaving) and in failed."""

MEMBER: Final = frozenset({_J, _R, _A, _S})
"""States in which the coordinator counts on heartbeats."""
