"""Threads that change over where they hardly ever do.

A collection of garbage may begin wherever a container is made, within `list(a_dict)` too. A pause at its end lets
another thread run just there, and collections come often. What two threads touch without an owner or a lock goes wrong
once an hour; here it does in seconds.
"""

import gc
import sys
from collections.abc import Iterator
from contextlib import contextmanager

# The function itself: unit tests, which may not wait for anything, find another one in `time`.
from time import sleep
from typing import Final

YOUNG_MAX: Final = 50
"""Objects more than before that set off a collection."""
_PAUSE_SECONDS: Final = 0.0002
_SWITCH_SECONDS: Final = 1e-6


def begin() -> None:
    """From here on threads change over like that; the thresholds of the collector are the caller's business."""
    sys.setswitchinterval(_SWITCH_SECONDS)
    gc.callbacks.append(_pause)


@contextmanager
def racing_threads() -> Iterator[None]:
    """Threads change over like that within."""
    interval, thresholds = sys.getswitchinterval(), gc.get_threshold()
    gc.collect()
    # What is there is not walked over by each collection.
    gc.freeze()
    begin()
    gc.set_threshold(YOUNG_MAX, 5, 1_000)
    try:
        yield
    finally:
        gc.set_threshold(*thresholds)
        gc.callbacks.remove(_pause)
        sys.setswitchinterval(interval)
        gc.unfreeze()


def _pause(phase: str, info: dict[str, int]) -> None:
    if phase == "stop":
        sleep(_PAUSE_SECONDS)
