"""A topology as text, in the words and the order of Kafka Streams' `TopologyDescription`.

Nodes of a sub-topology stand in the order of how many nodes lie below them (each way down counts), then by name.
Neighbours of a node, and stores, stand as Java's hash maps and trees leave them: neighbours are put into a tree
while those numbers are still being added up. Texts are compared by people and tools, so the order is followed to
the letter.
"""

from collections.abc import Iterable
from typing import Any


def description_of(topology: Any) -> str:
    """The text of `Topology.describe()`."""
    parts = ["Topologies:\n "]
    for sub_topology in topology.sub_topologies():
        writer = _Writer(topology, sub_topology)
        parts.append("  " + (writer.global_text() if sub_topology.is_global else writer.text()))
    return "".join(parts)


class _Writer:
    """Writes one sub-topology."""

    def __init__(self, topology: Any, sub_topology: Any) -> None:
        self._topology = topology
        self._number = sub_topology.number
        self._nodes = [topology.nodes[name] for name in sub_topology.nodes]
        self._sizes = {node.name: 1 for node in self._nodes}
        self._below = {node.name: _Tree(self._sizes) for node in self._nodes}
        self._above = {node.name: _Tree(self._sizes) for node in self._nodes}
        for name in in_hash_order([node.name for node in self._nodes]):
            for parent in topology.parents_of(topology.nodes[name]):
                self._above[name].add(parent)
                self._below[parent].add(name)
                self._grow(parent, self._sizes[name])

    def text(self) -> str:
        """The sub-topology with its nodes."""
        lines = [f"Sub-topology: {self._number}\n"]
        lines += [f"    {self._node_text(node)}\n" for node in self._ordered()]
        return "".join([*lines, "\n"])

    def global_text(self) -> str:
        """A global store with its source and processor."""
        head = f"Sub-topology: {self._number} for global store (will not generate tasks)\n"
        return head + "".join(f"    {self._node_text(node)}\n" for node in self._ordered())

    def _grow(self, name: str, size: int) -> None:
        self._sizes[name] += size
        for parent in self._above[name].in_order():
            self._grow(parent, size)

    def _node_text(self, node: Any) -> str:
        below = ", ".join(self._below[node.name].in_order()) or "none"
        kind = type(node).__name__
        if kind == "SourceNode":
            topics = node.pattern if node.pattern is not None else f"[{', '.join(in_hash_order(node.topics))}]"
            return f"Source: {node.name} (topics: {topics})\n      --> {below}"
        above = ", ".join(self._above[node.name].in_order()) or "none"
        if kind == "SinkNode":
            topic = f"topic: {node.topic}" if isinstance(node.topic, str) else f"extractor class: {node.topic!r}"
            return f"Sink: {node.name} ({topic})\n      <-- {above}"
        stores = ", ".join(in_hash_order(self._topology.connections.get(node.name, ())))
        return f"Processor: {node.name} (stores: [{stores}])\n      --> {below}\n      <-- {above}"

    def _ordered(self) -> list[Any]:
        return sorted(self._nodes, key=lambda node: (-self._sizes[node.name], node.name))


class _Tree:
    """A search tree of names whose order changes while it is filled: an entry stays where it was put."""

    def __init__(self, sizes: dict[str, int]) -> None:
        self._sizes = sizes
        self._root: list[Any] | None = None

    def add(self, name: str) -> None:
        """Puts a name where it belongs by the sizes of now."""
        leaf: list[Any] = [name, None, None]
        if self._root is None:
            self._root = leaf
            return
        at = self._root
        while True:
            side = 1 if self._rank(name) < self._rank(at[0]) else 2
            if at[side] is None:
                at[side] = leaf
                return
            at = at[side]

    def in_order(self) -> list[str]:
        """The names."""
        return _flat(self._root)

    def _rank(self, name: str) -> tuple[int, str]:
        return -self._sizes[name], name


def _flat(tree: list[Any] | None) -> list[str]:
    return [] if tree is None else [*_flat(tree[1]), tree[0], *_flat(tree[2])]


def in_hash_order(names: Iterable[str]) -> list[str]:
    """Names in the order in which Java's HashMap would list them.

    >>> in_hash_order(["b", "a"])
    ['a', 'b']
    """
    names = list(dict.fromkeys(names))
    capacity = 16
    while len(names) > capacity * 3 // 4:
        capacity *= 2
    return sorted(names, key=lambda name: _spread(name) & (capacity - 1))


def _spread(name: str) -> int:
    code = 0
    units = name.encode("utf-16-be")
    for high, low in zip(units[::2], units[1::2], strict=True):
        code = (code * 31 + (high << 8 | low)) & 0xFFFFFFFF
    return code ^ code >> 16
