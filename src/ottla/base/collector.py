"""The garbage collector, out of the way of work that makes a great many objects which stay.

Loading ten thousand logs or a cluster's metadata makes objects without cycles, and the collector would walk over all of
them time and again: with 200,000 partitions that is more than half of the time.
"""

import gc
from collections.abc import Iterator
from contextlib import contextmanager


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
