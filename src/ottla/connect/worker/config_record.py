"""The records of the config topic, in Kafka Connect's form: text keys, JSON without schema, tombstones.

Records of another form are left alone: `decode` gives None.
"""

import enum
import json
from collections.abc import Mapping, Sequence
from typing import Any, Final, TypeAlias

from ottla.base.frozen import frozen

Record: TypeAlias = tuple[bytes, bytes | None]
Properties: TypeAlias = Mapping[str, str | None]
_CONNECTOR, _TASK, _COMMIT = "connector-", "task-", "commit-"
_TARGET, _RESTART, _FENCING, _LOGGER = "target-state-", "restart-connector-", "tasks-fencing-", "logger-cluster-"
_SESSION: Final = "session-key"


class TargetState(enum.StrEnum):
    """The state that a user wants a connector to have."""

    STARTED = "STARTED"
    PAUSED = "PAUSED"
    STOPPED = "STOPPED"


@frozen
class ConnectorConfig:
    """A connector's settings; None: it was deleted."""

    connector: str
    properties: Properties | None


@frozen
class TaskConfig:
    """A task's settings, in force once a `TasksCommit` follows."""

    connector: str
    task: int
    properties: Properties


@frozen
class TasksCommit:
    """So many tasks, whose settings stand before this record."""

    connector: str
    count: int


@frozen
class TargetChange:
    """A new target state; None: the connector was deleted."""

    connector: str
    state: TargetState | None


@frozen
class RestartRequest:
    """A restart that was asked for."""

    connector: str
    includes_tasks: bool
    only_failed: bool


@frozen
class SessionKey:
    """The secret by which workers know one another's requests."""

    key: str
    algorithm: str
    created_ms: int


@frozen
class LoggerLevel:
    """The level of a logger in all workers."""

    logger: str
    level: str


ConfigRecord: TypeAlias = (
    ConnectorConfig | TaskConfig | TasksCommit | TargetChange | RestartRequest | SessionKey | LoggerLevel
)


def connector_config(name: str, properties: Properties) -> Record:
    """The record of a connector's settings.

    >>> connector_config("lines", {"topic": "t"})
    (b'connector-lines', b'{"properties":{"topic":"t"}}')
    """
    return _record(_CONNECTOR + name, {"properties": dict(properties)})


def target_state(name: str, state: TargetState) -> Record:
    """The record of a target state; workers before Kafka 3.5 know no STOPPED and read PAUSED.

    >>> target_state("lines", TargetState.STOPPED)[1]
    b'{"state":"PAUSED","state.v2":"STOPPED"}'
    """
    first = TargetState.STARTED if state is TargetState.STARTED else TargetState.PAUSED
    return _record(_TARGET + name, {"state": first.value, "state.v2": state.value})


def task_configs(name: str, configs: Sequence[Properties]) -> list[Record]:
    """The tasks' settings and, last, the record that puts them in force."""
    tasks = [_record(f"{_TASK}{name}-{number}", {"properties": dict(each)}) for number, each in enumerate(configs)]
    return [*tasks, _record(_COMMIT + name, {"tasks": len(configs)})]


def removal(name: str) -> list[Record]:
    """A connector is gone; its tasks' records stay, as Kafka leaves them."""
    return [((_CONNECTOR + name).encode(), None), ((_TARGET + name).encode(), None)]


def restart_request(name: str, *, includes_tasks: bool, only_failed: bool) -> Record:
    """A restart that is asked for."""
    return _record(_RESTART + name, {"include-tasks": includes_tasks, "only-failed": only_failed})


def session_key(made: SessionKey) -> Record:
    """A new secret of the workers."""
    fields = {"key": made.key, "algorithm": made.algorithm, "creation-timestamp": made.created_ms}
    return _record(_SESSION, fields)


def logger_level(name: str, level: str) -> Record:
    """A level for all workers."""
    return _record(_LOGGER + name, {"level": level})


def decode(key: bytes, value: bytes | None) -> ConfigRecord | None:
    """The decoded record; None for one of another form.

    >>> decode(b"commit-a-b", b'{"tasks": 2}')
    TasksCommit(connector='a-b', count=2)
    >>> decode(b"target-state-a", b'{"state":"PAUSED","state.v2":"STOPPED"}').state
    <TargetState.STOPPED: 'STOPPED'>
    >>> decode(b"what-is-this", b"{}") is None
    True
    """
    name = key.decode("utf-8", "replace")
    fields = _fields(value)
    if name.startswith(_CONNECTOR):
        return _connector(name.removeprefix(_CONNECTOR), value, fields)
    if name.startswith(_TARGET):
        return _target(name.removeprefix(_TARGET), value, fields)
    if fields is None:
        return None
    if name.startswith(_TASK):
        return _task(name.removeprefix(_TASK), fields)
    if name.startswith(_COMMIT):
        count = fields.get("tasks")
        return TasksCommit(name.removeprefix(_COMMIT), count) if isinstance(count, int) and _is_count(count) else None
    return _other(name, fields)


def _connector(name: str, value: bytes | None, fields: dict[str, Any] | None) -> ConnectorConfig | None:
    if value is None:
        return ConnectorConfig(name, None)
    properties = _properties(fields)
    return None if properties is None else ConnectorConfig(name, properties)


def _target(name: str, value: bytes | None, fields: dict[str, Any] | None) -> TargetChange | None:
    if value is None:
        return TargetChange(name, None)
    said = (fields or {}).get("state.v2") or (fields or {}).get("state")
    return TargetChange(name, TargetState(said)) if said in set(TargetState) else None


def _task(rest: str, fields: dict[str, Any]) -> TaskConfig | None:
    name, dash, number = rest.rpartition("-")
    properties = _properties(fields)
    if not dash or not number.isdecimal() or properties is None:
        return None
    return TaskConfig(name, int(number), properties)


def _other(name: str, fields: dict[str, Any]) -> ConfigRecord | None:
    if name.startswith(_RESTART):
        # What is no boolean is false, as in Kafka: the text "false" is no wish for a restart of all tasks.
        flags = fields.get("include-tasks") is True, fields.get("only-failed") is True
        return RestartRequest(name.removeprefix(_RESTART), *flags)
    if name.startswith(_LOGGER):
        level = fields.get("level")
        return LoggerLevel(name.removeprefix(_LOGGER), level) if isinstance(level, str) else None
    if name == _SESSION:
        key, algorithm, created = (fields.get(each) for each in ("key", "algorithm", "creation-timestamp"))
        if isinstance(key, str) and isinstance(algorithm, str) and isinstance(created, int):
            return SessionKey(key, algorithm, created)
    return None


def _properties(fields: dict[str, Any] | None) -> dict[str, str | None] | None:
    found = (fields or {}).get("properties")
    if not isinstance(found, dict) or not all(isinstance(each, (str, type(None))) for each in found.values()):
        return None
    return found


def _is_count(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and value >= 0


def _fields(value: bytes | None) -> dict[str, Any] | None:
    try:
        found = None if value is None else json.loads(value)
    except (ValueError, RecursionError):
        return None
    return found if isinstance(found, dict) else None


def _record(key: str, fields: Mapping[str, object]) -> Record:
    return key.encode(), json.dumps(fields, separators=(",", ":"), ensure_ascii=False).encode()
