"""A query that fails is started again, and given up when it fails over and over."""

from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import pytest

from ottla.base.errors import OttlaError
from ottla.pipelines import supervised_query
from ottla.pipelines.supervised_query import QueryFailedError, SupervisedQuery


class Query:
    """What Spark shows of a query."""

    name = "copy"

    def __init__(self, error: str | None = None, *, is_active: bool = True, message: str = "Waiting for data") -> None:
        self.isActive = is_active and error is None
        self.recentProgress: list[object] = []
        self.status = {"message": message}
        self._error = error
        self.is_stopped = False

    def exception(self) -> Exception | None:
        return None if self._error is None else Exception(self._error)

    def stop(self) -> None:
        self.is_stopped = True


@pytest.fixture(autouse=True)
def pauses(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """How long it waited; the clock stands still."""
    found: list[float] = []
    # Not the module itself: a broker of other tests may run in this process, and its timers would never be due.
    monkeypatch.setattr(supervised_query, "time", SimpleNamespace(sleep=found.append, monotonic=lambda: 0.0))
    return found


def starting(*queries: Query) -> Callable[[], Any]:
    left = iter(queries)
    return lambda: next(left)


def test_a_query_whose_source_does_not_come_up_is_started_again_later_each_time(pauses: list[float]) -> None:
    good = Query()
    supervised = SupervisedQuery(starting(Query("failed to connect back"), Query("failed to connect back"), good))
    supervised.start()
    assert supervised.query is good
    assert [pause for pause in pauses if pause >= 1] == [1, 2]


def test_what_the_query_needs_may_go_while_it_starts() -> None:
    def gone() -> None:
        raise OttlaError("the broker ended")

    supervised = SupervisedQuery(starting(Query(message="Initializing sources")))
    with pytest.raises(OttlaError, match="the broker ended"):
        supervised.start(meanwhile=gone)


def test_a_query_that_fails_while_it_runs_is_started_again() -> None:
    first, second = Query(), Query()
    supervised = SupervisedQuery(starting(first, second))
    supervised.start()
    supervised.check()
    assert supervised.query is first
    first.isActive, first._error = False, "the broker is gone"
    supervised.check()
    assert supervised.query is second


def test_a_query_that_has_done_its_work_is_left_alone() -> None:
    supervised = SupervisedQuery(starting(Query(is_active=False)))
    supervised.start()
    supervised.check()


def test_a_query_that_fails_over_and_over_is_given_up_with_the_reason() -> None:
    supervised = SupervisedQuery(lambda: Query("it broke\nottla.base.errors.OttlaError: no room"), restarts_max=2)
    with pytest.raises(QueryFailedError, match="the query copy ended: no room"):
        supervised.start()


def test_what_a_restart_would_only_meet_again_ends_it_at_once(pauses: list[float]) -> None:
    supervised = SupervisedQuery(
        starting(Query("the function failed on offset 0")), is_permanent=lambda text: "function" in text
    )
    with pytest.raises(QueryFailedError, match="the query copy ended: the function failed on offset 0"):
        supervised.start()
    assert not [pause for pause in pauses if pause >= 1]


def test_what_passes_is_tried_again_as_often_as_it_takes(pauses: list[float]) -> None:
    good = Query()
    queries = [*(Query("the disk is full") for _ in range(9)), good]
    supervised = SupervisedQuery(starting(*queries), restarts_max=2, is_passing=lambda text: "disk" in text)
    supervised.start()
    assert supervised.query is good
    assert [pause for pause in pauses if pause >= 1] == [1, 2, 4, 8, 16, 30, 30, 30, 30]


def test_a_pause_that_is_over_for_good_ends_it() -> None:
    def closed(seconds: float) -> None:
        raise OttlaError("closed")

    supervised = SupervisedQuery(starting(Query("the disk is full")), pause=closed)
    with pytest.raises(OttlaError, match="closed"):
        supervised.start()


def test_it_stops_the_one_that_runs() -> None:
    query = Query()
    supervised = SupervisedQuery(starting(query))
    supervised.stop()
    supervised.start()
    supervised.stop()
    assert query.is_stopped
