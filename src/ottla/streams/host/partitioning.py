"""Sets the number of partitions of repartition topics, and so of tasks of each sub-topology, by Kafka Streams' rules.

A repartition topic has the requested number, else as many as the largest topic of the sub-topologies that write to it.
Topics that are joined have the same number: repartition topics adapt, topics of the user's are refused.
"""

from collections.abc import Iterable, Mapping

from ottla.streams.engine.topology import SinkNode, SourceNode, SubTopology, Topology
from ottla.streams.errors import TopologyError


def partition_counts(topology: Topology, external: Mapping[str, int]) -> dict[str, int]:
    """Partitions of each topic that a source reads; internal topics by their short names."""
    counts = dict(external)
    groups = topology.sub_topologies()
    fixed = {name for name, topic in topology.internal_topics.items() if topic.partitions is not None}
    counts |= {name: topology.internal_topics[name].partitions or 0 for name in fixed}
    open_topics = [name for name in topology.internal_topics if name not in fixed]
    for _ in range(len(open_topics) + 1):
        before = dict(counts)
        for name in open_topics:
            writers = [group for group in groups if name in _written(topology, group)]
            found = max((counts.get(topic, 0) for group in writers for topic in _read(topology, group)), default=0)
            counts[name] = max(found, counts.get(name, 0))
        _adapt(topology, counts, fixed, external)
        if counts == before:
            break
    _check(topology, counts)
    return counts


def _adapt(topology: Topology, counts: dict[str, int], fixed: set[str], external: Mapping[str, int]) -> None:
    """Repartition topics that are joined get the number of the others."""
    for topics in _joined(topology, external):
        given = [counts[topic] for topic in topics if topic in fixed or topic in external]
        wanted = max(given) if given else max(counts.get(topic, 0) for topic in topics)
        for topic in topics:
            if topic in topology.internal_topics and topic not in fixed:
                counts[topic] = wanted


def _check(topology: Topology, counts: Mapping[str, int]) -> None:
    for name in topology.internal_topics:
        if not counts.get(name):
            raise TopologyError(f"no partition count for the repartition topic {name}: none of its sources exists")
    for topics in _joined(topology, counts):
        if len({counts[topic] for topic in topics}) > 1:
            listed = ", ".join(f"{topic} has {counts[topic]}" for topic in sorted(topics))
            raise TopologyError(
                f"topics that are joined are not co-partitioned: {listed} partitions. Give them the same number, or "
                f"put repartition(Repartitioned.number_of_partitions(…)) before the join"
            )


def _joined(topology: Topology, known: Iterable[str]) -> list[set[str]]:
    groups = []
    for sources in topology.copartitions:
        topics: set[str] = set()
        for name in sources:
            topics |= set(topics_of(topology.nodes[name], known))
        if len(topics) > 1:
            groups.append(topics)
    return groups


def topics_of(node: object, known: Iterable[str]) -> tuple[str, ...]:
    """The topics of a source, by their short names; a pattern means those among `known` that match."""
    if not isinstance(node, SourceNode):
        return ()
    if node.pattern is None:
        return node.topics
    import re

    return tuple(sorted(topic for topic in known if re.fullmatch(node.pattern, topic)))


def _read(topology: Topology, group: SubTopology) -> list[str]:
    return [topic for name in group.nodes for topic in topics_of(topology.nodes[name], ())]


def _written(topology: Topology, group: SubTopology) -> set[str]:
    nodes = [topology.nodes[name] for name in group.nodes]
    return {node.topic for node in nodes if isinstance(node, SinkNode) and isinstance(node.topic, str)}
