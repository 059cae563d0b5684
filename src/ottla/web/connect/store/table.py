"""The tables that a worker keeps, each made of the records of one topic."""

import json
from typing import Any, Final, Protocol

from ottla.connect.worker.config_state import ConfigState
from ottla.connect.worker.offset_table import OffsetTable
from ottla.connect.worker.status_record import StatusTable


class Table(Protocol):
    """Takes the records of a topic."""

    def apply(self, key: bytes, value: bytes | None) -> None:
        """Takes one record; one that it does not understand is left alone."""


class JsonTable:
    """The last JSON object of each key.

    >>> table = JsonTable()
    >>> table.apply(b"a", b'{"x":1}')
    >>> table.values
    {'a': {'x': 1}}
    """

    def __init__(self) -> None:
        self.values: Final[dict[str, dict[str, Any]]] = {}

    def apply(self, key: bytes, value: bytes | None) -> None:
        """Takes one record."""
        name = key.decode("utf-8", "replace")
        self.values.pop(name, None)
        try:
            found = None if value is None else json.loads(value)
        except (ValueError, RecursionError):
            return
        if isinstance(found, dict):
            self.values[name] = found


class Tables:
    """All of a worker's."""

    def __init__(self) -> None:
        self.configs: Final = ConfigState()
        self.offsets: Final = OffsetTable()
        self.statuses: Final = StatusTable()
        self.specs: Final = JsonTable()
        self.pipelines: Final = JsonTable()
        """The runners' statuses of pipelines."""

    @property
    def in_order(self) -> tuple[Table, Table, Table, Table, Table]:
        """The tables, in the order of the topics."""
        return self.configs, self.offsets, self.statuses, self.specs, self.pipelines
