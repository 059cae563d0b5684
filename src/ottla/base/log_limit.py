"""Lines that a stranger could repeat without end, said once per subject and period with a count of the rest.

Code that has a clock says them through a `LimitedLog`. Code that has none marks them with `extra=repeatable(subject)`,
and the process's log holds the repetitions back (`RepeatFilter`). Memory is bounded: when too many subjects are
remembered the one that spoke longest ago is forgotten.
"""

import logging
from collections.abc import Hashable
from typing import Final

from ottla.base.clock import Clock

_INTERVAL_MS: Final = 60_000
_SUBJECTS_MAX: Final = 1_000
_MARK: Final = "repeatable"
_COUNTED: Final = " (and %d times since this was last said)"


class Repetitions:
    """The recently logged subjects. Has no clock: times are given."""

    __slots__ = ("_interval_ms", "_said", "_subjects_max")

    def __init__(self, *, interval_ms: int = _INTERVAL_MS, subjects_max: int = _SUBJECTS_MAX) -> None:
        self._interval_ms: Final = interval_ms
        self._subjects_max: Final = subjects_max
        self._said: Final[dict[Hashable, tuple[int, int]]] = {}
        """By subject, the oldest first: when it was last said, and how often it was held back since."""

    def held_back(self, subject: Hashable, now_ms: int) -> int | None:
        """How often a line was held back that may be said now; None if this one is held back, too."""
        said_ms, held_back = self._said.get(subject, (None, 0))
        if said_ms is not None and 0 <= now_ms - said_ms < self._interval_ms:
            self._said[subject] = (said_ms, held_back + 1)
            return None
        self._said.pop(subject, None)
        self._said[subject] = (now_ms, 0)
        if len(self._said) > self._subjects_max:
            del self._said[next(iter(self._said))]
        return held_back


class LimitedLog:
    """A logger that says a thing about a subject once in a while.

    >>> from ottla.base.system_clock import SystemClock
    >>> refused = LimitedLog(logging.getLogger("ottla.doc"), SystemClock())
    >>> refused.warning("10.0.0.7", "%s sent a frame of %d bytes", "10.0.0.7", 1 << 31)
    """

    __slots__ = ("_clock", "_logger", "_repetitions")

    def __init__(
        self,
        logger: logging.Logger | logging.LoggerAdapter[logging.Logger],
        clock: Clock,
        *,
        interval_ms: int = _INTERVAL_MS,
        subjects_max: int = _SUBJECTS_MAX,
    ) -> None:
        self._logger: Final = logger
        self._clock: Final = clock
        self._repetitions: Final = Repetitions(interval_ms=interval_ms, subjects_max=subjects_max)

    def warning(self, subject: Hashable, message: str, *args: object) -> None:
        """Say it at WARN, unless this subject was spoken of within the interval."""
        self.log(logging.WARNING, subject, message, *args)

    def info(self, subject: Hashable, message: str, *args: object) -> None:
        """Say it at INFO, unless this subject was spoken of within the interval."""
        self.log(logging.INFO, subject, message, *args)

    def log(self, level: int, subject: Hashable, message: str, *args: object) -> None:
        """Say it at `level`, unless this subject was spoken of within the interval; then count it."""
        held_back = self._repetitions.held_back(subject, self._clock.monotonic_ms())
        if held_back:
            self._logger.log(level, message + _COUNTED, *args, held_back)
        elif held_back is not None:
            self._logger.log(level, message, *args)


def repeatable(subject: Hashable) -> dict[str, Hashable]:
    """The `extra` of a line that is said about a subject once in a while, however often it is logged."""
    return {_MARK: subject}


class RepeatFilter(logging.Filter):
    """Holds repetitions of marked lines back, in the log of a process."""

    def __init__(self) -> None:
        super().__init__()
        self._repetitions: Final = Repetitions()

    def filter(self, record: logging.LogRecord) -> bool:
        """Whether a line is written; one that is written after others were held back tells how many."""
        subject = getattr(record, _MARK, None)
        if subject is None:
            return True
        held_back = self._repetitions.held_back((record.name, record.msg, subject), int(record.created * 1000))
        if held_back:
            record.msg, record.args = record.getMessage().replace("%", "%%") + _COUNTED, (held_back,)
        return held_back is not None
