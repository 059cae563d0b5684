"""The garbage collector, out of the way of work that makes a great many objects which stay.

Loading ten thousand logs or a cluster's metadata makes objects without cycles, and the collector would walk over all of
them time and again: with 200,000 partitions that is more than half of the time.
"""

import gc
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

_YOUNG_MAX: Final = 50_000
"""Objects more than before that set off a collection. Python's own 700 make reading a request of 200,000 partitions
take five times as long: none of its objects is in a cycle, and all are looked at again and again while it is read."""

_YOUNG_ROUNDS: Final = 5
"""Objects that survived so many collections are visited once more: 250,000 take 40 ms, a million 0.15 s."""


@contextmanager
def collector_off() -> Iterator[None]:
    """No collection within; what it was before, it is again afterwards.

    >>> with collector_off():
    ...     gc.isenabled()
    False
    """
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            gc.enable()


def grow_old() -> None:
    """Moves all that is young to the oldest generation unseen: else the next object would have it all looked at.

    For the end of a start: it counts what is frozen, one by one, and does nothing where something is.
    """
    if not gc.get_freeze_count():
        gc.freeze()
        gc.unfreeze()


def settle() -> None:
    """A server has started: what is there now mostly stays, and what comes mostly goes without a collector."""
    gc.freeze()
    gc.set_threshold(_YOUNG_MAX, _YOUNG_ROUNDS, 20)
