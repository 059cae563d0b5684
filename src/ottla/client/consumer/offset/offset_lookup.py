"""Asks the partitions' leaders for offsets: first, last, or by time (ListOffsets), and where an epoch ends.

Each lookup names all its partitions at once; what a leader could not answer is asked again, with fresh metadata, until
the deadline.
"""

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from typing import Any, Final, NamedTuple

from ottla.base.errors import OttlaError
from ottla.client.cluster.cluster_client import ClusterClient
from ottla.client.cluster.retries import Retries, is_retriable
from ottla.client.record import TopicPartition
from ottla.protocol.errors import ErrorCode, LeaderNotAvailableError, error_for
from ottla.protocol.messages.list_offsets import (
    ListOffsetsPartition,
    ListOffsetsRequest,
    ListOffsetsResponse,
    ListOffsetsTopic,
)
from ottla.protocol.messages.offset_for_leader_epoch import (
    OffsetForLeaderEpochRequest,
    OffsetForLeaderEpochResponse,
    OffsetForLeaderPartition,
    OffsetForLeaderTopic,
)

_CONSUMER_REPLICA_ID: Final = -1
_NOBODY: Final = -1

Ask = Callable[[int, dict[TopicPartition, Any], int], Awaitable[dict[TopicPartition, Any]]]


class OffsetFound(NamedTuple):
    """An offset as its leader gave it; -1 where there is none."""

    offset: int
    timestamp_ms: int
    leader_epoch: int | None


class EpochEnd(NamedTuple):
    """The largest epoch up to the one asked for, and the offset behind its last record; -1 if unknown."""

    epoch: int
    end_offset: int


class OffsetLookup:
    """Lookups at the leaders of a cluster."""

    def __init__(self, cluster: ClusterClient, *, isolation_level: int, request_timeout_ms: int) -> None:
        self._cluster: Final = cluster
        self._isolation_level: Final = isolation_level
        self._request_timeout_ms: Final = request_timeout_ms

    async def offsets(
        self, timestamps: Mapping[TopicPartition, int], deadline_s: float
    ) -> dict[TopicPartition, OffsetFound]:
        """The offsets for these (perhaps special) timestamps: all of them, or an error."""
        found: dict[TopicPartition, OffsetFound] = {}
        retries = Retries(self._cluster.backoff, deadline_s, "looking up offsets")
        while left := {partition: value for partition, value in timestamps.items() if partition not in found}:
            await self._know_topics({partition.topic for partition in left}, retries.left_ms)
            answered, error = await self.try_offsets(left, retries.left_ms)
            found |= answered
            if error is not None:
                await retries.pause(error)
        return found

    async def try_offsets(
        self, timestamps: Mapping[TopicPartition, int], timeout_ms: int
    ) -> tuple[dict[TopicPartition, OffsetFound], OttlaError | None]:
        """One attempt: the offsets that were found, and why others were not. Raises what another attempt can't help."""
        return await self._ask_leaders(timestamps, self._list_offsets, timeout_ms)

    async def try_epoch_ends(
        self, epochs: Mapping[TopicPartition, int], timeout_ms: int
    ) -> tuple[dict[TopicPartition, EpochEnd], OttlaError | None]:
        """One attempt: the ends of these epochs in the leaders' logs, and why others were not found."""
        return await self._ask_leaders(epochs, self._epoch_ends, timeout_ms)

    async def _ask_leaders(
        self, wanted: Mapping[TopicPartition, Any], ask: Ask, timeout_ms: int
    ) -> tuple[dict[TopicPartition, Any], OttlaError | None]:
        by_leader = self._by_leader(wanted)
        unled = by_leader.pop(_NOBODY, None)
        timeout_ms = min(timeout_ms, self._request_timeout_ms)
        answers = await asyncio.gather(*(_caught(ask(node, part, timeout_ms)) for node, part in by_leader.items()))
        found: dict[TopicPartition, Any] = {}
        errors: list[OttlaError] = []
        if unled:
            errors.append(LeaderNotAvailableError(f"no leader is known for {', '.join(map(str, unled))}"))
        for answer in answers:
            if isinstance(answer, OttlaError):
                errors.append(answer)
                continue
            for partition, result in answer.items():
                if isinstance(result, OttlaError):
                    errors.append(result)
                else:
                    found[partition] = result
        if errors:
            self._cluster.refresh_soon()
        final = next((error for error in errors if not is_retriable(error)), None)
        if final is not None:
            raise final
        return found, errors[0] if errors else None

    async def _know_topics(self, topics: set[str], timeout_ms: int) -> None:
        for topic in topics - self._cluster.view.topics.keys():
            await self._cluster.topic(topic, timeout_ms=timeout_ms)

    def _by_leader(self, partitions: Mapping[TopicPartition, Any]) -> dict[int, dict[TopicPartition, Any]]:
        view = self._cluster.view
        by_leader: dict[int, dict[TopicPartition, Any]] = {}
        for partition, value in partitions.items():
            leader = view.leader(partition.topic, partition.partition)
            by_leader.setdefault(_NOBODY if leader is None else leader.id, {})[partition] = value
        return by_leader

    def _epoch_of(self, partition: TopicPartition) -> int:
        found = self._cluster.view.partition(partition.topic, partition.partition)
        return -1 if found is None else found.leader_epoch

    async def _list_offsets(
        self, node_id: int, timestamps: dict[TopicPartition, int], timeout_ms: int
    ) -> dict[TopicPartition, Any]:
        topics: dict[str, ListOffsetsTopic] = {}
        for partition, timestamp in timestamps.items():
            topic = topics.setdefault(partition.topic, ListOffsetsTopic(name=partition.topic, partitions=[]))
            topic.partitions.append(
                ListOffsetsPartition(
                    partition_index=partition.partition,
                    current_leader_epoch=self._epoch_of(partition),
                    timestamp=timestamp,
                )
            )
        request = ListOffsetsRequest(
            replica_id=_CONSUMER_REPLICA_ID,
            isolation_level=self._isolation_level,
            topics=list(topics.values()),
            timeout_ms=timeout_ms,
        )
        response = await self._cluster.request(node_id, request, timeout_ms=timeout_ms)
        assert isinstance(response, ListOffsetsResponse)
        return {
            TopicPartition(topic.name, each.partition_index): OffsetFound(
                each.offset, each.timestamp, each.leader_epoch if each.leader_epoch >= 0 else None
            )
            if each.error_code == ErrorCode.NONE
            else error_for(each.error_code)
            for topic in response.topics
            for each in topic.partitions
        }

    async def _epoch_ends(
        self, node_id: int, epochs: dict[TopicPartition, int], timeout_ms: int
    ) -> dict[TopicPartition, Any]:
        topics: dict[str, OffsetForLeaderTopic] = {}
        for partition, epoch in epochs.items():
            topic = topics.setdefault(partition.topic, OffsetForLeaderTopic(topic=partition.topic, partitions=[]))
            topic.partitions.append(
                OffsetForLeaderPartition(
                    partition=partition.partition,
                    current_leader_epoch=self._epoch_of(partition),
                    leader_epoch=epoch,
                )
            )
        request = OffsetForLeaderEpochRequest(replica_id=_CONSUMER_REPLICA_ID, topics=list(topics.values()))
        response = await self._cluster.request(node_id, request, timeout_ms=timeout_ms)
        assert isinstance(response, OffsetForLeaderEpochResponse)
        return {
            TopicPartition(topic.topic, each.partition): EpochEnd(each.leader_epoch, each.end_offset)
            if each.error_code == ErrorCode.NONE
            else error_for(each.error_code)
            for topic in response.topics
            for each in topic.partitions
        }


async def _caught(asking: Awaitable[dict[TopicPartition, Any]]) -> dict[TopicPartition, Any] | OttlaError:
    """The answer, or what went wrong: one node's trouble is not to end the questions to the others."""
    try:
        return await asking
    except OttlaError as error:
        return error
