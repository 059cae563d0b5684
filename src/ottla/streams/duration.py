"""Durations as users write them, in milliseconds as the engine keeps them."""

from datetime import timedelta
from typing import Final, TypeAlias

_MILLISECOND: Final = timedelta(milliseconds=1)
Duration: TypeAlias = timedelta | int
"""A `timedelta`, or milliseconds."""


def milliseconds(duration: Duration, complaint: str) -> int:
    """The duration in milliseconds; `ValueError` with the complaint where it is negative.

    >>> milliseconds(timedelta(seconds=5), "size cannot be negative")
    5000
    """
    value = signed_milliseconds(duration)
    if value < 0:
        raise ValueError(complaint)
    return value


def signed_milliseconds(duration: Duration) -> int:
    """The duration in milliseconds, which may be negative.

    >>> signed_milliseconds(timedelta(seconds=-1))
    -1000
    """
    return duration // _MILLISECOND if isinstance(duration, timedelta) else int(duration)
