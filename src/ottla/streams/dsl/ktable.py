"""KTable, the latest value of each key, and KGroupedTable, a table's rows under other keys, to be aggregated.

Method by method Kafka Streams' classes of these names. Each makes the other, so they stand in one module.
"""

from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Generic, TypeAlias, cast, overload

from ottla.streams.dsl.foreign_key import ForeignKeyJoin, join_by_foreign_key
from ottla.streams.dsl.function import with_key
from ottla.streams.dsl.graph import GraphNode, NodeRole
from ottla.streams.dsl.materialize import Store, materialized
from ottla.streams.dsl.step import Step, processor_node
from ottla.streams.dsl.suppression import suppressed_table
from ottla.streams.dsl.table_join import join_tables
from ottla.streams.engine.change_serde import ChangeSerde
from ottla.streams.engine.operator.aggregate import RegroupDefinition, TableAggregateDefinition
from ottla.streams.engine.operator.stateless import MapKey, ToStream
from ottla.streams.engine.operator.table import FilterDefinition, MapDefinition, TableDefinition
from ottla.streams.engine.operator.table_join import Side
from ottla.streams.engine.topology import InternalTopic, SinkNode, SourceNode, Topology
from ottla.streams.errors import required
from ottla.streams.option import Grouped, Materialized, Named, TableJoined, name_of
from ottla.streams.processor import KOut, VOut
from ottla.streams.record import K, T, V
from ottla.streams.serde import Serde, Serdes
from ottla.streams.suppressed import Suppressed

if TYPE_CHECKING:
    from ottla.streams.dsl.kstream import KStream

JoinOption: TypeAlias = "Named | TableJoined | Materialized[Any, Any]"


class KTable(Generic[K, V]):
    """A table: each record is an update of its key, None deletes."""

    def __init__(self, step: Step, definition: TableDefinition, queryable_store_name: str | None) -> None:
        self.step = step
        self.definition = definition
        self.queryable_store_name = queryable_store_name

    @classmethod
    def of_definition(cls, parent: Step, name: str, definition: TableDefinition, store: Store) -> "KTable[K, V]":
        """The table of a new node below `parent`, with a store of its own."""
        stores = _OwnStore(definition)
        node = processor_node(name, definition.make, stores)  # type: ignore[arg-type]  # read when it is written
        node.output_versioned = store.is_versioned
        parent.graph.add(parent.node, node)
        step = replace(parent, node=node, name=name, key_serde=store.spec.key_serde, value_serde=store.spec.value_serde)
        return cls(step, definition, store.spec.name if store.is_named else None)

    def with_key_serde(self, serde: Serde[Any] | None) -> "KTable[K, V]":
        """A table with another serde of keys, as for windowed ones."""
        return KTable(replace(self.step, key_serde=serde), self.definition, self.queryable_store_name)

    def filter(
        self,
        predicate: Callable[[K, V], Any],
        named: Named | None = None,
        materialized_as: "Materialized[K, V] | None" = None,
    ) -> "KTable[K, V]":
        """The rows that the predicate accepts."""
        required(predicate, "predicate can't be null")
        definition = FilterDefinition(None, (self.definition,), predicate=predicate)
        return self._mapped(definition, "KTABLE-FILTER-", named, materialized_as)

    def filter_not(
        self,
        predicate: Callable[[K, V], Any],
        named: Named | None = None,
        materialized_as: "Materialized[K, V] | None" = None,
    ) -> "KTable[K, V]":
        """The rows that the predicate does not accept."""
        required(predicate, "predicate can't be null")
        definition = FilterDefinition(None, (self.definition,), predicate=predicate, negated=True)
        return self._mapped(definition, "KTABLE-FILTER-", named, materialized_as)

    @overload
    def map_values(
        self,
        mapper: Callable[[V], T],
        named: Named | None = None,
        materialized_as: "Materialized[K, T] | None" = None,
    ) -> "KTable[K, T]": ...

    @overload
    def map_values(
        self,
        mapper: Callable[[K, V], T],
        named: Named | None = None,
        materialized_as: "Materialized[K, T] | None" = None,
    ) -> "KTable[K, T]": ...

    def map_values(
        self,
        mapper: Callable[..., T],
        named: Named | None = None,
        materialized_as: "Materialized[K, T] | None" = None,
    ) -> "KTable[K, T]":
        """Other values; the mapper takes the value, or key and value."""
        required(mapper, "mapper can't be null")
        definition = MapDefinition(None, (self.definition,), mapper=with_key(mapper))
        table = self._mapped(definition, "KTABLE-MAPVALUES-", named, materialized_as)
        given = None if materialized_as is None else materialized_as.value_serde
        step = replace(table.step, value_serde=given)
        return KTable(step, table.definition, table.queryable_store_name)

    @overload
    def to_stream(self, key_mapper: None = None, named: Named | None = None) -> "KStream[K, V]": ...

    @overload
    def to_stream(self, key_mapper: Callable[[K, V], T], named: Named | None = None) -> "KStream[T, V]": ...

    def to_stream(self, key_mapper: Callable[[K, V], Any] | None = None, named: Named | None = None) -> Any:
        """The table's updates as a stream of records; with a mapper under another key."""
        graph = self.step.graph
        name = graph.name_or(name_of(named), "KTABLE-TOSTREAM-")
        node = graph.add(self.step.node, processor_node(name, ToStream))
        step = replace(self.step, node=node, name=name)
        if key_mapper is None:
            return graph.make_stream(step)
        mapper = key_mapper
        name = graph.processor_name("KSTREAM-KEY-SELECT-")
        node = graph.add(node, processor_node(name, lambda: MapKey(mapper), role=NodeRole.CHANGES_KEY))
        return graph.make_stream(replace(step, node=node, name=name, key_serde=None), repartition_required=True)

    def suppress(self, suppressed: Suppressed) -> "KTable[K, V]":
        """Holds updates back."""
        required(suppressed, "suppressed can't be null")
        step, definition = suppressed_table(self.step, self.definition, suppressed)
        return KTable(step, definition, None)

    def group_by(
        self, selector: Callable[[K, V], tuple[KOut, VOut]], grouped: "Grouped[KOut, VOut] | None" = None
    ) -> "KGroupedTable[KOut, VOut]":
        """The rows under other keys, to be aggregated: each update undoes the old row and adds the new one."""
        required(selector, "selector can't be null")
        given = grouped or Grouped()
        graph = self.step.graph
        name = graph.name_or(given.name, "KTABLE-SELECT-")
        definition = RegroupDefinition(None, (self.definition,), mapper=selector)
        node = processor_node(name, definition.make)
        graph.add(self.step.node, node)
        graph.uses_versions(node, self.step.node, definition)
        self.definition.enable_old(force=True)
        step = replace(self.step, node=node, name=name, key_serde=given.key_serde, value_serde=given.value_serde)
        return KGroupedTable(step, given.name)

    @overload
    def join(
        self, other: "KTable[K, T]", joiner: Callable[[V, T], VOut], /, *options: JoinOption
    ) -> "KTable[K, VOut]": ...

    @overload
    def join(
        self,
        other: "KTable[KOut, T]",
        joiner: Callable[[V, T], VOut],
        /,
        *options: JoinOption,
        foreign_key: Callable[[V], KOut | None],
    ) -> "KTable[K, VOut]": ...

    @overload
    def join(
        self,
        other: "KTable[KOut, T]",
        foreign_key: Callable[[V], KOut | None],
        joiner: Callable[[V, T], VOut],
        /,
        *options: JoinOption,
    ) -> "KTable[K, VOut]": ...

    def join(
        self, other: "KTable[Any, Any]", *arguments: Any, foreign_key: Callable[..., Any] | None = None
    ) -> "KTable[K, Any]":
        """Inner join: `join(table, joiner[, Named][, Materialized])`, by `foreign_key(value)` if one is given.

        The extractor may stand before the joiner as well, as in Kafka Streams.
        """
        return self._join(other, arguments, foreign_key, Side.INNER)

    @overload
    def left_join(
        self, other: "KTable[K, T]", joiner: Callable[[V, T | None], VOut], /, *options: JoinOption
    ) -> "KTable[K, VOut]": ...

    @overload
    def left_join(
        self,
        other: "KTable[KOut, T]",
        joiner: Callable[[V, T | None], VOut],
        /,
        *options: JoinOption,
        foreign_key: Callable[[V], KOut | None],
    ) -> "KTable[K, VOut]": ...

    @overload
    def left_join(
        self,
        other: "KTable[KOut, T]",
        foreign_key: Callable[[V], KOut | None],
        joiner: Callable[[V, T | None], VOut],
        /,
        *options: JoinOption,
    ) -> "KTable[K, VOut]": ...

    def left_join(
        self, other: "KTable[Any, Any]", *arguments: Any, foreign_key: Callable[..., Any] | None = None
    ) -> "KTable[K, Any]":
        """Left join, with the same arguments: rows without a partner meet None."""
        return self._join(other, arguments, foreign_key, Side.LEFT)

    def outer_join(
        self, other: "KTable[K, T]", joiner: Callable[[V | None, T | None], VOut], /, *options: JoinOption
    ) -> "KTable[K, VOut]":
        """Outer join: rows of both sides without a partner meet None."""
        return self._join(other, (joiner, *options), None, Side.OUTER)

    def _join(
        self, other: "KTable[Any, Any]", arguments: tuple[Any, ...], extractor: Any, side: Side
    ) -> "KTable[K, Any]":
        required(other, "other can't be null")
        functions = [argument for argument in arguments if callable(argument)]
        required(functions or None, "joiner can't be null")
        named = next((one.name for one in arguments if isinstance(one, (Named, TableJoined))), None)
        given = next((one for one in arguments if isinstance(one, Materialized)), None)
        if len(functions) == 2:
            extractor = functions[0]
        pair = ((self.step, self.definition), (other.step, other.definition))
        if extractor is not None:
            joined = next((one for one in arguments if isinstance(one, TableJoined)), TableJoined(named))
            fk = ForeignKeyJoin(with_key(extractor), functions[-1], joined, given, left=side is Side.LEFT)
            step, definition, store = join_by_foreign_key(*pair, fk)
            return cast("KTable[K, Any]", KTable.of_definition(step, step.name, definition, store))
        joined_step, merged, name = join_tables(*pair, functions[-1], side, (named, given))
        return KTable(joined_step, merged, name)

    def _mapped(
        self,
        definition: FilterDefinition | MapDefinition,
        prefix: str,
        named: Named | None,
        given: "Materialized[Any, Any] | None",
    ) -> "KTable[K, Any]":
        graph, step = self.step.graph, self.step
        queryable = None
        is_versioned: bool | None = None
        if given is not None:
            store = materialized(graph, given, prefix, (step.key_serde, step.value_serde))
            is_versioned = store.is_versioned
            step = replace(step, key_serde=store.spec.key_serde, value_serde=store.spec.value_serde)
            if store.is_named:
                if isinstance(definition, MapDefinition):
                    store = replace(store, spec=replace(store.spec, value_serde=given.value_serde))
                definition.store, queryable = store.spec, store.spec.name
        name = graph.name_or(name_of(named), prefix)
        node = processor_node(name, definition.make, _OwnStore(definition))  # type: ignore[arg-type]  # as above
        node.output_versioned = is_versioned
        graph.add(step.node, node)
        if isinstance(definition, FilterDefinition):
            definition.send_old = self.definition.enable_old(force=False)
            graph.uses_versions(node, self.step.node, definition)
        return KTable(replace(step, node=node, name=name), definition, queryable)


class KGroupedTable(Generic[K, V]):
    """A grouped table; what is added for a row is subtracted when the row changes."""

    def __init__(self, step: Step, topic_name: str | None) -> None:
        self._step = step
        self._topic_name = topic_name
        self._repartition: GraphNode | None = None

    def count(
        self, named: Named | None = None, materialized_as: "Materialized[K, int] | None" = None
    ) -> "KTable[K, int]":
        """Counts the rows of each group."""
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
        required(adder, "adder can't be null")
        required(subtractor, "subtractor can't be null")
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
        required(initializer, "initializer can't be null")
        required(adder, "adder can't be null")
        required(subtractor, "subtractor can't be null")
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


class _OwnStore:
    """The store of a definition, as it is when the topology is written: looking into a table may add it until then."""

    def __init__(self, definition: TableDefinition) -> None:
        self._definition = definition

    def __iter__(self) -> Any:
        return iter([self._definition.store] if self._definition.store is not None else [])

    def __bool__(self) -> bool:
        return True
