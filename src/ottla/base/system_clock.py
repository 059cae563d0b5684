"""The machine's own clock: the one module through which Ottla learns the time."""

import time


class SystemClock:
    """The clock of this machine.

    >>> SystemClock().now_ms() > 1_700_000_000_000
    True
    """

    __slots__ = ()

    def now_ms(self) -> int:
        """Milliseconds since 1970."""
        return time.time_ns() // 1_000_000

    def monotonic_ms(self) -> int:
        """Milliseconds since the machine started, or thereabouts."""
        return time.monotonic_ns() // 1_000_000
