"""The part of an event loop that timers need, with hands that a test turns."""

import asyncio
from collections.abc import Callable
from typing import cast


class FakeTimer:
    """A callback that waits."""

    def __init__(self, when: float, callback: Callable[[], None]) -> None:
        self.callback = callback
        self.is_cancelled = False
        self._when = when

    def when(self) -> float:
        return self._when

    def cancel(self) -> None:
        self.is_cancelled = True


class FakeLoop:
    """Time stands still until `advance`."""

    def __init__(self) -> None:
        self.now = 1_000.0
        self.timers: list[FakeTimer] = []

    def as_loop(self) -> asyncio.AbstractEventLoop:
        """For those who ask for a real one."""
        return cast(asyncio.AbstractEventLoop, self)

    def time(self) -> float:
        return self.now

    def call_at(self, when: float, callback: Callable[[], None]) -> FakeTimer:
        timer = FakeTimer(when, callback)
        self.timers.append(timer)
        return timer

    @property
    def waiting(self) -> list[FakeTimer]:
        """Timers that will fire."""
        self.timers = [timer for timer in self.timers if not timer.is_cancelled]
        return self.timers

    def advance(self, seconds: float) -> None:
        """Turns the hands, and calls what is due on the way."""
        end = self.now + seconds
        while due := [timer for timer in self.waiting if timer.when() <= end]:
            first = min(due, key=FakeTimer.when)
            self.timers.remove(first)
            self.now = max(self.now, first.when())
            first.callback()
        self.now = end
