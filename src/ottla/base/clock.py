"""The time, as a port: code that needs it is handed a `Clock`, so that a simulation can turn the hands.

This module reads no clock itself; `system_clock` does.
"""

from typing import Protocol


class Clock(Protocol):
    """Two readings of the time."""

    def now_ms(self) -> int:
        """Milliseconds since 1970, as records carry them; may jump."""
        ...

    def monotonic_ms(self) -> int:
        """Milliseconds since an arbitrary moment, for measuring spans; never goes back."""
        ...
