"""The garbage collector, out of the way of work that makes a great many objects which stay.

Loading ten thousand logs or a cluster's metadata makes objects without cycles, and the collector would walk over all of
them time and again: with 200,000 partitions that is more than half of the time.
"""

import gc
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

_YOUNG_MAX: Final = 10_000
"""Objects more than before that set off a collection. Ordinary requests make fewer, and none of theirs is in a cycle:
they are gone before the collector has seen them."""

_YOUNG_ROUNDS: Final = 3
"""What survived so many collections is seen once more, in one piece: 40,000 objects are 3 to 10 ms. It was 300,000
once, and 150 ms whenever a few thousand topics were created or described."""

_MIDDLE_ROUNDS: Final = 150
"""Collections of those before all that is not frozen is looked at. Python's own 700, 10 and 10 do that so often that
reading a request of 200,000 partitions takes up to five times as long."""


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
    gc.set_threshold(_YOUNG_MAX, _YOUNG_ROUNDS, _MIDDLE_ROUNDS)
