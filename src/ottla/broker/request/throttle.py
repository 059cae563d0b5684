"""The column of the API table that says which quotas a call is counted against."""

from enum import Enum
from typing import Final, NamedTuple


class ThrottleKind(Enum):
    """The quota that a request uses."""

    REQUEST = "time of the broker"
    """`request_percentage`, which all kinds but one use up."""
    PRODUCE = "bytes in"
    FETCH = "bytes out"
    MUTATION = "changes of partitions"
    """`controller_mutation_rate`, counted at the controller (KIP-599)."""
    BETWEEN_NODES = "nothing"
    """Requests between nodes are never throttled."""


class Throttle(NamedTuple):
    """The kind of throttle of a call."""

    kind: ThrottleKind
    strict_since: int = 0
    """From which version on a client is refused, and not only told to wait, once a mutation quota is overdrawn."""


REQUEST: Final = Throttle(ThrottleKind.REQUEST)
PRODUCE: Final = Throttle(ThrottleKind.PRODUCE)
FETCH: Final = Throttle(ThrottleKind.FETCH)
BETWEEN_NODES: Final = Throttle(ThrottleKind.BETWEEN_NODES)


def mutation(*, strict_since: int) -> Throttle:
    """Changes partitions."""
    return Throttle(ThrottleKind.MUTATION, strict_since)
