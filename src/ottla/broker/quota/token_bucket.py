"""Tokens that come back at a steady rate, up to a burst; taking may overdraw the bucket once (KIP-599)."""

from typing import Final


class TokenBucket:
    """Tokens for changes of metadata. Knows no clock: times are given.

    >>> bucket = TokenBucket(rate=2.0, burst_seconds=11, now_ms=0)
    >>> bucket.wait_ms(0), bucket.take(30, 0), bucket.wait_ms(0), bucket.wait_ms(1_000), bucket.wait_ms(4_000)
    (0, None, 4000, 3000, 0)
    """

    __slots__ = ("_burst_seconds", "_seen_ms", "_tokens", "rate", "used_ms")

    def __init__(self, *, rate: float, burst_seconds: float, now_ms: int) -> None:
        self.rate = rate
        """Tokens a second; it may change at any time."""
        self.used_ms = now_ms
        """When tokens were last taken."""
        self._burst_seconds: Final = burst_seconds
        self._tokens = rate * burst_seconds
        self._seen_ms = now_ms

    def take(self, count: float, now_ms: int) -> None:
        """Takes tokens, more than there are if need be."""
        self._refill(now_ms)
        self._tokens -= count
        self.used_ms = now_ms

    def wait_ms(self, now_ms: int) -> int:
        """The wait until the bucket is not overdrawn any more; 0 if it is not."""
        self._refill(now_ms)
        return 0 if self._tokens >= 0 else round(-self._tokens / self.rate * 1000)

    def _refill(self, now_ms: int) -> None:
        self._tokens = min(self._tokens + self.rate * (now_ms - self._seen_ms) / 1000, self.rate * self._burst_seconds)
        self._seen_ms = now_ms
