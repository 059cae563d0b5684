"""KGroupedStream: a stream by key, on its way to an aggregate."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any, Generic, overload

from ottla.streams.dsl.cogrouped import CogroupedKStream, CogroupMember
from ottla.streams.dsl.ktable import KTable
from ottla.streams.dsl.materialize import materialized
from ottla.streams.dsl.repartition import RepartitionSpec, repartition_node
from ottla.streams.dsl.step import Step
from ottla.streams.dsl.windowed import SessionWindowedKStream, TimeWindowedKStream
from ottla.streams.engine.operator.aggregate import AggregateDefinition
from ottla.streams.errors import required
from ottla.streams.option import Materialized, Named, name_of
from ottla.streams.record import K, T, V
from ottla.streams.serde import Serdes
from ottla.streams.window import SessionWindows, SlidingWindows, TimeWindows, UnlimitedWindows


class KGroupedStream(Generic[K, V]):
    """A grouped stream. Records without a key belong to no group."""

    def __init__(self, step: Step, topic_name: str | None, *, repartition_required: bool) -> None:
        self._step = step
        self._topic_name = topic_name
        self._repartition_required = repartition_required
        self._repartition: Step | None = None
        self._member = CogroupMember(step, topic_name, repartition_required)

    def count(
        self, named: Named | None = None, materialized_as: "Materialized[K, int] | None" = None
    ) -> "KTable[K, int]":
        """Counts the records of each key."""
        graph = self._step.graph
        if materialized_as is not None and materialized_as.store_name is None:
            graph.store_name("KSTREAM-AGGREGATE-")
        definition = AggregateDefinition(None, initializer=lambda: 0, adder=lambda key, value, count: count + 1)
        return self._aggregate(definition, named, materialized_as, Serdes.long())

    def reduce(
        self,
        reducer: Callable[[V, V], V],
        named: Named | None = None,
        materialized_as: "Materialized[K, V] | None" = None,
    ) -> "KTable[K, V]":
        """The records of each key, put together two by two."""
        required(reducer, "reducer can't be null")
        definition = AggregateDefinition(None, adder=lambda key, value, aggregate: reducer(aggregate, value))
        return self._aggregate(definition, named, materialized_as, self._step.value_serde, "KSTREAM-REDUCE-")

    def aggregate(
        self,
        initializer: Callable[[], T],
        aggregator: Callable[[K, V, T], T],
        named: Named | None = None,
        materialized_as: "Materialized[K, T] | None" = None,
    ) -> "KTable[K, T]":
        """The records of each key, added to a value that begins with `initializer()`."""
        required(initializer, "initializer can't be null")
        required(aggregator, "aggregator can't be null")
        definition = AggregateDefinition(None, initializer=initializer, adder=aggregator)
        return self._aggregate(definition, named, materialized_as, None)

    def cogroup(self, aggregator: Callable[[K, V, T], T]) -> "CogroupedKStream[K, T]":
        """This stream's part of an aggregate over several grouped streams."""
        return CogroupedKStream.of(self._step, self._member, required(aggregator, "aggregator can't be null"))

    @overload
    def windowed_by(self, windows: SessionWindows) -> "SessionWindowedKStream[K, V]": ...

    @overload
    def windowed_by(self, windows: TimeWindows | SlidingWindows | UnlimitedWindows) -> "TimeWindowedKStream[K, V]": ...

    def windowed_by(
        self, windows: SessionWindows | TimeWindows | SlidingWindows | UnlimitedWindows
    ) -> "SessionWindowedKStream[K, V] | TimeWindowedKStream[K, V]":
        """The groups, cut into windows."""
        required(windows, "windows can't be null")
        if isinstance(windows, SessionWindows):
            return SessionWindowedKStream(self._step, windows, self.parent_of)
        return TimeWindowedKStream(self._step, windows, self.parent_of)

    def member(self) -> CogroupMember:
        """The part of a cogroup that this stream is."""
        return self._member

    def parent_of(self, store_name: str) -> Step:
        """The step that an aggregate follows: a repartition, if the key has changed."""
        if not self._repartition_required:
            return self._step
        graph = self._step.graph
        prefix = self._topic_name or store_name
        node = repartition_node(graph, RepartitionSpec(prefix, self._step.key_serde, self._step.value_serde))
        if self._repartition is None or self._topic_name is None:
            self._repartition = replace(self._step, node=node, name=node.name, sources=frozenset((node.name,)))
        graph.add(self._step.node, self._repartition.node)
        return self._repartition

    def _aggregate(
        self,
        definition: AggregateDefinition,
        named: Named | None,
        given: "Materialized[Any, Any] | None",
        value_serde: Any,
        prefix: str = "KSTREAM-AGGREGATE-",
    ) -> "KTable[K, Any]":
        graph = self._step.graph
        store = materialized(graph, given, prefix, (self._step.key_serde, value_serde))
        name = graph.name_or(name_of(named), prefix)
        definition.store = store.spec
        return KTable.of_definition(self.parent_of(store.spec.name), name, definition, store)
