"""Events of a member of either protocol."""

from ottla.base.errors import OttlaError
from ottla.base.frozen import frozen
from ottla.client.consumer.group.group_subscription import GroupSubscription
from ottla.client.consumer.membership import LeaveOperation


@frozen
class Subscribed:
    """The user subscribed, or the topics that a pattern matches changed."""

    subscription: GroupSubscription


@frozen
class Started:
    """The membership begins, or begins again after it had ended or failed."""


@frozen
class PartitionsReleased:
    """The user has given up what was asked for."""


@frozen
class AssignmentAdopted:
    """The user knows the new assignment."""


@frozen
class StepBroke:
    """An unexpected error, such as a bug in an assignor of the user's."""

    error: OttlaError


@frozen
class IdentityDoubted:
    """A commit was refused: the coordinator may not know us as we are, unless it meant who we were when it was sent."""


@frozen
class TimePassed:
    """Some time went by; `polled_ms` is when the user polled last."""

    polled_ms: int


@frozen
class LeaveRequested:
    """The user closes the consumer or unsubscribes."""

    operation: LeaveOperation
    reason: str


MemberEvent = (
    Subscribed
    | Started
    | PartitionsReleased
    | AssignmentAdopted
    | StepBroke
    | IdentityDoubted
    | TimePassed
    | LeaveRequested
)
