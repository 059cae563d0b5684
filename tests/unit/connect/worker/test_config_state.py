"""The config topic: what records say together, in Kafka Connect's own form."""

import json

import pytest

from ottla.connect.worker import config_record as record
from ottla.connect.worker.config_record import TargetState
from ottla.connect.worker.config_state import ConfigState

KAFKA = [
    (b"session-key", b'{"key":"c2VjcmV0","algorithm":"HmacSHA256","creation-timestamp":1700000000000}'),
    (b"target-state-lines", b'{"state":"PAUSED","state.v2":"STOPPED"}'),
    (b"connector-lines", b'{"properties":{"connector.class":"FileStreamSource","name":"lines","file":null}}'),
    (b"task-lines-0", b'{"properties":{"task.class":"X"}}'),
    (b"commit-lines", b'{"tasks":1}'),
    (b"logger-cluster-org.apache", b'{"level":"DEBUG"}'),
    (b"restart-connector-lines", b'{"include-tasks":true,"only-failed":false}'),
    (b"tasks-fencing-lines", b'{"task-count":1}'),
]


def state_of(*records: tuple[bytes, bytes | None]) -> ConfigState:
    state = ConfigState()
    for key, value in records:
        state.apply(key, value)
    return state


def test_a_topic_that_kafka_wrote_is_understood() -> None:
    state = state_of(*KAFKA)
    assert state.connectors == ["lines"]
    assert state.config("lines") == {"connector.class": "FileStreamSource", "name": "lines", "file": None}
    assert state.target("lines") is TargetState.STOPPED
    assert state.tasks("lines") == [{"task.class": "X"}]
    assert state.session_key is not None
    assert state.session_key.key == "c2VjcmV0"
    assert state.logger_levels == {"org.apache": "DEBUG"}


def test_what_we_write_has_kafkas_form() -> None:
    written = [
        record.session_key(record.SessionKey("c2VjcmV0", "HmacSHA256", 1_700_000_000_000)),
        record.target_state("lines", TargetState.STOPPED),
        record.connector_config("lines", {"connector.class": "FileStreamSource", "name": "lines", "file": None}),
        *record.task_configs("lines", [{"task.class": "X"}]),
        record.logger_level("org.apache", "DEBUG"),
        record.restart_request("lines", includes_tasks=True, only_failed=False),
    ]
    assert written == KAFKA[:-1]


def test_tasks_count_once_they_are_committed() -> None:
    state = state_of(*KAFKA)
    for key, value in record.task_configs("lines", [{"n": "1"}, {"n": "2"}])[:-1]:
        state.apply(key, value)
    assert state.tasks("lines") == [{"task.class": "X"}]
    state.apply(b"commit-lines", b'{"tasks":2}')
    assert state.tasks("lines") == [{"n": "1"}, {"n": "2"}]


def test_a_commit_without_all_of_its_tasks_leaves_none() -> None:
    """Compaction may have removed a task's record that was written again later."""
    state = state_of(*KAFKA[:3], (b"task-lines-1", b'{"properties":{}}'), (b"commit-lines", b'{"tasks":2}'))
    assert state.tasks("lines") is None
    assert state.task_count("lines") == 0
    for key, value in record.task_configs("lines", [{}]):
        state.apply(key, value)
    assert state.tasks("lines") == [{}]


def test_fewer_tasks_than_before() -> None:
    state = state_of(*KAFKA, *record.task_configs("lines", [{"a": "1"}, {"a": "2"}]), *record.task_configs("lines", []))
    assert state.tasks("lines") == []


def test_a_deleted_connector_is_gone_with_its_tasks() -> None:
    state = state_of(*KAFKA, *record.removal("lines"))
    assert state.connectors == []
    assert state.target("lines") is TargetState.STARTED
    state.apply(*record.connector_config("lines", {"name": "lines"}))
    assert state.tasks("lines") is None


def test_a_state_of_an_old_worker_is_read_by_its_only_field() -> None:
    assert state_of((b"target-state-a", b'{"state":"PAUSED"}')).target("a") is TargetState.PAUSED


@pytest.mark.parametrize(
    ("key", "value"),
    [
        (b"connector-a", b"{"),
        (b"connector-a", b"[]"),
        (b"connector-a", b'{"properties":{"a":1}}'),
        (b"task-a-x", b'{"properties":{}}'),
        (b"commit-a", b'{"tasks":"2"}'),
        (b"commit-a", b'{"tasks":-1}'),
        (b"commit-a", b'{"tasks":true}'),
        (b"target-state-a", b'{"state":"FLYING"}'),
        (b"session-key", b"{}"),
        (b"\xff\xfe", b"{}"),
        (b"nothing-of-ours", b"{}"),
        (b"connector-a", b"[" * 100_000),
    ],
)
def test_what_is_no_record_of_connect_changes_nothing(key: bytes, value: bytes) -> None:
    state = state_of(*KAFKA, (key, value))
    assert state.connectors == ["lines"]
    assert state.tasks("lines") == [{"task.class": "X"}]


def test_names_may_hold_anything() -> None:
    name = "zürich-0: a"
    state = state_of(record.connector_config(name, {"x": "y"}), *record.task_configs(name, [{}]))
    assert state.connectors == [name]
    assert state.tasks(name) == [{}]
    assert json.loads(record.connector_config(name, {"x": "ü"})[1] or b"")["properties"] == {"x": "ü"}


def test_tasks_of_a_deleted_connector_are_not_those_of_a_new_one_of_its_name() -> None:
    """Compaction leaves the tasks alone behind, since they have no tombstone."""
    left = [(b"task-lines-0", b'{"properties":{"file":"old"}}'), (b"commit-lines", b'{"tasks":1}')]
    state = state_of(*left, (b"connector-lines", b'{"properties":{"file":"new"}}'))
    assert state.tasks("lines") is None
    fresh = [(b"task-lines-0", b'{"properties":{"file":"new"}}'), (b"commit-lines", b'{"tasks":1}')]
    for each in fresh:
        state.apply(*each)
    assert state.tasks("lines") == [{"file": "new"}]


def test_a_restart_is_of_all_tasks_only_where_a_boolean_says_so() -> None:
    said = record.decode(b"restart-connector-a", b'{"include-tasks":"false","only-failed":1}')
    assert said == record.RestartRequest("a", includes_tasks=False, only_failed=False)
    assert record.decode(b"logger-cluster-a", b'{"level":5}') is None
