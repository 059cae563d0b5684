"""Log directories: what each broker keeps in them, and replicas moved between them."""

from collections.abc import Iterable, Mapping

from ottla.base.errors import OttlaError
from ottla.client.admin.operation.base import AdminOperations
from ottla.client.admin.outcome import outcome, settle
from ottla.client.admin.topic_group import numbers_by_topic
from ottla.client.admin.value.replica import LogDirDescription, ReplicaInfo, TopicPartitionReplica
from ottla.client.record import TopicPartition
from ottla.protocol.errors import error_for
from ottla.protocol.messages.alter_replica_log_dirs import (
    AlterReplicaLogDir,
    AlterReplicaLogDirsRequest,
    AlterReplicaLogDirsResponse,
    AlterReplicaLogDirTopic,
)
from ottla.protocol.messages.describe_log_dirs import (
    DescribableLogDirTopic,
    DescribeLogDirsRequest,
    DescribeLogDirsResponse,
    DescribeLogDirsResult,
)


class LogDirOperations(AdminOperations):
    """Operations on log directories."""

    async def describe_log_dirs(
        self,
        broker_ids: Iterable[int],
        partitions: Iterable[TopicPartition] | None = None,
        *,
        errors: dict[int, OttlaError] | None = None,
    ) -> dict[int, dict[str, LogDirDescription]]:
        """The log directories of brokers by path, with all replicas or those of some partitions."""
        topics = None
        if partitions is not None:
            topics = [
                DescribableLogDirTopic(topic=topic, partitions=numbers)
                for topic, numbers in numbers_by_topic(partitions).items()
            ]

        async def ask(node: int, _brokers: list[int]) -> dict[int, dict[str, LogDirDescription] | OttlaError]:
            response = await self._channel.ask(node, DescribeLogDirsRequest(topics=topics), DescribeLogDirsResponse)
            return {node: {found.log_dir: _described(found) for found in response.results}}

        return settle(await self._channel.ask_each(broker_ids, _itself, ask), errors)

    async def alter_replica_log_dirs(
        self,
        moves: Mapping[TopicPartitionReplica, str],
        *,
        errors: dict[TopicPartitionReplica, OttlaError] | None = None,
    ) -> None:
        """Moves replicas to other log directories of their brokers; the answer comes when the moves have begun."""

        async def ask(node: int, asked: list[TopicPartitionReplica]) -> dict[TopicPartitionReplica, OttlaError | None]:
            request = AlterReplicaLogDirsRequest(dirs=_directories(asked, moves))
            response = await self._channel.ask_once(node, request, AlterReplicaLogDirsResponse)
            return {
                TopicPartitionReplica(topic.topic_name, found.partition_index, node): outcome(None, found.error_code)
                for topic in response.results
                for found in topic.partitions
            }

        settle(await self._channel.ask_each(moves, _holder, ask), errors)


async def _itself(brokers: list[int]) -> Mapping[int, int | OttlaError]:
    return {broker: broker for broker in brokers}


async def _holder(replicas: list[TopicPartitionReplica]) -> Mapping[TopicPartitionReplica, int | OttlaError]:
    return {replica: replica.broker_id for replica in replicas}


def _directories(
    replicas: list[TopicPartitionReplica], moves: Mapping[TopicPartitionReplica, str]
) -> list[AlterReplicaLogDir]:
    by_path: dict[str, list[TopicPartition]] = {}
    for replica in replicas:
        by_path.setdefault(moves[replica], []).append(TopicPartition(replica.topic, replica.partition))
    return [
        AlterReplicaLogDir(
            path=path,
            topics=[
                AlterReplicaLogDirTopic(name=topic, partitions=numbers)
                for topic, numbers in numbers_by_topic(partitions).items()
            ],
        )
        for path, partitions in by_path.items()
    ]


def _described(found: DescribeLogDirsResult) -> LogDirDescription:
    return LogDirDescription(
        error=error_for(found.error_code) if found.error_code else None,
        replicas={
            TopicPartition(topic.name, part.partition_index): ReplicaInfo(
                part.partition_size, part.offset_lag, part.is_future_key
            )
            for topic in found.topics
            for part in topic.partitions
        },
        total_bytes=None if found.total_bytes < 0 else found.total_bytes,
        usable_bytes=None if found.usable_bytes < 0 else found.usable_bytes,
        is_cordoned=found.is_cordoned,
    )
