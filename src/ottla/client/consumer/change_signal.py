"""Says that something happened in the background: to a task that waits in the loop, or to the user's thread.

The user's thread waits without asking the loop for anything, so that records reach it with one change of threads. It
first says that it waits, then looks once more, then waits: what happens in between is not missed.
"""

import asyncio
from queue import Empty, SimpleQueue
from typing import Final


class ChangeSignal:
    """Set in the loop; waited for in the loop or in one thread beside it."""

    def __init__(self) -> None:
        self._event: Final = asyncio.Event()
        self._tokens: Final[SimpleQueue[None]] = SimpleQueue()
        self._is_awaited = False

    def set(self) -> None:
        """In the loop: something happened."""
        self._event.set()
        if self._is_awaited:
            self._is_awaited = False
            self._tokens.put(None)

    def clear(self) -> None:
        """In the loop: all that happened so far is known."""
        self._event.clear()

    async def wait(self, timeout_s: float) -> None:
        """In the loop: until something happens, or that long."""
        try:
            async with asyncio.timeout(timeout_s):
                await self._event.wait()
        except TimeoutError:
            return

    def expect(self) -> None:
        """In the user's thread: whatever happens from now on ends the next `wait_here`."""
        while not self._tokens.empty():
            self._tokens.get()
        self._is_awaited = True

    def wait_here(self, timeout_s: float) -> None:
        """In the user's thread: until something happens, or that long."""
        try:
            self._tokens.get(timeout=timeout_s)
        except Empty:
            self._is_awaited = False
