"""The graph that the DSL builds, and how it becomes a topology.

Numbers in names count calls, as Kafka Streams counts them: a name that the user gives still uses up the numbers
that its generated twin would have had. Nodes are written in the order of their adding, parents first.
"""

from collections.abc import Callable, Iterable
from enum import Enum
from heapq import heappop, heappush
from itertools import count
from typing import Any

from ottla.streams.engine.operator.table import TableDefinition
from ottla.streams.engine.store.spec import StoreSupplier
from ottla.streams.engine.topology import SourceNode, Topology
from ottla.streams.errors import TopologyError
from ottla.streams.naming import checked_name
from ottla.streams.option import StoreType


class NodeRole(Enum):
    """The role of a node for the optimizations that rewrite the graph before it becomes a topology."""

    PLAIN = "plain"
    CHANGES_KEY = "changes the key"
    CHANGES_VALUE = "changes the value"
    MERGE = "merge"
    REPARTITION = "repartition"
    STREAM_JOIN = "stream join"


class GraphNode:
    """A step of the DSL; `write` adds its nodes to the topology."""

    def __init__(self, name: str, write: Callable[["GraphNode", Topology], None]) -> None:
        self.name = name
        self.write = write
        self.parents: list[GraphNode] = []
        self.children: list[GraphNode] = []
        self.priority = -1
        self.is_written = False
        self.output_versioned: bool | None = None
        self.keeps_null_keys = False
        self.role = NodeRole.PLAIN
        self.repartition: Any = None
        """What a repartition goes through, for those that merge several."""
        self.windows: tuple[str, str] | None = None
        """The names of the two steps that keep the records of a stream join."""
        self.is_self_join = False
        self.grace_ms: int | None = None
        """How long after its end a window of this step closes."""
        self.source: SourceNode | None = None

    def add_child(self, child: "GraphNode") -> None:
        """Connects the two."""
        if child not in self.children:
            self.children.append(child)
            child.parents.append(self)

    def remove_child(self, child: "GraphNode") -> None:
        """Separates the two."""
        self.children.remove(child)
        child.parents.remove(self)

    def parent_names(self) -> tuple[str, ...]:
        """The nodes of the topology that send to this one."""
        return tuple(dict.fromkeys(parent.name for parent in self.parents if parent.priority >= 0))


class Graph:
    """The steps of a `StreamsBuilder`."""

    def __init__(self, make_stream: Callable[..., Any], store_type: StoreType = StoreType.ROCKS_DB) -> None:
        """`make_stream` is the class of streams, for tables that turn into one; `store_type` that of most stores."""
        self.make_stream = make_stream
        self._store_type = store_type
        self.root = GraphNode("root", lambda node, topology: None)
        self.nodes: dict[GraphNode, None] = {}
        self._index = count()
        self._priority = count()
        self._versioned_uses: list[tuple[GraphNode, GraphNode, TableDefinition]] = []
        self._suppressions: list[GraphNode] = []
        self.copartitions: list[frozenset[str]] = []

    def processor_name(self, prefix: str) -> str:
        """A generated name of a node."""
        return f"{prefix}{next(self._index):010d}"

    def store_name(self, prefix: str) -> str:
        """A generated name of a store."""
        return f"{prefix}STATE-STORE-{next(self._index):010d}"

    def name_or(self, given: str | None, prefix: str) -> str:
        """The given name, or a generated one; both use up a number."""
        generated = self.processor_name(prefix)
        return generated if given is None else checked_name(given)

    def suffixed_or(self, given: str | None, suffix: str, prefix: str) -> str:
        """The given name with a suffix, or a generated one; both use up a number."""
        generated = self.processor_name(prefix)
        return generated if given is None else checked_name(given) + suffix

    def is_persistent(self, supplier: StoreSupplier | None, store_type: StoreType | None) -> bool:
        """Whether a store lies on disk, by its supplier, its type, or the type of all."""
        if supplier is not None:
            return supplier.persistent
        return (store_type or self._store_type) is StoreType.ROCKS_DB

    def add(self, parents: "GraphNode | Iterable[GraphNode]", node: GraphNode) -> GraphNode:
        """Adds a node below its parents."""
        for parent in [parents] if isinstance(parents, GraphNode) else parents:
            parent.add_child(node)
            node.priority = next(self._priority)
        self.nodes[node] = None
        return node

    def uses_versions(self, node: GraphNode, parent: GraphNode, definition: TableDefinition) -> None:
        """The node behaves differently if the table above it is versioned."""
        self._versioned_uses.append((node, parent, definition))

    def suppresses(self, node: GraphNode) -> None:
        """The node holds updates back, which versioned tables do not allow."""
        self._suppressions.append(node)

    def build(self) -> Topology:
        """The topology."""
        for _, parent, definition in self._versioned_uses:
            definition.versioned_semantics = _is_versioned(parent)
        if any(_is_versioned(parent) for node in self._suppressions for parent in node.parents):
            raise TopologyError(
                "suppress() is only supported for non-versioned KTables "
                "(note that version semantics might be inherited from upstream)"
            )
        topology = Topology()
        queue = [(self.root.priority, id(self.root), self.root)]
        while queue:
            node = heappop(queue)[2]
            if not node.is_written and all(parent.is_written for parent in node.parents):
                node.write(node, topology)
                node.is_written = True
            for child in node.children:
                if not child.is_written:
                    heappush(queue, (child.priority, id(child), child))
        topology.copartitions = [group for group in self.copartitions if len(group) > 1]
        return topology


def keeps_null_keys_below(node: GraphNode) -> bool:
    """Whether a repartition must pass records without a key: a left or outer join further down emits them."""
    return node.keeps_null_keys or any(keeps_null_keys_below(child) for child in node.children)


def _is_versioned(node: GraphNode) -> bool:
    if node.output_versioned is not None:
        return node.output_versioned
    return bool(node.parents) and node.name != "root" and all(_is_versioned(parent) for parent in node.parents)
