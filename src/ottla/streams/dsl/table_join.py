"""Builds the nodes of the join of two tables: two halves that look into each other's table, and a merge."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from ottla.streams.dsl.graph import GraphNode
from ottla.streams.dsl.materialize import materialized
from ottla.streams.dsl.step import Step, copartitioned
from ottla.streams.engine.operator.table import MergeDefinition, TableDefinition, View
from ottla.streams.engine.operator.table_join import Side, TableJoinHalf, joined_view
from ottla.streams.engine.topology import ProcessorNode, Topology
from ottla.streams.option import Materialized

Table = tuple[Step, TableDefinition]
_MERGE = "KTABLE-MERGE-"


class _JoinDefinition(MergeDefinition):
    """A join's old values are computed by its halves from the old values of the tables."""

    halves: tuple[TableDefinition, TableDefinition]

    def enable_old(self, *, force: bool) -> bool:
        """Both halves compute the old side as well."""
        for half, parent in zip(self.halves, self.parents, strict=True):
            if not parent.enable_old(force=True):
                return False
            half.send_old = True
        self.send_old = True
        return True


def join_tables(
    left: Table,
    right: Table,
    joiner: Callable[[Any, Any], Any],
    side: Side,
    given: tuple[str | None, Materialized[Any, Any] | None],
) -> tuple[Step, MergeDefinition, str | None]:
    """The joined table: its step, definition and the name of its store."""
    (left_step, left_table), (right_step, right_table) = left, right
    graph, (named, materialized_as) = left_step.graph, given
    store = None
    if materialized_as is not None:
        store = materialized(graph, materialized_as, _MERGE, (left_step.key_serde, None))
    merge = graph.name_or(named, _MERGE)
    sources = copartitioned(graph, left_step, right_step)
    if side is not Side.INNER:
        left_table.enable_old(force=True)
    if side is Side.OUTER:
        right_table.enable_old(force=True)
    this_name = graph.suffixed_or(named, "-join-this", "KTABLE-JOINTHIS-")
    other_name = graph.suffixed_or(named, "-join-other", "KTABLE-JOINOTHER-")
    views = left_table.view(), right_table.view()
    lookup = joined_view(*views, joiner, side)
    merged = _JoinDefinition(None if store is None else store.spec, (left_table, right_table), lookup=lookup)
    merged.halves = (TableDefinition(None), TableDefinition(None))
    writer = _Writer(merged, (this_name, other_name, merge), (left_step.name, right_step.name), views)
    writer.joiner, writer.side = joiner, side
    node = GraphNode(merge, writer.write)
    node.output_versioned = store is not None and store.is_versioned
    graph.add(left_step.node, node)
    graph.add(right_step.node, node)
    for half, step in zip(merged.halves, (left_step, right_step), strict=True):
        graph.uses_versions(node, step.node, half)
    key_serde = left_step.key_serde if store is None else store.spec.key_serde
    value_serde = None if store is None else store.spec.value_serde
    step = replace(left_step, node=node, name=merge, key_serde=key_serde, value_serde=value_serde, sources=sources)
    return step, merged, None if store is None else store.spec.name


class _Writer:
    """Adds the three nodes."""

    joiner: Callable[[Any, Any], Any]
    side: Side

    def __init__(
        self, merged: _JoinDefinition, names: tuple[str, str, str], parents: tuple[str, str], views: tuple[View, View]
    ) -> None:
        self._merged = merged
        self._names = names
        self._parents = parents
        self._views = views

    def write(self, node: GraphNode, topology: Topology) -> None:
        """Adds halves and merge; each half is connected with the other table's stores."""
        this_name, other_name, merge = self._names
        left_view, right_view = self._views
        topology.add_node(ProcessorNode(this_name, self._this_half, (self._parents[0],)))
        topology.add_node(ProcessorNode(other_name, self._other_half, (self._parents[1],)))
        topology.add_node(ProcessorNode(merge, self._merged.make, (this_name, other_name)))
        if self._merged.store is not None:
            topology.add_state_store(self._merged.store, merge)
        topology.connect_processor_and_state_stores(this_name, *right_view.stores)
        topology.connect_processor_and_state_stores(other_name, *left_view.stores)

    def _this_half(self) -> TableJoinHalf:
        return TableJoinHalf(self._merged.halves[0], self._views[1], self.joiner, self.side)

    def _other_half(self) -> TableJoinHalf:
        side = Side.RIGHT if self.side is Side.LEFT else self.side
        joiner = self.joiner
        return TableJoinHalf(self._merged.halves[1], self._views[0], lambda right, left: joiner(left, right), side)
