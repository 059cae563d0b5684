"""A clock that runs with the machine's and can be put forward."""

from ottla.base.system_clock import SystemClock


class AdvancingClock:
    """The machine's time plus what it was put forward by; see `ottla.base.clock.Clock`.

    >>> clock = AdvancingClock()
    >>> before_ms = clock.monotonic_ms()
    >>> clock.push(60.0)
    >>> clock.monotonic_ms() >= before_ms + 60_000
    True
    """

    __slots__ = ("_system", "ahead_s")

    def __init__(self, ahead_s: float = 0.0) -> None:
        self._system = SystemClock()
        self.ahead_s = ahead_s
        """Seconds that it is ahead of the machine's; only grows."""

    def now_ms(self) -> int:
        """Milliseconds since 1970."""
        return self._system.now_ms() + int(self.ahead_s * 1000)

    def monotonic_ms(self) -> int:
        """Milliseconds since an arbitrary moment."""
        return self._system.monotonic_ms() + int(self.ahead_s * 1000)

    def push(self, seconds: float) -> None:
        """Puts the hands forward; timers that are due hear of it from `AdvancingLoop.advance`."""
        if seconds < 0:
            raise ValueError(f"time does not go back: {seconds} s")
        self.ahead_s += seconds
