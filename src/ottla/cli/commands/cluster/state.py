"""The present state of a cluster: its brokers, its quorum, and the partitions that are in trouble."""

import asyncio
from collections.abc import Collection, Mapping
from typing import NamedTuple

from ottla.base.errors import OttlaError
from ottla.client.admin.async_admin import AsyncAdmin
from ottla.client.admin.value.cluster import ClusterDescription, FeatureMetadata, Node, QuorumInfo
from ottla.client.admin.value.config import ConfigResource, ConfigResourceType
from ottla.client.admin.value.topic import TopicDescription
from ottla.client.record import TopicPartition


class BrokerState(NamedTuple):
    """A broker; sizes are None where it could not be asked."""

    node: Node
    leaders: int
    replicas: int
    size_bytes: int | None
    usable_bytes: int | None
    total_bytes: int | None
    failed_dirs: int


class Trouble(NamedTuple):
    """Partitions that are not as they should be."""

    offline: list[TopicPartition]
    under_min_isr: list[TopicPartition]
    under_replicated: list[TopicPartition]

    @property
    def is_none(self) -> bool:
        """Whether all is well."""
        return not (self.offline or self.under_min_isr or self.under_replicated)


class ClusterState(NamedTuple):
    """All of it; the quorum and the features are None for who may not see them."""

    description: ClusterDescription
    brokers: list[BrokerState]
    quorum: QuorumInfo | None
    features: FeatureMetadata | None
    topics: int
    partitions: int
    trouble: Trouble


async def cluster_state(admin: AsyncAdmin) -> ClusterState:
    """Asks the cluster for everything at once."""
    description, names = await asyncio.gather(
        admin.describe_cluster(include_fenced_brokers=True), admin.list_topics(include_internal=True)
    )
    topics = await admin.describe_topics(names)
    brokers, minimums, quorum, features = await asyncio.gather(
        _brokers(admin, description, topics), min_isrs(admin, _lagging(topics)), quorum_info(admin), _features(admin)
    )
    return ClusterState(
        description,
        brokers,
        quorum,
        features,
        len(topics),
        sum(len(topic.partitions) for topic in topics.values()),
        find_trouble(topics, minimums),
    )


def find_trouble(topics: Mapping[str, TopicDescription], minimums: Mapping[str, int]) -> Trouble:
    """Partitions without a leader, with fewer in sync than `min.insync.replicas`, and with fewer than replicas."""
    found = Trouble([], [], [])
    for topic in topics.values():
        for info in topic.partitions:
            partition = TopicPartition(topic.name, info.partition)
            if info.leader is None:
                found.offline.append(partition)
            elif len(info.isr) < min(minimums.get(topic.name, 1), len(info.replicas)):
                found.under_min_isr.append(partition)
            elif len(info.isr) < len(info.replicas):
                found.under_replicated.append(partition)
    return found


async def _brokers(
    admin: AsyncAdmin, description: ClusterDescription, topics: Mapping[str, TopicDescription]
) -> list[BrokerState]:
    refused: dict[int, OttlaError] = {}
    alive = [node.id for node in description.nodes if not node.is_fenced]
    dirs = await admin.describe_log_dirs(alive, errors=refused)
    infos = [info for topic in topics.values() for info in topic.partitions]
    states = []
    for node in description.nodes:
        directories = list(dirs[node.id].values()) if node.id in dirs else None
        known = directories or []
        usable = [found.usable_bytes for found in known if found.usable_bytes is not None]
        total = [found.total_bytes for found in known if found.total_bytes is not None]
        sizes = [replica.size_bytes for found in known for replica in found.replicas.values()]
        states.append(
            BrokerState(
                node,
                sum(info.leader == node.id for info in infos),
                sum(node.id in info.replicas for info in infos),
                None if directories is None else sum(sizes),
                min(usable, default=None),
                min(total, default=None),
                sum(found.error is not None for found in known),
            )
        )
    return states


def _lagging(topics: Mapping[str, TopicDescription]) -> list[str]:
    """Topics for which `min.insync.replicas` can matter."""
    return [
        name for name, topic in topics.items() if any(len(info.isr) < len(info.replicas) for info in topic.partitions)
    ]


async def min_isrs(admin: AsyncAdmin, names: Collection[str]) -> dict[str, int]:
    """`min.insync.replicas` of topics; those that may not be seen are left out."""
    refused: dict[ConfigResource, OttlaError] = {}
    resources = [ConfigResource(ConfigResourceType.TOPIC, name) for name in names]
    found = await admin.describe_configs(resources, errors=refused) if resources else {}
    return {
        resource.name: int(entries["min.insync.replicas"].value or 1)
        for resource, entries in found.items()
        if "min.insync.replicas" in entries
    }


async def quorum_info(admin: AsyncAdmin) -> QuorumInfo | None:
    """The quorum, None for who may not see it."""
    try:
        return await admin.describe_metadata_quorum()
    except OttlaError:
        return None  # it takes a permission of its own


async def _features(admin: AsyncAdmin) -> FeatureMetadata | None:
    try:
        return await admin.describe_features()
    except OttlaError:
        return None
