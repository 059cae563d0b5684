"""Punctuations: calls that come back by stream time or by the clock.

The grid of a punctuation goes on from its last firing; a jump over several intervals fires once, with the time that was
reached: interval 10, times 0, 35, 41 → fires at 0, 35, 41 (grid 0, 10 … 40, 50).
"""

from collections.abc import Callable
from heapq import heappop, heappush
from itertools import count


class Schedule:
    """A punctuation that repeats until it is cancelled."""

    def __init__(self, interval_ms: int, callback: Callable[[int], None]) -> None:
        self.interval_ms = interval_ms
        self.callback = callback
        self.is_cancelled = False

    def cancel(self) -> None:
        """It fires no more."""
        self.is_cancelled = True


class PunctuationQueue:
    """Punctuations in the order of their times."""

    def __init__(self) -> None:
        self._queue: list[tuple[int, int, Schedule]] = []
        self._order = count()

    def add(self, first: int, schedule: Schedule) -> None:
        """Fires for the first time when time reaches `first`."""
        heappush(self._queue, (first, next(self._order), schedule))

    def fire(self, now: int) -> bool:
        """Calls everything that is due; whether something was."""
        fired = False
        while self._queue and self._queue[0][0] <= now:
            due, _, schedule = heappop(self._queue)
            if schedule.is_cancelled:
                continue
            schedule.callback(now)
            fired = True
            following = due + schedule.interval_ms
            if now >= following:
                following = due + ((now - due) // schedule.interval_ms + 1) * schedule.interval_ms
            self.add(following, schedule)
        return fired

    def next_time(self) -> int | None:
        """When the next one is due."""
        return self._queue[0][0] if self._queue else None
