"""Records by their positions: offsets looked up, the oldest records deleted. Both are for the partitions' leaders."""

from collections.abc import Mapping

from ottla.base.errors import OttlaError
from ottla.client.admin.operation.base import AdminOperations
from ottla.client.admin.outcome import outcome, settle
from ottla.client.admin.route import leaders
from ottla.client.admin.topic_group import by_topic
from ottla.client.admin.value.offset import IsolationLevel, ListedOffset, OffsetSpec
from ottla.client.record import TopicPartition
from ottla.protocol.messages.delete_records import (
    DeleteRecordsPartition,
    DeleteRecordsRequest,
    DeleteRecordsResponse,
    DeleteRecordsTopic,
)
from ottla.protocol.messages.list_offsets import (
    ListOffsetsPartition,
    ListOffsetsRequest,
    ListOffsetsResponse,
    ListOffsetsTopic,
)


class RecordOperations(AdminOperations):
    """Operations on positions in partitions."""

    async def list_offsets(
        self,
        partitions: Mapping[TopicPartition, OffsetSpec | int],
        *,
        isolation_level: IsolationLevel = IsolationLevel.READ_UNCOMMITTED,
        errors: dict[TopicPartition, OttlaError] | None = None,
    ) -> dict[TopicPartition, ListedOffset]:
        """The offset of each partition's start, end, or first record from a timestamp in ms on."""

        async def ask(node: int, asked: list[TopicPartition]) -> dict[TopicPartition, ListedOffset | OttlaError]:
            request = ListOffsetsRequest(
                replica_id=-1,
                isolation_level=isolation_level,
                topics=[
                    ListOffsetsTopic(
                        name=topic,
                        partitions=[
                            ListOffsetsPartition(partition_index=part.partition, timestamp=partitions[part])
                            for part in parts
                        ],
                    )
                    for topic, parts in by_topic(asked).items()
                ],
                timeout_ms=self._channel.request_timeout_ms,
            )
            response = await self._channel.ask_once(node, request, ListOffsetsResponse)
            return listed_offsets(response)

        return settle(await self._channel.ask_each(partitions, leaders(self._channel), ask), errors)

    async def delete_records(
        self,
        offsets: Mapping[TopicPartition, int],
        *,
        errors: dict[TopicPartition, OttlaError] | None = None,
    ) -> dict[TopicPartition, int]:
        """Deletes the records before an offset, -1 for all; the low watermark of each partition afterwards."""

        async def ask(node: int, asked: list[TopicPartition]) -> dict[TopicPartition, int | OttlaError]:
            request = DeleteRecordsRequest(
                topics=[
                    DeleteRecordsTopic(
                        name=topic,
                        partitions=[
                            DeleteRecordsPartition(partition_index=part.partition, offset=offsets[part])
                            for part in parts
                        ],
                    )
                    for topic, parts in by_topic(asked).items()
                ],
                timeout_ms=self._channel.request_timeout_ms,
            )
            response = await self._channel.ask_once(node, request, DeleteRecordsResponse)
            return {
                TopicPartition(topic.name, found.partition_index): outcome(found.low_watermark, found.error_code)
                for topic in response.topics
                for found in topic.partitions
            }

        return settle(await self._channel.ask_each(offsets, leaders(self._channel), ask), errors)


def listed_offsets(response: ListOffsetsResponse) -> dict[TopicPartition, ListedOffset | OttlaError]:
    """The answer's entry for each partition."""
    return {
        TopicPartition(topic.name, found.partition_index): outcome(
            ListedOffset(found.offset, found.timestamp, None if found.leader_epoch < 0 else found.leader_epoch),
            found.error_code,
        )
        for topic in response.topics
        for found in topic.partitions
    }
