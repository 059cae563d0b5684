"""Why groups rebalance: one line in the log for each, in words, and counts by reason for the metrics."""

import enum
import logging
from collections import Counter
from collections.abc import Callable, Iterable
from typing import Final, NamedTuple

_log = logging.getLogger(__name__)
_NAMES_MAX: Final = 5


class RebalanceReason(enum.Enum):
    """The reason of a rebalance, as the label of a metric."""

    MEMBER_JOINED = "member_joined"
    MEMBER_LEFT = "member_left"
    SESSION_TIMED_OUT = "session_timed_out"
    SYNC_TIMED_OUT = "sync_timed_out"
    LEADER_REJOINED = "leader_rejoined"
    METADATA_CHANGED = "metadata_changed"
    STATIC_MEMBER_REPLACED = "static_member_replaced"
    STORE_FAILED = "store_failed"
    OVER_CAPACITY = "over_capacity"
    LEADERLESS = "leaderless"


class Rebalance(NamedTuple):
    """A rebalance that starts: the group, where it was, and why."""

    group_id: str
    state: str
    generation: int
    reason: RebalanceReason
    detail: str
    """The reason in words, for the log: `member c-1 joined; client reason: not provided`."""


class RebalanceLog:
    """Tells operators why groups rebalance; one for all shards of a broker."""

    def __init__(self, counted: "Callable[[RebalanceReason], None]" = lambda reason: None) -> None:
        """`counted` hears of each rebalance, for the metrics."""
        self._counted: Final = counted
        self.counts: Final[Counter[RebalanceReason]] = Counter()
        """How many rebalances began for each reason since the start."""

    def started(self, rebalance: Rebalance) -> None:
        """Logs and counts a rebalance."""
        self.counts[rebalance.reason] += 1
        self._counted(rebalance.reason)
        _log.info(
            "[group=%s] Rebalances from %s, generation %d, reason %s: %s",
            rebalance.group_id,
            rebalance.state,
            rebalance.generation,
            rebalance.reason.value,
            rebalance.detail,
        )


def topic_change(before: Iterable[str], after: Iterable[str]) -> str:
    """Topics that are new in a subscription and those that are gone.

    >>> topic_change({"a", "b"}, {"b", "c"})
    'now with c, without a'
    >>> topic_change(["a"], ["a"])
    'the same topics'
    """
    old, new = set(before), set(after)
    parts = []
    if new - old:
        parts.append(f"with {some(new - old)}")
    if old - new:
        parts.append(f"without {some(old - new)}")
    return f"now {', '.join(parts)}" if parts else "the same topics"


def some(topics: Iterable[str]) -> str:
    """A few of the names; a log is no place for ten thousand.

    >>> some("gfedcba")
    'a, b, c, d, e and 2 more'
    """
    names = sorted(topics)
    rest = len(names) - _NAMES_MAX
    return ", ".join(names[:_NAMES_MAX]) + (f" and {rest} more" if rest > 0 else "")
