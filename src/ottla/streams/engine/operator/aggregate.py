"""Aggregates without windows: of a stream, and of a grouped table with its old and new values."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from ottla.streams.engine.operator.operator import Operator, OperatorContext
from ottla.streams.engine.operator.table import TableDefinition
from ottla.streams.errors import StreamsError
from ottla.streams.record import Change, Headers

Adder = Callable[[Any, Any, Any], Any]


@dataclass
class AggregateDefinition(TableDefinition):
    """count, reduce and aggregate of a stream. A reduce has no initial value: the first value is it.

    The old side of a key's first update is the initial value, as in Kafka Streams without a cache.
    """

    initializer: Callable[[], Any] | None = None
    adder: Adder = max

    def make(self) -> Operator:
        """The operator of a task."""
        return StreamAggregate(self)


class StreamAggregate(Operator):
    """Adds each record to its key's aggregate. Records without key or value are dropped."""

    def __init__(self, definition: AggregateDefinition) -> None:
        self._definition = definition
        self._initializer = definition.initializer
        self._adder = definition.adder

    def open(self, context: OperatorContext) -> None:
        """Finds the store."""
        assert self._definition.store is not None
        self._context = context
        self._store = context.store(self._definition.store.name)
        self._send_old = self._definition.send_old

    def process(self, key: Any, value: Any, timestamp: int, headers: Headers) -> None:
        """The result's time is the latest of its records."""
        if key is None or value is None:
            self._context.drop()
            return
        found = self._store.get(key)
        if found is None:
            old = None if self._initializer is None else self._initializer()
            new = value if self._initializer is None else self._adder(key, value, old)
        else:
            old, at = found
            new = self._adder(key, value, old)
            timestamp = max(timestamp, at)
        latest = self._store.put(key, new, timestamp)
        if latest is not None:
            self.forward(key, Change(new, old if self._send_old else None, latest), timestamp, headers)


@dataclass
class TableAggregateDefinition(TableDefinition):
    """The aggregate of a grouped table: old values are subtracted, new ones added."""

    initializer: Callable[[], Any] | None = None
    adder: Adder = max
    subtractor: Adder = max

    def make(self) -> Operator:
        """The operator of a task."""
        return TableAggregate(self)


class TableAggregate(Operator):
    """Subtracts the old value, adds the new one."""

    def __init__(self, definition: TableAggregateDefinition) -> None:
        self._definition = definition
        self._initializer = definition.initializer

    def open(self, context: OperatorContext) -> None:
        """Finds the store."""
        assert self._definition.store is not None
        self._store = context.store(self._definition.store.name)
        self._send_old = self._definition.send_old

    def process(self, key: Any, value: Any, timestamp: int, headers: Headers) -> None:
        """A row that no one has added is not subtracted."""
        if key is None:
            raise StreamsError("Record key for KTable aggregate operator should not be null.")
        new_value, old_value, _ = value
        found = self._store.get(key)
        old, at = (None, timestamp) if found is None else found
        aggregate = old
        if old_value is not None and old is not None:
            aggregate = self._definition.subtractor(key, old_value, old)
        if new_value is not None:
            if aggregate is None and self._initializer is None:
                aggregate = new_value
            else:
                start = self._initializer() if aggregate is None and self._initializer is not None else aggregate
                aggregate = self._definition.adder(key, new_value, start)
        timestamp = max(timestamp, at)
        latest = self._store.put(key, aggregate, timestamp)
        if latest is not None:
            self.forward(key, Change(aggregate, old if self._send_old else None, latest), timestamp, headers)


@dataclass
class RegroupDefinition(TableDefinition):
    """A table's rows under another key, on their way to the repartition topic."""

    mapper: Callable[[Any, Any], tuple[Any, Any]] = divmod

    def make(self) -> Operator:
        """The operator of a task."""
        return Regroup(self)


class Regroup(Operator):
    """Sends old and new row to their groups: one change if the group stays, first the old one if it changes."""

    def __init__(self, definition: RegroupDefinition) -> None:
        self._definition = definition
        self._mapper = definition.mapper

    def process(self, key: Any, value: Any, timestamp: int, headers: Headers) -> None:
        """Rows without a group key or value belong to no group."""
        if key is None:
            raise StreamsError("Record key for the grouping KTable should not be null.")
        new, old, latest = value
        if self._definition.versioned_semantics and not latest:
            return
        new_pair = None if new is None else self._mapper(key, new)
        old_pair = None if old is None else self._mapper(key, old)
        has_old = old_pair is not None and old_pair[0] is not None and old_pair[1] is not None
        has_new = new_pair is not None and new_pair[0] is not None and new_pair[1] is not None
        if has_old and has_new and old_pair is not None and new_pair is not None and old_pair[0] == new_pair[0]:
            self.forward(old_pair[0], Change(new_pair[1], old_pair[1], latest), timestamp, headers)
            return
        if has_old and old_pair is not None:
            self.forward(old_pair[0], Change(None, old_pair[1], latest), timestamp, headers)
        if has_new and new_pair is not None:
            self.forward(new_pair[0], Change(new_pair[1], None, latest), timestamp, headers)
