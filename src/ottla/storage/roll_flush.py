"""Flushes segments that were closed, in the background, so that a crash need not read them again.

The thread that appends only leaves a note. A log that is closed or deleted before its turn needs no flush any more, and
one that rolls again before its turn needs one flush. Without a worker (`start`) logs are flushed when they are closed.
"""

import logging
import threading
from collections.abc import Callable
from typing import Final, TypeAlias

from ottla.base.clock import Clock
from ottla.storage.errors import LogOfflineError, StorageError
from ottla.storage.log.log import Log

_log = logging.getLogger(__name__)

Submit: TypeAlias = Callable[[Callable[[], None]], None]
"""Runs a job some time, on a thread that may wait for a disk; one job after the other."""


class RollFlush:
    """The closed segments of one log directory. `failed` hears of each log that could not be flushed."""

    def __init__(self, clock: Clock, failed: Callable[[StorageError], None]) -> None:
        self._clock: Final = clock
        self._failed: Final = failed
        self._lock: Final = threading.Lock()
        self._offsets: dict[Log, int] = {}
        self._submit: Submit | None = None

    def start(self, submit: Submit) -> None:
        """Begins to flush, on a worker."""
        with self._lock:
            self._submit = submit

    def stop(self) -> None:
        """Stops submitting flushes."""
        with self._lock:
            self._submit = None
            self._offsets = {}

    def request(self, log: Log, offset: int) -> None:
        """Has everything of the log below an offset flushed."""
        with self._lock:
            if self._submit is not None:
                is_idle = not self._offsets
                self._offsets[log] = offset
                if is_idle:
                    self._submit(self._run)

    def _run(self) -> None:
        while (found := self._first()) is not None:
            log, offset = found
            try:
                log.flush(self._clock.now_ms(), offset)
            except LogOfflineError:
                pass  # It was told when it went offline.
            except StorageError as error:
                _log.error("[%s] flush failed: %s", log.directory, error)
                self._failed(error)
            finally:
                self._done(log, offset)

    def _first(self) -> tuple[Log, int] | None:
        with self._lock:
            return next(iter(self._offsets.items()), None)

    def _done(self, log: Log, offset: int) -> None:
        with self._lock:
            if self._offsets.get(log) == offset:
                del self._offsets[log]
