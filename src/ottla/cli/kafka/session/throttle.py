"""Holds a sender to so many records a second, as Kafka's performance tools do."""

import time
from typing import Final

_SLEEP_S_MIN: Final = 0.002
"""Shorter sleeps are saved up: the system would make them longer than asked for."""
_SLEEP_S_MAX: Final = 0.1
"""Longer ones are cut: a signal's handler can only say that they are over, not end them."""


class Throttle:
    """Slows down a loop that calls it after each record; a negative rate does nothing, 0 waits until it is woken."""

    def __init__(self, records_per_second: float) -> None:
        self._rate: Final = records_per_second
        self._start: Final = time.monotonic()
        self._deficit_s = 0.0
        self._is_woken = False

    def pause(self, sent: int) -> None:
        """Sleeps if `sent` records are more than there should be by now."""
        if self._rate < 0:
            return
        elapsed_s = time.monotonic() - self._start
        if elapsed_s <= 0 or sent / elapsed_s <= self._rate:
            return
        self._deficit_s += 1 / self._rate if self._rate else float("inf")
        if self._deficit_s >= _SLEEP_S_MIN:
            self._sleep()

    def wake(self) -> None:
        """Ends a sleep, and all to come; a signal's handler may call it."""
        self._is_woken = True

    def _sleep(self) -> None:
        while self._deficit_s >= _SLEEP_S_MIN and not self._is_woken:
            before = time.monotonic()
            time.sleep(min(self._deficit_s, _SLEEP_S_MAX))
            self._deficit_s -= time.monotonic() - before
