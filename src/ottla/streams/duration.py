"""Durations as users write them, in milliseconds as the engine keeps them."""

from datetime import timedelta
from typing import TypeAlias

Duration: TypeAlias = timedelta | int
"""A `timedelta`, or milliseconds."""


def milliseconds(duration: Duration, name: str) -> int:
    """The duration in milliseconds; `ValueError` names a negative one.

    >>> milliseconds(timedelta(seconds=5), "size")
    5000
    """
    value = int(duration.total_seconds() * 1000) if isinstance(duration, timedelta) else int(duration)
    if value < 0:
        raise ValueError(f"{name} cannot be negative: {value} ms")
    return value
