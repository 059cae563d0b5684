"""An event loop whose time stands still until it is told to go on, and a clock and workers that belong to it."""

import heapq
import itertools
from collections import deque
from collections.abc import Callable
from functools import partial

EPOCH_MS = 1_700_000_000_000


class ManualTimer:
    """Something that was scheduled."""

    def __init__(self, callback: Callable[[], object]) -> None:
        self.callback = callback
        self.is_cancelled = False

    def cancel(self) -> None:
        self.is_cancelled = True


class ManualLoop:
    """See `ports.EventLoop`. It is a clock too."""

    def __init__(self) -> None:
        self._time = 100.0
        self._ready: deque[Callable[[], object]] = deque()
        self._timers: list[tuple[float, int, ManualTimer]] = []
        self._numbers = itertools.count()
        self.turns = 0
        self.is_in_worker = False
        """Whether what runs now would run on a worker's thread."""
        self.cost_ms = 0
        """What it takes to look at the clock, for tests of work that watches its time."""

    def time(self) -> float:
        self._time += self.cost_ms / 1000
        return self._time

    def now_ms(self) -> int:
        return EPOCH_MS + self.monotonic_ms()

    def monotonic_ms(self) -> int:
        return round(self._time * 1000)

    def call_soon(self, callback: Callable[[], object]) -> object:
        self._ready.append(callback)
        return None

    call_soon_threadsafe = call_soon

    def call_at(self, when: float, callback: Callable[[], object]) -> ManualTimer:
        timer = ManualTimer(callback)
        heapq.heappush(self._timers, (when, next(self._numbers), timer))
        return timer

    @property
    def timers(self) -> int:
        """How many timers are set."""
        return sum(not timer.is_cancelled for _, _, timer in self._timers)

    @property
    def is_idle(self) -> bool:
        """Whether only time can bring something to do."""
        return not self._ready

    def pass_time(self, ms: float) -> None:
        """Calls the timers that become due, and not what they have done soon."""
        self._time += ms / 1000
        while self._timers and self._timers[0][0] <= self._time:
            timer = heapq.heappop(self._timers)[2]
            if not timer.is_cancelled:
                timer.callback()

    def run(self) -> None:
        """Runs until there is nothing left to do at this time."""
        while self._ready:
            self.turn()

    def turn(self) -> None:
        """Runs what is ready now, as one turn of a loop does."""
        self.turns += 1
        for _ in range(len(self._ready)):
            self._ready.popleft()()

    def advance(self, ms: float) -> None:
        """Lets time pass, timer by timer."""
        until = self._time + ms / 1000
        self.run()
        while self._timers and self._timers[0][0] <= until:
            when, _, timer = heapq.heappop(self._timers)
            self._time = max(self._time, when)
            if not timer.is_cancelled:
                timer.callback()
            self.run()
        self._time = until


class LoopWorker:
    """A worker whose jobs run on the loop, some turns later."""

    def __init__(self, loop: ManualLoop) -> None:
        self._loop = loop
        self.is_closed = False

    def submit(self, job: Callable[[], None]) -> None:
        self._loop.call_soon(partial(self._work, job))

    def _work(self, job: Callable[[], None]) -> None:
        self._loop.is_in_worker = True
        try:
            job()
        finally:
            self._loop.is_in_worker = False

    def close(self) -> None:
        self.is_closed = True
