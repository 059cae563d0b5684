"""A connector's query as its runner sees it: Spark's, with the states of tasks, and an end that waits for no shift.

Invariant: tasks that wait for a slot get one after a while, because tasks of all connectors of this process that have
one then end their shifts.
"""

import time
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Final

from ottla.pipelines.connect.board import Board
from ottla.pipelines.connect.part import TaskState

if TYPE_CHECKING:
    from pyspark.sql.streaming.query import StreamingQuery

_active: Final["set[ConnectorQuery]"] = set()


class ConnectorQuery:
    """A `StreamingQuery` for `HostedQuery` that adds the states of tasks."""

    def __init__(self, query: "StreamingQuery", board: Board, slots: int) -> None:
        self._query: Final = query
        self._board: Final = board
        self._slots: Final = slots
        self._told_s = time.monotonic()
        self._told_records = 0
        _active.add(self)

    @property
    def isActive(self) -> bool:  # noqa: N802
        """Whether the query runs. Also ends shifts if tasks wait for slots."""
        if self._query.isActive:
            end_shifts_in_crowd(self._slots)
            return True
        self._close()
        return False

    @property
    def status(self) -> dict[str, Any]:
        """Spark's status of the query; a micro-batch whose tasks have ended counts as over."""
        told = dict(self._query.status)
        return {**told, "isTriggerActive": told["isTriggerActive"] and not self._board.has_ended}

    @property
    def recentProgress(self) -> list[Any]:  # noqa: N802
        """The tasks that have started; Spark lists micro-batches here."""
        return [part for part in self._board.parts() if part.state is not TaskState.UNASSIGNED]

    def parts(self) -> list[dict[str, Any]]:
        """The tasks as the pipeline's status has them."""
        return [part.to_json() for part in self._board.parts()]

    def progress(self) -> dict[str, Any]:
        """The figures of the pipeline's status since the last call."""
        parts = self._board.parts()
        records, lag = sum(part.records for part in parts), sum(part.lag or 0 for part in parts)
        now_s = time.monotonic()
        rate = (records - self._told_records) / max(now_s - self._told_s, 0.001)
        rows = records - self._told_records
        self._told_s, self._told_records = now_s, records
        return {
            "rows": rows,
            "rows_per_s": round(rate, 1),
            "lag": lag,
            "batch_ms": 0,
            "state_rows": 0,
            "state_bytes": 0,
        }

    def restart_parts(self, restarts: Mapping[str, int]) -> None:
        """Starts tasks again by their numbers."""
        self._board.restart(restarts)

    def exception(self) -> Any:
        """Why Spark ended it."""
        return self._query.exception()

    def hasten(self) -> None:
        """Ends the tasks in order, so that the micro-batch ends and the query can be stopped."""
        self._board.end()

    def stop(self) -> None:
        """Ends it."""
        self._board.end()
        try:
            self._query.stop()
        finally:
            self._close()

    def _close(self) -> None:
        _active.discard(self)
        self._board.close()


def end_shifts_in_crowd(slots: int) -> None:
    """Takes slots from tasks that have had theirs for a while, if not every task of this process has one.

    One slot is left for the other pipelines of the runner.
    """
    boards = [query._board for query in _active]
    if sum(len(board.parts()) for board in boards) >= slots > 1:
        for board in boards:
            board.end_shifts()
