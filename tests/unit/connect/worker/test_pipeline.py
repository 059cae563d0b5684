"""Connectors as pipelines: when a spec is written, and what is never in it."""

from dataclasses import replace
from typing import Any

from ottla.connect.worker.config_record import TargetState
from ottla.connect.worker.pipeline import (
    ConnectorPlan,
    is_at_rest,
    next_spec,
    pipeline_name,
    prefix_of,
    restarted,
)

CONFIG = {"name": "a", "connector.class": "FileStreamSource", "file": None}
WORKER = {"group.id": "main"}


def plan(target: TargetState = TargetState.STARTED, tasks: int = 1, *, is_foreign: bool = False) -> ConnectorPlan:
    return ConnectorPlan(CONFIG, [{"n": str(number)} for number in range(tasks)], target, is_foreign)


def made(**more: Any) -> dict[str, Any]:
    spec = next_spec(None, plan(), WORKER)
    assert spec is not None
    return spec | more


def test_a_new_connector_becomes_a_pipeline() -> None:
    assert made() == {
        "kind": "connect",
        "definition": {
            "connector": "FileStreamSource",
            "config": {"name": "a", "connector.class": "FileStreamSource"},
            "worker": WORKER,
            "tasks": [{"n": "0"}],
        },
        "version": 1,
        "wanted": "running",
        "isolation": "shared",
        "checkpoint": "",
        "restart": 0,
        "owner": "",
    }


def test_without_tasks_there_is_nothing_to_run() -> None:
    assert next_spec(None, plan(tasks=0), WORKER) is None
    assert next_spec(None, plan(TargetState.STOPPED), WORKER) is None


def test_what_is_written_already_is_not_written_again() -> None:
    assert next_spec(made(), plan(), WORKER) is None


def test_other_tasks_are_another_version_at_the_same_place() -> None:
    spec = next_spec(made(version=4, restart=2), plan(tasks=2), WORKER)
    assert spec is not None
    assert (spec["version"], spec["checkpoint"], spec["restart"]) == (5, "", 2)


def test_another_owner_is_another_version() -> None:
    owned = replace(plan(), owner="connect-main")
    spec = next_spec(made(), owned, WORKER)
    assert spec is not None
    assert (spec["version"], spec["owner"]) == (2, "connect-main")
    assert next_spec(spec, owned, WORKER) is None


def test_pause_stop_and_resume_change_only_what_is_wanted() -> None:
    paused = next_spec(made(), plan(TargetState.PAUSED), WORKER)
    assert paused == made(wanted="paused")
    stopped = next_spec(paused, plan(TargetState.STOPPED, tasks=0), WORKER)
    assert stopped == made(wanted="stopped")
    assert next_spec(stopped, plan(TargetState.STOPPED, tasks=0), WORKER) is None
    assert next_spec(stopped, plan(), WORKER) == made(version=2)


def test_code_that_is_not_ours_has_a_runner_of_its_own() -> None:
    spec = next_spec(None, plan(is_foreign=True), WORKER)
    assert spec is not None
    assert spec["isolation"] == "own"


def test_a_restart_is_a_higher_number() -> None:
    assert restarted(made(restart=3))["restart"] == 4


def test_a_connector_is_at_rest_when_its_pipeline_says_so() -> None:
    assert is_at_rest(None, None)
    stopped = made(version=2, wanted="stopped")
    assert is_at_rest(stopped, {"state": "stopped", "version": 2})
    assert is_at_rest(stopped, None)
    assert not is_at_rest(stopped, {"state": "stopped", "version": 1})
    assert not is_at_rest(stopped, {"state": "running", "version": 2})
    assert not is_at_rest(made(version=2), {"state": "stopped", "version": 2})
    assert not is_at_rest(made(), {"state": "running", "version": 1})


def test_pipelines_of_other_clusters_have_other_names() -> None:
    names = {pipeline_name(group, name) for group in ("a", "a-b", "a@b") for name in ("x", "b-x", "b@x", "@x")}
    assert len(names) == 12
    assert not pipeline_name("a-b", "x").startswith(prefix_of("a"))
    assert not pipeline_name("a@b", "x").startswith(prefix_of("a"))


def test_a_name_can_always_be_a_directory() -> None:
    for name in ("..", "a/b", "a\\b", "a\0b", "x" * 500, "zürich see", "*", ""):
        made = pipeline_name("main", name)
        assert made.isprintable()
        assert "/" not in made
        assert "\\" not in made
        assert len(made) <= 200
