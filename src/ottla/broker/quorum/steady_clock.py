"""A clock that tells the time of day but never runs backwards, for what waits on deadlines.

The wall clock may be set back under a running node; a quorum that saw that would wait for hours. This one takes the
time of day once and counts on from there.
"""

from ottla.base.clock import Clock


class SteadyClock:
    """A `Clock` whose `now_ms` rises as steadily as `monotonic_ms`.

    >>> class Day:
    ...     def now_ms(self): return 1_700_000_000_000
    ...     def monotonic_ms(self): return 5
    >>> SteadyClock(Day()).now_ms()
    1700000000000
    """

    __slots__ = ("_clock", "_offset_ms")

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._offset_ms = clock.now_ms() - clock.monotonic_ms()

    def now_ms(self) -> int:
        """Milliseconds since 1970, as it was when the clock was made, plus what went by since."""
        return self._clock.monotonic_ms() + self._offset_ms

    def monotonic_ms(self) -> int:
        """Milliseconds since an arbitrary moment."""
        return self._clock.monotonic_ms()
