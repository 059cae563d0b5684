"""Takes in values and remembers what rates, averages and maxima need: sums over a few windows of time.

One `record` feeds all statistics of a sensor, so it costs a few bytecodes; what they come to is worked out when
somebody looks. Windows are Kafka's: `metrics.num.samples` of `metrics.sample.window.ms` each, the oldest dropped as a
whole. Made for one writing thread; a reader on another sees a slightly older state.

Worked example: 2 windows of 30 s, 10 values in the first and 5 in the 12 s since. A rate is 15 / 42 s. In the very
first window a rate divides by no less than one whole window, so that a lone value is no outburst: 10 values within
1 s are 10 / 31 s.
"""

import math
from collections.abc import Callable
from typing import Final


class _Window:
    __slots__ = ("count", "largest", "smallest", "start", "total")

    def __init__(self, start: float) -> None:
        self.start: Final = start
        self.count = 0
        self.total = 0.0
        self.largest = -math.inf
        self.smallest = math.inf


class Sensor:
    """Values of one kind: sizes, latencies, or just events (`record(1)`)."""

    __slots__ = ("_clock", "_current", "_earlier", "_end", "_sample_count", "_window_s", "count", "total")

    def __init__(self, clock: Callable[[], float], *, sample_count: int, window_s: float) -> None:
        self.count = 0
        """How many values there were since the start."""
        self.total = 0.0
        """The sum of all values since the start."""
        self._clock: Final = clock
        self._sample_count: Final = sample_count
        self._window_s: Final = window_s
        self._current = _Window(clock())
        self._end = self._current.start + window_s
        self._earlier: list[_Window] = []

    def record(self, value: float = 1) -> None:
        """Takes in a value."""
        now = self._clock()
        if now >= self._end:
            self._roll(now)
        window = self._current
        window.count += 1
        window.total += value
        if value > window.largest:
            window.largest = value
        if value < window.smallest:
            window.smallest = value
        self.count += 1
        self.total += value

    def rate(self) -> float:
        """The sum of the values per second: bytes per second of a sensor of sizes."""
        windows = self._windows()
        return sum(window.total for window in windows) / self._elapsed_s(windows)

    def event_rate(self) -> float:
        """The number of values per second."""
        windows = self._windows()
        return sum(window.count for window in windows) / self._elapsed_s(windows)

    def average(self) -> float:
        """The mean value; NaN if none came lately."""
        windows = self._windows()
        count = sum(window.count for window in windows)
        return sum(window.total for window in windows) / count if count else math.nan

    def lately(self) -> tuple[int, float]:
        """The number of recent values, and their sum: for means over several sensors."""
        windows = self._windows()
        return sum(window.count for window in windows), sum(window.total for window in windows)

    def largest(self) -> float:
        """The largest value; NaN if none came lately."""
        largest = max(window.largest for window in self._windows())
        return math.nan if largest == -math.inf else largest

    def smallest(self) -> float:
        """The smallest value; NaN if none came lately."""
        smallest = min(window.smallest for window in self._windows())
        return math.nan if smallest == math.inf else smallest

    def sum(self) -> float:
        """The sum since the start."""
        return self.total

    def event_count(self) -> float:
        """The number of values since the start."""
        return self.count

    def _windows(self) -> list[_Window]:
        now = self._clock()
        if now >= self._end:
            self._roll(now)
        return [*self._earlier, self._current]

    def _elapsed_s(self, windows: list[_Window]) -> float:
        elapsed_s = self._clock() - windows[0].start
        missing = self._sample_count - 1 - int(elapsed_s // self._window_s) if self._window_s else 0
        return max(elapsed_s + max(0, missing) * self._window_s, 1e-3)

    def _roll(self, now: float) -> None:
        """Begins a window; those that ended too long ago are forgotten, a silence of many windows forgets all."""
        oldest_start = now - self._sample_count * self._window_s
        kept = [window for window in (*self._earlier, self._current) if window.start > oldest_start]
        self._earlier = kept[-(self._sample_count - 1) :] if self._sample_count > 1 else []
        self._current = _Window(now)
        self._end = now + self._window_s
