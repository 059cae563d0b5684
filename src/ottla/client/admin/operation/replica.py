"""Replicas: their log directories, their leaders, their moves."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Final

from ottla.base.errors import OttlaError
from ottla.client.admin.channel import CONTROLLER
from ottla.client.admin.operation.base import AdminOperations
from ottla.client.admin.operation.record import listed_offsets
from ottla.client.admin.outcome import answered, outcome, settle
from ottla.client.admin.topic_group import by_topic, numbers_by_topic
from ottla.client.admin.value.offset import ListedOffset, OffsetSpec
from ottla.client.admin.value.replica import ElectionType, PartitionReassignment
from ottla.client.record import TopicPartition
from ottla.protocol.messages.alter_partition_reassignments import (
    AlterPartitionReassignmentsRequest,
    AlterPartitionReassignmentsResponse,
    ReassignablePartition,
    ReassignableTopic,
)
from ottla.protocol.messages.elect_leaders import ElectLeadersRequest, ElectLeadersResponse, TopicPartitions
from ottla.protocol.messages.list_offsets import (
    ListOffsetsPartition,
    ListOffsetsRequest,
    ListOffsetsResponse,
    ListOffsetsTopic,
)
from ottla.protocol.messages.list_partition_reassignments import (
    ListPartitionReassignmentsRequest,
    ListPartitionReassignmentsResponse,
    ListPartitionReassignmentsTopics,
)

_DEBUGGER: Final = -2
"""The replica id of those who may ask replicas that do not lead."""


class ReplicaOperations(AdminOperations):
    """Operations on leaders and reassignments of partitions."""

    async def elect_leaders(
        self,
        election_type: ElectionType,
        partitions: Iterable[TopicPartition] | None = None,
        *,
        errors: dict[TopicPartition, OttlaError] | None = None,
    ) -> list[TopicPartition]:
        """Elects leaders of some partitions, or of all that need it; those that got one.

        A named partition that has the right leader already fails with `ElectionNotNeededError`.
        """
        named = None if partitions is None else list(partitions)
        request = ElectLeadersRequest(
            election_type=election_type,
            topic_partitions=None
            if named is None
            else [
                TopicPartitions(topic=topic, partitions=numbers) for topic, numbers in numbers_by_topic(named).items()
            ],
            timeout_ms=self._channel.request_timeout_ms,
        )
        response = await self._channel.ask(CONTROLLER, request, ElectLeadersResponse)
        outcomes: dict[TopicPartition, OttlaError | None] = {
            TopicPartition(topic.topic, found.partition_id): outcome(None, found.error_code, found.error_message)
            for topic in response.replica_election_results
            for found in topic.partition_result
        }
        return list(settle(outcomes if named is None else answered(named, outcomes), errors))

    async def replica_end(self, partition: TopicPartition, broker: int) -> ListedOffset:
        """The end and the last leader epoch of a broker's own copy of a partition, whether it leads it or not."""
        wanted = ListOffsetsPartition(partition_index=partition.partition, timestamp=OffsetSpec.LATEST)
        request = ListOffsetsRequest(
            replica_id=_DEBUGGER,
            topics=[ListOffsetsTopic(name=partition.topic, partitions=[wanted])],
            timeout_ms=self._channel.request_timeout_ms,
        )
        response = await self._channel.ask_once(broker, request, ListOffsetsResponse)
        return settle(listed_offsets(response), None)[partition]

    async def list_partition_reassignments(
        self, partitions: Iterable[TopicPartition] | None = None
    ) -> dict[TopicPartition, PartitionReassignment]:
        """The moves under way, of some partitions or of all."""
        topics = None
        if partitions is not None:
            topics = [
                ListPartitionReassignmentsTopics(name=topic, partition_indexes=numbers)
                for topic, numbers in numbers_by_topic(partitions).items()
            ]
        request = ListPartitionReassignmentsRequest(topics=topics, timeout_ms=self._channel.request_timeout_ms)
        response = await self._channel.ask(CONTROLLER, request, ListPartitionReassignmentsResponse)
        return {
            TopicPartition(topic.name, found.partition_index): PartitionReassignment(
                tuple(found.replicas), tuple(found.adding_replicas), tuple(found.removing_replicas)
            )
            for topic in response.topics
            for found in topic.partitions
        }

    async def alter_partition_reassignments(
        self,
        wishes: Mapping[TopicPartition, Sequence[int] | None],
        *,
        allow_replication_factor_change: bool = True,
        errors: dict[TopicPartition, OttlaError] | None = None,
    ) -> None:
        """Moves partitions to these brokers, the preferred leader first; None cancels a move."""
        topics = [
            ReassignableTopic(name=topic, partitions=[_reassigned(part, wishes[part]) for part in parts])
            for topic, parts in by_topic(wishes).items()
        ]
        request = AlterPartitionReassignmentsRequest(
            timeout_ms=self._channel.request_timeout_ms,
            allow_replication_factor_change=allow_replication_factor_change,
            topics=topics,
        )
        response = await self._channel.ask(CONTROLLER, request, AlterPartitionReassignmentsResponse)
        outcomes: dict[TopicPartition, OttlaError | None] = {
            TopicPartition(topic.name, found.partition_index): outcome(None, found.error_code, found.error_message)
            for topic in response.responses
            for found in topic.partitions
        }
        settle(answered(wishes, outcomes), errors)


def _reassigned(partition: TopicPartition, replicas: Sequence[int] | None) -> ReassignablePartition:
    return ReassignablePartition(
        partition_index=partition.partition, replicas=None if replicas is None else list(replicas)
    )
