"""Pauses between the attempts of one piece of work, until its deadline.

The one place that decides whether another attempt is worth it: the failure has to be one that passes, and the attempt
has to begin before the deadline.
"""

import asyncio
from typing import Final

from ottla.base.errors import OttlaError
from ottla.client.cluster.backoff import Backoff
from ottla.client.errors import KafkaTimeoutError


class Retries:
    """The failures of one piece of work in a row; made in an event loop."""

    def __init__(self, backoff: Backoff, deadline_s: float, what: str | None = None) -> None:
        """`deadline_s` is by the loop's time. The end of time is a `KafkaTimeoutError` if `what` says what is tried,
        otherwise the last failure."""
        self._backoff: Final = backoff
        self._loop: Final = asyncio.get_running_loop()
        self._deadline_s: Final = deadline_s
        self._what: Final = what
        self._failures = 0

    @classmethod
    def within(cls, backoff: Backoff, timeout_ms: float) -> "Retries":
        """Attempts from now on."""
        return cls(backoff, asyncio.get_running_loop().time() + timeout_ms / 1000)

    @property
    def is_late(self) -> bool:
        """Whether the deadline has passed."""
        return self._loop.time() >= self._deadline_s

    @property
    def left_ms(self) -> int:
        """The time left for the next attempt; at least a moment, so that a deadline of now means one attempt."""
        return max(1, round((self._deadline_s - self._loop.time()) * 1000))

    async def wait(self) -> bool:
        """Waits before the next attempt, longer each time; False, at once, if there is no time for one."""
        delay_s = self._backoff.delay_ms(self._failures) / 1000
        self._failures += 1
        return await self._sleep(delay_s)

    async def pause(self, cause: OttlaError) -> None:
        """As `wait`; raises the cause if it would not pass, or the end of time."""
        if not is_retriable(cause):
            raise cause
        if not await self.wait():
            self._give_up(cause)

    async def pause_briefly(self, cause: OttlaError, ms_max: int) -> None:
        """As `pause` for a cause that mostly lasts a few milliseconds, which makes later pauses no longer."""
        if not is_retriable(cause):
            raise cause
        if not await self._sleep(min(self._backoff.delay_ms(self._failures), ms_max) / 1000):
            self._give_up(cause)

    async def _sleep(self, delay_s: float) -> bool:
        if self._loop.time() + delay_s >= self._deadline_s:
            return False
        await asyncio.sleep(delay_s)
        return True

    def _give_up(self, cause: OttlaError) -> None:
        if self._what is None:
            raise cause
        text = f"{self._what} did not succeed in time; the last attempt ended with: {cause}"
        raise KafkaTimeoutError(text) from cause


def is_retriable(error: OttlaError) -> bool:
    """Whether the same request may succeed later."""
    return bool(getattr(error, "retriable", False))
