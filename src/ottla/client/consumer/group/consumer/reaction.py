"""A consumer group member's reaction to the coordinator's error codes; an unlisted code ends the membership."""

from enum import Enum, auto
from typing import Final

from ottla.base.errors import OttlaError
from ottla.client.consumer.group.group_subscription import GroupSubscription
from ottla.protocol.errors import ErrorCode, UnsupportedVersionError


class Reaction(Enum):
    """Reactions to a refusal."""

    TRY_AGAIN = auto()
    """The coordinator is still loading the group."""
    FIND_COORDINATOR = auto()
    """It is another broker now."""
    JOIN_ANEW = auto()
    """The group has thrown us out: everything is lost, join with epoch 0."""
    REPORT = auto()
    """The user should know, and it may pass."""
    FAIL = auto()
    """Nothing that we could do about it."""


_REACTIONS: Final[dict[int, Reaction]] = {
    ErrorCode.COORDINATOR_LOAD_IN_PROGRESS: Reaction.TRY_AGAIN,
    ErrorCode.COORDINATOR_NOT_AVAILABLE: Reaction.FIND_COORDINATOR,
    ErrorCode.NOT_COORDINATOR: Reaction.FIND_COORDINATOR,
    ErrorCode.FENCED_MEMBER_EPOCH: Reaction.JOIN_ANEW,
    ErrorCode.UNKNOWN_MEMBER_ID: Reaction.JOIN_ANEW,
    ErrorCode.TOPIC_AUTHORIZATION_FAILED: Reaction.REPORT,
}


def reaction_to(code: int) -> Reaction:
    """The reaction to an error code."""
    return _REACTIONS.get(code, Reaction.FAIL)


def explained(error: OttlaError, subscription: GroupSubscription) -> OttlaError:
    """The error with what to do about it, where the broker is too old for what is wanted."""
    if not isinstance(error, UnsupportedVersionError):
        return error
    if subscription.server_regex is not None:
        return UnsupportedVersionError(
            "the broker can't match topics by a SubscriptionPattern (ConsumerGroupHeartbeat v1, Kafka 4.0): subscribe "
            f"with re.compile(...), which is matched here. ({error})"
        )
    return UnsupportedVersionError(
        f"the broker does not serve group.protocol=consumer: set group.protocol=classic, or upgrade it. ({error})"
    )
