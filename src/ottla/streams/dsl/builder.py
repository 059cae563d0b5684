"""StreamsBuilder: where a topology begins."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from ottla.base.config import ConfigError
from ottla.streams.dsl.global_table import GlobalKTable
from ottla.streams.dsl.graph import Graph, GraphNode
from ottla.streams.dsl.kstream import KStream
from ottla.streams.dsl.ktable import KTable
from ottla.streams.dsl.materialize import Store, materialized
from ottla.streams.dsl.optimization import optimizations_of, optimize
from ottla.streams.dsl.step import Step
from ottla.streams.engine.operator.processor import UserProcessor
from ottla.streams.engine.operator.table import SourceDefinition, TableSource, store_view
from ottla.streams.engine.store.spec import StoreSpec
from ottla.streams.engine.topology import ProcessorNode, SourceNode, Topology
from ottla.streams.errors import TopologyError, required
from ottla.streams.option import Consumed, Materialized, StoreType
from ottla.streams.processor import Processor
from ottla.streams.record import K, V


class StreamsBuilder:
    """Begins streams and tables, and makes the topology of all that became of them.

    >>> builder = StreamsBuilder()
    >>> builder.stream("words").group_by(lambda key, word: word).count().to_stream().to("counts")
    >>> print(builder.build().describe().splitlines()[1].strip())
    Sub-topology: 0
    """

    def __init__(self, config: Mapping[str, Any] | None = None) -> None:
        """`dsl.store.suppliers.class` in the configuration, a `StoreType` or its text, says where stores lie."""
        self._graph = Graph(KStream, store_type_of(config or {}))

    def stream(
        self, topics: str | Sequence[str], consumed: "Consumed[K, V] | None" = None, *, pattern: str | None = None
    ) -> "KStream[K, V]":
        """The records of topics: of one, of several, or (with no topic) of all whose names match a pattern."""
        given = consumed or Consumed()
        required(topics, "topic names cannot be null")
        graph = self._graph
        name = graph.name_or(given.name, "KSTREAM-SOURCE-")
        names = () if pattern is not None else (topics,) if isinstance(topics, str) else tuple(topics)
        source = _source(name, names, given)
        if pattern is not None:
            source = replace(source, pattern=pattern)

        def write(node: GraphNode, topology: Topology) -> None:
            topology.add_node(source)

        node = GraphNode(name, write)
        node.source = source
        graph.add(graph.root, node)
        return KStream(Step(graph, node, name, given.key_serde, given.value_serde, frozenset((name,))))

    def table(
        self,
        topic: str,
        consumed: "Consumed[K, V] | None" = None,
        materialized_as: "Materialized[K, V] | None" = None,
    ) -> "KTable[K, V]":
        """The latest value of each key of a topic."""
        source, store, name = self._table_source(topic, consumed, materialized_as)
        definition = SourceDefinition(store.spec if store.is_named else None, possible_store=store.spec)

        def write(node: GraphNode, topology: Topology) -> None:
            topology.add_node(source)
            topology.add_node(ProcessorNode(name, definition.make, (source.name,)))
            if definition.store is not None:
                topology.add_state_store(definition.store, name)

        node = GraphNode(name, write)
        node.output_versioned = store.is_versioned
        self._graph.add(self._graph.root, node)
        step = Step(self._graph, node, name, source.key_serde, source.value_serde, frozenset((source.name,)))
        return KTable(step, definition, store.spec.name if store.is_named else None)

    def global_table(
        self,
        topic: str,
        consumed: "Consumed[K, V] | None" = None,
        materialized_as: "Materialized[K, V] | None" = None,
    ) -> "GlobalKTable[K, V]":
        """The latest value of each key of a whole topic, in every instance."""
        source, store, name = self._table_source(topic, consumed, materialized_as)
        if store.is_versioned:
            raise TopologyError("GlobalTables cannot be versioned.")
        spec = replace(store.spec, logging=False)
        definition = SourceDefinition(spec, possible_store=spec)

        def write(node: GraphNode, topology: Topology) -> None:
            topology.add_global_store(
                source, ProcessorNode(name, lambda: TableSource(definition), (source.name,)), spec
            )

        self._graph.add(self._graph.root, GraphNode(name, write))
        return GlobalKTable(store_view(spec.name), store.spec.name if store.is_named else None)

    def add_state_store(self, spec: StoreSpec) -> "StreamsBuilder":
        """A store for processors, which name it in `process(…, stores=[…])`."""
        required(spec, "builder can't be null")
        node = GraphNode(f"store {spec.name}", lambda node, topology: _add_store(topology, spec))
        self._graph.add(self._graph.root, node)
        return self

    def add_global_store(
        self,
        spec: StoreSpec,
        topic: str,
        consumed: "Consumed[Any, Any]",
        supplier: Callable[[], Processor[Any, Any, Any, Any]],
    ) -> "StreamsBuilder":
        """A store that a processor of the user's fills from a whole topic, in every instance."""
        graph = self._graph
        source_name = graph.suffixed_or(consumed.name, "-source", "KSTREAM-SOURCE-")
        name = graph.name_or(consumed.name, "KTABLE-SOURCE-")
        source, store = _source(source_name, (topic,), consumed), replace(spec, logging=False)

        def write(node: GraphNode, topology: Topology) -> None:
            processor = ProcessorNode(name, lambda: UserProcessor(supplier()), (source_name,))
            topology.add_global_store(source, processor, store)

        graph.add(graph.root, GraphNode(name, write))
        return self

    def build(self, config: Mapping[str, Any] | None = None) -> Topology:
        """The topology; `topology.optimization` in the configuration may rewrite it."""
        optimize(self._graph, optimizations_of(config))
        return self._graph.build()

    def _table_source(
        self, topic: str, consumed: "Consumed[Any, Any] | None", given: "Materialized[Any, Any] | None"
    ) -> tuple[SourceNode, Store, str]:
        required(topic, "topic can't be null")
        graph, consumed = self._graph, consumed or Consumed()
        store = materialized(graph, given, f"{topic}-", (consumed.key_serde, consumed.value_serde))
        source_name = graph.suffixed_or(consumed.name, "-source", "KSTREAM-SOURCE-")
        name = graph.name_or(consumed.name, "KTABLE-SOURCE-")
        source = _source(source_name, (topic,), consumed)
        serdes = (source.key_serde or store.spec.key_serde, source.value_serde or store.spec.value_serde)
        return replace(source, key_serde=serdes[0], value_serde=serdes[1]), store, name


def store_type_of(config: Mapping[str, Any]) -> StoreType:
    """What the configuration says of stores that have no type of their own; the second name is Kafka's older one.

    >>> store_type_of({"default.dsl.store": "in_memory"}).name, store_type_of({}).name
    ('IN_MEMORY', 'ROCKS_DB')
    """
    for name in ("dsl.store.suppliers.class", "default.dsl.store"):
        given = config.get(name)
        if given is None:
            continue
        try:
            return StoreType(given)
        except ValueError:
            raise ConfigError(name, given, f"one of {', '.join(one.value for one in StoreType)}") from None
    return StoreType.ROCKS_DB


def _source(name: str, topics: tuple[str, ...], given: Consumed[Any, Any]) -> SourceNode:
    extractor, reset = given.timestamp_extractor, given.offset_reset
    return SourceNode(name, topics, None, given.key_serde, given.value_serde, extractor, reset)


def _add_store(topology: Topology, spec: StoreSpec) -> None:
    topology.add_state_store(spec)
