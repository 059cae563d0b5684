"""How `suppress` becomes a node with its buffer."""

from dataclasses import replace
from typing import Any

from ottla.streams.dsl.step import Step, processor_node
from ottla.streams.engine.operator.suppress import SuppressDefinition
from ottla.streams.engine.operator.table import TableDefinition
from ottla.streams.engine.operator.window_aggregate import WindowAggregateDefinition
from ottla.streams.engine.store.spec import StoreKind, StoreSpec
from ottla.streams.errors import TopologyError
from ottla.streams.option import Suppressed


def suppressed_table(step: Step, parent: TableDefinition, given: Suppressed) -> tuple[Step, SuppressDefinition]:
    """The suppressed table's step and definition."""
    if step.node.output_versioned:
        raise TopologyError("suppress() is only supported for non-versioned KTables")
    graph = step.graph
    name = given.name or graph.processor_name("KTABLE-SUPPRESS-")
    store = f"{given.name}-store" if given.name else graph.store_name("KTABLE-SUPPRESS-")
    wait_ms = _grace_above(parent) if given.wait_ms is None else given.wait_ms
    buffer = StoreSpec(store, StoreKind.BUFFER, step.key_serde, step.value_serde, logging=given.buffer.logging)
    definition = SuppressDefinition(parent, buffer, wait_ms=wait_ms, until_close=given.wait_ms is None)
    definition.records_max, definition.bytes_max = given.buffer.records_max, given.buffer.bytes_max
    definition.emits_when_full = given.buffer.emits_when_full
    parent.enable_old(force=True)
    node = processor_node(name, definition.make, [buffer])
    node.output_versioned = False
    graph.add(step.node, node)
    graph.suppresses(node)
    return replace(step, node=node, name=name), definition


def _grace_above(definition: TableDefinition) -> int:
    """The grace of the windows that the table was aggregated in."""
    windows: Any = getattr(definition, "windows", None)
    if windows is not None:
        grace: int = windows.grace_ms
        if isinstance(definition, WindowAggregateDefinition):
            return grace
        gap: int = windows.gap_ms
        return grace + gap
    if not definition.parents:
        raise TopologyError("until_window_closes needs a table that was aggregated in windows")
    return max(_grace_above(parent) for parent in definition.parents)
