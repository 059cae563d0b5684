"""A thread that works beside the queries of a run, and whose failure is for the main thread to tell.

A traceback of its own would land in the middle of the screen, and the run would go on without it.
"""

import threading
from collections.abc import Callable
from concurrent.futures import CancelledError
from typing import Final

from ottla.base.errors import OttlaError


class Companion(threading.Thread):
    """Ends with the process, if not before."""

    def __init__(self, work: Callable[[], None]) -> None:
        super().__init__(daemon=True)
        self._work: Final = work
        self._error: OttlaError | None = None

    def run(self) -> None:
        """The work, in the thread."""
        try:
            self._work()
        except OttlaError as error:
            self._error = error
        except CancelledError:
            # The process ends, and the event loops of its clients with it: no caller is left to be told.
            return

    def check(self) -> None:
        """Raises, in any other thread, what has ended the work."""
        if self._error is not None:
            raise self._error
