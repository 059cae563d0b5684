"""Whether the device below a directory gets anything done, as Linux counts it.

`/sys/dev/block/MAJOR:MINOR/stat` has one line of numbers: reads completed, …, writes completed (5th), …, requests in
flight (9th), …, discards and flushes completed (12th, 16th). Requests in flight while none completes are a device that
does not answer. A file system without such a device (tmpfs, overlay, a network's) is not told of.
"""

import os
from pathlib import Path
from typing import Final

_COMPLETED: Final = (0, 4, 11, 15)
_IN_FLIGHT: Final = 8


class BlockDevice:
    """See `port.Device`. One thread asks it."""

    def __init__(self, directory: str, root: str = "/sys/dev/block") -> None:
        self._path = _stat_path(directory, root)
        self._completed: int | None = None
        """The count at the last look, if requests were in flight then."""

    def is_idle_with_work(self) -> bool:
        if self._path is None:
            return False
        try:
            counts = [int(word) for word in self._path.read_text().split()]
        except (OSError, ValueError):
            return False
        if len(counts) <= _IN_FLIGHT or not counts[_IN_FLIGHT]:
            self._completed = None
            return False
        before = self._completed
        self._completed = sum(counts[place] for place in _COMPLETED if place < len(counts))
        return before == self._completed


def _stat_path(directory: str, root: str) -> Path | None:
    try:
        number = os.stat(directory).st_dev
    except OSError:
        return None
    path = Path(root) / f"{os.major(number)}:{os.minor(number)}" / "stat"
    return path if path.exists() else None
