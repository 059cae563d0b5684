"""Flushes for those who wait: one for all appends that came while the last one ran.

A worker thread takes everything that is waiting, flushes each log once up to the highest offset asked for, and tells
all who wait. Under load a flush so serves hundreds of appends, and a lone append waits for no timer. The thread is
started by the first request, so a broker that never waits for the disk has none.
"""

import logging
import threading
from collections.abc import Callable
from typing import Final, NamedTuple, TypeAlias

from ottla.base.clock import Clock
from ottla.storage.errors import StorageError
from ottla.storage.log.log import Log

_log = logging.getLogger(__name__)

FlushDone: TypeAlias = Callable[[StorageError | None], None]
"""Called on the worker thread: with None once the records are on the disk, or with what went wrong; must not raise."""


class _Waiter(NamedTuple):
    log: Log
    offset: int
    done: FlushDone


class GroupCommit:
    """The waiting appends of one log directory. `on_failure` hears of each log that could not be flushed."""

    def __init__(self, name: str, clock: Clock, on_failure: Callable[[StorageError], None]) -> None:
        self._name: Final = name
        self._clock: Final = clock
        self._on_failure: Final = on_failure
        self._changed: Final = threading.Condition()
        self._waiters: list[_Waiter] = []
        self._worker: threading.Thread | None = None
        self._is_closed = False

    def submit(self, log: Log, offset: int, done: FlushDone) -> None:
        """Has everything of the log below `offset` flushed, then calls `done`."""
        with self._changed:
            if self._is_closed:
                raise StorageError("the log directory is closed", log.directory)
            self._waiters.append(_Waiter(log, offset, done))
            if self._worker is None:
                self._worker = threading.Thread(target=self._run, name=f"group-commit-{self._name}", daemon=True)
                self._worker.start()
            self._changed.notify()

    def close(self) -> None:
        """Serves those who wait and ends the worker."""
        with self._changed:
            self._is_closed = True
            self._changed.notify()
        if self._worker is not None and self._worker is not threading.current_thread():
            self._worker.join()

    def _run(self) -> None:
        while waiters := self._take():
            for group in _by_log(waiters):
                self._commit(group)

    def _take(self) -> list[_Waiter]:
        with self._changed:
            while not self._waiters and not self._is_closed:
                self._changed.wait()
            waiters, self._waiters = self._waiters, []
            return waiters

    def _commit(self, waiters: list[_Waiter]) -> None:
        log = waiters[0].log
        problem: StorageError | None = None
        try:
            if log.recovery_point < (offset := max(waiter.offset for waiter in waiters)):
                log.flush(self._clock.now_ms(), offset)
        except StorageError as error:
            _log.error("[%s] flush failed: %s", log.directory, error)
            problem = error
        for waiter in waiters:
            waiter.done(problem)
        if problem is not None:
            self._on_failure(problem)


def _by_log(waiters: list[_Waiter]) -> list[list[_Waiter]]:
    groups: dict[int, list[_Waiter]] = {}
    for waiter in waiters:
        groups.setdefault(id(waiter.log), []).append(waiter)
    return list(groups.values())
