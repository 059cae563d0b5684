"""A call that is tried again until its deadline, with growing pauses."""

import asyncio
from typing import Final

from ottla.base.errors import OttlaError
from ottla.client.cluster.backoff import Backoff
from ottla.client.cluster.retries import is_retriable
from ottla.client.errors import KafkaTimeoutError


class Attempts:
    """Counts the attempts of one call; `what` says in an error what was tried."""

    def __init__(self, backoff: Backoff, deadline_s: float, what: str) -> None:
        self._backoff: Final = backoff
        self._deadline_s: Final = deadline_s
        self._what: Final = what
        self._loop: Final = asyncio.get_running_loop()
        self._failures = 0

    @property
    def left_ms(self) -> int:
        """How long the next attempt may take; at least a moment, so that a deadline of now means one attempt."""
        return max(1, round((self._deadline_s - self._loop.time()) * 1000))

    async def pause(self, cause: OttlaError) -> None:
        """Waits before the next attempt. Raises the cause if another attempt can't help, else time-out at the end."""
        if not is_retriable(cause):
            raise cause
        delay_s = self._backoff.delay_ms(self._failures) / 1000
        self._failures += 1
        if self._loop.time() + delay_s >= self._deadline_s:
            raise KafkaTimeoutError(
                f"{self._what} did not succeed in time; the last attempt ended with: {cause}"
            ) from cause
        await asyncio.sleep(delay_s)
