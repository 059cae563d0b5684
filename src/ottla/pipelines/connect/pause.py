"""A task's clock and its waits, which end when the task is told to stop."""

import threading
import time
from typing import Final


class Stop:
    """Tells everything in a task to stop; the clock and the waits of its steps (`tolerance.Pause`)."""

    def __init__(self) -> None:
        self._event: Final = threading.Event()

    @property
    def is_set(self) -> bool:
        return self._event.is_set()

    def set(self) -> None:
        """Tells the task to stop, and ends its waits."""
        self._event.set()

    def now_ms(self) -> int:
        """The monotonic clock."""
        return time.monotonic_ns() // 1_000_000

    def wait_ms(self, delay_ms: int) -> bool:
        """Waits; False if the task is to stop."""
        return not self._event.wait(delay_ms / 1000)
