"""One pipeline's query in this runner, from its start to its end; never waits, it is looked at again and again.

It ends between two micro-batches if it can: a stop waits for a moment at which none is under way.
"""

import threading
import time
import traceback
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any, Final

from ottla.base.errors import OttlaError
from ottla.pipelines.failure import reason
from ottla.pipelines.runner.checkpoint_lock import CheckpointHeldError, CheckpointLock
from ottla.pipelines.runner.host.progress import progress_of
from ottla.pipelines.runner.kind import InvalidDefinitionError, Place, RestartsParts, TellsParts, kind_of
from ottla.pipelines.runner.spec import PipelineSpec

if TYPE_CHECKING:
    from pyspark.sql import SparkSession
    from pyspark.sql.streaming.query import StreamingQuery

Report = dict[str, Any]
_UP: Final = ("Waiting", "Processing")
"""How the messages begin of a query whose source has answered."""
_GRACE_SECONDS: Final = 10.0
"""How long a stop waits for a micro-batch; its work is lost then, and repeated by the next start."""
_PROGRESS_SECONDS: Final = 1.0
_REPEAT_SECONDS: Final = 10.0
"""Longer than the control process keeps from writing progress alone."""
_TRACE_CHARACTERS_MAX: Final = 20_000


class HostedQuery:
    """One attempt at a pipeline."""

    def __init__(self, spec: PipelineSpec, run: int, place: Place) -> None:
        self.name: Final = spec.name
        self.run: Final = run
        self.is_over = False
        self._spec: Final = spec
        self._place: Final = place
        self._lock: CheckpointLock | None = None
        self._query: StreamingQuery | None = None
        self._is_up = False
        self._stop_before_s: float | None = None
        self._stopping: threading.Thread | None = None
        self._told_batch = -1
        self._repeat_at_s = float("inf")
        self._told_parts: list[Mapping[str, Any]] = []
        self._looked_s = 0.0

    @property
    def is_changing(self) -> bool:
        """Whether its next state is expected soon."""
        return not self._is_up or self._stop_before_s is not None

    def start(self, spark: "SparkSession", lock: CheckpointLock | None) -> None:
        """Starts the query, with the lock of its checkpoint, where there are locks."""
        self._lock = lock
        kind = kind_of(self._spec.kind)
        kind.check(self._spec.definition)
        # Queries of different pipelines take turns instead of queueing behind one another.
        spark.sparkContext.setLocalProperty("spark.scheduler.pool", self.name)
        self._query = kind.start(spark, self._place)

    def stop(self) -> None:
        """Asks for its end."""
        if self._stop_before_s is None:
            self._stop_before_s = time.monotonic() + _GRACE_SECONDS
            told_of = _telling(self._query)
            if told_of is not None:
                told_of.hasten()

    def restart_parts(self, restarts: Mapping[str, int]) -> None:
        """Asks for restarts of parts, if the query has such."""
        query: object = self._query
        if isinstance(query, RestartsParts):
            query.restart_parts(restarts)

    def reports(self) -> Iterator[Report]:
        """The change since the last look."""
        query = self._query
        if query is None or self.is_over:
            return
        if not query.isActive:
            yield self._ended(query)
            return
        if not self._is_up and (query.recentProgress or query.status["message"].startswith(_UP)):
            self._is_up = True
            yield self._report("started")
        if self._stop_before_s is not None:
            self._go_on_stopping(query)
        elif self._is_up and time.monotonic() - self._looked_s >= _PROGRESS_SECONDS:
            self._looked_s = time.monotonic()
            yield from self._progressed(query)

    def _progressed(self, query: "StreamingQuery") -> Iterator[Report]:
        told_of = _telling(query)
        if told_of is not None:
            parts = list(told_of.parts())
            now_s = time.monotonic()
            if parts != self._told_parts or now_s >= self._repeat_at_s:
                # The control process leaves out what comes too often, so the last of it is told once more.
                self._repeat_at_s = now_s + _REPEAT_SECONDS if parts != self._told_parts else float("inf")
                self._told_parts = parts
                yield self._report("progressed", progress=dict(told_of.progress()), parts=parts)
            return
        last = query.lastProgress
        if last is not None and last["batchId"] != self._told_batch:
            self._told_batch = last["batchId"]
            yield self._report("progressed", progress=progress_of(last))

    def failed(self, error: Exception) -> Report:
        """The report about a start that failed; the checkpoint is let go."""
        from pyspark.errors import AnalysisException, ParseException

        self.is_over = True
        if self._lock is not None:
            # The start may have come further than we know.
            self._lock.abandon()
        is_permanent = isinstance(error, (InvalidDefinitionError, AnalysisException, ParseException))
        text = str(error) if isinstance(error, OttlaError) else _trace(error)
        return self._report(
            "ended", trace=text, is_permanent=is_permanent, is_busy=isinstance(error, CheckpointHeldError)
        )

    def _close(self) -> None:
        """Lets go of the checkpoint: nothing of the query runs any more."""
        self.is_over = True
        if self._lock is not None:
            self._lock.release()

    def _go_on_stopping(self, query: "StreamingQuery") -> None:
        assert self._stop_before_s is not None
        if self._stopping is not None:
            return
        if not query.status["isTriggerActive"] or time.monotonic() >= self._stop_before_s:
            # Spark waits in there for the query's thread; the other queries go on meanwhile.
            self._stopping = threading.Thread(target=_stop, args=(query,), daemon=True)
            self._stopping.start()

    def _ended(self, query: "StreamingQuery") -> Report:
        self._close()
        error = query.exception()
        if self._stop_before_s is not None or error is None:
            return self._report("ended")
        return self._report("ended", trace=f"{reason(error)}\n\n{error}"[:_TRACE_CHARACTERS_MAX])

    def _report(self, say: str, **more: object) -> Report:
        return {"say": say, "name": self.name, "run": self.run, **more}


def _telling(query: object) -> TellsParts | None:
    return query if isinstance(query, TellsParts) else None


def _stop(query: "StreamingQuery") -> None:
    try:
        query.stop()
    except Exception:  # noqa: BLE001  (an edge: py4j raises all kinds when the JVM is on its way out)
        traceback.print_exc()


def _trace(error: Exception) -> str:
    text = "".join(traceback.format_exception(error))
    return f"{reason(error)}\n\n{text}"[:_TRACE_CHARACTERS_MAX]


def trigger_of(name: str, definition: Mapping[str, Any]) -> str:
    """How often a pipeline looks for records: a little different for each, so that they do not all look at once.

    >>> trigger_of("a", {}), trigger_of("b", {"trigger.interval.ms": 1000})
    ('201 milliseconds', '981 milliseconds')
    """
    import zlib

    wanted = definition.get("trigger.interval.ms", 200)
    if not isinstance(wanted, int) or not 0 <= wanted <= 86_400_000:
        raise InvalidDefinitionError(f"'trigger.interval.ms' has to be milliseconds, not {wanted!r}")
    return f"{wanted * (900 + zlib.crc32(name.encode()) % 200) // 1000} milliseconds"
