"""Repartitioning: a sink to an internal topic, and the source that reads it."""

import re
from dataclasses import dataclass, replace
from typing import Any

from ottla.streams.dsl.graph import Graph, GraphNode, NodeRole, keeps_null_keys_below
from ottla.streams.engine.operator.stateless import Filter
from ottla.streams.engine.topology import InternalTopic, ProcessorNode, SinkNode, SourceNode, Topology

_SUFFIX = "-repartition"


@dataclass(frozen=True)
class RepartitionSpec:
    """The parameters of a repartition: serdes, and the user's options."""

    prefix: str
    key_serde: Any
    value_serde: Any
    partitions: int | None = None
    partitioner: Any = None
    is_explicit: bool = False


def repartition_node(graph: Graph, spec: RepartitionSpec) -> GraphNode:
    """The node of a repartition through `<application.id>-<prefix>-repartition`. Its name is its source's.

    One that a step needs, and the user did not ask for, may be merged with others.
    """
    topic = spec.prefix if spec.prefix.endswith(_SUFFIX) else spec.prefix + _SUFFIX
    sink = graph.processor_name("KSTREAM-SINK-")
    null_filter = graph.processor_name("KSTREAM-FILTER-")
    source = graph.processor_name("KSTREAM-SOURCE-")
    if not re.fullmatch(r"KSTREAM.*-[0-9]{10}", spec.prefix):
        sink, source, null_filter = f"{topic}-sink", f"{topic}-source", f"{topic}-filter"

    def write(node: GraphNode, topology: Topology) -> None:
        keeps = keeps_null_keys_below(node)
        topology.internal_topics[topic] = InternalTopic(topic, spec.partitions)
        filtered = ProcessorNode(
            null_filter, lambda: Filter(lambda key, value: keeps or key is not None), node.parent_names()
        )
        topology.add_node(filtered)
        topology.add_node(SinkNode(sink, topic, (null_filter,), spec.key_serde, spec.value_serde, spec.partitioner))
        topology.add_node(SourceNode(source, (topic,), None, spec.key_serde, spec.value_serde))

    node = GraphNode(source, write)
    node.repartition = replace(spec, prefix=topic)
    if not spec.is_explicit:
        node.role = NodeRole.REPARTITION
    return node
