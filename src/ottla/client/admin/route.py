"""Which node is in charge: the leader of a partition, the coordinator of a group or a transactional id."""

import asyncio
from collections.abc import Mapping
from typing import Final, Protocol

from ottla.base.errors import OttlaError
from ottla.client.admin.channel import ANY_NODE, AdminChannel, K, Route
from ottla.client.cluster.coordinator_lookup import CoordinatorKind
from ottla.client.record import TopicPartition
from ottla.protocol.errors import LeaderNotAvailableError, UnknownTopicOrPartitionError, error_for
from ottla.protocol.messages.metadata import (
    MetadataRequest,
    MetadataRequestTopic,
    MetadataResponse,
    MetadataResponseTopic,
)


class CoordinatorFinder(Protocol):
    """The part of a cluster client that knows coordinators."""

    async def coordinator(self, kind: CoordinatorKind, key: str) -> int:
        """The broker that coordinates the key."""
        ...

    def forget_coordinator(self, kind: CoordinatorKind, key: str) -> None:
        """Looks it up anew the next time."""
        ...


def fixed(node_id: int) -> Route[K]:
    """One node for everything."""

    async def route(keys: list[K]) -> Mapping[K, int | OttlaError]:
        return dict.fromkeys(keys, node_id)

    return route


def leaders(channel: AdminChannel) -> Route[TopicPartition]:
    """Partitions to their leaders, as the cluster has them now."""

    async def route(partitions: list[TopicPartition]) -> Mapping[TopicPartition, int | OttlaError]:
        names = dict.fromkeys(partition.topic for partition in partitions)
        request = MetadataRequest(
            topics=[MetadataRequestTopic(name=name) for name in names], allow_auto_topic_creation=False
        )
        response = await channel.ask(ANY_NODE, request, MetadataResponse)
        topics = {topic.name: topic for topic in response.topics}
        return {partition: _leader(topics.get(partition.topic), partition) for partition in partitions}

    return route


def _leader(topic: MetadataResponseTopic | None, partition: TopicPartition) -> int | OttlaError:
    if topic is None:
        return UnknownTopicOrPartitionError()
    if topic.error_code:
        return error_for(topic.error_code)
    for found in topic.partitions:
        if found.partition_index == partition.partition:
            return found.leader_id if found.leader_id >= 0 else LeaderNotAvailableError()
    return UnknownTopicOrPartitionError()


def coordinators(finder: CoordinatorFinder, kind: CoordinatorKind) -> Route[str]:
    """Groups or transactional ids to their coordinators; one that is asked for again is looked up anew."""
    seen: Final[set[str]] = set()

    async def find(key: str) -> int | OttlaError:
        if key in seen:
            finder.forget_coordinator(kind, key)
        seen.add(key)
        try:
            return await finder.coordinator(kind, key)
        except OttlaError as error:
            return error

    async def route(keys: list[str]) -> Mapping[str, int | OttlaError]:
        return dict(zip(keys, await asyncio.gather(*map(find, keys)), strict=True))

    return route
