"""An event loop in the time of an `AdvancingClock`: whatever waits on the loop is due as soon as the clock says so."""

import asyncio
import math
import time
from typing import Final

from ottla.testing.advancing_clock import AdvancingClock

_STEP_S: Final = 1.0
"""The largest step of time: timers that others set when they fire are due within the same advance."""
_STEPS_MAX: Final = 300
"""A longer advance takes longer steps instead of more."""
_TURNS: Final = 4
"""Turns of the loop in each step: one finds what is due, one runs it, and what that sets off has two more."""
_PAUSE_S: Final = 0.000_05
"""Real time in each step, for the threads that work for the loop: they don't get done faster when time flies."""


class AdvancingLoop(asyncio.SelectorEventLoop):
    """The standard library's loop, whose seconds are the clock's."""

    def __init__(self, clock: AdvancingClock) -> None:
        self._advancing = clock
        super().__init__()

    def time(self) -> float:
        """Seconds since an arbitrary moment, as the clock tells them."""
        return super().time() + self._advancing.ahead_s

    async def advance(self, seconds: float) -> None:
        """Lets time pass at once; returns when the timers that came due have run."""
        steps = max(1, min(math.ceil(seconds / _STEP_S), _STEPS_MAX))
        for _ in range(steps):
            self._advancing.push(seconds / steps)
            for _ in range(_TURNS):
                await asyncio.sleep(0)
            time.sleep(_PAUSE_S)
