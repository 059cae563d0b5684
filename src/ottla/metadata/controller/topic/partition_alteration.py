"""AlterPartition: the leader of a partition proposes another ISR; the controller compares and sets.

The leader must be the leader, know the latest leader epoch and partition epoch, and name only live brokers, each in its
present incarnation. An ISR that completes a reassignment may cost the leader its leadership: it then hears of that with
its own request.
"""

from collections import Counter
from collections.abc import Collection

from ottla.base.ids import Uuid
from ottla.metadata.controller.context import ControllerContext, TopicRules
from ottla.metadata.controller.controller_result import ControllerResult
from ottla.metadata.controller.topic.partition_change import PartitionChangeBuilder, changed
from ottla.metadata.image.partition import NO_LEADER_CHANGE, LeaderRecoveryState, PartitionRegistration
from ottla.metadata.image.topic import TopicImage
from ottla.protocol.errors import ErrorCode
from ottla.protocol.messages.alter_partition import (
    AlterPartitionRequest,
    AlterPartitionResponse,
    BrokerState,
    RequestPartitionData,
    RequestTopicData,
    ResponsePartitionData,
    ResponseTopicData,
)
from ottla.protocol.metadata_log.log import VersionedRecord
from ottla.protocol.metadata_log.topic import PartitionChangeRecord


def alter_partition(
    context: ControllerContext, request: AlterPartitionRequest
) -> ControllerResult[AlterPartitionResponse]:
    """Changes the ISRs of partitions that one broker leads."""
    context.check_broker_epoch(request.broker_id, request.broker_epoch)
    records: list[VersionedRecord] = []
    counts = Counter((topic.topic_id, data.partition_index) for topic in request.topics for data in topic.partitions)
    twice = {partition for partition, count in counts.items() if count > 1}
    topics = [_alter_topic(context, request.broker_id, topic, records, twice) for topic in request.topics]
    return ControllerResult(AlterPartitionResponse(topics=topics), records)


def _alter_topic(
    context: ControllerContext,
    leader: int,
    wanted: RequestTopicData,
    records: list[VersionedRecord],
    twice: Collection[tuple[Uuid, int]],
) -> ResponseTopicData:
    """Alters a topic's partitions, but those that the request names `twice`: both would rest on the same epoch."""
    topic = context.image.topics.by_id.get(wanted.topic_id)
    response = ResponseTopicData(topic_id=wanted.topic_id)
    if topic is None:
        response.partitions = [_refusal(p.partition_index, ErrorCode.UNKNOWN_TOPIC_ID) for p in wanted.partitions]
        return response
    rules = context.rules_of(topic)
    for data in wanted.partitions:
        # Before version 3 brokers named ids only, without the epochs that tell incarnations apart.
        new_isr = data.new_isr_with_epochs or [BrokerState(broker_id=broker_id) for broker_id in data.new_isr]
        is_twice = (topic.id, data.partition_index) in twice
        error = ErrorCode.INVALID_REQUEST if is_twice else _why_refused(context, leader, topic, data, new_isr)
        if error is not None:
            response.partitions.append(_refusal(data.partition_index, error))
            continue
        record = _change(context, topic, data, new_isr, rules)
        if record is not None:
            records.append(record)
        response.partitions.append(_accepted(leader, topic, data.partition_index, record))
    return response


def _change(
    context: ControllerContext,
    topic: TopicImage,
    data: RequestPartitionData,
    new_isr: list[BrokerState],
    rules: TopicRules,
) -> VersionedRecord | None:
    builder = PartitionChangeBuilder(context, topic, data.partition_index, rules)
    builder.allow_unclean()
    builder.isr = tuple(state.broker_id for state in new_isr)
    builder.leader_recovery_state = data.leader_recovery_state
    return builder.build()


def _accepted(leader: int, topic: TopicImage, index: int, record: VersionedRecord | None) -> ResponsePartitionData:
    partition = changed(topic.partitions[index], record)
    if record is not None and isinstance(record.record, PartitionChangeRecord):
        elected = record.record.leader
        if elected not in (leader, NO_LEADER_CHANGE):
            return _refusal(index, ErrorCode.NEW_LEADER_ELECTED)
    return ResponsePartitionData(
        partition_index=index,
        leader_id=partition.leader,
        leader_epoch=partition.leader_epoch,
        isr=list(partition.isr),
        leader_recovery_state=partition.leader_recovery_state,
        partition_epoch=partition.partition_epoch,
    )


def _refusal(index: int, code: ErrorCode) -> ResponsePartitionData:
    return ResponsePartitionData(partition_index=index, error_code=code)


def _why_refused(
    context: ControllerContext,
    leader: int,
    topic: TopicImage,
    data: RequestPartitionData,
    new_isr: list[BrokerState],
) -> ErrorCode | None:
    if not 0 <= data.partition_index < len(topic.partitions):
        return ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
    partition = topic.partitions[data.partition_index]
    if data.leader_epoch > partition.leader_epoch or data.partition_epoch > partition.partition_epoch:
        # The broker knows more than we do: it has read records of a newer controller.
        return ErrorCode.NOT_CONTROLLER
    if data.leader_epoch < partition.leader_epoch:
        return ErrorCode.FENCED_LEADER_EPOCH
    if leader != partition.leader:
        return ErrorCode.INVALID_REQUEST
    if data.partition_epoch < partition.partition_epoch:
        return ErrorCode.INVALID_UPDATE_VERSION
    if not _is_possible_isr(partition, data, [state.broker_id for state in new_isr]):
        return ErrorCode.INVALID_REQUEST
    if not all(_is_eligible(context, state) for state in new_isr):
        return ErrorCode.INELIGIBLE_REPLICA
    return None


def _is_possible_isr(partition: PartitionRegistration, data: RequestPartitionData, isr: list[int]) -> bool:
    """Whether the members are different replicas, the leader among them, and its recovery allows them."""
    if len(set(isr)) != len(isr) or not set(isr) <= set(partition.replicas) or partition.leader not in isr:
        return False
    if data.leader_recovery_state == LeaderRecoveryState.RECOVERING:
        return len(isr) == 1 and partition.leader_recovery_state == LeaderRecoveryState.RECOVERING
    return data.leader_recovery_state == LeaderRecoveryState.RECOVERED


def _is_eligible(context: ControllerContext, state: BrokerState) -> bool:
    broker = context.image.cluster.brokers.get(state.broker_id)
    return broker is not None and broker.is_active and state.broker_epoch in (-1, broker.epoch)
