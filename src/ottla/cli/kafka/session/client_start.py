"""Clients that wait for a broker which is just starting, as Kafka's do."""

import time
from collections.abc import Callable
from typing import Final, TypeVar

from ottla.client.errors import NoBrokersAvailableError

T = TypeVar("T")

_PAUSE_S: Final = 0.5


def patiently(make: Callable[[], T], seconds: float) -> T:
    """What `make` makes as soon as a broker can be reached; `NoBrokersAvailableError` after `seconds` without one."""
    deadline = time.monotonic() + seconds
    while True:
        try:
            return make()
        except NoBrokersAvailableError:
            if time.monotonic() + _PAUSE_S >= deadline:
                raise
            time.sleep(_PAUSE_S)
