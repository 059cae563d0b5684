"""How many bytes of requests wait to be handled, in all connections, and who waits for room.

Kafka's `queued.max.request.bytes`: as there, a request may start as long as there is any room at all, so the limit may
be passed by one request. What counts is what was claimed by frames that are not complete, or not handled yet.
"""

from collections.abc import Callable
from typing import Final


class RequestMemory:
    """Counts bytes against a limit; 0 and below is no limit.

    >>> memory = RequestMemory(100)
    >>> memory.claim(150)
    >>> memory.is_full
    True
    """

    __slots__ = ("_limit_bytes", "_waiting", "is_full", "used_bytes")

    def __init__(self, limit_bytes: int) -> None:
        self._limit_bytes = limit_bytes
        self._waiting: Final[dict[object, Callable[[], None]]] = {}
        self.used_bytes = 0
        self.is_full = False
        """Whether no further request may start."""

    def claim(self, count: int) -> None:
        """Counts bytes that a connection holds from now on."""
        self.used_bytes += count
        self.is_full = 0 < self._limit_bytes <= self.used_bytes

    def free(self, count: int) -> None:
        """Counts them out again, and wakes all who wait if there is room."""
        self.used_bytes -= count
        self._judge()

    def change_limit(self, limit_bytes: int) -> None:
        """Takes another limit from now on."""
        self._limit_bytes = limit_bytes
        self._judge()

    def wait(self, who: object, callback: Callable[[], None]) -> None:
        """Calls back once when there is room."""
        self._waiting[who] = callback

    def forget(self, who: object) -> None:
        """Does not call back any more."""
        self._waiting.pop(who, None)

    def _judge(self) -> None:
        self.is_full = 0 < self._limit_bytes <= self.used_bytes
        if self.is_full or not self._waiting:
            return
        callbacks = list(self._waiting.values())
        self._waiting.clear()
        for callback in callbacks:
            callback()
