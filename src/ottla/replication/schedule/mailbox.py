"""The way from worker threads back to the loop: many messages, one wake-up."""

import threading
from collections import deque
from collections.abc import Callable
from typing import Final

from ottla.replication.ports import EventLoop


class Mailbox:
    """Callbacks that other threads want run on the loop, in the order they came."""

    def __init__(self, loop: EventLoop) -> None:
        self._loop: Final = loop
        self._lock: Final = threading.Lock()
        self._waiting: list[Callable[[], object]] = []

    def post(self, callback: Callable[[], object]) -> None:
        """Has `callback` run on the loop; from any thread."""
        with self._lock:
            self._waiting.append(callback)
            is_first = len(self._waiting) == 1
        if is_first:
            # Waking the loop is a system call: a flush that hundreds waited for makes one of them.
            self._loop.call_soon_threadsafe(self._deliver)

    def _deliver(self) -> None:
        with self._lock:
            callbacks, self._waiting = deque(self._waiting), []
        try:
            while callbacks:
                callbacks.popleft()()
        finally:
            if callbacks:
                # One failed. Those behind it are unrelated: a flush that a request waits for, a log that is ready.
                with self._lock:
                    self._waiting[:0] = callbacks
                self._loop.call_soon_threadsafe(self._deliver)
