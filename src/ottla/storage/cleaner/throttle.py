"""Keeps the cleaner's reading and writing below a rate, so that it leaves the disk to those who serve.

It counts bytes and says how long to wait; waiting is the caller's, who may be told to stop meanwhile.
"""

from typing import Final

_WINDOW_MS: Final = 300


class Throttle:
    """A rate in bytes per second, held over windows of 300 ms.

    >>> throttle = Throttle(1000, now_ms=0)
    >>> throttle.delay_ms(500, now_ms=100), throttle.delay_ms(500, now_ms=400)
    (0, 600)
    """

    __slots__ = ("_bytes", "_rate", "_since_ms")

    def __init__(self, bytes_per_second: float, now_ms: int) -> None:
        self._rate = bytes_per_second
        self._since_ms = now_ms
        self._bytes = 0

    def delay_ms(self, count: int, now_ms: int) -> int:
        """Counts bytes that were read or written; how long to pause now, mostly 0."""
        self._bytes += count
        elapsed_ms = now_ms - self._since_ms
        if elapsed_ms < _WINDOW_MS:
            return 0
        needed_ms = self._bytes * 1000 / self._rate
        self._since_ms, self._bytes = max(now_ms, int(self._since_ms + needed_ms)), 0
        return max(int(needed_ms - elapsed_ms), 0)
