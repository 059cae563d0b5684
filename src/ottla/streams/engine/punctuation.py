"""Punctuations: calls that come back by stream time or by the clock.

Schedules are numbered in the order of their making; what is due when, by number, can be kept and given back.
The grid of a punctuation goes on from its last firing; a jump over several intervals fires once, with the time that was
reached: interval 10, times 0, 35, 41 → fires at 0, 35, 41 (grid 0, 10 … 40, 50).
"""

from collections.abc import Callable, Sequence
from heapq import heappop, heappush
from itertools import count
from math import inf


class Schedule:
    """A punctuation that repeats until it is cancelled."""

    def __init__(self, interval_ms: int, callback: Callable[[int], None]) -> None:
        self.interval_ms = interval_ms
        self.callback = callback
        self.is_cancelled = False

    def cancel(self) -> None:
        """It fires no more."""
        self.is_cancelled = True


def following(due: int, interval_ms: int, now: int) -> int:
    """The next time of the grid that is later than now.

    >>> following(5, 10, 5), following(5, 10, 26)
    (15, 35)
    """
    return due + max(1, (now - due) // interval_ms + 1) * interval_ms


class PunctuationQueue:
    """Punctuations in the order of their times."""

    def __init__(self) -> None:
        self._queue: list[tuple[int, int, int]] = []
        self._schedules: list[Schedule] = []
        self._order = count()
        self.next_due: float = inf
        """When the next one is due, cancelled ones included."""

    def add(self, first: int, schedule: Schedule) -> None:
        """Fires for the first time when time reaches `first`."""
        self._schedules.append(schedule)
        self._push(first, len(self._schedules) - 1)

    def fire(self, now: int) -> bool:
        """Calls all punctuations that are due; whether there was any."""
        fired = False
        while self._queue and self._queue[0][0] <= now:
            due, _, number = heappop(self._queue)
            self.next_due = self._queue[0][0] if self._queue else inf
            schedule = self._schedules[number]
            if schedule.is_cancelled:
                continue
            schedule.callback(now)
            fired = True
            self._push(following(due, schedule.interval_ms, now), number)
        return fired

    def next_time(self) -> int | None:
        """The time of the next punctuation; None if there is none."""
        return self._queue[0][0] if self._queue else None

    def times(self) -> tuple[int, ...]:
        """The number of schedules made, then number and time of each that is not cancelled, in queue order."""
        if not self._schedules:
            return ()
        waiting = [one for one in sorted(self._queue) if not self._schedules[one[2]].is_cancelled]
        return (len(self._schedules), *(number for due, _, schedule in waiting for number in (schedule, due)))

    def set_times(self, times: Sequence[int]) -> None:
        """Restores the result of `times` after the same schedules were made; those that it lacks are cancelled."""
        if not times:
            return
        known = dict(zip(times[1::2], times[2::2], strict=True))
        self._queue.clear()
        self.next_due = inf
        for number, due in known.items():
            if number < len(self._schedules):
                self._push(due, number)

    def _push(self, due: int, number: int) -> None:
        heappush(self._queue, (due, next(self._order), number))
        self.next_due = self._queue[0][0]
