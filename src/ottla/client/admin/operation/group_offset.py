"""The offsets that groups have committed: listed, set from outside, deleted. All go to the groups' coordinators."""

from collections.abc import Iterable, Mapping
from typing import Final

from ottla.base.errors import OttlaError
from ottla.client.admin.operation.base import AdminOperations
from ottla.client.admin.outcome import answered, outcome, settle
from ottla.client.admin.route import coordinators
from ottla.client.admin.topic_group import by_topic, numbers_by_topic
from ottla.client.cluster.coordinator_lookup import CoordinatorKind
from ottla.client.record import OffsetAndMetadata, TopicPartition
from ottla.protocol.errors import error_for
from ottla.protocol.messages.offset_commit import (
    OffsetCommitRequest,
    OffsetCommitRequestPartition,
    OffsetCommitRequestTopic,
    OffsetCommitResponse,
)
from ottla.protocol.messages.offset_delete import (
    OffsetDeleteRequest,
    OffsetDeleteRequestPartition,
    OffsetDeleteRequestTopic,
    OffsetDeleteResponse,
)
from ottla.protocol.messages.offset_fetch import (
    OffsetFetchRequest,
    OffsetFetchRequestGroup,
    OffsetFetchRequestTopics,
    OffsetFetchResponse,
    OffsetFetchResponseGroup,
)

GroupOffsets = dict[TopicPartition, OffsetAndMetadata | None]
"""Committed offsets; None for a partition that was asked for and has none."""

_NAMES_VERSION_MAX: Final = 9
"""From version 10 on these APIs name topics by id; people name them by name."""


class GroupOffsetOperations(AdminOperations):
    """Operations on committed offsets."""

    async def list_consumer_group_offsets(
        self,
        groups: Mapping[str, Iterable[TopicPartition] | None],
        *,
        require_stable: bool = False,
        errors: dict[str, OttlaError] | None = None,
    ) -> dict[str, GroupOffsets]:
        """The offsets of groups, for some partitions each or (None) for all that have one.

        With `require_stable` offsets that an open transaction may still change are waited for.
        """

        async def ask(node: int, asked: list[str]) -> dict[str, GroupOffsets | OttlaError]:
            request = OffsetFetchRequest(
                groups=[_fetched_group(group, groups[group]) for group in asked], require_stable=require_stable
            )
            response = await self._channel.ask_once(node, request, OffsetFetchResponse, version_max=_NAMES_VERSION_MAX)
            return {group.group_id: _group_offsets(group) for group in response.groups}

        route = coordinators(self._coordinators, CoordinatorKind.GROUP)
        return settle(await self._channel.ask_each(groups, route, ask), errors)

    async def alter_consumer_group_offsets(
        self,
        group_id: str,
        offsets: Mapping[TopicPartition, OffsetAndMetadata | int],
        *,
        errors: dict[TopicPartition, OttlaError] | None = None,
    ) -> None:
        """Sets the offsets of a group that has no members."""
        request = OffsetCommitRequest(
            group_id=group_id,
            topics=[
                OffsetCommitRequestTopic(name=topic, partitions=[_committed(part, offsets[part]) for part in parts])
                for topic, parts in by_topic(offsets).items()
            ],
        )

        async def ask(node: int, _groups: list[str]) -> dict[str, dict[TopicPartition, OttlaError | None] | OttlaError]:
            response = await self._channel.ask_once(node, request, OffsetCommitResponse, version_max=_NAMES_VERSION_MAX)
            codes = [part.error_code for topic in response.topics for part in topic.partitions]
            passing = next((error_for(code) for code in codes if code and error_for(code).retriable), None)
            if passing is not None:
                return {group_id: passing}
            return {
                group_id: {
                    TopicPartition(topic.name, part.partition_index): outcome(None, part.error_code)
                    for topic in response.topics
                    for part in topic.partitions
                }
            }

        route = coordinators(self._coordinators, CoordinatorKind.GROUP)
        found = settle(await self._channel.ask_each([group_id], route, ask), None)
        settle(answered(offsets, found[group_id]), errors)

    async def delete_consumer_group_offsets(
        self,
        group_id: str,
        partitions: Iterable[TopicPartition],
        *,
        errors: dict[TopicPartition, OttlaError] | None = None,
    ) -> None:
        """Deletes a group's offsets of partitions whose topics no member subscribes to."""
        asked = list(partitions)
        request = OffsetDeleteRequest(
            group_id=group_id,
            topics=[
                OffsetDeleteRequestTopic(
                    name=topic, partitions=[OffsetDeleteRequestPartition(partition_index=number) for number in numbers]
                )
                for topic, numbers in numbers_by_topic(asked).items()
            ],
        )

        async def ask(node: int, _groups: list[str]) -> dict[str, dict[TopicPartition, OttlaError | None] | OttlaError]:
            response = await self._channel.ask_once(node, request, OffsetDeleteResponse)
            return {
                group_id: {
                    TopicPartition(topic.name, part.partition_index): outcome(None, part.error_code)
                    for topic in response.topics
                    for part in topic.partitions
                }
            }

        route = coordinators(self._coordinators, CoordinatorKind.GROUP)
        found = settle(await self._channel.ask_each([group_id], route, ask), None)
        settle(answered(asked, found[group_id]), errors)


def _fetched_group(group: str, partitions: Iterable[TopicPartition] | None) -> OffsetFetchRequestGroup:
    topics = None
    if partitions is not None:
        topics = [
            OffsetFetchRequestTopics(name=topic, partition_indexes=numbers)
            for topic, numbers in numbers_by_topic(partitions).items()
        ]
    return OffsetFetchRequestGroup(group_id=group, topics=topics)


def _group_offsets(group: OffsetFetchResponseGroup) -> GroupOffsets | OttlaError:
    if group.error_code:
        return error_for(group.error_code)
    offsets: GroupOffsets = {}
    for topic in group.topics:
        for part in topic.partitions:
            if part.error_code:
                return error_for(part.error_code)
            offsets[TopicPartition(topic.name, part.partition_index)] = (
                None
                if part.committed_offset < 0
                else OffsetAndMetadata(
                    part.committed_offset,
                    part.metadata or "",
                    None if part.committed_leader_epoch < 0 else part.committed_leader_epoch,
                )
            )
    return offsets


def _committed(partition: TopicPartition, wish: OffsetAndMetadata | int) -> OffsetCommitRequestPartition:
    position = OffsetAndMetadata(wish) if isinstance(wish, int) else wish
    return OffsetCommitRequestPartition(
        partition_index=partition.partition,
        committed_offset=position.offset,
        committed_leader_epoch=-1 if position.leader_epoch is None else position.leader_epoch,
        committed_metadata=position.metadata,
    )
