"""The states of a classic group, and which may follow which.

Only Empty and Stable are ever written to the log: a group that was between them when its coordinator died is loaded
as it was before, and its members find out by their heartbeats.
"""

import enum
from typing import Final

from ottla.base.errors import OttlaError


class ClassicState(enum.Enum):
    """The states of a classic group, by the names that DescribeGroups shows."""

    EMPTY = "Empty"
    """No members; it stays for its offsets."""
    PREPARING_REBALANCE = "PreparingRebalance"
    """Waits for all members to join."""
    COMPLETING_REBALANCE = "CompletingRebalance"
    """All have joined; waits for the leader's assignment."""
    STABLE = "Stable"
    """Members may fetch their assignments."""
    DEAD = "Dead"
    """Deleted, or on another coordinator."""


_E, _P, _C, _S, _D = ClassicState

PREVIOUS: Final[dict[ClassicState, frozenset[ClassicState]]] = {
    _E: frozenset({_P}),
    _P: frozenset({_S, _C, _E}),
    _C: frozenset({_P}),
    _S: frozenset({_C}),
    _D: frozenset({_S, _P, _C, _E, _D}),
}
"""For each state those that it may follow."""


class TransitionError(OttlaError):
    """A group was about to do what its state does not allow: the code is wrong."""
