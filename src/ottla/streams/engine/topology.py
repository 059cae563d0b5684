"""A topology as a value: sources, processors, sinks and stores, and which of them belong together.

Nodes that are connected, or that share a store, form a sub-topology; each runs as one task per partition. The
order in which nodes were added numbers the sub-topologies, as in Kafka Streams.
"""

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeAlias

from ottla.streams.engine.description import description_of
from ottla.streams.engine.extractor import TimestampExtractor
from ottla.streams.engine.operator.operator import Definition
from ottla.streams.engine.operator.processor import UserProcessor
from ottla.streams.engine.store.spec import StoreSpec
from ottla.streams.errors import TopologyError, required
from ottla.streams.processor import Processor
from ottla.streams.serde import Serde

TopicExtractor: TypeAlias = Callable[[Any, Any, Any], str]
"""`(key, value, record metadata)` to a topic."""


@dataclass(frozen=True, slots=True)
class SourceNode:
    """Reads topics."""

    name: str
    topics: tuple[str, ...] = ()
    pattern: str | None = None
    key_serde: Serde[Any] | None = None
    value_serde: Any = None
    timestamp_extractor: TimestampExtractor | None = None
    offset_reset: str | None = None


@dataclass(frozen=True, slots=True)
class ProcessorNode:
    """Does something with records."""

    name: str
    definition: Definition
    parents: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class SinkNode:
    """Writes to a topic."""

    name: str
    topic: str | TopicExtractor
    parents: tuple[str, ...]
    key_serde: Serde[Any] | None = None
    value_serde: Any = None
    partitioner: Callable[[str, Any, Any, int], int | None] | None = None


Node: TypeAlias = SourceNode | ProcessorNode | SinkNode


@dataclass(frozen=True, slots=True)
class InternalTopic:
    """A topic that belongs to the application; its name lacks the application's id."""

    name: str
    partitions: int | None = None


@dataclass(frozen=True, slots=True)
class SubTopology:
    """The nodes that run in one task, in the order in which they were added, and their stores."""

    number: int
    nodes: tuple[str, ...]
    stores: tuple[str, ...]
    is_global: bool


@dataclass
class Topology:
    """Built by a `StreamsBuilder`, or by hand with Kafka's methods; hosts only read it."""

    nodes: dict[str, Node] = field(default_factory=dict)
    stores: dict[str, StoreSpec] = field(default_factory=dict)
    connections: dict[str, list[str]] = field(default_factory=dict)
    internal_topics: dict[str, InternalTopic] = field(default_factory=dict)
    global_sources: dict[str, str] = field(default_factory=dict)
    copartitions: list[frozenset[str]] = field(default_factory=list)

    def add_source(
        self,
        name: str,
        *topics: str,
        pattern: str | None = None,
        key_serde: Serde[Any] | None = None,
        value_serde: Serde[Any] | None = None,
        timestamp_extractor: TimestampExtractor | None = None,
        offset_reset: str | None = None,
    ) -> "Topology":
        """A node that reads topics."""
        node = SourceNode(name, topics, pattern, key_serde, value_serde, timestamp_extractor, offset_reset)
        return self.add_node(node)

    def add_processor(
        self, name: str, supplier: Callable[[], Processor[Any, Any, Any, Any]], *parents: str
    ) -> "Topology":
        """A node with a processor of the user's."""
        check_supplier(supplier)
        return self.add_node(ProcessorNode(name, lambda: UserProcessor(supplier()), parents))

    def add_sink(
        self,
        name: str,
        topic: str | TopicExtractor,
        *parents: str,
        key_serde: Serde[Any] | None = None,
        value_serde: Serde[Any] | None = None,
        partitioner: Callable[[str, Any, Any, int], int | None] | None = None,
    ) -> "Topology":
        """A node that writes to a topic."""
        required(topic, "topic cannot be null")
        return self.add_node(SinkNode(name, topic, parents, key_serde, value_serde, partitioner))

    def add_state_store(self, spec: StoreSpec, *processors: str) -> "Topology":
        """A store, connected with these processors. The same store may be added again."""
        required(spec, "storeBuilder cannot be null")
        known = self.stores.setdefault(spec.name, spec)
        if known is not spec:
            raise TopologyError(f"A different StateStore has already been added with the name {spec.name}")
        for processor in processors:
            self.connect_processor_and_state_stores(processor, spec.name)
        return self

    def connect_processor_and_state_stores(self, processor: str, *stores: str) -> "Topology":
        """Lets a processor use stores; all that share a store run in one task."""
        node = self.nodes.get(required(processor, "processorName cannot be null"))
        if not stores:
            raise TopologyError("stateStoreNames cannot be empty")
        for store in stores:
            if isinstance(node, (SourceNode, SinkNode)):
                raise TopologyError(f"cannot connect a state store {store} to a source node or a sink node.")
            if store not in self.stores:
                raise TopologyError(f"StateStore {store} is not added yet.")
            if node is None:
                raise TopologyError(f"Processor {processor} is not added yet.")
            connected = self.connections.setdefault(processor, [])
            if store not in connected:
                connected.append(store)
        return self

    def add_global_store(self, source: SourceNode, processor: ProcessorNode, store: StoreSpec) -> "Topology":
        """A store that every instance fills from a whole topic."""
        if source.name == processor.name:
            raise TopologyError("sourceName and processorName must be different.")
        if store.name in self.stores:
            kind = "GlobalStateStore" if store.name in self.global_sources.values() else "StateStore"
            raise TopologyError(f"A different {kind} has already been added with the name {store.name}")
        self.add_node(source).add_node(processor)
        self.stores[store.name] = store
        self.connections[processor.name] = [store.name]
        self.global_sources[source.name] = store.name
        return self

    def add_read_only_state_store(
        self,
        spec: StoreSpec,
        source: str,
        topic: str,
        processor: str,
        supplier: Callable[[], Processor[Any, Any, Any, Any]],
        *,
        key_serde: Serde[Any] | None = None,
        value_serde: Serde[Any] | None = None,
        timestamp_extractor: TimestampExtractor | None = None,
    ) -> "Topology":
        """A store that its own processor fills from a topic, by partition; others are connected to read it."""
        self.add_source(
            source,
            topic,
            key_serde=key_serde,
            value_serde=value_serde,
            timestamp_extractor=timestamp_extractor,
            offset_reset="earliest",
        )
        return self.add_processor(processor, supplier, source).add_state_store(spec, processor)

    def add_node(self, node: Node) -> "Topology":
        """Any node; its name and its topics must be new, and its parents known."""
        if required(node.name, "name cannot be null") in self.nodes:
            raise TopologyError(f"Processor {node.name} is already added.")
        if isinstance(node, SourceNode):
            self._check_topics(node)
        elif not node.parents:
            raise TopologyError("predecessorNames cannot be empty")
        for parent in self.parents_of(node):
            if parent not in self.nodes:
                reference = " (self-reference)" if parent == node.name else ""
                raise TopologyError(f"Parent node {parent} is unknown{reference}.")
            if isinstance(self.nodes[parent], SinkNode):
                raise TopologyError(f"Sink {parent} cannot be used a parent.")
        self.nodes[node.name] = node
        return self

    def _check_topics(self, node: SourceNode) -> None:
        """A topic is read by one source."""
        if not node.topics and node.pattern is None:
            raise TopologyError("topics cannot be empty")
        for topic in node.topics:
            owner = self.source_of(required(topic, "topic names cannot be null"))
            if owner is not None and owner.pattern is not None:
                raise TopologyError(f"Topic {topic} matches a Pattern already registered by another source.")
            if owner is not None:
                raise TopologyError(f"Topic {topic} has already been registered by another source.")
        known = (topic for one in self.nodes.values() if isinstance(one, SourceNode) for topic in one.topics)
        if any(_matches(node.pattern, topic) for topic in known):
            raise TopologyError(
                f"Pattern {node.pattern} will match a topic that has already been registered by another source."
            )

    @staticmethod
    def parents_of(node: Node) -> tuple[str, ...]:
        """The nodes that send to this one."""
        return () if isinstance(node, SourceNode) else node.parents

    def source_of(self, topic: str) -> SourceNode | None:
        """The source that reads a topic."""
        for node in self.nodes.values():
            if isinstance(node, SourceNode) and (topic in node.topics or _matches(node.pattern, topic)):
                return node
        return None

    def sub_topologies(self) -> list[SubTopology]:
        """The groups of nodes that run together."""
        groups = _Groups(self.nodes)
        for node in self.nodes.values():
            groups.unite([node.name, *self.parents_of(node)])
        users: dict[str, str] = {}
        global_stores = set(self.global_sources.values())
        for processor, stores in self.connections.items():
            for store in stores:
                if store not in global_stores:
                    groups.unite([processor, users.setdefault(store, processor)])
        return [self._sub_topology(number, names) for number, names in enumerate(groups.in_order())]

    def describe(self) -> str:
        """The topology as text, exactly as Kafka Streams prints it."""
        return description_of(self)

    def _sub_topology(self, number: int, names: Sequence[str]) -> SubTopology:
        stores = dict.fromkeys(store for name in names for store in self.connections.get(name, ()))
        is_global = any(name in self.global_sources for name in names)
        return SubTopology(number, tuple(names), tuple(stores), is_global)


def check_supplier(supplier: Callable[[], Any]) -> None:
    """Each task needs a processor of its own."""
    required(supplier, "processorSupplier cannot be null")
    if supplier() is supplier():
        raise ValueError(
            f"{supplier!r} generates single reference. {supplier!r} must return a new object each time it is called."
        )


class _Groups:
    """Disjoint sets of names."""

    def __init__(self, names: Iterable[str]) -> None:
        self._root = {name: name for name in names}

    def unite(self, names: Sequence[str]) -> None:
        """Puts names into one set."""
        for name in names[1:]:
            self._root[self._find(name)] = self._find(names[0])

    def in_order(self) -> list[list[str]]:
        """The sets in the order of their first names."""
        groups: dict[str, list[str]] = {}
        for name in self._root:
            groups.setdefault(self._find(name), []).append(name)
        return list(groups.values())

    def _find(self, name: str) -> str:
        while self._root[name] != name:
            name = self._root[name]
        return name


def _matches(pattern: str | None, topic: str) -> bool:
    return pattern is not None and re.fullmatch(pattern, topic) is not None
