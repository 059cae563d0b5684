"""Times and durations as Kafka's tools take them."""

import re
from datetime import UTC, datetime
from typing import Final

from ottla.cli.kafka.argument.option import OptionValueError

_ZONE: Final = re.compile(r"(.*T[^+Z-]*)(Z|[+-]\d{2}(?::?\d{2})?)?")
_DURATION: Final = re.compile(
    r"([+-]?)P(?:([+-]?\d+)D)?(?:T(?:([+-]?\d+)H)?(?:([+-]?\d+)M)?(?:([+-]?\d+(?:\.\d+)?)S)?)?", re.IGNORECASE
)
_SECONDS: Final = (86_400, 3_600, 60, 1)


class MomentError(OptionValueError):
    """A text that is no time; Java's words."""

    java_class = "java.lang.RuntimeException"


class DurationError(OptionValueError):
    """A text that is no duration; Java's words."""

    java_class = "java.time.format.DateTimeParseException"


def parse_moment_ms(text: str) -> int:
    """Milliseconds since 1970; without a zone the time is in UTC.

    >>> parse_moment_ms("1970-01-01T00:00:01.500"), parse_moment_ms("1970-01-01T01:00:00.000+01:00")
    (1500, 0)
    """
    if "T" not in text:
        raise MomentError(
            "java.text.ParseException: Error parsing timestamp. It does not contain a 'T' according to ISO8601 format"
        )
    found = _ZONE.fullmatch(text)
    zone = found[2] if found is not None else None
    try:
        moment = datetime.strptime(found[1] if found else text, "%Y-%m-%dT%H:%M:%S.%f").replace(tzinfo=UTC)
    except ValueError:
        shown = text if zone else f"{text}Z"
        raise MomentError(f'java.text.ParseException: Unparseable date: "{shown}"') from None
    return round(moment.timestamp() * 1000) - _zone_ms(zone)


def _zone_ms(zone: str | None) -> int:
    if zone is None or zone == "Z":
        return 0
    digits = zone[1:].replace(":", "").ljust(4, "0")
    minutes = int(digits[:2]) * 60 + int(digits[2:])
    return (-minutes if zone[0] == "-" else minutes) * 60_000


def parse_duration_ms(text: str) -> int:
    """ISO 8601's durations of days, hours, minutes and seconds.

    >>> parse_duration_ms("P1DT2H"), parse_duration_ms("PT0.5S"), parse_duration_ms("-PT1M")
    (93600000, 500, -60000)
    """
    found = _DURATION.fullmatch(text)
    if found is None or not any(found.groups()[1:]) or text.upper().endswith("T"):
        raise DurationError("Text cannot be parsed to a Duration")
    sign, *parts = found.groups()
    seconds = sum(float(part) * unit for part, unit in zip(parts, _SECONDS, strict=True) if part)
    return round(seconds * 1000) * (-1 if sign == "-" else 1)
