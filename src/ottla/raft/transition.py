"""Which role may follow which, in which epochs, and whether quorum-state is written on the way.

The table is what `quorum.Quorum` checks every change against. A change that is not durable keeps epoch, vote and
leader as they are, so the file already says the truth.
"""

from enum import Enum
from typing import Final

from ottla.base.frozen import frozen
from ottla.raft.roles.role import RoleKind


class EpochStep(Enum):
    """The change of the epoch in a transition."""

    SAME = "the same epoch"
    NEXT = "the next epoch"
    LATER = "a later epoch"
    SAME_OR_LATER = "the same epoch or a later one"

    def allows(self, old: int, new: int) -> bool:
        """Whether `new` may follow `old`."""
        return {
            EpochStep.SAME: new == old,
            EpochStep.NEXT: new == old + 1,
            EpochStep.LATER: new > old,
            EpochStep.SAME_OR_LATER: new >= old,
        }[self]


@frozen
class Transition:
    """The rules of a transition."""

    epochs: EpochStep
    is_durable: bool
    voters_only: bool = False
    why: str = ""


def _durable(epochs: EpochStep, why: str, *, voters_only: bool = False) -> Transition:
    return Transition(epochs, is_durable=True, voters_only=voters_only, why=why)


def _volatile(why: str) -> Transition:
    return Transition(EpochStep.SAME, is_durable=False, voters_only=True, why=why)


_U, _P, _C, _L, _F, _R = (
    RoleKind.UNATTACHED,
    RoleKind.PROSPECTIVE,
    RoleKind.CANDIDATE,
    RoleKind.LEADER,
    RoleKind.FOLLOWER,
    RoleKind.RESIGNED,
)
_LATER, _SAME, _ANY = EpochStep.LATER, EpochStep.SAME, EpochStep.SAME_OR_LATER

TRANSITIONS: Final[dict[tuple[RoleKind, RoleKind], Transition]] = {
    (_U, _U): _durable(_ANY, "a later epoch without a known leader, or a vote in this one"),
    (_U, _P): _volatile("the election timeout is up"),
    (_U, _F): _durable(_ANY, "a message names the leader"),
    (_P, _U): _durable(_ANY, "pre-votes refused, or a later epoch"),
    (_P, _P): _durable(_SAME, "a vote in this epoch", voters_only=True),
    (_P, _C): _durable(EpochStep.NEXT, "a majority would vote for us", voters_only=True),
    (_P, _F): _durable(_ANY, "pre-votes refused and the leader still known, or a leader is named"),
    (_C, _U): _durable(_LATER, "a later epoch without a known leader"),
    (_C, _P): _volatile("the election timeout is up"),
    (_C, _L): _durable(_SAME, "a majority voted for us", voters_only=True),
    (_C, _F): _durable(_ANY, "another one leads"),
    (_L, _U): _durable(_LATER, "a later epoch without a known leader"),
    (_L, _F): _durable(_LATER, "a later epoch with a leader"),
    (_L, _R): Transition(_SAME, is_durable=False, why="shutdown, resignation, removal, or no majority fetches"),
    (_F, _U): _durable(_LATER, "a later epoch without a known leader"),
    (_F, _P): _volatile("the fetch timeout is up, or the leader resigned"),
    (_F, _F): _durable(_ANY, "a later epoch with a leader, or more endpoints of this one"),
    (_R, _U): _durable(_LATER, "the election timeout is up, or a later epoch without a known leader"),
    (_R, _P): _volatile("the only voter was leader before it restarted"),
    (_R, _F): _durable(_LATER, "a later epoch with a leader"),
}

INITIAL_ROLES: Final = frozenset({_U, _C, _F, _R})
"""The roles after a restart: never leader, since that needs the log of the whole epoch."""
