"""Lets maintenance threads change closed segments of a log through the thread that writes the log.

The writer serves clients: it waits for no disk and no lock. The maintenance thread does, and keeps the log free for it.
A disk that does not answer just now is asked again a little later.
"""

import threading
from collections.abc import Callable
from typing import Final, TypeAlias

from ottla.storage.log.log import Log

_PAUSE_SECONDS: Final = 0.1

RunOnWriter: TypeAlias = Callable[[Callable[[], None]], None]
"""Runs a change on the writer's thread, and returns when it is made."""


def change_closed_segments(log: Log, run_on_writer: RunOnWriter, change: Callable[[], None], tries: int) -> bool:
    """Has a change made, between two appends or flushes; False if the disk answered at none of so many tries."""
    is_made = False

    def claim_and_change() -> None:
        nonlocal is_made
        if log.claim_closed():
            try:
                change()
            finally:
                log.release_claim()
            is_made = True

    for number in range(tries):
        if number:
            threading.Event().wait(_PAUSE_SECONDS)
        with log.reserved():
            run_on_writer(claim_and_change)
        if is_made:
            break
    return is_made
