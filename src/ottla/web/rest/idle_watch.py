"""Closes what a proxy keeps for its users once it is idle: consumers, and callers with their clients.

Owns the watch, and closing without making a request wait for it. The owner decides on names and on the time.
"""

import asyncio
import contextlib
import logging
from collections.abc import Callable, Coroutine
from typing import Any, Final

from ottla.base.errors import OttlaError

_log: Final = logging.getLogger(__name__)


class IdleWatch:
    """Has the idle ones dropped, closes what is dropped in the background, and all of it before the end."""

    def __init__(self, what: str) -> None:
        """`what` names the kept ones in the log."""
        self._what: Final = what
        self._watch: asyncio.Task[None] | None = None
        self._tasks: Final[set[asyncio.Task[None]]] = set()

    def start(self, every_s: float, expire: Callable[[], None]) -> None:
        """Calls `expire` from now on, which drops those that are idle."""
        self._watch = asyncio.get_running_loop().create_task(_repeat(every_s, expire))

    def drop(self, close: Coroutine[Any, Any, None]) -> None:
        """Closes one, by the coroutine that does it."""
        task = asyncio.get_running_loop().create_task(self._close(close))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def stop(self, drop_all: Callable[[], None]) -> None:
        """Ends the watch, has all dropped, and returns when all are closed."""
        if self._watch is not None:
            self._watch.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await self._watch
        drop_all()
        if self._tasks:
            await asyncio.wait(self._tasks)

    async def _close(self, close: Coroutine[Any, Any, None]) -> None:
        try:
            await close
        except OttlaError as error:
            _log.warning("%s was not closed in order: %s", self._what, error)


async def _repeat(every_s: float, expire: Callable[[], None]) -> None:
    while True:
        await asyncio.sleep(every_s)
        expire()
