"""Pauses between the attempts of one piece of work, until its deadline."""

import asyncio
from typing import Final

from ottla.base.errors import OttlaError
from ottla.client.cluster.backoff import Backoff


class Retries:
    """The failures of one piece of work in a row; made in an event loop."""

    def __init__(self, backoff: Backoff, timeout_ms: float) -> None:
        self._backoff: Final = backoff
        self._loop: Final = asyncio.get_running_loop()
        self._deadline_s: Final = self._loop.time() + timeout_ms / 1000
        self._failures = 0

    @property
    def is_late(self) -> bool:
        """Whether the deadline has passed."""
        return self._loop.time() >= self._deadline_s

    async def pause(self, cause: OttlaError) -> None:
        """Waits before the next attempt, longer each time; raises the cause if it would not pass, or time is over."""
        self._check(cause)
        failures, self._failures = self._failures, self._failures + 1
        await asyncio.sleep(self._backoff.delay_ms(failures) / 1000)

    async def pause_briefly(self, cause: OttlaError, ms_max: int) -> None:
        """Like `pause`, for a cause that mostly lasts a few milliseconds; later pauses do not grow."""
        self._check(cause)
        await asyncio.sleep(min(self._backoff.delay_ms(self._failures), ms_max) / 1000)

    def _check(self, cause: OttlaError) -> None:
        if not is_retriable(cause) or self.is_late:
            raise cause


def is_retriable(error: OttlaError) -> bool:
    """Whether the same request may succeed later."""
    return bool(getattr(error, "retriable", False))
