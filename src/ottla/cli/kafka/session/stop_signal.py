"""What a tool does when it is asked to stop: it finishes, says its last words, and ends as the signal demands."""

import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Final

_SIGNALS: Final = (signal.SIGINT, signal.SIGTERM)


class StopSignal:
    """The signal that came, if any."""

    def __init__(self) -> None:
        self.number = 0

    @property
    def exit_code(self) -> int:
        """What a process that was ended by the signal returns, 0 without one."""
        return 128 + self.number if self.number else 0


@contextmanager
def stop_signal(on_stop: Callable[[], None]) -> Iterator[StopSignal]:
    """Calls `on_stop` for the first SIGINT or SIGTERM; only the main thread of a process may use it."""
    stop = StopSignal()

    def stopped(number: int, frame: FrameType | None) -> None:
        del frame
        stop.number = number
        # A second signal means that the user does not want to wait.
        restore()
        on_stop()

    def restore() -> None:
        for known, handler in before.items():
            signal.signal(known, handler)

    before = {number: signal.signal(number, stopped) for number in _SIGNALS}
    try:
        yield stop
    finally:
        restore()
