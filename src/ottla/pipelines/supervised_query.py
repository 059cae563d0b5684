"""A streaming query that is started again when it ends by itself: its checkpoint says where it goes on.

Spark gives the Python process of a source ten seconds to come up, whatever the machine is busy with, and ends the query
if it takes longer; many queries that start at once end one another. So one is started after the other, and what failed
is tried again, later each time. A query that fails over and over is given up, with the reason.
"""

import logging
import time
from collections.abc import Callable
from typing import TYPE_CHECKING, Final

from ottla.base.errors import OttlaError
from ottla.pipelines.failure import reason

if TYPE_CHECKING:
    from pyspark.sql.streaming.listener import StreamingQueryProgress
    from pyspark.sql.streaming.query import StreamingQuery

_log = logging.getLogger(__name__)

_POLL_SECONDS: Final = 0.1
_PAUSE_SECONDS: Final = 1.0
_PAUSE_SECONDS_MAX: Final = 30.0
_HEALTHY_SECONDS: Final = 60.0
"""After so long without a failure, earlier ones are forgotten."""
_UP: Final = ("Waiting", "Processing")
"""How the messages begin of a query whose source has answered."""


class QueryFailedError(OttlaError):
    """A query ended by itself too often."""


class SupervisedQuery:
    """One query; `start_query` starts it, with a checkpoint of its own."""

    def __init__(
        self,
        start_query: Callable[[], "StreamingQuery"],
        *,
        restarts_max: int = 5,
        is_permanent: Callable[[str], bool] = lambda text: False,
        is_passing: Callable[[str], bool] = lambda text: False,
        pause: Callable[[float], object] | None = None,
    ) -> None:
        """`is_permanent` tells by an error's text that a restart would only meet it again, `is_passing` that it is
        tried again however often it comes. `pause` waits some seconds before; what it raises ends the query.
        """
        self._pause: Final = pause
        self._is_passing: Final = is_passing
        self._is_permanent: Final = is_permanent
        self._start_query: Final = start_query
        self._restarts_max: Final = restarts_max
        self._query: StreamingQuery | None = None
        self._failures = 0
        self._failed_at_s = float("-inf")

    @property
    def query(self) -> "StreamingQuery":
        """The one that runs now."""
        assert self._query is not None, "it was not started"
        return self._query

    def start(self, *, meanwhile: Callable[[], None] | None = None) -> None:
        """Starts it and waits until its source has answered; `QueryFailedError` if it won't.

        `meanwhile` is called while it waits; what that raises ends the wait.
        """
        self._query = self._start_query()
        while not self._is_up():
            if meanwhile is not None:
                meanwhile()
            self.check()
            time.sleep(_POLL_SECONDS)

    def check(self) -> None:
        """Starts it again if it has failed; `QueryFailedError` if it did so too often."""
        if not self.query.isActive and self.query.exception() is not None:
            self._restart()

    def stop(self) -> None:
        """Ends it."""
        if self._query is not None:
            self._query.stop()

    def is_busy(self) -> bool:
        """Whether a micro-batch is under way."""
        query = self._query
        return query is not None and query.isActive and bool(query.status["isTriggerActive"])

    def progress(self) -> "StreamingQueryProgress | None":
        """Spark's report on the last micro-batch."""
        return None if self._query is None else self._query.lastProgress

    def _is_up(self) -> bool:
        query = self.query
        if not query.isActive:
            # It has done what there was to do (availableNow), or it has failed.
            return query.exception() is None
        return bool(query.recentProgress) or query.status["message"].startswith(_UP)

    def _restart(self) -> None:
        now_s = time.monotonic()
        self._failures = 1 if now_s - self._failed_at_s > _HEALTHY_SECONDS else self._failures + 1
        self._failed_at_s = now_s
        query, text = self.query, str(self.query.exception())
        is_given_up = self._failures > self._restarts_max and not self._is_passing(text)
        if is_given_up or self._is_permanent(text):
            raise QueryFailedError(f"the query {query.name} ended: {reason(query.exception())}")
        _log.warning("The query %s ended, and is started again: %s", query.name, reason(query.exception()))
        (self._pause or time.sleep)(min(_PAUSE_SECONDS * 2 ** min(self._failures - 1, 10), _PAUSE_SECONDS_MAX))
        self._query = self._start_query()
