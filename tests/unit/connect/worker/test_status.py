"""Statuses: the status topic, and what a pipeline's report says of a connector's tasks."""

from dataclasses import replace
from typing import Any

from ottla.connect.worker.config_record import TargetState
from ottla.connect.worker.status_record import (
    ActiveTopic,
    State,
    Status,
    StatusTable,
    active_topic,
    connector_status,
    forgotten_topic,
    task_status,
)
from ottla.connect.worker.task_status import (
    Report,
    Reporter,
    connector_state,
    control_name,
    removals,
    status_changes,
    task_states,
)

LEADER = Reporter("leader:8083", 4)


def table_of(*records: tuple[bytes, bytes | None]) -> StatusTable:
    table = StatusTable()
    for key, value in records:
        table.apply(key, value)
    return table


def states(report: Report) -> list[tuple[State, str | None]]:
    return [(status.state, status.trace) for status in task_states(report, LEADER)]


def running(*parts: dict[str, Any], **more: Any) -> Report:
    return Report(TargetState.STARTED, "1", len(parts), status={"state": "running", "parts": list(parts), **more})


def test_a_topic_that_kafka_wrote_is_understood() -> None:
    value = b'{"state":"FAILED","trace":"why","worker_id":"a:8083","generation":7,"version":"4.3.1"}'
    topic = b'{"topic":{"name":"t","connector":"a-b","task":1,"discoverTimestamp":5}}'
    table = table_of((b"status-task-a-b-1", value), (b"status-topic-t:connector-a-b", topic))
    assert table.task("a-b", 1) == Status(State.FAILED, "a:8083", 7, "why", "4.3.1")
    assert table.topics("a-b") == ["t"]


def test_what_we_write_is_what_we_read() -> None:
    failed = Status(State.FAILED, "w", 1, "why", "2")
    table = table_of(
        connector_status("a", failed), task_status("a", 0, failed), active_topic(ActiveTopic("t", "a", 0, 1))
    )
    assert (table.connector("a"), table.task("a", 0), table.topics("a")) == (failed, failed, ["t"])
    for record in (*removals("a", table), forgotten_topic("t", "a")):
        table.apply(*record)
    assert (table.connector("a"), table.tasks("a"), table.topics("a")) == (None, [], [])


def test_a_destroyed_one_is_gone() -> None:
    destroyed = Status(State.DESTROYED, "w")
    assert table_of(connector_status("a", destroyed)).connector("a") is None


def test_what_is_no_status_changes_nothing() -> None:
    known = connector_status("a", Status(State.RUNNING, "w"))
    table = table_of(known, (b"status-task-a-x", b"{}"), (b"other", b"{"), (b"status-connector-b", b"[]"))
    assert table.connectors == ["a"]
    assert table.tasks("a") == []


def test_figures_that_are_none_are_zero() -> None:
    table = table_of(
        (b"status-connector-a", b'{"state":"RUNNING","worker_id":"w","generation":"many"}'),
        (b"status-topic-t:connector-a", b'{"topic":{"task":"x","discoverTimestamp":[]}}'),
    )
    found = table.connector("a")
    assert found is not None
    assert (found.generation, table.topics("a")) == (0, ["t"])


def test_tasks_are_what_their_parts_say() -> None:
    assert states(running({"id": 0, "state": "RUNNING"}, {"id": 1, "state": "FAILED", "trace": "why"})) == [
        (State.RUNNING, None),
        (State.FAILED, "why"),
    ]
    assert states(running({"id": 5, "state": "RUNNING"})) == [(State.UNASSIGNED, None)]
    assert states(running({"id": 0, "state": "nonsense"})) == [(State.UNASSIGNED, None)]


def test_tasks_that_no_runner_looks_after_are_unassigned() -> None:
    assert states(Report(TargetState.STARTED, None, 2)) == [(State.UNASSIGNED, None)] * 2


def test_a_pipeline_that_was_given_up_failed_with_all_tasks() -> None:
    report = Report(TargetState.STARTED, None, 2, status={"state": "failed", "trace": "no such class"})
    assert states(report) == [(State.FAILED, "no such class")] * 2


def test_a_restart_that_was_asked_for_is_seen_at_once() -> None:
    report = running({"id": 0, "state": "RUNNING"}, restart=1)
    asked = Report(report.target, report.version, 1, spec={"restart": 2}, status=report.status)
    assert states(asked) == [(State.RESTARTING, None)]


def test_a_restart_of_one_task_leaves_the_others_as_they_are() -> None:
    report = running({"id": 0, "state": "RUNNING"}, {"id": 1, "state": "FAILED", "trace": "why", "restart": 1})
    asked = replace(report, spec={"part_restarts": {"1": 2}})
    assert states(asked) == [(State.RUNNING, None), (State.RESTARTING, None)]
    done = running({"id": 0, "state": "RUNNING"}, {"id": 1, "state": "RUNNING", "restart": 2})
    assert states(replace(done, spec=asked.spec)) == [(State.RUNNING, None)] * 2


def test_a_failed_task_stays_failed_while_it_is_paused() -> None:
    parts = [{"id": 0, "state": "RUNNING"}, {"id": 1, "state": "FAILED", "trace": "why"}]
    report = Report(TargetState.PAUSED, None, 2, status={"state": "paused", "parts": parts})
    assert states(report) == [(State.PAUSED, None), (State.FAILED, "why")]


def test_the_worker_of_a_task_is_the_one_whose_control_process_runs_it() -> None:
    report = running({"id": 0, "state": "RUNNING"}, control=control_name("host-1:8083", "ab12"))
    assert task_states(report, LEADER)[0].worker_id == "host-1:8083"
    foreign = running({"id": 0, "state": "RUNNING"}, control="host-71-5c1a22")
    assert task_states(foreign, LEADER)[0].worker_id == "leader:8083"


def test_only_what_differs_is_written() -> None:
    report = running({"id": 0, "state": "RUNNING"})
    connector, tasks = connector_state(report, LEADER), task_states(report, LEADER)
    table = StatusTable()
    first = status_changes("a", connector, tasks, table)
    assert [key for key, _ in first] == [b"status-connector-a", b"status-task-a-0"]
    for record in first:
        table.apply(*record)
    assert status_changes("a", connector, tasks, table) == []
    assert status_changes("a", connector, [], table) == [(b"status-task-a-0", None)]


def test_a_connector_that_could_not_start_has_a_trace() -> None:
    status = connector_state(Report(TargetState.STARTED, None, 0, failure="why"), LEADER)
    assert status.to_json() == {"state": "FAILED", "worker_id": "leader:8083", "trace": "why"}
