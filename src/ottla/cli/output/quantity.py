"""Sizes, durations, rates and times as people read them; `--json` has the plain numbers instead."""

from datetime import datetime
from typing import Final

_SIZES: Final = ("B", "kB", "MB", "GB", "TB", "PB")
_STEP: Final = 1000


def bytes_text(size: float) -> str:
    """A size in decimal units.

    >>> bytes_text(512), bytes_text(1_536_000), bytes_text(999_999)
    ('512 B', '1.5 MB', '1.0 MB')
    """
    unit = 0
    while unit < len(_SIZES) - 1 and round(size, 1) >= _STEP:
        size, unit = size / _STEP, unit + 1
    return f"{size:.0f} B" if unit == 0 else f"{size:.1f} {_SIZES[unit]}"


def duration_text(seconds: float) -> str:
    """A duration in its two largest units.

    >>> duration_text(0), duration_text(0.0123), duration_text(75), duration_text(90_061)
    ('0 s', '12 ms', '1 min 15 s', '1 d 1 h')
    """
    if seconds == 0:
        return "0 s"
    if seconds < 1:
        return f"{seconds * 1000:.0f} ms"
    if seconds < 10:
        return f"{seconds:.1f} s"
    left = round(seconds)
    parts = []
    for name, length in (("d", 86_400), ("h", 3_600), ("min", 60), ("s", 1)):
        count, left = divmod(left, length)
        if count:
            parts.append(f"{count} {name}")
        elif parts:
            break
    return " ".join(parts[:2])


def moment_text(timestamp_ms: int) -> str:
    """A time of day here, to the millisecond; what is no time stays a number."""
    try:
        moment = datetime.fromtimestamp(timestamp_ms / 1000)
    except (OverflowError, OSError, ValueError):
        return str(timestamp_ms)
    return moment.isoformat(" ", "milliseconds")


def counted(count: int, noun: str, plural: str | None = None) -> str:
    """A number with its noun.

    >>> counted(1, "record"), counted(1200, "record")
    ('1 record', '1,200 records')
    """
    return f"{count:,} {noun if count == 1 else plural or noun + 's'}"
