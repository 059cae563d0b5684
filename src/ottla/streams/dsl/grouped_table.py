"""KGroupedTable: a table's rows under other keys, on their way to an aggregate."""

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Generic

from ottla.streams.dsl.graph import GraphNode
from ottla.streams.dsl.materialize import materialized
from ottla.streams.dsl.step import Step
from ottla.streams.engine.change_serde import ChangeSerde
from ottla.streams.engine.operator.aggregate import TableAggregateDefinition
from ottla.streams.engine.topology import InternalTopic, SinkNode, SourceNode, Topology
from ottla.streams.option import Materialized, Named, name_of
from ottla.streams.record import K, T, V
from ottla.streams.serde import Serdes

if TYPE_CHECKING:
    from ottla.streams.dsl.ktable import KTable


class KGroupedTable(Generic[K, V]):
    """A grouped table; what is added for a row is subtracted when the row changes."""

    def __init__(self, step: Step, topic_name: str | None) -> None:
        self._step = step
        self._topic_name = topic_name
        self._repartition: GraphNode | None = None

    def count(
        self, named: Named | None = None, materialized_as: "Materialized[K, int] | None" = None
    ) -> "KTable[K, int]":
        """How many rows each group has."""
        definition = TableAggregateDefinition(
            None,
            initializer=lambda: 0,
            adder=lambda key, value, count: count + 1,
            subtractor=lambda key, value, count: count - 1,
        )
        return self._aggregate(definition, "KTABLE-AGGREGATE-", named, materialized_as, Serdes.long())

    def reduce(
        self,
        adder: Callable[[V, V], V],
        subtractor: Callable[[V, V], V],
        named: Named | None = None,
        materialized_as: "Materialized[K, V] | None" = None,
    ) -> "KTable[K, V]":
        """The rows of each group, put together two by two."""
        definition = TableAggregateDefinition(
            None,
            adder=lambda key, value, aggregate: adder(aggregate, value),
            subtractor=lambda key, value, aggregate: subtractor(aggregate, value),
        )
        return self._aggregate(definition, "KTABLE-REDUCE-", named, materialized_as, self._step.value_serde)

    def aggregate(
        self,
        initializer: Callable[[], T],
        adder: Callable[[K, V, T], T],
        subtractor: Callable[[K, V, T], T],
        named: Named | None = None,
        materialized_as: "Materialized[K, T] | None" = None,
    ) -> "KTable[K, T]":
        """The rows of each group, added to and subtracted from a value that begins with `initializer()`."""
        definition = TableAggregateDefinition(None, initializer=initializer, adder=adder, subtractor=subtractor)
        return self._aggregate(definition, "KTABLE-AGGREGATE-", named, materialized_as, None)

    def _aggregate(
        self,
        definition: TableAggregateDefinition,
        prefix: str,
        named: Named | None,
        given: "Materialized[Any, Any] | None",
        value_serde: Any,
    ) -> "KTable[K, Any]":
        from ottla.streams.dsl.ktable import KTable

        graph, given_name = self._step.graph, name_of(named)
        store = materialized(graph, given, "KTABLE-AGGREGATE-", (self._step.key_serde, value_serde))
        definition.store = store.spec
        sink = graph.suffixed_or(given_name, "-sink", "KSTREAM-SINK-")
        source = graph.suffixed_or(given_name, "-source", "KSTREAM-SOURCE-")
        function = graph.name_or(given_name, prefix)
        topic = f"{self._topic_name or store.spec.name}-repartition"
        if self._repartition is None or self._topic_name is None:
            self._repartition = self._repartition_node(sink, source, topic)
        graph.add(self._step.node, self._repartition)
        name = self._repartition.name
        step = Step(graph, self._repartition, name, self._step.key_serde, value_serde, frozenset((name,)))
        return KTable.of_definition(step, function, definition, store)

    def _repartition_node(self, sink: str, source: str, topic: str) -> GraphNode:
        key_serde, inner = self._step.key_serde, self._step.value_serde

        def write(node: GraphNode, topology: Topology) -> None:
            serde = None if inner is None else ChangeSerde(inner)
            topology.internal_topics[topic] = InternalTopic(topic)
            topology.add_node(SinkNode(sink, topic, node.parent_names(), key_serde, serde))
            topology.add_node(SourceNode(source, (topic,), None, key_serde, serde))

        return GraphNode(source, write)
