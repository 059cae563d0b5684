"""Reads and checks the definition of a pipeline of the kind `connect`. Pure.

`TaskJob` is the part of it that one task needs; it travels as JSON to the process in which the task runs.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, Final

from ottla.base.frozen import frozen
from ottla.connect.connector import Connector, SinkConnector
from ottla.connect.errors import ConnectError
from ottla.connect.mask import Mask
from ottla.connect.plugin import Plugins
from ottla.connect.provider import ConfigProviders
from ottla.connect.task_plan import task_configs
from ottla.pipelines.runner.kind import InvalidDefinitionError

_KNOWN: Final = ("config", "connector", "tasks", "trigger.interval.ms", "worker")


@frozen(kw_only=True)
class TaskJob:
    """One task of a connector."""

    connector: str
    """The name of the connector's class."""
    config: Mapping[str, str]
    worker: Mapping[str, str]
    settings: Mapping[str, str]
    """The task's own."""
    number: int
    place: str
    """The pipeline's checkpoint: by it a task is known from one of another cluster with the same name."""

    @property
    def name(self) -> str:
        """The connector's name."""
        return self.config["name"]

    def resolved(self) -> "TaskJob":
        """With values in place of placeholders, for the process in which the task runs."""
        providers = ConfigProviders.of(self.worker)
        return replace(
            self,
            config=providers.resolve(self.config),
            worker=providers.resolve(self.worker),
            settings=providers.resolve(self.settings),
        )

    def to_json(self) -> dict[str, Any]:
        """As an object of JSON.

        >>> job = TaskJob(connector="c", config={"name": "n"}, worker={}, settings={}, number=0, place="p")
        >>> TaskJob(**job.to_json()) == job, job.name
        (True, 'n')
        """
        return {
            "connector": self.connector,
            "config": dict(self.config),
            "worker": dict(self.worker),
            "settings": dict(self.settings),
            "number": self.number,
            "place": self.place,
        }

    def __repr__(self) -> str:
        # Settings may hold passwords.
        return f"TaskJob({self.name}-{self.number})"


@frozen(kw_only=True)
class ConnectorDefinition:
    """A connector and its tasks."""

    connector: str
    config: Mapping[str, str]
    worker: Mapping[str, str]
    tasks: Sequence[Mapping[str, str]]
    is_sink: bool

    def resolved(self) -> "ConnectorDefinition":
        """With values in place of placeholders: not to be shown or sent."""
        providers = ConfigProviders.of(self.worker)
        return replace(self, config=providers.resolve(self.config), worker=providers.resolve(self.worker))

    def jobs(self, place: str) -> list[TaskJob]:
        """One for each task."""
        return [
            TaskJob(
                connector=self.connector, config=self.config, worker=self.worker, settings=each, number=number,
                place=place,
            )
            for number, each in enumerate(self.tasks)
        ]  # fmt: skip


def read_definition(name: str, definition: Mapping[str, Any], cluster: Mapping[str, str]) -> ConnectorDefinition:
    """The checked definition; settings of the `cluster` fill the gaps in the worker's properties.

    Raises `InvalidDefinitionError` for one that can never work.

    >>> read_definition("x", {"config": {}}, {})
    Traceback (most recent call last):
    ottla.pipelines.runner.kind.InvalidDefinitionError: 'connector': there has to be one, or 'connector.class' in \
'config'
    """
    unknown = sorted(definition.keys() - set(_KNOWN))
    if unknown:
        raise InvalidDefinitionError(f"{unknown[0]!r} is none of {', '.join(_KNOWN)}")
    config = {"name": name, **_texts(definition, "config")}
    worker = {**cluster, **_texts(definition, "worker")}
    chosen = definition.get("connector") or config.get("connector.class")
    if not isinstance(chosen, str) or not chosen:
        raise InvalidDefinitionError("'connector': there has to be one, or 'connector.class' in 'config'")
    if not worker.get("bootstrap.servers"):
        raise InvalidDefinitionError("'worker': there has to be 'bootstrap.servers'")
    connector = _connector(chosen)
    tasks = _tasks(definition) if "tasks" in definition else _planned(connector, config, worker)
    return ConnectorDefinition(
        connector=chosen, config=config, worker=worker, tasks=tasks, is_sink=isinstance(connector, SinkConnector)
    )


def _texts(definition: Mapping[str, Any], key: str) -> dict[str, str]:
    found = definition.get(key, {})
    if not isinstance(found, dict) or not all(isinstance(value, str) for value in found.values()):
        raise InvalidDefinitionError(f"{key!r} has to be an object of texts")
    return found


def _tasks(definition: Mapping[str, Any]) -> list[Mapping[str, str]]:
    found = definition["tasks"]
    if not isinstance(found, list) or not all(isinstance(each, dict) for each in found):
        raise InvalidDefinitionError("'tasks' has to be a list of objects")
    return [_texts({"tasks": each}, "tasks") for each in found]


def _connector(name: str) -> Connector:
    try:
        return Plugins().connector(name)
    except ConnectError as error:
        raise InvalidDefinitionError(str(error)) from error


def _planned(connector: Connector, config: Mapping[str, str], worker: Mapping[str, str]) -> Sequence[Mapping[str, str]]:
    resolved = dict(config)
    try:
        resolved = ConfigProviders.of(worker).resolve(config)
        connector.start(resolved)
        try:
            return task_configs(connector, resolved)
        finally:
            connector.stop()
    except ConnectError as error:
        raise InvalidDefinitionError(Mask.of([(config, resolved)]).text(str(error))) from error


def job_line(job: TaskJob) -> bytes:
    """The job as a line for the task's process."""
    return json.dumps(job.to_json(), ensure_ascii=False).encode() + b"\n"
