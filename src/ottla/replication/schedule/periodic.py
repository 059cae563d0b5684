"""Work that comes round again and again: a timer, the work, and the timer again once it is done."""

from collections.abc import Callable
from typing import Final

from ottla.replication.ports import EventLoop, TimerHandle


class PeriodicTask:
    """`run` gets what it has to call when it is done, on the loop; the next time is an interval after that."""

    def __init__(
        self, loop: EventLoop, interval_ms: Callable[[], int], run: Callable[[Callable[[], None]], None]
    ) -> None:
        self._loop: Final = loop
        self._interval_ms: Final = interval_ms
        self._run: Final = run
        self._timer: TimerHandle | None = None
        self._is_stopped = True

    def start(self, delay_ms: int) -> None:
        """Runs for the first time after a delay."""
        self._is_stopped = False
        self._schedule(delay_ms)

    def stop(self) -> None:
        """Does not run again."""
        self._is_stopped = True
        if self._timer is not None:
            self._timer.cancel()

    def _schedule(self, delay_ms: int) -> None:
        self._timer = self._loop.call_at(self._loop.time() + delay_ms / 1000, self._fire)

    def _fire(self) -> None:
        self._timer = None
        self._run(self._done)

    def _done(self) -> None:
        if not self._is_stopped:
            self._schedule(self._interval_ms())
