"""The records of the status topic, in Kafka Connect's form, and the table that they make."""

import enum
import json
from typing import Any, Final, TypeVar

from ottla.base.frozen import frozen
from ottla.connect.worker.config_record import Record

_CONNECTOR, _TASK, _TOPIC = "status-connector-", "status-task-", "status-topic-"
_BETWEEN: Final = ":connector-"
K = TypeVar("K")
V = TypeVar("V")


class State(enum.StrEnum):
    """The state of a connector or a task."""

    UNASSIGNED = "UNASSIGNED"
    RUNNING = "RUNNING"
    PAUSED = "PAUSED"
    STOPPED = "STOPPED"
    FAILED = "FAILED"
    RESTARTING = "RESTARTING"
    DESTROYED = "DESTROYED"


@frozen
class Status:
    """One connector or task, as the worker that looks after it last said."""

    state: State
    worker_id: str
    generation: int = 0
    trace: str | None = None
    version: str | None = None

    def to_json(self, **first: object) -> dict[str, object]:
        """What REST shows; `trace` and `version` only where there is one."""
        shown: dict[str, object] = {**first, "state": self.state.value, "worker_id": self.worker_id}
        if self.version is not None:
            shown["version"] = self.version
        return shown if self.trace is None else {**shown, "trace": self.trace}


@frozen
class ActiveTopic:
    """A topic that a connector has used."""

    topic: str
    connector: str
    task: int
    discovered_ms: int


def connector_status(name: str, status: Status | None) -> Record:
    """The record of a connector's status; None removes it.

    >>> connector_status("a", Status(State.RUNNING, "w:8083", 1))[1]
    b'{"state":"RUNNING","trace":null,"worker_id":"w:8083","generation":1,"version":null}'
    """
    return (_CONNECTOR + name).encode(), _value(status)


def task_status(name: str, task: int, status: Status | None) -> Record:
    """The record of a task's status; None removes it."""
    return f"{_TASK}{name}-{task}".encode(), _value(status)


def active_topic(found: ActiveTopic) -> Record:
    """The record of a topic that is used."""
    fields = {
        "name": found.topic,
        "connector": found.connector,
        "task": found.task,
        "discoverTimestamp": found.discovered_ms,
    }
    key = f"{_TOPIC}{found.topic}{_BETWEEN}{found.connector}"
    return key.encode(), _json({"topic": fields})


def forgotten_topic(topic: str, connector: str) -> Record:
    """A connector is not known to use a topic any more."""
    return f"{_TOPIC}{topic}{_BETWEEN}{connector}".encode(), None


class StatusTable:
    """All statuses.

    >>> table = StatusTable()
    >>> table.apply(*task_status("a-b", 3, Status(State.FAILED, "w", 1, "trace")))
    >>> table.task("a-b", 3).state, table.tasks("a-b")
    (<State.FAILED: 'FAILED'>, [3])
    """

    def __init__(self) -> None:
        self._connectors: Final[dict[str, Status]] = {}
        self._tasks: Final[dict[str, dict[int, Status]]] = {}
        self._topics: Final[dict[str, dict[str, ActiveTopic]]] = {}

    def connector(self, name: str) -> Status | None:
        """A connector's status, if there is one."""
        return self._connectors.get(name)

    @property
    def connectors(self) -> list[str]:
        """Those that have a status."""
        return list(self._connectors)

    def task(self, name: str, task: int) -> Status | None:
        """A task's status, if there is one."""
        return self._tasks.get(name, {}).get(task)

    def tasks(self, name: str) -> list[int]:
        """The tasks that have a status."""
        return sorted(self._tasks.get(name, {}))

    def topics(self, name: str) -> list[str]:
        """The topics that a connector has used."""
        return sorted(self._topics.get(name, {}))

    def apply(self, key: bytes, value: bytes | None) -> None:
        """Takes one record."""
        name = key.decode("utf-8", "replace")
        if name.startswith(_CONNECTOR):
            self._put(self._connectors, name.removeprefix(_CONNECTOR), _status(value))
        elif name.startswith(_TASK):
            connector, _, number = name.removeprefix(_TASK).rpartition("-")
            if number.isdecimal():
                self._put(self._tasks.setdefault(connector, {}), int(number), _status(value))
        elif name.startswith(_TOPIC) and _BETWEEN in name:
            topic, _, connector = name.removeprefix(_TOPIC).partition(_BETWEEN)
            self._put(self._topics.setdefault(connector, {}), topic, _topic(topic, connector, value))

    @staticmethod
    def _put(known: dict[K, V], key: K, value: V | None) -> None:
        if value is None:
            known.pop(key, None)
        else:
            known[key] = value


def _value(status: Status | None) -> bytes | None:
    if status is None:
        return None
    return _json(
        {
            "state": status.state.value,
            "trace": status.trace,
            "worker_id": status.worker_id,
            "generation": status.generation,
            "version": status.version,
        }
    )


def _status(value: bytes | None) -> Status | None:
    fields = _fields(value)
    state = fields.get("state")
    if state not in set(State) or state == State.DESTROYED:
        return None
    trace, version = fields.get("trace"), fields.get("version")
    return Status(
        State(state),
        str(fields.get("worker_id", "")),
        _whole(fields.get("generation")),
        None if trace is None else str(trace),
        None if version is None else str(version),
    )


def _topic(topic: str, connector: str, value: bytes | None) -> ActiveTopic | None:
    fields = _fields(value).get("topic")
    if not isinstance(fields, dict):
        return None
    return ActiveTopic(topic, connector, _whole(fields.get("task")), _whole(fields.get("discoverTimestamp")))


def _whole(value: object) -> int:
    return value if isinstance(value, int) else 0


def _fields(value: bytes | None) -> dict[str, Any]:
    try:
        found = None if value is None else json.loads(value)
    except (ValueError, RecursionError):
        return {}
    return found if isinstance(found, dict) else {}


def _json(fields: object) -> bytes:
    return json.dumps(fields, separators=(",", ":"), ensure_ascii=False).encode()
