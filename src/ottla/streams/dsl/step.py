"""The common part of all results of the DSL: a node in the graph, serdes, and the sources that feed it."""

from dataclasses import dataclass
from typing import Any

from ottla.streams.dsl.graph import Graph, GraphNode, NodeRole
from ottla.streams.engine.operator.operator import Definition
from ottla.streams.engine.store.spec import StoreSpec
from ottla.streams.engine.topology import ProcessorNode, Topology
from ottla.streams.errors import TopologyError
from ottla.streams.serde import Serde


@dataclass(frozen=True)
class Step:
    """A place in the graph from which the next operation starts."""

    graph: Graph
    node: GraphNode
    name: str
    key_serde: Serde[Any] | None
    value_serde: Serde[Any] | None
    sources: frozenset[str]


def processor_node(
    name: str,
    definition: Definition,
    stores: "list[StoreSpec] | None" = None,
    connected: tuple[str, ...] = (),
    *,
    role: NodeRole = NodeRole.PLAIN,
) -> GraphNode:
    """A node with one operator, its own stores, and the stores of others that it looks into."""

    def write(node: GraphNode, topology: Topology) -> None:
        topology.add_node(ProcessorNode(name, definition, node.parent_names()))
        for spec in stores or ():
            topology.add_state_store(spec, name)
        if connected:
            topology.connect_processor_and_state_stores(name, *connected)

    node = GraphNode(name, write)
    node.role = role
    return node


def copartitioned(graph: Graph, *steps: Step) -> frozenset[str]:
    """The sources of steps that meet: their topics must have as many partitions."""
    sources: frozenset[str] = frozenset().union(*(step.sources for step in steps))
    if not all(step.sources for step in steps):
        raise TopologyError("both sides of a join need a source")
    graph.copartitions.append(sources)
    return sources
