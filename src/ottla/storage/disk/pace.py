"""The health of a disk: its users report, and the loop asks before it does anything that might wait.

A disk is not well while an operation on it takes long, when one took long, or when the device completes nothing though
it was asked to; and for some seconds after the last such sign. It is stuck while an operation is under way for so long
that the next one will wait, too.

Operations that other threads wait for count from their beginning (`under_way`), so that a flush that hangs is a sign
before it ends. Writes that the loop makes itself count when they end: `took`.
"""

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Final

SLOW_SECONDS: Final = 0.5
"""A write into the page cache that takes longer than this was waiting for the disk, and not for a busy processor."""
HANGING_SECONDS: Final = 0.5
"""A flush may well take some time; for longer than this it is a sign."""
_WELL_AFTER_SECONDS: Final = 5.0


def _nobody(slow: bool) -> None:
    """Has no effect."""


class DiskPace:
    """The state of one disk. Any thread may report and ask; `look` is for one."""

    def __init__(self, now: Callable[[], float] = time.monotonic, *, is_timed: bool = True) -> None:
        self._now: Final = now
        self._is_timed: Final = is_timed
        """Whether it matters how long something takes."""
        self._lock: Final = threading.Lock()
        self._begun: dict[object, tuple[float, float]] = {}
        """When each operation began that is under way, and how long it may take."""
        self._last_sign: float | None = None
        self.is_always_slow = False
        """Whether it is taken for slow whatever is seen."""
        self.is_slow = False
        self.changed: Callable[[bool], None] = _nobody
        """Told when `is_slow` changes, by the thread that finds out."""

    @contextmanager
    def under_way(self, patience: float = HANGING_SECONDS) -> Iterator[None]:
        """An operation that a thread may wait for, and for how many seconds that is nothing special."""
        key, begun = object(), self._now()
        with self._lock:
            self._begun[key] = (begun, patience)
        try:
            yield
        finally:
            with self._lock:
                del self._begun[key]
            if self._now() - begun >= patience:
                self.note_sign()

    def took(self, seconds: float) -> None:
        """A write has taken so long."""
        if seconds >= SLOW_SECONDS:
            self.note_sign()

    def note_sign(self) -> None:
        """Something shows that the disk is not well."""
        if self._is_timed:
            with self._lock:
                self._last_sign = self._now()
            self._become(is_slow=True)

    @property
    def is_stuck(self) -> bool:
        """Whether something is under way for so long that it is better not to begin anything else."""
        if not self._begun or not self._is_timed:
            return False
        now = self._now()
        with self._lock:
            return any(now - begun >= patience for begun, patience in self._begun.values())

    def look(self) -> None:
        """Finds out what has changed by the time alone; for the loop, several times a second."""
        if self.is_always_slow:
            self._become(is_slow=True)
        elif self.is_stuck:
            self.note_sign()
        elif self._last_sign is not None and self._now() - self._last_sign >= _WELL_AFTER_SECONDS:
            self._last_sign = None
            self._become(is_slow=False)

    def _become(self, *, is_slow: bool) -> None:
        if self.is_slow != is_slow:
            self.is_slow = is_slow
            self.changed(is_slow)


UNWATCHED: Final = DiskPace(is_timed=False)
"""Of a disk that is not watched."""
