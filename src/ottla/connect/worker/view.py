"""Connectors as REST shows them."""

from collections.abc import Mapping
from typing import Any

from ottla.connect.connector import Connector, SinkConnector, SourceConnector
from ottla.connect.errors import ConnectError
from ottla.connect.plugin import Plugins
from ottla.connect.worker.config_record import Properties
from ottla.connect.worker.config_state import ConfigState
from ottla.connect.worker.refusal import RefusedError, absent
from ottla.connect.worker.status_record import StatusTable


def kind_of(config: Properties, plugins: Plugins) -> str:
    """`source`, `sink`, or `unknown` for a class that is not installed here."""
    try:
        return kind_of_connector(plugins.connector(str(config.get("connector.class") or "")))
    except ConnectError:
        return "unknown"
    except Exception:  # noqa: BLE001 - an edge: the module of a user's connector may raise anything
        return "unknown"


def kind_of_connector(connector: Connector) -> str:
    """The kind: source, sink or unknown."""
    if isinstance(connector, SinkConnector):
        return "sink"
    return "source" if isinstance(connector, SourceConnector) else "unknown"


def info(state: ConfigState, name: str, plugins: Plugins) -> dict[str, Any]:
    """`GET /connectors/{name}`."""
    config = state.config(name)
    if config is None:
        raise absent(name)
    tasks = [{"connector": name, "task": number} for number in range(state.task_count(name))]
    return {"name": name, "config": dict(config), "tasks": tasks, "type": kind_of(config, plugins)}


def tasks(state: ConfigState, name: str) -> list[dict[str, Any]]:
    """`GET /connectors/{name}/tasks`."""
    if name not in state:
        raise absent(name)
    return [
        {"id": {"connector": name, "task": number}, "config": dict(config)}
        for number, config in enumerate(state.tasks(name) or ())
    ]


def status(state: ConfigState, table: StatusTable, name: str, plugins: Plugins) -> dict[str, Any]:
    """`GET /connectors/{name}/status`."""
    found = table.connector(name)
    if found is None:
        raise RefusedError(404, f"No status found for connector {name}")
    return {
        "name": name,
        "connector": found.to_json(),
        "tasks": [task_status(table, name, number) for number in table.tasks(name)],
        "type": kind_of(state.config(name) or {}, plugins),
    }


def progress(status: Mapping[str, Any] | None) -> dict[str, Any]:
    """`GET /connectors/{name}/progress`: what runners say of the connector and its tasks.

    >>> progress({"progress": {"rows_per_s": 5.0, "lag": 3}, "parts": [{"id": 0, "records": 9, "lag": 3}]})
    {'records_per_s': 5.0, 'lag': 3, 'tasks': [{'id': 0, 'records': 9, 'lag': 3, 'failures': 0, 'host': ''}]}
    """
    found = status or {}
    figures = found.get("progress") or {}
    shown = {"id": None, "records": 0, "lag": None, "failures": 0, "host": ""}
    return {
        "records_per_s": figures.get("rows_per_s", 0.0),
        "lag": figures.get("lag", 0),
        "tasks": [
            {name: part.get(name, default) for name, default in shown.items()} for part in found.get("parts") or ()
        ],
    }


def task_status(table: StatusTable, name: str, task: int) -> dict[str, Any]:
    """`GET /connectors/{name}/tasks/{task}/status`."""
    found = table.task(name, task)
    if found is None:
        raise RefusedError(404, f"No status found for task {name}-{task}")
    return found.to_json(id=task)
