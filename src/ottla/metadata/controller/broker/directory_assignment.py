"""AssignReplicasToDirs: a broker with several log directories says in which of them a replica lives (KIP-858)."""

from collections import Counter
from collections.abc import Iterator

from ottla.base.ids import Uuid
from ottla.metadata.controller.context import ControllerContext
from ottla.metadata.controller.controller_result import ControllerResult
from ottla.metadata.controller.topic.leader_update import BrokerMove, leader_and_isr_updates
from ottla.metadata.controller.topic.partition_change import PartitionChangeBuilder
from ottla.metadata.image.topic import TopicImage
from ottla.protocol.errors import ErrorCode, UnsupportedVersionError
from ottla.protocol.messages.assign_replicas_to_dirs import (
    AssignReplicasToDirsRequest,
    AssignReplicasToDirsResponse,
    ResponseDirectoryData,
    ResponsePartitionData,
    ResponseTopicData,
)
from ottla.protocol.metadata_log.log import VersionedRecord


def assign_replicas_to_dirs(
    context: ControllerContext, request: AssignReplicasToDirsRequest
) -> ControllerResult[AssignReplicasToDirsResponse]:
    """Notes where replicas live; one in a directory that is offline leaves its ISR at once."""
    if not context.version.supports_directory_assignment:
        raise UnsupportedVersionError("Directory assignment is not supported yet.")
    broker = context.check_broker_epoch(request.broker_id, request.broker_epoch)
    records: list[VersionedRecord] = []
    offline: dict[Uuid, set[int]] = {}
    counts = Counter(
        (topic.topic_id, partition.partition_index)
        for directory in request.directories
        for topic in directory.topics
        for partition in topic.partitions
    )
    response = AssignReplicasToDirsResponse()
    for directory in request.directories:
        answer = ResponseDirectoryData(id=directory.id)
        for wanted in directory.topics:
            topic = context.image.topics.by_id.get(wanted.topic_id)
            result = ResponseTopicData(topic_id=wanted.topic_id)
            for index in (partition.partition_index for partition in wanted.partitions):
                # A replica lives in one place: of two it would be unclear which counts.
                is_twice = counts[wanted.topic_id, index] > 1
                error = ErrorCode.INVALID_REQUEST if is_twice else _why_refused(topic, index, broker.id)
                result.partitions.append(ResponsePartitionData(partition_index=index, error_code=error))
                if topic is None or error:
                    continue
                records += _assign(context, topic, index, (broker.id, directory.id))
                if not broker.has_online_directory(directory.id):
                    offline.setdefault(topic.id, set()).add(index)
            answer.topics.append(result)
        response.directories.append(answer)
    if offline:
        assigned = context.after(records)
        lost = [(assigned.image.topics.by_id[topic_id], sorted(indexes)) for topic_id, indexes in offline.items()]
        records += leader_and_isr_updates(assigned, BrokerMove(removed=broker.id), lost)
    return ControllerResult(response, records)


def _why_refused(topic: TopicImage | None, index: int, broker_id: int) -> ErrorCode:
    if topic is None:
        return ErrorCode.UNKNOWN_TOPIC_ID
    if not 0 <= index < len(topic.partitions):
        return ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
    if broker_id not in topic.partitions[index].replicas:
        return ErrorCode.NOT_LEADER_OR_FOLLOWER
    return ErrorCode.NONE


def _assign(
    context: ControllerContext, topic: TopicImage, index: int, place: tuple[int, Uuid]
) -> Iterator[VersionedRecord]:
    builder = PartitionChangeBuilder(context, topic, index, context.rules_of(topic))
    builder.assign_directory(*place)
    record = builder.build()
    if record is not None:
        yield record
