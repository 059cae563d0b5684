"""Builds the nodes of joins: two windows, two sides and a merge for streams; one node for a stream and a table."""

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any

from ottla.streams.dsl.graph import Graph, GraphNode, NodeRole
from ottla.streams.dsl.step import Step, copartitioned, processor_node
from ottla.streams.engine.operator.stateless import PassThrough
from ottla.streams.engine.operator.stream_join import JoinDefinition, Joiner, JoinSide, JoinWindow, SelfJoin
from ottla.streams.engine.operator.table import TableDefinition, View
from ottla.streams.engine.operator.table_join import StreamTableJoin
from ottla.streams.engine.store.outer_join import LEFT, RIGHT
from ottla.streams.engine.store.spec import StoreKind, StoreSpec, StoreSupplier
from ottla.streams.engine.topology import ProcessorNode, Topology
from ottla.streams.errors import StreamsError
from ottla.streams.option import Joined, StreamJoined
from ottla.streams.serde import Serde
from ottla.streams.window import JoinWindows


@dataclass(frozen=True)
class StreamJoin:
    """The parameters of a stream–stream join; `kind` is inner, left or outer."""

    joiner: Joiner
    windows: JoinWindows
    given: StreamJoined[Any, Any]
    kind: str

    @property
    def left_outer(self) -> bool:
        """Whether left records without a partner are emitted."""
        return self.kind != "inner"

    @property
    def right_outer(self) -> bool:
        """Whether right records without a partner are emitted."""
        return self.kind == "outer"


@dataclass(frozen=True)
class _JoinNames:
    """The names of the five nodes and of the stores, in the order in which they use up numbers."""

    this_window: str
    other_window: str
    this_side: str
    other_side: str
    merge: str
    this_store: str
    other_store: str
    outer_store: str


@dataclass(frozen=True)
class TableJoin:
    """The parameters of a join with a table."""

    joiner: Joiner
    left: bool
    key_mapper: Callable[[Any, Any], Any] | None = None
    joined: Joined[Any, Any] = field(default_factory=Joined)


def join_streams(left: Step, right: Step, join: StreamJoin) -> Step:
    """The join of two streams that are partitioned alike."""
    graph, given, windows = left.graph, join.given, join.windows
    copartitioned(graph, left, right)
    names = _names(left, join)
    key_serde = given.key_serde or left.key_serde
    left_serde, right_serde = given.value_serde or left.value_serde, given.other_value_serde or right.value_serde
    this_store = _window_store(graph, join, names.this_store, given.this_store, (key_serde, left_serde))
    other_store = _window_store(graph, join, names.other_store, given.other_store, (key_serde, right_serde))
    if this_store.name == other_store.name:
        raise StreamsError("Both StoreSuppliers have the same name.  StoreSuppliers must provide unique names")
    outer_store = None
    if join.left_outer:
        outer_store = StoreSpec(
            names.outer_store,
            StoreKind.OUTER_JOIN,
            key_serde,
            left_serde,
            persistent=graph.is_persistent(given.this_store, given.store_type),
            logging=given.logging,
            topic_config=given.topic_config,
            other_value_serde=right_serde,
        )
    this_window = processor_node(names.this_window, lambda: JoinWindow(this_store), [this_store])
    graph.add(left.node, this_window)
    other_window = processor_node(names.other_window, lambda: JoinWindow(other_store), [other_store])
    graph.add(right.node, other_window)
    definition = JoinDefinition(windows, outer_store)
    reverse = _reversed(join.joiner)

    def write(node: GraphNode, topology: Topology) -> None:
        if node.is_self_join:
            topology.add_node(
                ProcessorNode(names.merge, lambda: SelfJoin(windows, join.joiner, this_store), (names.this_window,))
            )
            topology.add_state_store(this_store, names.merge)
            return
        shared = [] if outer_store is None else [outer_store]

        def this_side() -> JoinSide:
            return JoinSide(definition, LEFT, join.joiner, other=other_store, outer=join.left_outer)

        def other_side() -> JoinSide:
            return JoinSide(definition, RIGHT, reverse, other=this_store, outer=join.right_outer)

        topology.add_node(ProcessorNode(names.this_side, this_side, (names.this_window,)))
        for spec in [other_store, *shared]:
            topology.add_state_store(spec, names.this_side)
        topology.add_node(ProcessorNode(names.other_side, other_side, (names.other_window,)))
        for spec in [this_store, *shared]:
            topology.add_state_store(spec, names.other_side)
        topology.add_node(ProcessorNode(names.merge, PassThrough, (names.this_side, names.other_side)))

    node = GraphNode(names.merge, write)
    node.keeps_null_keys = join.left_outer or join.right_outer
    node.role, node.windows = NodeRole.STREAM_JOIN, (names.this_window, names.other_window)
    graph.add([left.node, right.node], node)
    return Step(graph, node, names.merge, given.key_serde, None, left.sources | right.sources)


def _window_store(
    graph: Graph,
    join: StreamJoin,
    name: str,
    supplier: StoreSupplier | None,
    serdes: tuple[Serde[Any] | None, Serde[Any] | None],
) -> StoreSpec:
    """One side's store: the user's, which must fit the join, or one of a generated name."""
    windows = join.windows
    size, retention = windows.size_ms, windows.size_ms + windows.grace_ms
    if supplier is not None and not supplier.retain_duplicates:
        raise StreamsError("The StoreSupplier must set retainDuplicates=true, found retainDuplicates=false")
    if supplier is not None and (supplier.window_size_ms, supplier.retention_ms) != (size, retention):
        raise StreamsError(
            f"Window settings mismatch. WindowBytesStoreSupplier settings {supplier} must match JoinWindows settings "
            f"{windows} for the window size and retention period"
        )
    return StoreSpec(
        name if supplier is None else supplier.name,
        StoreKind.WINDOW,
        *serdes,
        retention_ms=retention,
        window_size_ms=size,
        retain_duplicates=True,
        persistent=graph.is_persistent(supplier, join.given.store_type),
        logging=join.given.logging,
        topic_config=join.given.topic_config,
    )


def _names(left: Step, join: StreamJoin) -> _JoinNames:
    graph, given = left.graph, join.given
    this_suffix = "-outer-this-join" if join.right_outer else "-this-join"
    other_suffix = "-outer-other-join" if join.left_outer else "-other-join"
    this_window = graph.suffixed_or(given.name, "-this-windowed", "KSTREAM-WINDOWED-")
    other_window = graph.suffixed_or(given.name, "-other-windowed", "KSTREAM-WINDOWED-")
    this_prefix = "KSTREAM-OUTERTHIS-" if join.right_outer else "KSTREAM-JOINTHIS-"
    this_side = graph.processor_name(this_prefix)
    other_side = graph.processor_name("KSTREAM-OUTEROTHER-" if join.left_outer else "KSTREAM-JOINOTHER-")
    merge = graph.suffixed_or(given.name, "-merge", "KSTREAM-MERGE-")
    shared = "-outer-shared-join" if join.right_outer else "-left-shared-join"
    stored = given.store_name
    outer = stored if given.this_store is None else given.this_store.name
    return _JoinNames(
        this_window,
        other_window,
        this_side if given.name is None else given.name + this_suffix,
        other_side if given.name is None else given.name + other_suffix,
        merge,
        this_side + "-store" if stored is None else f"{stored}{this_suffix}-store",
        other_side + "-store" if stored is None else f"{stored}{other_suffix}-store",
        (f"KSTREAM-OUTERSHARED-{this_side[len(this_prefix) :]}" if outer is None else outer + shared) + "-store",
    )


def join_table(stream: Step, table: Step, definition: TableDefinition, join: TableJoin) -> Step:
    """The join of a stream with a table that is partitioned alike."""
    graph, joined = stream.graph, join.joined
    sources = copartitioned(graph, stream, table)
    name = graph.name_or(joined.name, "KSTREAM-LEFTJOIN-" if join.left else "KSTREAM-JOIN-")
    view = definition.view()
    buffer = None
    if joined.grace_ms is not None:
        key_serde, value_serde = joined.key_serde or stream.key_serde, joined.value_serde or stream.value_serde
        buffer = StoreSpec(f"{name}-Buffer", StoreKind.BUFFER, key_serde, value_serde, retain_duplicates=True)

    def make() -> StreamTableJoin:
        operator = StreamTableJoin(view, join.joiner, left=join.left)
        operator.buffer_spec, operator.grace_ms = buffer, joined.grace_ms or 0
        return operator

    inner = processor_node(name, make, [] if buffer is None else [buffer], view.stores)

    def write(node: GraphNode, topology: Topology) -> None:
        inner.write(node, topology)
        if joined.grace_ms is not None:
            _check_versions(joined.grace_ms, [topology.stores[store] for store in view.stores])

    node = GraphNode(name, write)
    node.keeps_null_keys = join.left
    graph.add(stream.node, node)
    return Step(graph, node, name, joined.key_serde or stream.key_serde, None, sources)


def _check_versions(grace_ms: int, stores: list[StoreSpec]) -> None:
    """A join that waits looks into the past, as far as it waits."""
    if not all(store.is_versioned for store in stores):
        raise ValueError("KTable must be versioned to use a grace period in a stream table join.")
    if any(grace_ms > store.retention_ms for store in stores):
        raise ValueError("History retention must be at least grace period.")


def join_global_table(stream: Step, view: View, join: TableJoin, named: str | None) -> Step:
    """The join of a stream with a global table."""
    graph = stream.graph
    name = graph.name_or(named, "KSTREAM-LEFTJOIN-")
    node = processor_node(name, lambda: StreamTableJoin(view, join.joiner, join.key_mapper, left=join.left))
    node.keeps_null_keys = join.left
    graph.add(stream.node, node)
    return replace(stream, node=node, name=name, value_serde=None)


def _reversed(joiner: Joiner) -> Joiner:
    return lambda key, right, left: joiner(key, left, right)
