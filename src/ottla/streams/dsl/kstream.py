"""KStream: a stream of records, and everything that can be done with one. Method by method Kafka Streams' KStream."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from typing import Any, Generic, overload

from ottla.streams.dsl import join as joining
from ottla.streams.dsl.branch import BranchedKStream
from ottla.streams.dsl.function import joiner_with_key, with_key
from ottla.streams.dsl.global_table import GlobalKTable
from ottla.streams.dsl.graph import GraphNode, NodeRole
from ottla.streams.dsl.grouped import KGroupedStream
from ottla.streams.dsl.ktable import KTable
from ottla.streams.dsl.materialize import materialized
from ottla.streams.dsl.repartition import RepartitionSpec, repartition_node
from ottla.streams.dsl.step import Step, processor_node
from ottla.streams.engine.operator.operator import Definition
from ottla.streams.engine.operator.processor import UserProcessor
from ottla.streams.engine.operator.stateless import (
    Filter,
    FlatMap,
    FlatMapValue,
    MapKey,
    MapPair,
    MapValue,
    PassThrough,
    Peek,
)
from ottla.streams.engine.operator.table import SourceDefinition
from ottla.streams.engine.store.spec import StoreSpec
from ottla.streams.engine.topology import SinkNode, Topology, check_supplier
from ottla.streams.errors import required
from ottla.streams.option import (
    Grouped,
    Joined,
    Materialized,
    Named,
    Produced,
    Repartitioned,
    StreamJoined,
    name_of,
)
from ottla.streams.processor import FixedKeyProcessor, KOut, Processor, VOut
from ottla.streams.record import K, RecordMetadata, T, V
from ottla.streams.window import JoinWindows

Stores = Sequence[str | StoreSpec]


class KStream(Generic[K, V]):
    """A stream of independent records."""

    def __init__(self, step: Step, *, repartition_required: bool = False) -> None:
        self._step = step
        self._repartition_required = repartition_required
        self._join_repartition: GraphNode | None = None

    def filter(self, predicate: Callable[[K, V], Any], named: Named | None = None) -> "KStream[K, V]":
        """The records that the predicate accepts."""
        required(predicate, "predicate cannot be null")
        return self._same("KSTREAM-FILTER-", named, lambda: Filter(predicate))

    def filter_not(self, predicate: Callable[[K, V], Any], named: Named | None = None) -> "KStream[K, V]":
        """The records that the predicate does not accept."""
        required(predicate, "predicate cannot be null")
        return self._same("KSTREAM-FILTER-", named, lambda: Filter(predicate, negated=True))

    def select_key(self, mapper: Callable[[K, V], T], named: Named | None = None) -> "KStream[T, V]":
        """The records under another key."""
        required(mapper, "mapper cannot be null")
        step = self._next("KSTREAM-KEY-SELECT-", named, lambda: MapKey(mapper), NodeRole.CHANGES_KEY)
        return KStream(replace(step, key_serde=None), repartition_required=True)

    def map(self, mapper: Callable[[K, V], tuple[KOut, VOut]], named: Named | None = None) -> "KStream[KOut, VOut]":
        """Other keys and values."""
        required(mapper, "mapper cannot be null")
        step = self._next("KSTREAM-MAP-", named, lambda: MapPair(mapper), NodeRole.CHANGES_KEY)
        return KStream(replace(step, key_serde=None, value_serde=None), repartition_required=True)

    @overload
    def map_values(self, mapper: Callable[[V], T], named: Named | None = None) -> "KStream[K, T]": ...

    @overload
    def map_values(self, mapper: Callable[[K, V], T], named: Named | None = None) -> "KStream[K, T]": ...

    def map_values(self, mapper: Callable[..., T], named: Named | None = None) -> "KStream[K, T]":
        """Other values; the mapper takes the value, or key and value."""
        required(mapper, "mapper cannot be null")
        mapped = with_key(mapper)
        step = self._next("KSTREAM-MAPVALUES-", named, lambda: MapValue(mapped), NodeRole.CHANGES_VALUE)
        return KStream(replace(step, value_serde=None), repartition_required=self._repartition_required)

    def flat_map(
        self, mapper: Callable[[K, V], Iterable[tuple[KOut, VOut]]], named: Named | None = None
    ) -> "KStream[KOut, VOut]":
        """Any number of pairs for each record."""
        required(mapper, "mapper cannot be null")
        step = self._next("KSTREAM-FLATMAP-", named, lambda: FlatMap(mapper), NodeRole.CHANGES_KEY)
        return KStream(replace(step, key_serde=None, value_serde=None), repartition_required=True)

    @overload
    def flat_map_values(self, mapper: Callable[[V], Iterable[T]], named: Named | None = None) -> "KStream[K, T]": ...

    @overload
    def flat_map_values(self, mapper: Callable[[K, V], Iterable[T]], named: Named | None = None) -> "KStream[K, T]": ...

    def flat_map_values(self, mapper: Callable[..., Iterable[T]], named: Named | None = None) -> "KStream[K, T]":
        """Any number of values for each record; the mapper takes the value, or key and value."""
        required(mapper, "mapper cannot be null")
        mapped = with_key(mapper)
        step = self._next("KSTREAM-FLATMAPVALUES-", named, lambda: FlatMapValue(mapped), NodeRole.CHANGES_VALUE)
        return KStream(replace(step, value_serde=None), repartition_required=self._repartition_required)

    def peek(self, action: Callable[[K, V], object], named: Named | None = None) -> "KStream[K, V]":
        """Calls a function with each record, and passes the records on unchanged."""
        required(action, "action cannot be null")
        return self._same("KSTREAM-PEEK-", named, lambda: Peek(action))

    def foreach(self, action: Callable[[K, V], object], named: Named | None = None) -> None:
        """Calls a function with each record; the stream ends here."""
        required(action, "action cannot be null")
        self._next("KSTREAM-FOREACH-", named, lambda: Peek(action, forwards=False))

    def print(self, label: str | None = None, named: Named | None = None) -> None:
        """Prints each record as `[label]: key, value`."""
        shown = label if label is not None else self._step.name

        def show(key: K, value: V) -> None:
            print(f"[{shown}]: {key}, {value}")

        self._next("KSTREAM-PRINTER-", named, lambda: Peek(show, forwards=False))

    def split(self, named: Named | None = None) -> "BranchedKStream[K, V, KStream[K, V]]":
        """Sends each record to the first branch that wants it."""
        return BranchedKStream(self._step, named, self._branched)

    def merge(self, other: "KStream[K, V]", named: Named | None = None) -> "KStream[K, V]":
        """The records of both streams, in no particular order between them."""
        required(other, "otherStream cannot be null")
        graph = self._step.graph
        name = graph.name_or(name_of(named), "KSTREAM-MERGE-")
        node = processor_node(name, PassThrough, role=NodeRole.MERGE)
        graph.add([self._step.node, other._step.node], node)
        sources = self._step.sources | other._step.sources
        step = Step(graph, node, name, None, None, sources)
        is_rekeyed = self._repartition_required or other._repartition_required
        return KStream(step, repartition_required=is_rekeyed)

    def repartition(self, repartitioned: "Repartitioned[K, V] | None" = None) -> "KStream[K, V]":
        """Partitions the records anew, through a topic of the application."""
        given = repartitioned or Repartitioned()
        prefix = given.name or self._step.graph.processor_name("KSTREAM-REPARTITION-")
        key_serde, value_serde = given.key_serde or self._step.key_serde, given.value_serde or self._step.value_serde
        spec = RepartitionSpec(prefix, key_serde, value_serde, given.partitions, given.partitioner, is_explicit=True)
        return KStream(self._repartitioned(spec))

    def to(self, topic: str | Callable[[K, V, RecordMetadata], str], produced: "Produced[K, V] | None" = None) -> None:
        """Writes to a topic, or to the one that the function names for each record."""
        required(topic, "topic cannot be null")
        given = produced or Produced()
        step = self._step
        name = step.graph.name_or(given.name, "KSTREAM-SINK-")
        key_serde, value_serde = given.key_serde or step.key_serde, given.value_serde or step.value_serde

        def write(node: GraphNode, topology: Topology) -> None:
            topology.add_node(SinkNode(name, topic, node.parent_names(), key_serde, value_serde, given.partitioner))

        step.graph.add(step.node, GraphNode(name, write))

    def to_table(
        self, named: Named | None = None, materialized_as: "Materialized[K, V] | None" = None
    ) -> "KTable[K, V]":
        """The stream's records as the updates of a table."""
        graph = self._step.graph
        name = graph.name_or(name_of(named), "KSTREAM-TOTABLE-")
        serdes = (self._step.key_serde, self._step.value_serde)
        store = materialized(graph, materialized_as, "KSTREAM-TOTABLE-", serdes)
        step = self._step
        if self._repartition_required:
            step = self._repartitioned(RepartitionSpec(name, store.spec.key_serde, store.spec.value_serde))
        definition = SourceDefinition(store.spec if store.is_named else None, possible_store=store.spec)
        return KTable.of_definition(step, name, definition, store)

    def group_by_key(self, grouped: "Grouped[K, V] | None" = None) -> "KGroupedStream[K, V]":
        """The stream, grouped by its key."""
        given = grouped or Grouped()
        step = self._step
        key_serde, value_serde = (given.key_serde, given.value_serde) if grouped else (step.key_serde, step.value_serde)
        grouped_step = replace(step, key_serde=key_serde, value_serde=value_serde)
        return KGroupedStream(grouped_step, given.name, repartition_required=self._repartition_required)

    def group_by(self, selector: Callable[[K, V], T], grouped: "Grouped[T, V] | None" = None) -> "KGroupedStream[T, V]":
        """The stream, grouped by another key."""
        required(selector, "keySelector cannot be null")
        given = grouped or Grouped()
        named = None if given.name is None else Named(given.name)
        selected = self._next("KSTREAM-KEY-SELECT-", named, lambda: MapKey(selector), NodeRole.CHANGES_KEY)
        value_serde = given.value_serde or (None if grouped else self._step.value_serde)
        step = replace(selected, key_serde=given.key_serde, value_serde=value_serde)
        return KGroupedStream(step, given.name, repartition_required=True)

    def process(
        self,
        supplier: Callable[[], Processor[K, V, KOut, VOut]],
        named: Named | None = None,
        stores: Stores = (),
    ) -> "KStream[KOut, VOut]":
        """Processes the records with the user's processor, which may change keys."""
        step = self._processed("KSTREAM-PROCESSOR-", supplier, named, stores)
        return KStream(replace(step, key_serde=None, value_serde=None), repartition_required=True)

    def process_values(
        self,
        supplier: Callable[[], FixedKeyProcessor[K, V, VOut]],
        named: Named | None = None,
        stores: Stores = (),
    ) -> "KStream[K, VOut]":
        """Processes the records with the user's processor, which keeps their keys."""
        step = self._processed("KSTREAM-PROCESSVALUES-", supplier, named, stores)
        return KStream(replace(step, value_serde=None), repartition_required=self._repartition_required)

    @overload
    def join(
        self,
        other: "KStream[K, T]",
        joiner: Callable[[V, T], VOut],
        windows: JoinWindows,
        stream_joined: "StreamJoined[K, V] | None" = None,
        /,
    ) -> "KStream[K, VOut]": ...

    @overload
    def join(
        self,
        other: "KStream[K, T]",
        joiner: Callable[[K, V, T], VOut],
        windows: JoinWindows,
        stream_joined: "StreamJoined[K, V] | None" = None,
        /,
    ) -> "KStream[K, VOut]": ...

    @overload
    def join(
        self, other: "KTable[K, T]", joiner: Callable[[V, T], VOut], joined: "Joined[K, V] | None" = None, /
    ) -> "KStream[K, VOut]": ...

    @overload
    def join(
        self, other: "KTable[K, T]", joiner: Callable[[K, V, T], VOut], joined: "Joined[K, V] | None" = None, /
    ) -> "KStream[K, VOut]": ...

    @overload
    def join(
        self,
        other: "GlobalKTable[KOut, T]",
        key_mapper: Callable[[K, V], KOut | None],
        joiner: Callable[[V, T], VOut],
        named: Named | None = None,
        /,
    ) -> "KStream[K, VOut]": ...

    @overload
    def join(
        self,
        other: "GlobalKTable[KOut, T]",
        key_mapper: Callable[[K, V], KOut | None],
        joiner: Callable[[K, V, T], VOut],
        named: Named | None = None,
        /,
    ) -> "KStream[K, VOut]": ...

    def join(self, other: Any, *arguments: Any) -> "KStream[K, Any]":
        """Inner join.

        `join(stream, joiner, JoinWindows[, StreamJoined])`, `join(table, joiner[, Joined])`,
        `join(global_table, key_mapper, joiner[, Named])`. A joiner takes `(left, right)` or `(key, left, right)`.
        """
        return self._join(other, arguments, "inner")

    @overload
    def left_join(
        self,
        other: "KStream[K, T]",
        joiner: Callable[[V, T | None], VOut],
        windows: JoinWindows,
        stream_joined: "StreamJoined[K, V] | None" = None,
        /,
    ) -> "KStream[K, VOut]": ...

    @overload
    def left_join(
        self,
        other: "KStream[K, T]",
        joiner: Callable[[K, V, T | None], VOut],
        windows: JoinWindows,
        stream_joined: "StreamJoined[K, V] | None" = None,
        /,
    ) -> "KStream[K, VOut]": ...

    @overload
    def left_join(
        self, other: "KTable[K, T]", joiner: Callable[[V, T | None], VOut], joined: "Joined[K, V] | None" = None, /
    ) -> "KStream[K, VOut]": ...

    @overload
    def left_join(
        self, other: "KTable[K, T]", joiner: Callable[[K, V, T | None], VOut], joined: "Joined[K, V] | None" = None, /
    ) -> "KStream[K, VOut]": ...

    @overload
    def left_join(
        self,
        other: "GlobalKTable[KOut, T]",
        key_mapper: Callable[[K, V], KOut | None],
        joiner: Callable[[V, T | None], VOut],
        named: Named | None = None,
        /,
    ) -> "KStream[K, VOut]": ...

    @overload
    def left_join(
        self,
        other: "GlobalKTable[KOut, T]",
        key_mapper: Callable[[K, V], KOut | None],
        joiner: Callable[[K, V, T | None], VOut],
        named: Named | None = None,
        /,
    ) -> "KStream[K, VOut]": ...

    def left_join(self, other: Any, *arguments: Any) -> "KStream[K, Any]":
        """Left join, with the same arguments: records without a partner meet None."""
        return self._join(other, arguments, "left")

    @overload
    def outer_join(
        self,
        other: "KStream[K, T]",
        joiner: Callable[[V | None, T | None], VOut],
        windows: JoinWindows,
        stream_joined: "StreamJoined[K, V] | None" = None,
        /,
    ) -> "KStream[K, VOut]": ...

    @overload
    def outer_join(
        self,
        other: "KStream[K, T]",
        joiner: Callable[[K, V | None, T | None], VOut],
        windows: JoinWindows,
        stream_joined: "StreamJoined[K, V] | None" = None,
        /,
    ) -> "KStream[K, VOut]": ...

    def outer_join(self, other: Any, *arguments: Any) -> "KStream[K, Any]":
        """Outer join of two streams: records of both sides without a partner meet None."""
        return self._join_stream(other, arguments, "outer")

    def _join(self, other: Any, arguments: tuple[Any, ...], kind: str) -> "KStream[K, Any]":
        required(other, "otherStream cannot be null")
        if isinstance(other, KStream):
            return self._join_stream(other, arguments, kind)
        if isinstance(other, GlobalKTable):
            key_mapper, joiner, *rest = arguments
            required(key_mapper, "keySelector cannot be null")
            required(joiner, "joiner cannot be null")
            named = rest[0].name if rest else None
            join = joining.TableJoin(joiner_with_key(joiner), left=kind == "left", key_mapper=key_mapper)
            step = joining.join_global_table(self._step, other.view, join, named)
            return KStream(step, repartition_required=self._repartition_required)
        joiner, *rest = arguments
        required(joiner, "joiner cannot be null")
        joined: Joined[Any, Any] = rest[0] if rest else Joined()
        step = self._step
        if self._repartition_required:
            key_serde, value_serde = joined.key_serde or step.key_serde, joined.value_serde or step.value_serde
            step = self._for_join(RepartitionSpec(joined.name or step.name, key_serde, value_serde))
        join = joining.TableJoin(joiner_with_key(joiner), left=kind == "left", joined=joined)
        return KStream(joining.join_table(step, other.step, other.definition, join))

    def _join_stream(self, other: "KStream[K, Any]", arguments: tuple[Any, ...], kind: str) -> "KStream[K, Any]":
        required(other, "otherStream cannot be null")
        joiner, windows, *rest = arguments
        required(joiner, "joiner cannot be null")
        required(windows, "windows cannot be null")
        given: StreamJoined[Any, Any] = (rest[0] if rest else None) or StreamJoined()
        left, right = self._step, other._step
        if self._repartition_required:
            left = self._for_join(_join_spec(left, given, "-left", given.value_serde))
        if other._repartition_required:
            right = other._for_join(_join_spec(right, given, "-right", given.other_value_serde))
        join = joining.StreamJoin(joiner_with_key(joiner), windows, given, kind)
        return KStream(joining.join_streams(left, right, join))

    def _for_join(self, spec: RepartitionSpec) -> Step:
        """The stream behind a repartition. One without a name of its own serves all of the stream's joins."""
        step = self._step
        node = repartition_node(step.graph, spec)
        if self._join_repartition is None or spec.prefix != step.name:
            self._join_repartition = step.graph.add(step.node, node)
        node = self._join_repartition
        return Step(step.graph, node, node.name, spec.key_serde, spec.value_serde, frozenset((node.name,)))

    def _repartitioned(self, spec: RepartitionSpec) -> Step:
        graph = self._step.graph
        node = repartition_node(graph, spec)
        graph.add(self._step.node, node)
        return Step(graph, node, node.name, spec.key_serde, spec.value_serde, frozenset((node.name,)))

    def _processed(self, prefix: str, supplier: Callable[[], Any], named: Named | None, stores: Stores) -> Step:
        check_supplier(supplier)
        graph = self._step.graph
        name = graph.processor_name(prefix) if named is None else named.name
        specs = [store for store in stores if isinstance(store, StoreSpec)]
        connected = tuple(store for store in stores if isinstance(store, str))
        node = processor_node(name, lambda: UserProcessor(supplier()), specs, connected)
        graph.add(self._step.node, node)
        return replace(self._step, node=node, name=name)

    def _same(self, prefix: str, named: Named | None, definition: Definition) -> "KStream[K, V]":
        return KStream(self._next(prefix, named, definition), repartition_required=self._repartition_required)

    def _branched(self, step: Step) -> "KStream[K, V]":
        return KStream(step, repartition_required=self._repartition_required)

    def _next(self, prefix: str, named: Named | None, definition: Definition, role: NodeRole = NodeRole.PLAIN) -> Step:
        graph = self._step.graph
        name = graph.name_or(name_of(named), prefix)
        node = processor_node(name, definition, role=role)
        graph.add(self._step.node, node)
        return replace(self._step, node=node, name=name)


def _join_spec(step: Step, given: "StreamJoined[Any, Any]", suffix: str, value_serde: Any) -> RepartitionSpec:
    prefix = step.name if given.name is None else given.name + suffix
    return RepartitionSpec(prefix, given.key_serde or step.key_serde, value_serde or step.value_serde)
