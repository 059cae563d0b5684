"""Counts the records that a task has handed over and the brokers have not acknowledged: bounds memory, tells the end.

The task's thread waits here, the thread of the event loop counts down. The first error ends every wait.
"""

import threading
from typing import Final


class Backlog:
    """Bytes under way, and the first thing that went wrong."""

    def __init__(self, bytes_max: int) -> None:
        self._bytes_max: Final = bytes_max
        self._changed: Final = threading.Condition()
        self._bytes = 0
        self._error: BaseException | None = None

    def add(self, size: int) -> None:
        """More is handed over; waits until there is room for it, at any size if nothing else is under way."""
        with self._changed:
            self._changed.wait_for(lambda: self._has_room(size))
            self._check()
            self._bytes += size

    def remove(self, size: int) -> None:
        """Removes acknowledged bytes."""
        with self._changed:
            self._bytes -= size
            self._changed.notify_all()

    def fail(self, error: BaseException) -> None:
        """Ends all waits with the error."""
        with self._changed:
            if self._error is None:
                self._error = error
            self._changed.notify_all()

    def wait(self) -> None:
        """Until everything is acknowledged; raises what went wrong."""
        with self._changed:
            self._changed.wait_for(self._is_over)
            self._check()

    def _has_room(self, size: int) -> bool:
        return self._error is not None or not self._bytes or self._bytes + size <= self._bytes_max

    def _is_over(self) -> bool:
        return self._error is not None or not self._bytes

    def _check(self) -> None:
        if self._error is not None:
            raise self._error
