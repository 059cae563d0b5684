"""`auto.offset.reset`: where a partition starts that has no committed offset, or whose offset is out of range."""

import re
from enum import Enum
from typing import Final

from ottla.base.config import ConfigError
from ottla.base.frozen import frozen

LATEST_TIMESTAMP: Final = -1
EARLIEST_TIMESTAMP: Final = -2

_DURATION: Final = re.compile(
    r"P(?:(?P<days>\d+)D)?(?:T(?:(?P<hours>\d+)H)?(?:(?P<minutes>\d+)M)?(?:(?P<seconds>\d+(?:\.\d{1,9})?)S)?)?"
)


class ResetKind(Enum):
    """The four answers."""

    EARLIEST = "earliest"
    LATEST = "latest"
    NONE = "none"
    BY_DURATION = "by_duration"


@frozen
class OffsetReset:
    """A kind, and for `by_duration` how far to go back (KIP-1106).

    >>> OffsetReset.parse("by_duration:PT1H30M").duration_ms
    5400000
    >>> OffsetReset.parse("earliest").timestamp(now_ms=1000)
    -2
    """

    kind: ResetKind
    duration_ms: int = 0

    @classmethod
    def parse(cls, text: str) -> "OffsetReset":
        """Reads the setting; raises `ConfigError` for anything else."""
        name, colon, duration = text.partition(":")
        try:
            kind = ResetKind(name)
        except ValueError:
            raise ConfigError("auto.offset.reset", text, _REFUSAL) from None
        if (kind is ResetKind.BY_DURATION) != bool(colon):
            raise ConfigError("auto.offset.reset", text, _REFUSAL)
        return cls(kind, _duration_ms(duration, text) if colon else 0)

    def timestamp(self, now_ms: int) -> int:
        """The timestamp to send with ListOffsets."""
        if self.kind is ResetKind.EARLIEST:
            return EARLIEST_TIMESTAMP
        if self.kind is ResetKind.LATEST:
            return LATEST_TIMESTAMP
        return now_ms - self.duration_ms

    def __str__(self) -> str:
        return self.kind.value


EARLIEST: Final = OffsetReset(ResetKind.EARLIEST)
LATEST: Final = OffsetReset(ResetKind.LATEST)

_REFUSAL: Final = "Expected earliest, latest, none, or by_duration: and an ISO-8601 duration, as by_duration:PT1H"


def _duration_ms(duration: str, text: str) -> int:
    found = _DURATION.fullmatch(duration)
    if found is None or not any(found.groupdict().values()):
        raise ConfigError("auto.offset.reset", text, _REFUSAL)
    parts = {name: float(value) for name, value in found.groupdict(default="0").items()}
    seconds = ((parts["days"] * 24 + parts["hours"]) * 60 + parts["minutes"]) * 60 + parts["seconds"]
    return round(seconds * 1000)
