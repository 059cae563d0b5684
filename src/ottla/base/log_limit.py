"""Lines that a stranger could repeat without end, said once per subject and period with a count of the rest.

Memory is bounded: when too many subjects are remembered the one that spoke longest ago is forgotten.
"""

import logging
from collections.abc import Hashable
from typing import Final

from ottla.base.clock import Clock


class LimitedLog:
    """A logger that says a thing about a subject once in a while.

    >>> from ottla.base.system_clock import SystemClock
    >>> refused = LimitedLog(logging.getLogger("ottla.doc"), SystemClock())
    >>> refused.warning("10.0.0.7", "%s sent a frame of %d bytes", "10.0.0.7", 1 << 31)
    """

    __slots__ = ("_clock", "_interval_ms", "_logger", "_said", "_subjects_max")

    def __init__(
        self,
        logger: logging.Logger | logging.LoggerAdapter[logging.Logger],
        clock: Clock,
        *,
        interval_ms: int = 60_000,
        subjects_max: int = 1_000,
    ) -> None:
        self._logger: Final = logger
        self._clock: Final = clock
        self._interval_ms: Final = interval_ms
        self._subjects_max: Final = subjects_max
        self._said: Final[dict[Hashable, tuple[int, int]]] = {}
        """By subject, the oldest first: when it was last said, and how often it was held back since."""

    def warning(self, subject: Hashable, message: str, *args: object) -> None:
        """Say it at WARN, unless this subject was spoken of within the interval."""
        self.log(logging.WARNING, subject, message, *args)

    def info(self, subject: Hashable, message: str, *args: object) -> None:
        """Say it at INFO, unless this subject was spoken of within the interval."""
        self.log(logging.INFO, subject, message, *args)

    def log(self, level: int, subject: Hashable, message: str, *args: object) -> None:
        """Say it at `level`, unless this subject was spoken of within the interval; then count it."""
        now_ms = self._clock.monotonic_ms()
        said_ms, held_back = self._said.get(subject, (None, 0))
        if said_ms is not None and now_ms - said_ms < self._interval_ms:
            self._said[subject] = (said_ms, held_back + 1)
            return
        self._said.pop(subject, None)
        self._said[subject] = (now_ms, 0)
        if len(self._said) > self._subjects_max:
            del self._said[next(iter(self._said))]
        if held_back:
            message += " (and %d times since this was last said)"
            args = (*args, held_back)
        self._logger.log(level, message, *args)
