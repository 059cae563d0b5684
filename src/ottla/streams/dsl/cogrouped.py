"""Cogrouping: one aggregate over several grouped streams, each with its own adder."""

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any, Generic, overload

from ottla.streams.dsl.ktable import KTable
from ottla.streams.dsl.materialize import Store, materialized, sessions
from ottla.streams.dsl.repartition import RepartitionSpec, repartition_node
from ottla.streams.dsl.step import Step, copartitioned, processor_node
from ottla.streams.dsl.windowed import session_definition, time_definition, windowed_serde, windowed_store
from ottla.streams.engine.operator.aggregate import AggregateDefinition
from ottla.streams.engine.operator.session_aggregate import SessionAggregateDefinition
from ottla.streams.engine.operator.table import MergeDefinition, TableDefinition
from ottla.streams.engine.operator.window_aggregate import WindowAggregateDefinition
from ottla.streams.errors import required
from ottla.streams.option import EmitStrategy, Materialized, Named, name_of
from ottla.streams.record import K, T, V, Windowed
from ottla.streams.window import SessionWindows, SlidingWindows, TimeWindows, UnlimitedWindows

_AGGREGATE = "COGROUPKSTREAM-AGGREGATE-"
_MERGE = "COGROUPKSTREAM-MERGE-"


@dataclass(frozen=True, eq=False)
class CogroupMember:
    """A grouped stream of a cogroup."""

    step: Step
    topic_name: str | None
    repartition_required: bool


@dataclass(frozen=True)
class _Members:
    """The streams of a cogroup with their adders, and where the aggregates of each one start once there is one."""

    adders: dict[CogroupMember, Callable[[Any, Any, Any], Any]]
    parents: dict[CogroupMember, Step] = field(default_factory=dict)


class CogroupedKStream(Generic[K, V]):
    """Grouped streams with the same keys, on their way to one aggregate."""

    def __init__(self, step: Step, members: _Members) -> None:
        self._step = step
        self._members = members

    @classmethod
    def of(cls, step: Step, member: CogroupMember, adder: Callable[[Any, Any, Any], Any]) -> "CogroupedKStream[K, V]":
        """A cogroup of one stream so far."""
        return cls(step, _Members({member: adder}))

    def cogroup(self, grouped: Any, aggregator: Callable[[K, Any, V], V]) -> "CogroupedKStream[K, V]":
        """Another grouped stream, with its adder."""
        required(grouped, "groupedStream can't be null")
        self._members.adders[grouped.member()] = required(aggregator, "aggregator can't be null")
        return self

    def aggregate(
        self,
        initializer: Callable[[], V],
        named: Named | None = None,
        materialized_as: "Materialized[K, V] | None" = None,
    ) -> "KTable[K, V]":
        """The table of the aggregates."""
        required(initializer, "initializer can't be null")
        store = materialized(self._step.graph, materialized_as, _AGGREGATE, (self._key_serde(), None))

        def definition(adder: Any) -> TableDefinition:
            return AggregateDefinition(store.spec, initializer=initializer, adder=adder)

        return self._built(store, definition, named, store.spec.key_serde)

    @overload
    def windowed_by(self, windows: SessionWindows) -> "SessionWindowedCogroupedKStream[K, V]": ...

    @overload
    def windowed_by(
        self, windows: TimeWindows | SlidingWindows | UnlimitedWindows
    ) -> "TimeWindowedCogroupedKStream[K, V]": ...

    def windowed_by(
        self, windows: SessionWindows | TimeWindows | SlidingWindows | UnlimitedWindows
    ) -> "SessionWindowedCogroupedKStream[K, V] | TimeWindowedCogroupedKStream[K, V]":
        """The groups, cut into windows."""
        required(windows, "windows can't be null")
        if isinstance(windows, SessionWindows):
            return SessionWindowedCogroupedKStream(self._step, self._members, windows)
        return TimeWindowedCogroupedKStream(self._step, self._members, windows)

    def _key_serde(self) -> Any:
        return next((member.step.key_serde for member in self._members.adders if member.step.key_serde), None)

    def _built(
        self, store: Store, definition_of: Callable[[Any], TableDefinition], named: Named | None, key_serde: Any
    ) -> "KTable[Any, Any]":
        graph, given = self._step.graph, name_of(named)
        parents = self._parents(store.spec.name)
        definitions: list[TableDefinition] = []
        nodes = []
        for number, (parent, adder) in enumerate(zip(parents, self._members.adders.values(), strict=True)):
            definition = definition_of(adder)
            name = graph.suffixed_or(given, f"-cogroup-agg-{number}", _AGGREGATE)
            node = processor_node(name, definition.make, [store.spec])
            node.output_versioned = store.is_versioned
            if isinstance(definition, (WindowAggregateDefinition, SessionAggregateDefinition)):
                node.grace_ms = definition.closing_ms
            definitions.append(definition)
            nodes.append(graph.add(parent.node, node))
        merged = _CogroupDefinition(None, tuple(definitions), lookup=definitions[0].view())
        name = graph.suffixed_or(given, "-cogroup-merge", _MERGE)
        node = processor_node(name, merged.make)
        graph.add(nodes, node)
        sources: frozenset[str] = frozenset().union(*(parent.sources for parent in parents))
        step = Step(graph, node, name, key_serde, store.spec.value_serde, sources)
        return KTable(step, merged, store.spec.name if store.is_named else None)

    def _parents(self, store_name: str) -> list[Step]:
        graph, parents = self._step.graph, self._members.parents
        for member in self._members.adders:
            step = member.step
            if member.repartition_required:
                prefix = member.topic_name or store_name
                node = repartition_node(graph, RepartitionSpec(prefix, step.key_serde, step.value_serde))
                if member in parents:
                    continue
                graph.add(step.node, node)
                step = replace(step, node=node, name=node.name, sources=frozenset((node.name,)))
            parents[member] = step
        steps = [parents[member] for member in self._members.adders]
        copartitioned(graph, *steps)
        return steps


class _CogroupDefinition(MergeDefinition):
    """The merge of a cogroup passes changes on as they are; its rows are those of the shared store."""

    def enable_old(self, *, force: bool) -> bool:
        """All parts send old values."""
        for parent in self.parents:
            parent.enable_old(force=force)
        self.send_old = True
        return True


class TimeWindowedCogroupedKStream(CogroupedKStream[K, V]):
    """A cogroup in windows of time."""

    def __init__(self, step: Step, members: _Members, windows: TimeWindows | SlidingWindows | UnlimitedWindows) -> None:
        super().__init__(step, members)
        self._windows = windows

    def aggregate(  # type: ignore[override]  # the keys are windowed
        self,
        initializer: Callable[[], T],
        named: Named | None = None,
        materialized_as: "Materialized[K, T] | None" = None,
    ) -> "KTable[Windowed[K], T]":
        """The table of the aggregates per window."""
        required(initializer, "initializer can't be null")
        store = materialized(self._step.graph, materialized_as, _AGGREGATE, (self._key_serde(), None))
        store = windowed_store(store, materialized_as, self._windows, emits_on_close=False)

        def definition(adder: Any) -> TableDefinition:
            return time_definition(store, self._windows, (initializer, adder), EmitStrategy.ON_WINDOW_UPDATE)

        serde = windowed_serde(
            time_definition(store, self._windows, (None, None), EmitStrategy.ON_WINDOW_UPDATE), store
        )
        return self._built(store, definition, named, serde)


class SessionWindowedCogroupedKStream(CogroupedKStream[K, V]):
    """A cogroup in sessions."""

    def __init__(self, step: Step, members: _Members, windows: SessionWindows) -> None:
        super().__init__(step, members)
        self._windows = windows

    def aggregate(  # type: ignore[override]  # sessions need a merger, and the keys are windowed
        self,
        initializer: Callable[[], T],
        session_merger: Callable[[K, T, T], T],
        named: Named | None = None,
        materialized_as: "Materialized[K, T] | None" = None,
    ) -> "KTable[Windowed[K], T]":
        """The table of the aggregates per session."""
        required(initializer, "initializer can't be null")
        required(session_merger, "sessionMerger can't be null")
        store = materialized(self._step.graph, materialized_as, _AGGREGATE, (self._key_serde(), None))
        store = sessions(store, materialized_as, self._windows.gap_ms, self._windows.grace_ms)

        def definition(adder: Any) -> TableDefinition:
            functions = (initializer, adder, session_merger)
            return session_definition(store, self._windows, functions, EmitStrategy.ON_WINDOW_UPDATE)

        serde = windowed_serde(
            session_definition(store, self._windows, (None, None, None), EmitStrategy.ON_WINDOW_UPDATE), store
        )
        return self._built(store, definition, named, serde)
