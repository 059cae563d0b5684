"""Tasks and drivers that were believed dead and are not: they come back in the middle of what replaced them.

Whoever comes back may make the query fail, so that it is started again. He may not make a reader of `read_committed`
see a row twice, or never.
"""

from collections.abc import Callable, Iterator

import pyarrow as pa
import pytest

from ottla.base.errors import OttlaError
from ottla.client.admin.blocking_admin import Admin
from ottla.pipelines.sink.errors import SinkError
from tests.integration.pipelines.conftest import CreateTopic
from tests.kafka.peer import KafkaServer
from tests.kafka.server import Server

pytest.importorskip("pyspark.sql", reason="needs pyspark: pip install ottla[spark]")

from tests.integration.pipelines.step_query import StepQuery, frame, rows


@pytest.fixture
def query(broker: Server, topic: CreateTopic, admin: Admin) -> StepQuery:
    return StepQuery(broker.bootstrap, topic(partitions=3), admin)


def asleep(batch: pa.RecordBatch, meanwhile: Callable[[], object]) -> Iterator[pa.RecordBatch]:
    """The rows of a task that has looked at what was decided, and then sleeps before it takes its id over."""
    meanwhile()
    yield batch


def torn(batch: pa.RecordBatch, meanwhile: Callable[[], object]) -> Iterator[pa.RecordBatch]:
    """The rows of a task that sleeps between its first row and the others."""
    yield batch.slice(0, 1)
    meanwhile()
    yield batch.slice(1)


def test_a_task_that_wakes_up_while_it_writes_can_write_no_more(query: StepQuery) -> None:
    second = []
    with pytest.raises(OttlaError):
        query.attempt(0, 0, torn(frame(0, 0), lambda: second.extend(query.write(0, 0))))
    query.commit(0, second)
    assert query.seen() == rows((0, 1))


def test_a_task_that_wakes_up_after_the_commit_has_nothing_to_do(query: StepQuery) -> None:
    late = query.attempt(0, 0, asleep(frame(0, 0), lambda: query.commit(0, query.write(0, 0))))
    assert late.transaction is None
    query.commit(1, query.write(1, 0))
    assert query.seen() == rows((0, 1), (1, 1))


def test_a_task_that_wakes_up_before_the_commit_makes_it_fail_and_nothing_is_lost(query: StepQuery) -> None:
    second = []
    query.attempt(0, 0, asleep(frame(0, 0), lambda: second.extend(query.write(0, 0, 1))))
    with pytest.raises(SinkError, match="believed dead is alive"):
        query.commit(0, second)
    query.abort(0, second)
    assert query.decided == -1
    query.commit(0, query.write(0, 0, 1))
    assert query.seen() == rows((0, 2))


def test_a_task_that_wakes_up_between_decision_and_commit_loses_nothing(query: StepQuery) -> None:
    second = []

    def decide() -> None:
        second.extend(query.write(0, 0, 1))
        query.decide(0, second)

    query.attempt(0, 0, asleep(frame(0, 0), decide))
    # The driver's commits: one is gone, the other one is seen; a repetition adds what is missing and nothing else.
    query.end(second[1], is_commit=True)
    query.commit(0, query.write(0, 0, 1))
    assert query.seen() == rows((0, 2))


def test_a_task_of_the_batch_before_that_wakes_up_makes_the_batch_fail_and_nothing_is_lost(query: StepQuery) -> None:
    second = []

    def go_on() -> None:
        query.commit(0, query.write(0, 0, 1))
        second.extend(query.write(1, 0, 1))

    late = query.attempt(0, 0, asleep(frame(0, 0), go_on))
    assert late.transaction is None
    with pytest.raises(SinkError, match="of batch 1 is gone"):
        query.commit(1, second)
    query.abort(1, second)
    query.commit(1, query.write(1, 0, 1))
    assert query.seen() == rows((0, 2), (1, 2))


def test_a_driver_that_wakes_up_before_its_decision_fails(query: StepQuery) -> None:
    first = query.write(0, 0, 1)
    second = query.write(0, 0, 1)
    with pytest.raises(SinkError, match="is gone"):
        query.commit(0, first)
    query.commit(0, second)
    query.abort(0, first)
    assert query.seen() == rows((0, 2))


def test_a_driver_that_wakes_up_with_a_decision_about_transactions_that_are_gone(query: StepQuery) -> None:
    """Its record covers the one of the driver that replaced it, which then dies half-way through its commits."""
    first = query.write(0, 0, 1)
    second = query.write(0, 0, 1)
    query.decide(0, second)
    query.decide(0, first)
    query.end(second[0], is_commit=True)
    query.commit(0, query.write(0, 0, 1))
    query.commit(1, query.write(1, 0, 1))
    assert query.seen() == rows((0, 2), (1, 2))


def test_a_driver_that_wakes_up_with_the_decision_of_an_older_batch(query: StepQuery) -> None:
    first = query.write(0, 0, 1)
    query.commit(0, query.write(0, 0, 1))
    second = query.write(1, 0, 1)
    query.decide(1, second)
    query.decide(0, first)
    query.end(second[1], is_commit=True)
    query.commit(1, query.write(1, 0, 1))
    assert query.seen() == rows((0, 2), (1, 2))


def test_a_driver_that_wakes_up_and_gives_up_takes_nothing_back(query: StepQuery) -> None:
    first = query.write(0, 0, 1)
    second = query.write(0, 0, 1)
    query.abort(0, first)
    query.commit(0, second)
    query.abort(0, second)
    assert query.seen() == rows((0, 2))


@pytest.mark.parametrize("step", ["written", "decided", "half committed", "committed"])
def test_a_broker_that_dies_after_each_step(query: StepQuery, broker: Server, step: str) -> None:
    if isinstance(broker, KafkaServer) and step in ("half committed", "committed"):
        pytest.skip("Apache Kafka 4.3.1 may leave a commit that it answered without its markers, if killed then")
    prepared = query.write(0, 0, 1)
    if step == "written":
        _kill(broker)
        query.commit(0, prepared)
    elif step == "committed":
        query.commit(0, prepared)
        _kill(broker)
    else:
        query.decide(0, prepared)
        if step == "half committed":
            query.end(prepared[0], is_commit=True)
        _kill(broker)
    # Whatever the driver knew, it repeats the batch, as after a death of its own.
    query.commit(0, query.write(0, 0, 1))
    query.commit(1, query.write(1, 0, 1))
    assert query.seen() == rows((0, 2), (1, 2))


def _kill(broker: Server) -> None:
    broker.kill()
    broker.start()
