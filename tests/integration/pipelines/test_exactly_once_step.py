"""An exactly-once micro-batch that dies between any two of its steps and is repeated, step by step on a real server.

A "death" is that nobody goes on: what a process leaves behind when it is killed is what brokers have been told.
"""

import pyarrow as pa
import pytest

from ottla.client.admin.blocking_admin import Admin
from ottla.pipelines.option.errors import OptionError
from ottla.pipelines.sink.errors import SinkError
from tests.integration.pipelines.conftest import CreateTopic
from tests.kafka.server import Server

pytest.importorskip("pyspark.sql", reason="needs pyspark: pip install ottla[spark]")

from ottla.pipelines.sink.exactly_once import ExactlyOnceTask, SinkTask
from tests.integration.pipelines.step_query import StepQuery, rows


@pytest.fixture
def query(broker: Server, topic: CreateTopic, admin: Admin) -> StepQuery:
    return StepQuery(broker.bootstrap, topic(partitions=3), admin)


def test_batches_are_seen_when_they_are_committed(query: StepQuery) -> None:
    for batch_id in range(3):
        prepared = query.write(batch_id, 0, 1)
        assert query.seen(is_settled=False) == rows(*((before, 2) for before in range(batch_id)))
        query.commit(batch_id, prepared)
    assert query.seen() == rows((0, 2), (1, 2), (2, 2))


def test_death_before_the_decision_writes_again(query: StepQuery) -> None:
    query.write(0, 0, 1)
    query.write(0, 0)
    query.commit(0, query.write(0, 0, 1))
    assert query.seen() == rows((0, 2))


def test_death_after_the_decision_writes_nothing(query: StepQuery) -> None:
    query.decide(0, query.write(0, 0, 1))
    again = query.write(0, 0, 1)
    assert [task.transaction for task in again] == [None, None]
    query.commit(0, again)
    query.commit(1, query.write(1, 0, 1))
    assert query.seen() == rows((0, 2), (1, 2))


def test_death_between_two_commits_ends_the_rest(query: StepQuery) -> None:
    prepared = query.write(0, 0, 1, 2)
    query.decide(0, prepared)
    query.end(prepared[1], is_commit=True)
    query.commit(0, query.write(0, 0, 1, 2))
    assert query.seen() == rows((0, 3))


def test_death_after_all_commits_writes_nothing(query: StepQuery) -> None:
    query.commit(0, query.write(0, 0, 1))
    query.commit(0, query.write(0, 0, 1))
    assert query.seen() == rows((0, 2))


def test_a_decided_batch_that_comes_again_with_other_tasks_keeps_what_was_decided(query: StepQuery) -> None:
    query.decide(0, query.write(0, 0, 1, 2))
    query.commit(0, query.write(0, 0))
    assert query.seen() == rows((0, 3))
    query.decide(1, query.write(1, 0))
    query.commit(1, query.write(1, 0, 1, 2))
    assert query.seen() == rows((0, 3), (1, 1))


def test_a_decided_transaction_that_is_gone_is_written_again(query: StepQuery) -> None:
    prepared = query.write(0, 0, 1)
    query.decide(0, prepared)
    query.end(prepared[1], is_commit=False)
    again = query.write(0, 0, 1)
    assert [task.transaction is None for task in again] == [True, False]
    query.commit(0, again)
    assert query.seen() == rows((0, 2))
    query.commit(0, query.write(0, 0, 1))
    assert query.seen() == rows((0, 2))


def test_a_commit_whose_id_was_taken_over_fails_and_a_repetition_puts_it_right(query: StepQuery) -> None:
    prepared = query.write(0, 0, 1)
    query.take_over(prepared[0])
    with pytest.raises(SinkError, match=f"{query.query.transactional_id(0)} of batch 0 is gone"):
        query.commit(0, prepared)
    assert query.decided == -1, "nothing is decided that can't be done"
    query.abort(0, prepared)
    assert query.seen() == [], "nor is any part of it seen"
    query.commit(0, query.write(0, 0, 1))
    assert query.seen() == rows((0, 2))


def test_a_commit_that_was_done_before_its_id_was_taken_over_is_no_failure(query: StepQuery) -> None:
    prepared = query.write(0, 0)
    query.commit(0, prepared)
    query.take_over(prepared[0])
    query.commit(0, prepared)
    assert query.write(0, 0)[0].transaction is None
    assert query.seen() == rows((0, 1))


def test_an_abort_takes_back_and_never_what_was_decided(query: StepQuery) -> None:
    query.abort(0, query.write(0, 0, 1))
    assert query.seen() == []
    prepared = query.write(0, 0, 1)
    query.decide(0, prepared)
    query.abort(0, prepared)
    query.commit(0, query.write(0, 0, 1))
    assert query.seen() == rows((0, 2))


def test_a_task_that_fails_leaves_nothing_open(query: StepQuery) -> None:
    task = ExactlyOnceTask(query.options, SinkTask(query.query, 0, 0))
    bad = [
        pa.record_batch({"value": ["a"]}),
        pa.record_batch({"value": ["b"], "partition": pa.array([99], pa.int32())}),
    ]
    with pytest.raises(SinkError, match="not 99"):
        task.write(iter(bad))
    assert query.seen() == []


def test_a_time_out_that_brokers_do_not_allow_is_named(query: StepQuery) -> None:
    query.options.settings["transaction.timeout.ms"] = "100000000"
    with pytest.raises(OptionError, match=r"'kafka\.transaction\.timeout\.ms': 100000000: .*transaction\.max\.timeout"):
        query.write(0, 0)


def test_no_rows_need_no_transaction(query: StepQuery) -> None:
    task = ExactlyOnceTask(query.options, SinkTask(query.query, 0, 0))
    prepared = task.write(iter([pa.record_batch({"value": pa.array([], pa.string())})]))
    assert prepared.transaction is None
    query.commit(0, [prepared])
    assert query.seen() == []


def test_a_checkpoint_that_went_back_is_refused(query: StepQuery) -> None:
    for batch_id in range(2):
        query.commit(batch_id, query.write(batch_id, 0))
    with pytest.raises(SinkError, match=r"batch 0 of query .* comes again, though batch 1 is written already"):
        query.write(0, 0)


def test_the_ids_are_kept_where_any_tool_shows_them(query: StepQuery, admin: Admin) -> None:
    query.commit(0, query.write(0, 0, 1))
    query.commit(1, query.write(1, 0, 1))
    groups = [query.query.decision_group, query.query.written_group(1)]
    found = admin.list_consumer_group_offsets(dict.fromkeys(groups), require_stable=True)
    for group in groups:
        assert {partition.topic: offset.offset for partition, offset in found[group].items() if offset} == {
            "__ottla_pipelines": 1
        }
