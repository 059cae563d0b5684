"""The patience of a task: it waits until it is told to stop, and no longer."""

import threading
import time
from typing import Final


class Stop:
    """Whether the task is to stop; the clock and the waits of everything in it (`tolerance.Pause`)."""

    def __init__(self) -> None:
        self._event: Final = threading.Event()

    @property
    def is_set(self) -> bool:
        """Whether the task is to stop."""
        return self._event.is_set()

    def set(self) -> None:
        """It is to stop."""
        self._event.set()

    def now_ms(self) -> int:
        """A clock that only goes forward."""
        return time.monotonic_ns() // 1_000_000

    def wait_ms(self, delay_ms: int) -> bool:
        """Waits; False if the task is to stop."""
        return not self._event.wait(delay_ms / 1000)
