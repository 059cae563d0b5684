"""Threads for work that blocks, which report to the log what they did not expect."""

import logging
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Final

_log = logging.getLogger(__name__)


class WorkerThread:
    """One thread; jobs run one after the other. It is started by the first."""

    def __init__(self, name: str) -> None:
        self._name: Final = name
        self._pool: Final = ThreadPoolExecutor(1, name)

    def submit(self, job: Callable[[], None]) -> None:
        """Runs the job some time."""
        self._pool.submit(job).add_done_callback(self._report)

    def close(self) -> None:
        """Drops what has not begun, and waits for the job that runs."""
        self._pool.shutdown(wait=True, cancel_futures=True)

    def _report(self, outcome: "Future[None]") -> None:
        if not outcome.cancelled() and (error := outcome.exception()) is not None:
            _log.error("[%s] a job failed: %s", self._name, error, exc_info=error)
