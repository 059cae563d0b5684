"""Tables: their source, filters, maps and merges, and how other operators look into them.

A definition is shared by the tasks of an application and changes only while the topology is built: joins and
groupings ask their tables to send old values, and a join that looks into a table makes it keep a store.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple, Protocol

from ottla.streams.engine.operator.operator import Operator, OperatorContext
from ottla.streams.engine.store.spec import StoreSpec
from ottla.streams.record import Change, Headers


class Getter(Protocol):
    """Looks rows of a table up: value and time of a key, now or as of a time."""

    @property
    def versioned(self) -> bool:
        """Whether `get_as_of` knows older values."""
        ...

    def get(self, key: Any) -> tuple[Any, int] | None:
        """The latest value and its time."""
        ...

    def get_as_of(self, key: Any, timestamp: int) -> tuple[Any, int] | None:
        """The value that held at this time."""
        ...


class View(NamedTuple):
    """Another node's access to a table: the stores to connect it with, and the function that opens the getter."""

    stores: tuple[str, ...]
    open: Callable[[OperatorContext], Getter]


class StoreGetter:
    """Reads a table's own store."""

    def __init__(self, store: Any) -> None:
        self._store = store
        self.versioned: bool = store.versioned
        self.get: Callable[[Any], tuple[Any, int] | None] = store.get

    def get_as_of(self, key: Any, timestamp: int) -> tuple[Any, int] | None:
        """The value that held at this time."""
        found: tuple[Any, int] | None = self._store.get_as_of(key, timestamp)
        return found


class MappedGetter:
    """Reads another table and computes the value, for a table without a store."""

    def __init__(self, parent: Getter, compute: Callable[[Any, Any], Any]) -> None:
        self._parent = parent
        self._compute = compute
        self.versioned = parent.versioned

    def get(self, key: Any) -> tuple[Any, int] | None:
        """The computed value."""
        return self._computed(key, self._parent.get(key))

    def get_as_of(self, key: Any, timestamp: int) -> tuple[Any, int] | None:
        """The computed value of that time."""
        return self._computed(key, self._parent.get_as_of(key, timestamp))

    def _computed(self, key: Any, found: tuple[Any, int] | None) -> tuple[Any, int] | None:
        if found is None:
            return None
        value = self._compute(key, found[0])
        return None if value is None else (value, found[1])


@dataclass
class TableDefinition:
    """The base of all definitions of tables: an own store or none, and whether updates carry the old value."""

    store: StoreSpec | None
    parents: tuple["TableDefinition", ...] = ()
    send_old: bool = False
    versioned_semantics: bool = False

    def make(self) -> Operator:
        """The operator of a task."""
        return Operator()

    def view(self) -> View:
        """The access to the table for other nodes."""
        if self.store is None:
            return self.computed_view()
        return store_view(self.store.name)

    def computed_view(self) -> View:
        """The view of a table without a store."""
        return self.parents[0].view()

    def enable_old(self, *, force: bool) -> bool:
        """Asks for old values; without `force` a table that would need a store for them refuses."""
        if not self.send_old:
            if self.store is None:
                for parent in self.parents:
                    if not parent.enable_old(force=force):
                        return False
            self.send_old = True
        return True


def store_view(name: str) -> View:
    """The view of a table's own store."""
    return View((name,), lambda context: StoreGetter(context.store(name)))


@dataclass
class SourceDefinition(TableDefinition):
    """A table of a topic or stream. It keeps a store only if someone looks into it or wants old values."""

    possible_store: StoreSpec | None = None

    def materialize(self) -> None:
        """Makes it keep a store."""
        self.store = self.possible_store

    def make(self) -> Operator:
        """The operator of a task."""
        return TableSource(self)

    def view(self) -> View:
        """The store's view: looking makes the table keep one."""
        self.materialize()
        return super().view()

    def enable_old(self, *, force: bool) -> bool:
        """Old values come from the store."""
        if not force and self.store is None:
            return False
        self.materialize()
        self.send_old = True
        return True


class TableSource(Operator):
    """Keeps the latest value of each key; without a store it passes changes on."""

    def __init__(self, definition: SourceDefinition) -> None:
        self._definition = definition
        self._store: Any = None

    def open(self, context: OperatorContext) -> None:
        """Finds the store."""
        self._context = context
        self._send_old = self._definition.send_old
        if self._definition.store is not None:
            self._store = context.store(self._definition.store.name)

    def process(self, key: Any, value: Any, timestamp: int, headers: Headers) -> None:
        """Offset order wins, not time, unless the table is versioned."""
        if key is None:
            self._context.drop()
            return
        if self._store is None:
            self.forward(key, Change(value), timestamp, headers)
            return
        found = self._store.get(key) if self._send_old else None
        latest = self._store.put(key, value, timestamp)
        if latest is not None:
            self.forward(key, Change(value, None if found is None else found[0], latest), timestamp, headers)


@dataclass
class FilterDefinition(TableDefinition):
    """A filtered table."""

    predicate: Callable[[Any, Any], Any] = max
    negated: bool = False

    def compute(self, key: Any, value: Any) -> Any:
        """The value, if it is let through."""
        return value if value is not None and bool(self.predicate(key, value)) is not self.negated else None

    def make(self) -> Operator:
        """The operator of a task."""
        return TableMap(self, self.compute, skips_nothing=self.versioned_semantics)

    def computed_view(self) -> View:
        """The parent's rows, filtered."""
        return _mapped_view(self.parents[0].view(), self.compute)


@dataclass
class MapDefinition(TableDefinition):
    """A table with other values."""

    mapper: Callable[[Any, Any], Any] = max

    def compute(self, key: Any, value: Any) -> Any:
        """The value's image; a deletion stays one."""
        return None if value is None else self.mapper(key, value)

    def make(self) -> Operator:
        """The operator of a task."""
        return TableMap(self, self.compute, skips_nothing=True)

    def computed_view(self) -> View:
        """The parent's rows, mapped."""
        return _mapped_view(self.parents[0].view(), self.compute)


class TableMap(Operator):
    """Computes both sides of a change. A filter leaves out updates of rows that were never let through."""

    def __init__(
        self,
        definition: TableDefinition,
        compute: Callable[[Any, Any], Any],
        *,
        skips_nothing: bool,
    ) -> None:
        self._definition = definition
        self._compute = compute
        self._skips_nothing = skips_nothing
        self._store: Any = None

    def open(self, context: OperatorContext) -> None:
        """Finds the store."""
        self._send_old = self._definition.send_old
        if self._definition.store is not None:
            self._store = context.store(self._definition.store.name)

    def process(self, key: Any, value: Any, timestamp: int, headers: Headers) -> None:
        """Computes the change; a store's own row is the old side."""
        new, old, latest = self._compute(key, value[0]), None, value[2]
        if self._send_old:
            old = self._compute(key, value[1]) if self._store is None else _value(self._store.get(key))
            if old is None and new is None and not self._skips_nothing:
                return
        if self._store is not None:
            latest = self._store.put(key, new, timestamp)
            if latest is None:
                return
        self.forward(key, Change(new, old, latest), timestamp, headers)


@dataclass
class MergeDefinition(TableDefinition):
    """The table that the two halves of a table–table join, or the parts of a co-grouping, flow into."""

    lookup: View | None = None

    def make(self) -> Operator:
        """The operator of a task."""
        return TableMerge(self)

    def computed_view(self) -> View:
        """The joined rows, computed at each lookup."""
        assert self.lookup is not None
        return self.lookup


class TableMerge(Operator):
    """Keeps and passes on what the halves computed."""

    def __init__(self, definition: MergeDefinition) -> None:
        self._definition = definition
        self._store: Any = None

    def open(self, context: OperatorContext) -> None:
        """Finds the store."""
        self._send_old = self._definition.send_old
        if self._definition.store is not None:
            self._store = context.store(self._definition.store.name)

    def process(self, key: Any, value: Any, timestamp: int, headers: Headers) -> None:
        """Stores the new side."""
        new, old, latest = value
        if self._store is not None:
            latest = self._store.put(key, new, timestamp)
            if latest is None:
                return
        elif not self._send_old:
            old = None
        self.forward(key, Change(new, old, latest), timestamp, headers)


def _mapped_view(parent: View, compute: Callable[[Any, Any], Any]) -> View:
    return View(parent.stores, lambda context: MappedGetter(parent.open(context), compute))


def _value(found: tuple[Any, int] | None) -> Any:
    return None if found is None else found[0]
