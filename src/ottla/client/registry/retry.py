"""Decides whether a request to a registry is repeated, and after which pause."""

from typing import Final

from ottla.base.frozen import frozen

RETRIABLE_STATUS: Final = frozenset({408, 429, 500, 502, 503, 504})
"""Answers of a registry that is busy, or between two leaders."""


@frozen
class RetryPolicy:
    """Pauses that double, each cut by chance so that clients that failed together don't come back together.

    >>> RetryPolicy(3, 1000, 20_000).pause_s(attempt=2, chance=0.5)
    2.0
    """

    retries_max: int
    wait_ms: int
    wait_ms_max: int

    def pause_s(self, attempt: int, chance: float) -> float:
        """The pause after that many repetitions; `chance` is between 0 and 1."""
        longest_ms = min(self.wait_ms * 2.0 ** min(attempt, 62), self.wait_ms_max)
        return longest_ms * chance / 1000
