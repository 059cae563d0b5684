"""Bodies of requests: what is understood, and with which sentence the rest is refused."""

from typing import Any

import pytest

from ottla.connect.worker import decision
from ottla.connect.worker.config_record import TargetState
from ottla.connect.worker.config_state import ConfigState
from ottla.connect.worker.offset_request import OffsetChange, read_changes, sink_changes, source_changes, success
from ottla.connect.worker.refusal import RefusedError
from ottla.connect.worker.request import check_name, merged, named, read_config, read_create


@pytest.mark.parametrize(
    "body",
    [
        None,
        [],
        "a",
        {"name": "a"},
        {"name": "a", "config": []},
        {"name": 1, "config": {}},
        {"name": "a", "config": {}, "more": 1},
        {"name": "a", "config": {"b": {}}},
        {"name": "a", "config": {"b": [1]}},
        {"name": "a", "config": {}, "initial_state": "FLYING"},
        {"name": "a", "config": {}, "initial_state": 1},
        {"name": "a", "config": {"name": "b"}},
    ],
)
def test_a_body_of_another_shape_is_refused(body: Any) -> None:
    with pytest.raises(RefusedError) as refused:
        read_create(body)
    assert refused.value.status == 400


def test_a_patch_merges_and_removes() -> None:
    assert merged({"a": "1", "b": "2"}, {"b": None, "c": "3", "never": None}) == {"a": "1", "c": "3"}


def test_a_configuration_without_name_gets_one() -> None:
    assert named(read_config({"x": 1}), "a") == {"x": "1", "name": "a"}


def test_a_name_with_a_slash_is_refused() -> None:
    with pytest.raises(RefusedError, match="slash"):
        check_name("a/b")


@pytest.mark.parametrize(
    ("entry", "sentence"),
    [
        (OffsetChange(None, {"kafka_offset": 1}), "cannot be null or missing"),
        (OffsetChange({"kafka_topic": "t"}, None), "must contain the keys"),
        (OffsetChange({"kafka_topic": 1, "kafka_partition": 0}, None), "topic names must be valid strings"),
        (OffsetChange({"kafka_topic": "t", "kafka_partition": "x"}, None), "partition value .* 'x'"),
        (OffsetChange({"kafka_topic": "t", "kafka_partition": 1 << 31}, None), "partition value"),
        (OffsetChange({"kafka_topic": "t", "kafka_partition": True}, None), "partition value"),
        (OffsetChange({"kafka_topic": "t", "kafka_partition": 0}, {"x": 1}), "contain the key 'kafka_offset'"),
        (OffsetChange({"kafka_topic": "t", "kafka_partition": 0}, {"kafka_offset": 1.5}), "offset value"),
        (OffsetChange({"kafka_topic": "t", "kafka_partition": 0}, {"kafka_offset": -1}), "negative"),
    ],
)
def test_offsets_of_a_sink_that_make_no_sense(entry: OffsetChange, sentence: str) -> None:
    with pytest.raises(RefusedError, match=sentence):
        sink_changes([entry])


def test_the_last_offset_of_a_partition_counts() -> None:
    body = {"offsets": [{"partition": {"a": 1, "b": 2}, "offset": {"x": 1}}, {"partition": {"b": 2, "a": 1}}]}
    assert source_changes(read_changes(body)) == [({"b": 2, "a": 1}, None)]


def test_whether_a_connector_looked_at_offsets_is_said() -> None:
    assert success("reset", is_checked=True)["message"] == "The offsets for this connector have been reset successfully"
    assert "managed offsets for this connector have been altered" in success("altered", is_checked=False)["message"]


def test_decisions_on_connectors_that_are_not_there() -> None:
    state = ConfigState()
    for refused in (
        lambda: decision.delete(state, "a"),
        lambda: decision.want(state, "a", TargetState.PAUSED),
        lambda: decision.restart(state, "a", includes_tasks=True, only_failed=False),
        lambda: decision.check_task(state, "a", 0),
        lambda: decision.check_stopped(state, "a"),
    ):
        with pytest.raises(RefusedError) as error:
            refused()
        assert error.value.status == 404


def test_a_connector_that_stops_loses_its_tasks_first() -> None:
    state = ConfigState()
    for record in decision.create(state, "a", {"name": "a"}, None):
        state.apply(*record)
    for record in decision.task_changes(state, "a", [{}, {}]):
        state.apply(*record)
    assert decision.task_changes(state, "a", [{}, {}]) == []
    assert state.task_count("a") == 2
    for record in decision.want(state, "a", TargetState.STOPPED):
        state.apply(*record)
    decision.check_stopped(state, "a")
    assert state.tasks("a") == []
    with pytest.raises(RefusedError, match="already exists"):
        decision.create(state, "a", {}, None)
