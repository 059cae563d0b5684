"""Reads a group's committed offsets from its coordinator (OffsetFetch, all versions).

Always asks for stable offsets (KIP-447): one that an open transaction may still change is waited for, not read over.
"""

from collections.abc import Awaitable, Callable, Collection, Mapping
from typing import Final

from ottla.base.errors import OttlaError
from ottla.base.ids import ZERO_UUID, Uuid
from ottla.client.cluster.cluster_client import ClusterClient
from ottla.client.cluster.retries import Retries
from ottla.client.consumer.membership import GroupMetadata
from ottla.client.consumer.offset.group_coordinator import GroupCoordinator
from ottla.client.record import OffsetAndMetadata, TopicPartition
from ottla.protocol.api_key import ApiKey
from ottla.protocol.errors import ApiError, ErrorCode, error_for
from ottla.protocol.messages.offset_fetch import (
    OffsetFetchRequest,
    OffsetFetchRequestGroup,
    OffsetFetchRequestTopic,
    OffsetFetchRequestTopics,
    OffsetFetchResponse,
    OffsetFetchResponsePartition,
    OffsetFetchResponsePartitions,
)

_LAST_VERSION_BY_NAME: Final = 9
_FIRST_VERSION_OF_GROUPS: Final = 8
_FIRST_VERSION_OF_STABLE: Final = 7
_VERSION_MAX: Final = OffsetFetchRequest.valid_versions.highest
_NONE: Final = -1

NOT_WHO_WE_WERE: Final = frozenset(
    {ErrorCode.UNKNOWN_MEMBER_ID, ErrorCode.FENCED_MEMBER_EPOCH, ErrorCode.STALE_MEMBER_EPOCH}
)
"""The group went on: with us, since the request left, or without us."""

Identity = Callable[[], GroupMetadata]
"""This client's place in the group; without a member id it is no member."""
Refresh = Callable[[], Awaitable[bool]]
"""Asks the group by a heartbeat: whether this client is a member, perhaps with another epoch by now."""


class CommittedOffsets:
    """The committed offsets of one group."""

    def __init__(
        self, cluster: ClusterClient, coordinator: GroupCoordinator, identity: Identity, refresh: Refresh
    ) -> None:
        self._cluster: Final = cluster
        self._coordinator: Final = coordinator
        self._identity: Final = identity
        self._refresh: Final = refresh

    async def read(
        self, partitions: Collection[TopicPartition], deadline_s: float
    ) -> dict[TopicPartition, OffsetAndMetadata | None]:
        """The offset of each partition, None where none is committed."""
        found: dict[TopicPartition, OffsetAndMetadata | None] = {}
        retries = Retries(self._cluster.backoff, deadline_s, "reading committed offsets")
        while left := [partition for partition in partitions if partition not in found]:
            try:
                found |= await self._ask(left, retries.left_ms)
            except OttlaError as error:
                self._coordinator.judge(error)
                is_known = is_of_membership(error) and await self._refresh()
                if not (is_known and await retries.wait()):
                    await retries.pause(error)
        return found

    async def _ask(
        self, partitions: Collection[TopicPartition], timeout_ms: int
    ) -> dict[TopicPartition, OffsetAndMetadata | None]:
        topics = _by_topic(partitions)
        ids = self._coordinator.ids_of(set(topics))
        response, version = await self._coordinator.ask(
            ApiKey.OFFSET_FETCH,
            lambda version: self._request(topics, version, ids or {}),
            OffsetFetchResponse,
            timeout_ms=timeout_ms,
            version_max=_LAST_VERSION_BY_NAME if ids is None else _VERSION_MAX,
        )
        return _offsets(response, version, ids or {})

    def _request(self, topics: dict[str, list[int]], version: int, ids: Mapping[str, Uuid]) -> OffsetFetchRequest:
        if version < _FIRST_VERSION_OF_GROUPS:
            named = [OffsetFetchRequestTopic(name=name, partition_indexes=found) for name, found in topics.items()]
            return OffsetFetchRequest(
                group_id=self._coordinator.group_id, topics=named, require_stable=version >= _FIRST_VERSION_OF_STABLE
            )
        group = OffsetFetchRequestGroup(
            group_id=self._coordinator.group_id,
            topics=[
                OffsetFetchRequestTopics(
                    name=name,
                    topic_id=ids[name] if version > _LAST_VERSION_BY_NAME else ZERO_UUID,
                    partition_indexes=found,
                )
                for name, found in topics.items()
            ],
        )
        identity = self._identity()
        if identity.member_id:
            group.member_id, group.member_epoch = identity.member_id, identity.generation_id
        return OffsetFetchRequest(groups=[group], require_stable=True)


def is_of_membership(error: OttlaError) -> bool:
    """Whether the group knows this client as another member than it was, or as none."""
    return isinstance(error, ApiError) and error.code in NOT_WHO_WE_WERE


def _offsets(
    response: OffsetFetchResponse, version: int, ids: Mapping[str, Uuid]
) -> dict[TopicPartition, OffsetAndMetadata | None]:
    if version < _FIRST_VERSION_OF_GROUPS:
        _check(response.error_code)
        return {
            TopicPartition(topic.name, each.partition_index): _offset(each)
            for topic in response.topics
            for each in topic.partitions
        }
    [group] = response.groups
    _check(group.error_code)
    names = {topic_id: name for name, topic_id in ids.items()}
    return {
        TopicPartition(topic.name or names.get(topic.topic_id, ""), each.partition_index): _offset(each)
        for topic in group.topics
        for each in topic.partitions
    }


def _check(code: int) -> None:
    if code != ErrorCode.NONE:
        raise error_for(code)


def _offset(found: OffsetFetchResponsePartition | OffsetFetchResponsePartitions) -> OffsetAndMetadata | None:
    _check(found.error_code)
    if found.committed_offset == _NONE:
        return None
    epoch = found.committed_leader_epoch if found.committed_leader_epoch >= 0 else None
    return OffsetAndMetadata(found.committed_offset, found.metadata or "", epoch)


def _by_topic(partitions: Collection[TopicPartition]) -> dict[str, list[int]]:
    topics: dict[str, list[int]] = {}
    for topic, partition in partitions:
        topics.setdefault(topic, []).append(partition)
    return topics
