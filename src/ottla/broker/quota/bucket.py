"""The use of a quota by the clients that share it, and how long they have to wait.

Measured as Apache Kafka does: the samples of `quota.window.num` windows, over a time that is never less than all of
them but one. So clients that were silent may use ten seconds' worth at once, and pay for more than that by waiting:

    limit 1,000 bytes a second, 11,000 at once -> the rate is 1,100, which is right again after another second
"""

from typing import Final

from ottla.base.rate import Rate


class Bucket:
    """One quota, for one user, client id or pair."""

    __slots__ = ("_rate", "_waited_ms", "_waits", "_window_ms", "limit", "throttle_ms_max", "throttled", "used_ms")

    def __init__(self, limit: float, *, windows: int, window_ms: int, throttle_ms_max: int | None = None) -> None:
        """`throttle_ms_max` bounds a wait, as for request quotas."""
        self.limit = limit
        """A second; it may change at any time, and what was used stays."""
        self.throttle_ms_max: Final = throttle_ms_max
        self.throttled = 0
        """The number of throttled requests."""
        self.used_ms = 0
        """When it was last used."""
        self._window_ms: Final = (windows - 1) * window_ms
        self._rate: Final = Rate(samples=windows, sample_ms=window_ms, full_samples_min=windows - 1)
        self._waits: Final = Rate(samples=windows, sample_ms=window_ms)
        self._waited_ms: Final = Rate(samples=windows, sample_ms=window_ms)

    def record(self, amount: float, now_ms: int) -> None:
        """Counts what a request used."""
        self.used_ms = now_ms
        self._rate.record(amount, now_ms)

    def per_second(self, now_ms: int) -> float:
        """The rate that is measured."""
        return self._rate.per_second(now_ms)

    def throttle_ms(self, now_ms: int) -> int:
        """The wait after which the rate is within its limit; 0 if it is."""
        rate = self._rate.per_second(now_ms)
        if rate <= self.limit:
            return 0
        wait_ms = round((rate - self.limit) / self.limit * self._rate.elapsed_ms(now_ms))
        return wait_ms if self.throttle_ms_max is None else min(wait_ms, self.throttle_ms_max)

    def waited(self, wait_ms: int, now_ms: int) -> None:
        """Counts a wait that a client was told."""
        self.throttled += 1
        self._waits.record(1, now_ms)
        self._waited_ms.record(wait_ms, now_ms)

    def throttle_time_ms(self, now_ms: int) -> float:
        """The average of the waits that clients were told lately."""
        waits = self._waits.total(now_ms)
        return self._waited_ms.total(now_ms) / waits if waits else 0.0

    def left(self, now_ms: int) -> float:
        """The amount that may be used at once without a wait."""
        return max(self.limit * self._window_ms / 1000 - self._rate.total(now_ms), 0.0)
