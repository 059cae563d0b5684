"""Virtual time: a queue of things to happen, and clocks that disagree about when that is."""

import heapq
from collections.abc import Callable
from typing import Final

Action = Callable[[], None]

EPOCH_MS: Final = 1_700_000_000_000
"""What the clocks show when a simulation starts."""
_PER_MILLE = 1000


class EventQueue:
    """Runs actions in the order of their times; actions at one time run in the order in which they were planned."""

    def __init__(self) -> None:
        self.now_ms = 0
        self._heap: list[tuple[int, int, Action]] = []
        self._planned = 0

    def at(self, time_ms: int, action: Action) -> None:
        """Plans an action."""
        self._planned += 1
        heapq.heappush(self._heap, (max(time_ms, self.now_ms), self._planned, action))

    def after(self, delay_ms: int, action: Action) -> None:
        """Plans an action for `delay_ms` from now."""
        self.at(self.now_ms + delay_ms, action)

    def next_time_ms(self) -> int | None:
        """The time of the next action; None if no action is planned."""
        return self._heap[0][0] if self._heap else None

    def step(self) -> None:
        """Advances the time to the next action, and runs it."""
        self.now_ms, _, action = heapq.heappop(self._heap)
        action()


class NodeClock:
    """A node's own clock: set wrongly, and running a little fast or slow.

    >>> queue = EventQueue()
    >>> clock = NodeClock(queue, offset_ms=250, rate_per_mille=1010)
    >>> clock.true_time_ms(clock.at(1000)) == 1000
    True
    """

    def __init__(self, queue: EventQueue, offset_ms: int = 0, rate_per_mille: int = _PER_MILLE) -> None:
        self._queue = queue
        self._base_ms = EPOCH_MS + offset_ms
        self._rate = rate_per_mille

    def now_ms(self) -> int:
        return self.at(self._queue.now_ms)

    def at(self, true_time_ms: int) -> int:
        """This clock's reading at a time of the simulation."""
        return self._base_ms + true_time_ms * self._rate // _PER_MILLE

    def true_time_ms(self, shown_ms: int) -> int:
        """The earliest time of the simulation at which this clock reads `shown_ms`."""
        return -((self._base_ms - shown_ms) * _PER_MILLE // self._rate)

    def jump(self, forward_ms: int) -> None:
        """Sets the clock forward, as an operator or NTP does."""
        self._base_ms += forward_ms
