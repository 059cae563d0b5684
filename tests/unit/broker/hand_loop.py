"""An event loop and threads that run when a test says so."""

import heapq
from collections import deque
from collections.abc import Callable
from itertools import count


class HandTimer:
    """Something scheduled."""

    def __init__(self) -> None:
        self.is_cancelled = False

    def cancel(self) -> None:
        self.is_cancelled = True


class HandLoop:
    """Runs what is due in `run`, and lets time pass in `advance`; also the clock of the broker on it."""

    def __init__(self, now_ms: int) -> None:
        self._seconds = 0.0
        self._start_ms = now_ms
        self._soon: deque[Callable[[], object]] = deque()
        self._later: list[tuple[float, int, HandTimer, Callable[[], object]]] = []
        self._numbers = count()

    def time(self) -> float:
        return self._seconds

    def now_ms(self) -> int:
        return self._start_ms + round(self._seconds * 1000)

    def monotonic_ms(self) -> int:
        return round(self._seconds * 1000)

    def call_soon(self, callback: Callable[[], object]) -> None:
        self._soon.append(callback)

    def call_soon_threadsafe(self, callback: Callable[[], object]) -> None:
        self._soon.append(callback)

    def call_at(self, when: float, callback: Callable[[], object]) -> HandTimer:
        timer = HandTimer()
        heapq.heappush(self._later, (when, next(self._numbers), timer, callback))
        return timer

    def run(self) -> None:
        """Everything that need not wait."""
        while self._soon:
            self._soon.popleft()()

    def advance(self, ms: int) -> None:
        """Everything that is due within that time."""
        end = self._seconds + ms / 1000
        self.run()
        while self._later and self._later[0][0] <= end:
            when, _, timer, callback = heapq.heappop(self._later)
            self._seconds = max(self._seconds, when)
            if not timer.is_cancelled:
                callback()
            self.run()
        self._seconds = end


class HandWorker:
    """A thread that does its work at once."""

    def __init__(self, name: str) -> None:
        self.name = name

    def submit(self, job: Callable[[], None]) -> None:
        job()

    def close(self) -> None:
        pass
