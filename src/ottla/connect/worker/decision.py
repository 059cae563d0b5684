"""Decides on changes of connectors: records of the config topic, or a refusal. Writes nothing."""

from collections.abc import Mapping

from ottla.connect.worker.config_record import (
    Properties,
    Record,
    TargetState,
    connector_config,
    removal,
    restart_request,
    target_state,
    task_configs,
)  # fmt: skip
from ottla.connect.worker.config_state import ConfigState
from ottla.connect.worker.refusal import RefusedError, absent, not_stopped, unknown, unknown_to_restart


def create(state: ConfigState, name: str, config: Properties, target: TargetState | None) -> list[Record]:
    """A new connector; what is wanted of it is known before it is."""
    if name in state:
        raise RefusedError(409, f"Connector {name} already exists")
    return [*([] if target is None else [target_state(name, target)]), connector_config(name, config)]


def replace(name: str, config: Properties) -> list[Record]:
    """Another configuration; what is wanted stays."""
    return [connector_config(name, config)]


def delete(state: ConfigState, name: str) -> list[Record]:
    """The end of a connector."""
    if name not in state:
        raise absent(name)
    return removal(name)


def want(state: ConfigState, name: str, target: TargetState) -> list[Record]:
    """Another target; a connector that stops loses its tasks."""
    if name not in state:
        raise unknown(name)
    tasks = task_configs(name, []) if target is TargetState.STOPPED else []
    return [*tasks, target_state(name, target)]


def restart(state: ConfigState, name: str, *, includes_tasks: bool, only_failed: bool) -> list[Record]:
    """A restart, written down for workers of Apache Kafka as well."""
    if name not in state:
        raise unknown_to_restart(name)
    return [restart_request(name, includes_tasks=includes_tasks, only_failed=only_failed)]


def check_task(state: ConfigState, name: str, task: int) -> None:
    """Refuses a task that there is not."""
    if name not in state:
        raise unknown_to_restart(name)
    if not 0 <= task < state.task_count(name):
        raise RefusedError(404, f"Unknown task: {name}-{task}")


def check_stopped(state: ConfigState, name: str) -> None:
    """Refuses to change offsets that tasks may be changing."""
    if name not in state:
        raise absent(name)
    if state.target(name) is not TargetState.STOPPED or state.task_count(name):
        raise not_stopped(name)


def task_changes(state: ConfigState, name: str, wanted: list[Mapping[str, str]]) -> list[Record]:
    """The records that give a connector these tasks; none if it has them."""
    if state.tasks(name) == wanted:
        return []
    return task_configs(name, wanted)
