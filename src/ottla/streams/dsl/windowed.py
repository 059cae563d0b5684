"""Windowed groups: TimeWindowedKStream for tumbling, hopping, sliding and unlimited windows, SessionWindowedKStream."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, Generic

from ottla.streams.dsl.ktable import KTable
from ottla.streams.dsl.materialize import Store, materialized, sessions, windowed
from ottla.streams.dsl.step import Step
from ottla.streams.engine.operator.session_aggregate import SessionAggregateDefinition
from ottla.streams.engine.operator.sliding_aggregate import SlidingAggregate
from ottla.streams.engine.operator.window_aggregate import WindowAggregateDefinition
from ottla.streams.errors import required
from ottla.streams.option import EmitStrategy, Materialized, Named, name_of
from ottla.streams.record import K, T, V, Windowed
from ottla.streams.serde import Serdes, SessionWindowedSerde, TimeWindowedSerde
from ottla.streams.window import SessionWindows, SlidingWindows, TimeWindows, UnlimitedWindows

_AGGREGATE = "KSTREAM-AGGREGATE-"
_REDUCE = "KSTREAM-REDUCE-"


@dataclass
class SlidingAggregateDefinition(WindowAggregateDefinition):
    """An aggregate in sliding windows."""

    def make(self) -> SlidingAggregate:
        """The operator of a task."""
        return SlidingAggregate(self)


class TimeWindowedKStream(Generic[K, V]):
    """A grouped stream in windows of time."""

    def __init__(
        self,
        step: Step,
        windows: TimeWindows | SlidingWindows | UnlimitedWindows,
        parent_of: Callable[[str], Step],
    ) -> None:
        self._step = step
        self._windows = windows
        self._parent_of = parent_of
        self._emit = EmitStrategy.ON_WINDOW_UPDATE

    def emit_strategy(self, strategy: EmitStrategy) -> "TimeWindowedKStream[K, V]":
        """Sets whether each update is emitted, or only the final result."""
        if isinstance(self._windows, UnlimitedWindows) and strategy is EmitStrategy.ON_WINDOW_CLOSE:
            raise ValueError("ON_WINDOW_CLOSE emit strategy cannot be used for UnlimitedWindows")
        self._emit = required(strategy, "emitStrategy cannot be null")
        return self

    def count(
        self, named: Named | None = None, materialized_as: "Materialized[K, int] | None" = None
    ) -> "KTable[Windowed[K], int]":
        """Counts the records of each key and window."""
        is_sliding = isinstance(self._windows, SlidingWindows)
        if materialized_as is not None and materialized_as.store_name is None and not is_sliding:
            self._step.graph.store_name(_AGGREGATE)
        functions = (lambda: 0, lambda key, value, count: count + 1)
        return self._aggregate(functions, named, materialized_as, Serdes.long())

    def reduce(
        self,
        reducer: Callable[[V, V], V],
        named: Named | None = None,
        materialized_as: "Materialized[K, V] | None" = None,
    ) -> "KTable[Windowed[K], V]":
        """The records of each key and window, put together two by two."""
        functions = (None, _reducing(required(reducer, "reducer can't be null")))
        return self._aggregate(functions, named, materialized_as, self._step.value_serde, _REDUCE)

    def aggregate(
        self,
        initializer: Callable[[], T],
        aggregator: Callable[[K, V, T], T],
        named: Named | None = None,
        materialized_as: "Materialized[K, T] | None" = None,
    ) -> "KTable[Windowed[K], T]":
        """The records of each key and window, added to a value that begins with `initializer()`."""
        required(initializer, "initializer can't be null")
        required(aggregator, "aggregator can't be null")
        return self._aggregate((initializer, aggregator), named, materialized_as, None)

    def _aggregate(
        self,
        functions: tuple[Any, Any],
        named: Named | None,
        given: "Materialized[Any, Any] | None",
        value_serde: Any,
        prefix: str = _AGGREGATE,
    ) -> "KTable[Windowed[K], Any]":
        graph = self._step.graph
        store = materialized(graph, given, prefix, (self._step.key_serde, value_serde))
        name = graph.name_or(name_of(named), prefix)
        store = windowed_store(store, given, self._windows, emits_on_close=self._emit is EmitStrategy.ON_WINDOW_CLOSE)
        definition = time_definition(store, self._windows, functions, self._emit)
        return windowed_table(self._parent_of(store.spec.name), name, definition, store)


class SessionWindowedKStream(Generic[K, V]):
    """A grouped stream in sessions."""

    def __init__(self, step: Step, windows: SessionWindows, parent_of: Callable[[str], Step]) -> None:
        self._step = step
        self._windows = windows
        self._parent_of = parent_of
        self._emit = EmitStrategy.ON_WINDOW_UPDATE

    def emit_strategy(self, strategy: EmitStrategy) -> "SessionWindowedKStream[K, V]":
        """Sets whether each update is emitted, or only the final result."""
        self._emit = required(strategy, "emitStrategy cannot be null")
        return self

    def count(
        self, named: Named | None = None, materialized_as: "Materialized[K, int] | None" = None
    ) -> "KTable[Windowed[K], int]":
        """Counts the records of each key and session."""
        if materialized_as is not None and materialized_as.store_name is None:
            self._step.graph.store_name(_AGGREGATE)
        functions = (lambda: 0, lambda key, value, count: count + 1, lambda key, one, other: one + other)
        return self._aggregate(functions, named, materialized_as, Serdes.long())

    def reduce(
        self,
        reducer: Callable[[V, V], V],
        named: Named | None = None,
        materialized_as: "Materialized[K, V] | None" = None,
    ) -> "KTable[Windowed[K], V]":
        """The records of each key and session, put together two by two."""

        required(reducer, "reducer can't be null")

        def merge(key: Any, one: Any, other: Any) -> Any:
            return other if one is None else reducer(one, other)

        functions = (None, _reducing(reducer), merge)
        return self._aggregate(functions, named, materialized_as, self._step.value_serde, _REDUCE)

    def aggregate(
        self,
        initializer: Callable[[], T],
        aggregator: Callable[[K, V, T], T],
        session_merger: Callable[[K, T, T], T],
        named: Named | None = None,
        materialized_as: "Materialized[K, T] | None" = None,
    ) -> "KTable[Windowed[K], T]":
        """Aggregates the records of each session; `session_merger` makes one aggregate of two when sessions merge."""
        required(initializer, "initializer can't be null")
        required(aggregator, "aggregator can't be null")
        required(session_merger, "sessionMerger can't be null")
        return self._aggregate((initializer, aggregator, session_merger), named, materialized_as, None)

    def _aggregate(
        self,
        functions: tuple[Any, Any, Any],
        named: Named | None,
        given: "Materialized[Any, Any] | None",
        value_serde: Any,
        prefix: str = _AGGREGATE,
    ) -> "KTable[Windowed[K], Any]":
        graph = self._step.graph
        store = materialized(graph, given, prefix, (self._step.key_serde, value_serde))
        name = graph.name_or(name_of(named), prefix)
        store = sessions(store, given, self._windows.gap_ms, self._windows.grace_ms)
        definition = session_definition(store, self._windows, functions, self._emit)
        return windowed_table(self._parent_of(store.spec.name), name, definition, store)


def windowed_store(
    store: Store,
    given: "Materialized[Any, Any] | None",
    windows: TimeWindows | SlidingWindows | UnlimitedWindows,
    *,
    emits_on_close: bool,
) -> Store:
    """The store of windows of time; final results leave in the order of time."""
    size = windows.time_difference_ms if isinstance(windows, SlidingWindows) else windows.size_ms
    sized = windowed(store, given, size, windows.grace_ms, is_sliding=isinstance(windows, SlidingWindows))
    return replace(sized, spec=replace(sized.spec, window_size_ms=size, by_time=emits_on_close))


def time_definition(
    store: Store,
    windows: TimeWindows | SlidingWindows | UnlimitedWindows,
    functions: tuple[Any, Any],
    emit: EmitStrategy,
) -> WindowAggregateDefinition:
    """The definition for these windows."""
    kind = SlidingAggregateDefinition if isinstance(windows, SlidingWindows) else WindowAggregateDefinition
    initializer, adder = functions
    closes = emit is EmitStrategy.ON_WINDOW_CLOSE
    return kind(store.spec, windows=windows, initializer=initializer, adder=adder, emits_on_close=closes)


def session_definition(
    store: Store, windows: SessionWindows, functions: tuple[Any, Any, Any], emit: EmitStrategy
) -> SessionAggregateDefinition:
    """The definition for sessions."""
    closes = emit is EmitStrategy.ON_WINDOW_CLOSE
    initializer, adder, merger = functions
    return SessionAggregateDefinition(
        replace(store.spec, by_time=closes),
        windows=windows,
        initializer=initializer,
        adder=adder,
        merger=merger,
        emits_on_close=closes,
    )


def windowed_table(
    parent: Step, name: str, definition: WindowAggregateDefinition | SessionAggregateDefinition, store: Store
) -> "KTable[Any, Any]":
    """The table of a windowed aggregate: its keys are windowed."""
    table: KTable[Any, Any] = KTable.of_definition(parent, name, definition, store)
    table.step.node.grace_ms = definition.closing_ms
    return table.with_key_serde(windowed_serde(definition, store))


def windowed_serde(definition: WindowAggregateDefinition | SessionAggregateDefinition, store: Store) -> Any:
    """The serde of the table's keys, if the plain keys have one."""
    inner = store.spec.key_serde
    if inner is None:
        return None
    if isinstance(definition, SessionAggregateDefinition):
        return SessionWindowedSerde(inner)
    return TimeWindowedSerde(inner, store.spec.window_size_ms)


def _reducing(reducer: Callable[[Any, Any], Any]) -> Callable[[Any, Any, Any], Any]:
    return lambda key, value, aggregate: value if aggregate is None else reducer(aggregate, value)
