"""Files that are out of use and go after `file.delete.delay.ms`, so that reads under way can finish.

They are renamed already (`.deleted`, `-delete`), so a restart in between removes them and nothing is lost.
"""

import heapq
import itertools
import logging
import threading
from collections.abc import Callable, Iterable

from ottla.storage.errors import StorageError
from ottla.storage.log.log import Log
from ottla.storage.segment.segment import Segment

_log = logging.getLogger(__name__)


class DelayedRemoval:
    """Files to remove, by the time when it is due."""

    def __init__(self) -> None:
        self._heap: list[tuple[int, int, str, Callable[[], None]]] = []
        self._sequence = itertools.count()
        self._lock = threading.Lock()

    def __len__(self) -> int:
        return len(self._heap)

    def add_segments(self, segments: Iterable[Segment], due_ms: int) -> None:
        """Segments that a log dropped."""
        for segment in segments:
            self._add(due_ms, segment.path(), segment.delete)

    def add_log(self, log: Log, due_ms: int) -> None:
        """A whole log whose directory is called `-delete`."""
        self._add(due_ms, log.directory, log.delete)

    def next_due_ms(self) -> int | None:
        """The time of the next removal; None if nothing waits."""
        with self._lock:
            return self._heap[0][0] if self._heap else None

    def run_due(self, now_ms: int) -> list[StorageError]:
        """Removes what is due; what could not be is given up and reported."""
        problems = []
        while (remove := self._take(now_ms)) is not None:
            try:
                remove()
            except StorageError as error:
                _log.error("cannot remove: %s", error)
                problems.append(error)
        return problems

    def _add(self, due_ms: int, path: str, remove: Callable[[], None]) -> None:
        with self._lock:
            heapq.heappush(self._heap, (due_ms, next(self._sequence), path, remove))

    def _take(self, now_ms: int) -> Callable[[], None] | None:
        with self._lock:
            if not self._heap or self._heap[0][0] > now_ms:
                return None
            return heapq.heappop(self._heap)[3]
