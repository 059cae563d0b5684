"""Waits for a broker that refuses connections: `ottla broker &` needs a moment before the next line of a script.

Only a refused connection is waited for that long: any other failure will not go away by itself, and is told soon.
"""

import asyncio
import sys
import time
from collections.abc import Awaitable, Callable
from typing import Final, TypeVar

from ottla.cli.output.style import Style, Tone
from ottla.client.errors import ControllerPortError, FailedAttempt, NoBrokersAvailableError
from ottla.net.errors import InvalidFrameError

T = TypeVar("T")

_OTHERWISE_SECONDS: Final = 3.0
_PAUSE_S: Final = 0.25
_SAY_AFTER_S: Final = 0.5


class BrokerWait:
    """The patience of one command."""

    def __init__(self, seconds: float) -> None:
        self._seconds: Final = seconds
        self._started: Final = time.monotonic()
        self._has_said = False

    async def connected(self, connect: Callable[[], Awaitable[T]]) -> T:
        """What `connect` gives as soon as it can."""
        while True:
            try:
                return await connect()
            except NoBrokersAvailableError as error:
                if not self._waits(error):
                    raise
            await asyncio.sleep(_PAUSE_S)

    def made(self, make: Callable[[], T]) -> T:
        """What `make` makes as soon as it can."""
        while True:
            try:
                return make()
            except NoBrokersAvailableError as error:
                if not self._waits(error):
                    raise
            time.sleep(_PAUSE_S)

    def _waits(self, error: NoBrokersAvailableError) -> bool:
        """Whether to try again; says so once if it takes a while."""
        if any(isinstance(attempt.error, ControllerPortError) or _is_foreign(attempt) for attempt in error.attempts):
            return False
        is_refused = bool(error.attempts) and all(map(_is_refused, error.attempts))
        waited = time.monotonic() - self._started
        if waited + _PAUSE_S >= (self._seconds if is_refused else min(self._seconds, _OTHERWISE_SECONDS)):
            return False
        if is_refused and waited >= _SAY_AFTER_S and not self._has_said:
            self._has_said = True
            where = ", ".join(attempt.address.removesuffix(" (bootstrap)") for attempt in error.attempts)
            said = f"Nothing listens at {where} yet. Waiting up to {self._seconds:.0f} s for a broker; Ctrl-C ends."
            print(Style.of(sys.stderr).paint(said, Tone.FAINT), file=sys.stderr)
        return True


def _is_refused(attempt: FailedAttempt) -> bool:
    return attempt.error is not None and isinstance(attempt.error.__cause__, ConnectionRefusedError)


def _is_foreign(attempt: FailedAttempt) -> bool:
    """Whether something else than Kafka answered."""
    return attempt.error is not None and isinstance(attempt.error.__cause__, InvalidFrameError)
