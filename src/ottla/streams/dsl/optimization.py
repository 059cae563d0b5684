"""Rewrites the graph before it becomes a topology: sources of the same topics are one, and what `topology.optimization`
asks for.

`merge.repartition.topics` has one repartition behind a step that changes keys, instead of one for each aggregate
and join below it. `single.store.self.join` keeps the records of a stream that is joined with itself once. Stores of
tables have a changelog of their own with `reuse.ktable.source.topics`, too: the description is the same.
"""

from collections.abc import Callable, Mapping
from typing import Any, Final

from ottla.base.config import ConfigError
from ottla.streams.dsl.graph import Graph, GraphNode, NodeRole
from ottla.streams.dsl.repartition import RepartitionSpec, repartition_node
from ottla.streams.engine.topology import SourceNode
from ottla.streams.errors import TopologyError

OPTIMIZATION: Final = "topology.optimization"
_ALL: Final = "all"
_NONE: Final = "none"
_MERGE: Final = "merge.repartition.topics"
_REUSE: Final = "reuse.ktable.source.topics"
_SELF_JOIN: Final = "single.store.self.join"
_EXPLANATION: Final = f"{_NONE}, {_ALL}, or a list of {_REUSE}, {_MERGE}, {_SELF_JOIN}"


def optimizations_of(config: Mapping[str, Any] | None) -> frozenset[str]:
    """The optimizations that the configuration names."""
    given = str((config or {}).get(OPTIMIZATION, _NONE))
    names = [name.strip() for name in given.split(",")]
    is_list = len(names) == 1 or not {_NONE, _ALL}.intersection(names)
    if not is_list or not {_NONE, _ALL, _MERGE, _REUSE, _SELF_JOIN}.issuperset(names):
        raise ConfigError(OPTIMIZATION, given, _EXPLANATION)
    return frozenset({_MERGE, _REUSE, _SELF_JOIN} if names == [_ALL] else set(names) - {_NONE})


def optimize(graph: Graph, optimizations: frozenset[str]) -> None:
    """Rewrites the graph."""
    merge_sources(graph)
    if _MERGE in optimizations:
        _merge_repartitions(graph)
    if _SELF_JOIN in optimizations:
        for node in graph.nodes:
            if node.role is NodeRole.STREAM_JOIN and len(node.parents) == 1:
                _single_store(node)


def merge_sources(graph: Graph) -> None:
    """Two sources of the same topics are one: the first."""
    by_topic: dict[Any, GraphNode] = {}
    for node in list(graph.root.children):
        if node.source is None:
            continue
        for topic in node.source.topics or (("pattern", node.source.pattern),):
            first = by_topic.setdefault(topic, node)
            if first is not node and first.source is not None and node in graph.root.children:
                _check_alike(first.source, node.source)
                graph.root.remove_child(node)
                for child in list(node.children):
                    node.remove_child(child)
                    first.add_child(child)


def _check_alike(one: SourceNode, other: SourceNode) -> None:
    if set(one.topics) != set(other.topics):
        raise TopologyError("Two source nodes are subscribed to overlapping but not equal input topics")
    if one.offset_reset != other.offset_reset:
        raise TopologyError("Can't configure different offset reset policies on the same input topic(s)")


def _merge_repartitions(graph: Graph) -> None:
    for changer, repartitions in _by_changer(graph).items():
        if not repartitions:
            continue
        specs: list[RepartitionSpec] = [node.repartition for node in repartitions]
        key_serde = next((spec.key_serde for spec in specs if spec.key_serde is not None), None)
        value_serde = next((spec.value_serde for spec in specs if spec.value_serde is not None), None)
        single = repartition_node(graph, RepartitionSpec(specs[0].prefix, key_serde, value_serde))
        single.priority = changer.priority
        for old in repartitions:
            _move_behind(single, changer, old)
            graph.copartitions[:] = [
                frozenset(single.name if name == old.name else name for name in group) for group in graph.copartitions
            ]
        changer.add_child(single)


def _move_behind(single: GraphNode, changer: GraphNode, old: GraphNode) -> None:
    """Moves the nodes between a step that changes keys and a repartition behind the single one."""
    child = _above(old, lambda node: changer in node.parents)
    assert child is not None
    single.add_child(child)
    changer.remove_child(child)
    parents = list(old.parents)
    for below in list(old.children):
        for parent in parents:
            parent.add_child(below)
        old.remove_child(below)
    for parent in parents:
        parent.remove_child(old)


def _by_changer(graph: Graph) -> dict[GraphNode, list[GraphNode]]:
    """The repartitions below each step that changes keys, where nothing between them changes values.

    Those below a merge of several such steps are the merge's.
    """
    found: dict[GraphNode, list[GraphNode]] = {node: [] for node in graph.nodes if node.role is NodeRole.CHANGES_KEY}
    for node in graph.nodes:
        if node.role is NodeRole.REPARTITION:
            changer = _changer_above(node)
            if changer is not None:
                found[changer].append(node)
    merged: dict[GraphNode, list[GraphNode]] = {}
    for merge in graph.nodes:
        if merge.role is NodeRole.MERGE:
            merged[merge] = [changer for changer, nodes in found.items() if _is_between(changer, merge, nodes)]
    joint = {merge: [node for changer in above for node in found[changer]] for merge, above in merged.items()}
    gone = {changer for above in merged.values() for changer in above}
    kept = {changer: nodes for changer, nodes in found.items() if changer not in gone}
    return kept | {merge: list(dict.fromkeys(nodes)) for merge, nodes in joint.items()}


def _is_between(changer: GraphNode, merge: GraphNode, repartitions: list[GraphNode]) -> bool:
    def below_merge(node: GraphNode) -> bool:
        return merge in node.parents

    def below_changer(node: GraphNode) -> bool:
        return changer in node.parents

    return all(_above(node, below_merge) for node in repartitions) and _above(merge, below_changer) is not None


def _changer_above(node: GraphNode) -> GraphNode | None:
    nearest = _above(node, lambda one: one.role in (NodeRole.CHANGES_KEY, NodeRole.CHANGES_VALUE))
    changer = _above(node, lambda one: one.role is NodeRole.CHANGES_KEY)
    return changer if nearest is changer else None


def _above(node: GraphNode, wanted: Callable[[GraphNode], bool]) -> GraphNode | None:
    """The node itself, or the first of those above it, way by way, that is wanted."""
    if wanted(node):
        return node
    for parent in node.parents:
        found = _above(parent, wanted)
        if found is not None:
            return found
    return None


def _single_store(join: GraphNode) -> None:
    assert join.windows is not None
    this, other = join.windows
    siblings = [child for child in join.parents[0].children if child.priority < join.priority]
    if any(child.name == this for child in siblings):
        for child in siblings:
            if child.name == other:
                join.parents[0].remove_child(child)
                join.is_self_join = True
