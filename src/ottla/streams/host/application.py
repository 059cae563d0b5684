"""An application as hosts see it: a topology, its configuration, and how many partitions its topics have.

One task per sub-topology and partition. All tasks with the same partition number run together and share a local
state, whichever sub-topology they belong to: their inputs move on together.
"""

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from hashlib import sha256
from typing import Any

from ottla.client.record import TopicPartition
from ottla.streams.engine.store.coder import changelog_topic
from ottla.streams.engine.store.spec import StoreSpec
from ottla.streams.engine.topology import SourceNode, Topology
from ottla.streams.errors import TopologyError
from ottla.streams.host.internal_topic import InternalTopicPlan, changelog_plan, repartition_plan
from ottla.streams.host.partitioning import partition_counts, topics_of
from ottla.streams.host.task_share import TaskId


@dataclass(frozen=True, slots=True)
class Stage:
    """A sub-topology with its topics by full name, in the order in which equal times are taken: tables first."""

    number: int
    nodes: tuple[str, ...]
    stores: tuple[str, ...]
    topics: tuple[str, ...]
    partitions: int


@dataclass(frozen=True)
class Application:
    """What runs, under which name."""

    topology: Topology
    application_id: str
    configuration: Mapping[str, Any]
    counts: Mapping[str, int] = field(default_factory=dict)
    """Partitions of the topics by short name."""

    @classmethod
    def planned(
        cls, topology: Topology, configuration: Mapping[str, Any], external: Mapping[str, int]
    ) -> "Application":
        """The application on a cluster with these topics; `TopologyError` if they don't do."""
        application_id = str(configuration.get("application.id") or "")
        if not application_id:
            raise TopologyError("application.id: there has to be one; it names the group and the internal topics")
        missing = sorted(wanted_topics(topology) - external.keys())
        if missing:
            raise TopologyError(f"there is no topic {', '.join(missing)}: create it first, or allow READ on it")
        counts = partition_counts(topology, external)
        return cls(topology, application_id, dict(configuration), counts)

    @cached_property
    def stages(self) -> tuple[Stage, ...]:
        """The sub-topologies but for the global ones."""
        found = []
        for group in self.topology.sub_topologies():
            if group.is_global:
                continue
            short = self._topics(group.nodes)
            partitions = max((self.counts[topic] for topic in short), default=0)
            topics = tuple(self.full_name(topic) for topic in short)
            found.append(Stage(group.number, group.nodes, group.stores, topics, partitions))
        return tuple(found)

    @cached_property
    def partitions(self) -> int:
        """How many partition numbers there are: the tasks of a number run together."""
        return max((stage.partitions for stage in self.stages), default=0)

    @cached_property
    def inputs(self) -> tuple[str, ...]:
        """All topics that are read, by full name, but for global ones."""
        return tuple(dict.fromkeys(topic for stage in self.stages for topic in stage.topics))

    @cached_property
    def global_nodes(self) -> tuple[str, ...]:
        """The nodes that fill global stores."""
        return tuple(name for group in self.topology.sub_topologies() if group.is_global for name in group.nodes)

    @cached_property
    def global_topics(self) -> tuple[str, ...]:
        """The topics that are read as a whole."""
        return self._topics(self.global_nodes)

    @cached_property
    def repartition_topics(self) -> tuple[InternalTopicPlan, ...]:
        """The repartition topics."""
        return tuple(
            repartition_plan(self.full_name(name), self.counts[name]) for name in self.topology.internal_topics
        )

    @cached_property
    def changelogs(self) -> dict[str, InternalTopicPlan]:
        """The changelogs by store."""
        return {
            name: changelog_plan(self.application_id, spec, stage.partitions, self._additional_retention_ms)
            for stage in self.stages
            for name, spec in self._stores(stage)
            if spec.logging
        }

    def full_name(self, topic: str) -> str:
        """A topic's name on the cluster: internal ones have the application's id in front."""
        return f"{self.application_id}-{topic}" if topic in self.topology.internal_topics else topic

    def short_name(self, topic: str) -> str:
        """A topic's name in the topology, from the one on the cluster."""
        name = topic.removeprefix(f"{self.application_id}-")
        return name if name in self.topology.internal_topics else topic

    def stores_of(self, partition: int) -> list[tuple[Stage, StoreSpec]]:
        """The stores that tasks of a partition number have, with their stages."""
        return [
            (stage, spec) for stage in self.stages if partition < stage.partitions for _, spec in self._stores(stage)
        ]

    def places_of(self, task: TaskId) -> list[TopicPartition]:
        """The partitions that a task reads, in the order in which equal times are taken."""
        stage = next(one for one in self.stages if one.number == task.stage)
        return [
            TopicPartition(topic, task.partition)
            for topic in stage.topics
            if task.partition < self.counts[self.short_name(topic)]
        ]

    def changelog_topic(self, store: str) -> str:
        """The name of a store's changelog."""
        return changelog_topic(self.application_id, store)

    def is_restorable(self, partition: int) -> bool:
        """Whether all that a partition number remembers is in changelogs, too."""
        return all(spec.logging for _, spec in self.stores_of(partition))

    def layout(self) -> str:
        """What old state depends on, as text: it must not change while there is state."""
        stages = [
            {
                "sub-topology": stage.number,
                "partitions": stage.partitions,
                "stores": {name: _layout_of(spec) for name, spec in self._stores(stage)},
                "topics": sorted(stage.topics),
            }
            for stage in self.stages
        ]
        return json.dumps({"application.id": self.application_id, "stages": stages}, sort_keys=True)

    def identity(self, partition: int) -> str:
        """What a local state says it belongs to."""
        return f"{self.application_id} partition {partition} layout {sha256(self.layout().encode()).hexdigest()[:16]}"

    @property
    def _additional_retention_ms(self) -> int:
        return int(self.configuration.get("windowstore.changelog.additional.retention.ms", 86_400_000))

    def _stores(self, stage: Stage) -> list[tuple[str, StoreSpec]]:
        global_stores = set(self.topology.global_sources.values())
        return [(name, self.topology.stores[name]) for name in stage.stores if name not in global_stores]

    def _topics(self, names: Iterable[str]) -> tuple[str, ...]:
        nodes = [self.topology.nodes[name] for name in names]
        sources = [node for node in nodes if isinstance(node, SourceNode)]
        sources.sort(key=lambda node: not self._feeds_a_table(node.name))
        return tuple(dict.fromkeys(topic for node in sources for topic in topics_of(node, self.counts)))

    def _feeds_a_table(self, source: str) -> bool:
        """Whether a source is the topic of a table: its records count before others of the same time."""
        topology = self.topology
        children = [node.name for node in topology.nodes.values() if source in topology.parents_of(node)]
        return any(name.startswith("KTABLE-SOURCE") or name in topology.connections for name in children)


def wanted_topics(topology: Topology) -> set[str]:
    """The topics that have to be there before an application starts."""
    sources = [node for node in topology.nodes.values() if isinstance(node, SourceNode)]
    return {topic for node in sources for topic in node.topics} - topology.internal_topics.keys()


def _layout_of(spec: StoreSpec) -> str:
    return f"{spec.kind.value}, retention {spec.retention_ms} ms, changelog {'on' if spec.logging else 'off'}"
