"""Builds the node of `suppress` with its buffer."""

from dataclasses import replace

from ottla.streams.dsl.graph import GraphNode
from ottla.streams.dsl.step import Step, processor_node
from ottla.streams.engine.operator.suppress import SuppressDefinition
from ottla.streams.engine.operator.table import TableDefinition
from ottla.streams.engine.store.spec import StoreKind, StoreSpec
from ottla.streams.errors import TopologyError
from ottla.streams.suppressed import Suppressed


def suppressed_table(step: Step, parent: TableDefinition, given: Suppressed) -> tuple[Step, SuppressDefinition]:
    """The suppressed table's step and definition."""
    if step.node.output_versioned:
        raise TopologyError("suppress() is only supported for non-versioned KTables")
    graph = step.graph
    name = given.name or graph.processor_name("KTABLE-SUPPRESS-")
    store = f"{given.name}-store" if given.name else graph.store_name("KTABLE-SUPPRESS-")
    wait_ms = _grace_above(step.node) if given.wait_ms is None else given.wait_ms
    buffer = StoreSpec(store, StoreKind.BUFFER, step.key_serde, step.value_serde, logging=given.buffer.logging)
    buffer = replace(buffer, topic_config=given.buffer.topic_config)
    definition = SuppressDefinition(parent, buffer, wait_ms=wait_ms, until_close=given.wait_ms is None)
    definition.records_max, definition.bytes_max = given.buffer.records_max, given.buffer.bytes_max
    definition.emits_when_full = given.buffer.emits_when_full
    parent.enable_old(force=True)
    node = processor_node(name, definition.make, [buffer])
    node.output_versioned = False
    graph.add(step.node, node)
    graph.suppresses(node)
    return replace(step, node=node, name=name), definition


def _grace_above(node: GraphNode, chain: str = "") -> int:
    """The grace of the windows that the table was aggregated in: the longest, where several meet."""
    if node.grace_ms is not None:
        return node.grace_ms
    chain = f"{node.name}->{chain}" if chain else node.name
    if not node.parents:
        raise TopologyError(f"Window close time is only defined for windowed computations. Got [{chain}].")
    return max(_grace_above(parent, chain) for parent in node.parents)
