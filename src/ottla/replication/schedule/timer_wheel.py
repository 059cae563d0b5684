"""Time limits for thousands of waiting requests on one timer of the event loop.

Time is cut into ticks; what expires in the same tick shares a bucket, and only the next bucket has a timer. Adding and
cancelling is a dictionary operation; nothing is sorted but the ticks. A limit is kept a little late, never early: by a
tick if it is short, by a few for long ones, whose buckets are wider, so that there are never more than some thousand.

Ticks of 2 ms, now 1,000 ms: limits of 4 ms and 5 ms share the bucket of tick 503 (1,006 ms); one of 6 ms is in that of
tick 504.
"""

import heapq
from collections.abc import Callable
from typing import Final

from ottla.replication.ports import EventLoop, TimerHandle

_TICK_MS: Final = 2
_LONG: Final = ((60_000, 512), (2_000, 16))
"""From so many milliseconds on a bucket is so many ticks wide."""


class Timeout:
    """A time limit. `cancel` it when what it limits is over."""

    __slots__ = ("_bucket", "expire")

    def __init__(self, bucket: "dict[Timeout, None]", expire: Callable[[], object]) -> None:
        self._bucket = bucket
        self.expire = expire

    def cancel(self) -> None:
        """It is not to expire any more; nothing of it stays behind."""
        self._bucket.pop(self, None)


class TimerWheel:
    """All time limits of a broker's waiting requests. Loop thread only."""

    def __init__(self, loop: EventLoop, tick_ms: int = _TICK_MS) -> None:
        self._loop: Final = loop
        self._tick_ms: Final = tick_ms
        self._buckets: dict[int, dict[Timeout, None]] = {}
        self._ticks: list[int] = []
        self._timer: TimerHandle | None = None
        self._timer_tick = 0

    def __len__(self) -> int:
        return sum(map(len, self._buckets.values()))

    def add(self, timeout_ms: int, expire: Callable[[], object]) -> Timeout:
        """Calls `expire` on the loop in `timeout_ms`, unless it is cancelled."""
        due_ms = self._loop.time() * 1000 + max(timeout_ms, 0)
        tick = int(due_ms // self._tick_ms) + 1
        if timeout_ms >= _LONG[-1][0]:
            width = next(width for limit_ms, width in _LONG if timeout_ms >= limit_ms)
            tick += -tick % width
        bucket = self._buckets.get(tick)
        if bucket is None:
            bucket = self._buckets[tick] = {}
            heapq.heappush(self._ticks, tick)
            if self._timer is None or tick < self._timer_tick:
                self._schedule(tick)
        timeout = Timeout(bucket, expire)
        bucket[timeout] = None
        return timeout

    def close(self) -> None:
        """Drops all timers."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        self._buckets.clear()
        self._ticks.clear()

    def _schedule(self, tick: int) -> None:
        if self._timer is not None:
            self._timer.cancel()
        self._timer_tick = tick
        self._timer = self._loop.call_at(tick * self._tick_ms / 1000, self._turn)

    def _turn(self) -> None:
        """Expires what is due, and sets the timer for what comes next."""
        self._timer = None
        now_tick = int(self._loop.time() * 1000 // self._tick_ms)
        # The timer may fire a hair early: the tick that it was set for is due in any case.
        now_tick = max(now_tick, self._timer_tick)
        try:
            self._expire(now_tick)
        finally:
            # A timer that fails stops no other: those still due come with the next turn.
            while self._ticks and not self._buckets[self._ticks[0]]:
                del self._buckets[heapq.heappop(self._ticks)]
            if self._ticks:
                self._schedule(self._ticks[0])

    def _expire(self, now_tick: int) -> None:
        """One at a time: one that expires may cancel others that are due as well."""
        while self._ticks and self._ticks[0] <= now_tick:
            bucket = self._buckets[self._ticks[0]]
            if bucket:
                timeout = next(iter(bucket))
                del bucket[timeout]
                timeout.expire()
            else:
                del self._buckets[heapq.heappop(self._ticks)]
