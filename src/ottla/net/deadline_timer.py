"""One timer for many deadlines: it is set to the earliest, and never touched for a request that is answered in time."""

import asyncio
from collections.abc import Callable
from typing import Final


class DeadlineTimer:
    """Calls `expire(now)` at the earliest deadline; it returns the next one, or None."""

    __slots__ = ("_expire", "_loop", "_timer")

    def __init__(self, loop: asyncio.AbstractEventLoop, expire: Callable[[float], float | None]) -> None:
        self._loop: Final = loop
        self._expire: Callable[[float], float | None] | None = expire
        self._timer: asyncio.TimerHandle | None = None

    def arm(self, deadline: float) -> None:
        """There is something that expires at `deadline`, in the loop's time."""
        if self._timer is not None:
            if self._timer.when() <= deadline:
                return
            self._timer.cancel()
        self._timer = self._loop.call_at(deadline, self._fire)

    def close(self) -> None:
        """Stops the timer, and drops the reference to its owner, so that no cycle is left."""
        self._expire = None
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _fire(self) -> None:
        self._timer = None
        deadline = None if self._expire is None else self._expire(self._loop.time())
        if deadline is not None:
            self.arm(deadline)
