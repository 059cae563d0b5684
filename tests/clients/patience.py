"""Waiting for what a cluster promises only for soon: an answered change is not yet seen by every part of a server."""

import time
from collections.abc import Callable
from typing import TypeVar

T = TypeVar("T")
_SECONDS = 60.0


def until(wanted: T, look: Callable[[], T]) -> None:
    """Looks until it sees what is wanted; fails with what it saw last."""
    deadline = time.monotonic() + _SECONDS
    while (seen := look()) != wanted:
        assert time.monotonic() < deadline, f"still {seen!r} instead of {wanted!r} after {_SECONDS} s"
        time.sleep(0.05)
