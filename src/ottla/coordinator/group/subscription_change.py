"""A change of a subscription in words, for the log line with the reason of a rebalance."""

from collections.abc import Iterable
from typing import Final

_NAMES_MAX: Final = 5


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
