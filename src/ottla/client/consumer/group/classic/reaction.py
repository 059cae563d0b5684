"""A classic member's reaction to the coordinator's error codes; an unlisted code ends the membership."""

from enum import Enum, auto
from typing import Final

from ottla.protocol.errors import ErrorCode


class Reaction(Enum):
    """Reactions to a refusal."""

    TRY_AGAIN = auto()
    """The coordinator is still loading the group."""
    FIND_COORDINATOR = auto()
    """It is another broker now."""
    JOIN_AGAIN = auto()
    """The group is rebalancing; we are still who we were."""
    FORGET_MEMBER = auto()
    """The group has removed the member, which joins again as a new one."""
    FORGET_GENERATION = auto()
    """The group went on without us: join with the member id that we have."""
    FAIL = auto()
    """Nothing that we could do about it."""


_REACTIONS: Final[dict[int, Reaction]] = {
    ErrorCode.COORDINATOR_LOAD_IN_PROGRESS: Reaction.TRY_AGAIN,
    ErrorCode.COORDINATOR_NOT_AVAILABLE: Reaction.FIND_COORDINATOR,
    ErrorCode.NOT_COORDINATOR: Reaction.FIND_COORDINATOR,
    ErrorCode.REBALANCE_IN_PROGRESS: Reaction.JOIN_AGAIN,
    ErrorCode.UNKNOWN_MEMBER_ID: Reaction.FORGET_MEMBER,
    ErrorCode.ILLEGAL_GENERATION: Reaction.FORGET_GENERATION,
}


def reaction_to(code: int) -> Reaction:
    """The reaction to an error code."""
    return _REACTIONS.get(code, Reaction.FAIL)
