"""The state that the config topic's records make: connectors, their tasks, and their target states.

Records of tasks are in force once their commit follows with all of them there. A commit that lacks some (compaction
can remove them while a new set is written) leaves the connector inconsistent until its tasks are made anew.
"""

from collections.abc import Mapping
from typing import Final, TypeVar

from ottla.connect.worker.config_record import (
    ConnectorConfig,
    LoggerLevel,
    Properties,
    SessionKey,
    TargetChange,
    TargetState,
    TaskConfig,
    TasksCommit,
    decode,
)  # fmt: skip

T = TypeVar("T")


class ConfigState:
    """The state after all records that were applied."""

    def __init__(self) -> None:
        self.session_key: SessionKey | None = None
        self.logger_levels: Final[dict[str, str]] = {}
        self._configs: Final[dict[str, Properties]] = {}
        self._targets: Final[dict[str, TargetState]] = {}
        self._counts: Final[dict[str, int]] = {}
        self._tasks: Final[dict[str, dict[int, Properties]]] = {}
        self._deferred: Final[dict[str, dict[int, Properties]]] = {}
        self._inconsistent: Final[set[str]] = set()

    @property
    def connectors(self) -> list[str]:
        """The names of all connectors."""
        return list(self._configs)

    def __contains__(self, name: object) -> bool:
        return name in self._configs

    def config(self, name: str) -> Properties | None:
        """A connector's settings as its user gave them; None if there is no such connector."""
        return self._configs.get(name)

    def target(self, name: str) -> TargetState:
        """The target state of the connector."""
        return self._targets.get(name, TargetState.STARTED)

    def tasks(self, name: str) -> list[Properties] | None:
        """The settings of its tasks; None if they were never made, or are not all there."""
        if name not in self._counts or name in self._inconsistent or name not in self._configs:
            return None
        known = self._tasks.get(name, {})
        return [known[number] for number in range(self._counts[name])]

    def task_count(self, name: str) -> int:
        """The number of tasks in force."""
        return len(self.tasks(name) or ())

    def apply(self, key: bytes, value: bytes | None) -> None:
        """Takes one record.

        >>> state = ConfigState()
        >>> state.apply(b"connector-a", b'{"properties":{"topic":"t"}}')
        >>> state.apply(b"task-a-0", b'{"properties":{}}')
        >>> state.tasks("a")
        >>> state.apply(b"commit-a", b'{"tasks":1}')
        >>> state.tasks("a")
        [{}]
        """
        record = decode(key, value)
        if isinstance(record, ConnectorConfig):
            self._configure(record)
        elif isinstance(record, TaskConfig):
            self._deferred.setdefault(record.connector, {})[record.task] = record.properties
        elif isinstance(record, TasksCommit):
            self._commit(record)
        elif isinstance(record, TargetChange):
            _put(self._targets, record.connector, record.state)
        elif isinstance(record, SessionKey):
            self.session_key = record
        elif isinstance(record, LoggerLevel):
            self.logger_levels[record.logger] = record.level

    def _configure(self, record: ConnectorConfig) -> None:
        _put(self._configs, record.connector, record.properties)
        if record.properties is None:
            self._forget_tasks(record.connector)

    def _forget_tasks(self, name: str) -> None:
        for each in (self._counts, self._tasks, self._deferred):
            each.pop(name, None)
        self._inconsistent.discard(name)

    def _commit(self, record: TasksCommit) -> None:
        name = record.connector
        if name not in self._configs:
            # The connector was deleted, and compaction has removed all trace of it but its tasks. A new one of that
            # name must not begin with them (KAFKA-16838).
            self._forget_tasks(name)
            return
        deferred = self._deferred.pop(name, {})
        if set(range(record.count)) <= deferred.keys():
            self._tasks[name] = {number: deferred[number] for number in range(record.count)}
            self._inconsistent.discard(name)
        else:
            self._inconsistent.add(name)
        self._counts[name] = record.count


def _put(known: dict[str, T], name: str, value: T | None) -> None:
    if value is None:
        known.pop(name, None)
    else:
        known[name] = value


def raw(properties: Properties) -> Mapping[str, str]:
    """Settings without those that are null."""
    return {name: value for name, value in properties.items() if value is not None}
