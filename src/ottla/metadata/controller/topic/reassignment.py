"""AlterPartitionReassignments and ListPartitionReassignments: replicas move from brokers to brokers.

Null replicas cancel a move. v1 can refuse a change of the replication factor. Of what is listed, partitions that are
not moving are left out. KIP-455, KIP-860.

A reassignment only declares its goal. The leader brings the new replicas into the ISR with AlterPartition, and the
change that has all of them completes it (`reassignment_replica`, `partition_change`).
"""

from collections import Counter
from collections.abc import Callable, Sequence

from ottla.metadata.controller.context import ControllerContext
from ottla.metadata.controller.controller_result import ControllerResult, bounded, message_of
from ottla.metadata.controller.topic.partition_change import PartitionChangeBuilder
from ottla.metadata.controller.topic.reassignment_replica import ReassignmentReplicas
from ottla.metadata.controller.topic.replica_assignment import check_manual_assignment
from ottla.metadata.image.partition import LeaderRecoveryState, PartitionRegistration
from ottla.metadata.image.topic import TopicImage
from ottla.protocol.errors import (
    ApiError,
    InvalidReplicaAssignmentError,
    InvalidReplicationFactorError,
    InvalidRequestError,
    NoReassignmentInProgressError,
    UnknownTopicOrPartitionError,
)
from ottla.protocol.messages.alter_partition_reassignments import (
    AlterPartitionReassignmentsRequest,
    AlterPartitionReassignmentsResponse,
    ReassignablePartition,
    ReassignablePartitionResponse,
    ReassignableTopicResponse,
)
from ottla.protocol.messages.list_partition_reassignments import (
    ListPartitionReassignmentsRequest,
    ListPartitionReassignmentsResponse,
    OngoingPartitionReassignment,
    OngoingTopicReassignment,
)
from ottla.protocol.metadata_log.log import VersionedRecord

FactorRule = Callable[[PartitionRegistration, Sequence[int]], None]


def alter_partition_reassignments(
    context: ControllerContext, request: AlterPartitionReassignmentsRequest
) -> ControllerResult[AlterPartitionReassignmentsResponse]:
    """Starts, changes or (with null replicas) cancels reassignments, each partition by itself."""
    if not request.topics:
        return ControllerResult(AlterPartitionReassignmentsResponse())
    records: list[VersionedRecord] = []
    response = AlterPartitionReassignmentsResponse(
        error_message=None, allow_replication_factor_change=request.allow_replication_factor_change
    )
    check_factor = _any_factor if request.allow_replication_factor_change else _check_factor
    counts = Counter((topic.name, wanted.partition_index) for topic in request.topics for wanted in topic.partitions)
    for topic in request.topics:
        results = ReassignableTopicResponse(name=topic.name)
        for wanted in topic.partitions:
            result = ReassignablePartitionResponse(partition_index=wanted.partition_index, error_message=None)
            try:
                found = _find(context, topic.name, wanted.partition_index)
                if wanted.replicas is None:
                    record = _cancel(context, found, wanted.partition_index)
                else:
                    record = _reassign(context, found, wanted, check_factor)
                if record is not None:
                    if counts[topic.name, wanted.partition_index] > 1:
                        raise InvalidRequestError("Duplicate partition.")
                    records.append(record)
            except ApiError as error:
                result.error_code, result.error_message = error.code, message_of(error)
            bounded(records)
            results.partitions.append(result)
        response.responses.append(results)
    return ControllerResult(response, records)


def list_partition_reassignments(
    context: ControllerContext, request: ListPartitionReassignmentsRequest
) -> ControllerResult[ListPartitionReassignmentsResponse]:
    """The reassignments under way, all or those of named partitions."""
    wanted: dict[str, list[int]] = {}
    if request.topics is None:
        for topic_id, index in context.index.reassigning():
            wanted.setdefault(context.image.topics.by_id[topic_id].name, []).append(index)
    else:
        wanted = {topic.name: topic.partition_indexes for topic in request.topics}
    response = ListPartitionReassignmentsResponse(error_message=None)
    for name, indexes in wanted.items():
        topic = context.image.topics.topic(name)
        ongoing = [] if topic is None else [_ongoing(index, topic) for index in indexes if _is_ongoing(index, topic)]
        if ongoing:
            response.topics.append(OngoingTopicReassignment(name=name, partitions=ongoing))
    return ControllerResult(response)


def _is_ongoing(index: int, topic: TopicImage) -> bool:
    return 0 <= index < len(topic.partitions) and topic.partitions[index].is_reassigning


def _ongoing(index: int, topic: TopicImage) -> OngoingPartitionReassignment:
    partition = topic.partitions[index]
    return OngoingPartitionReassignment(
        partition_index=index,
        replicas=list(partition.replicas),
        adding_replicas=list(partition.adding_replicas),
        removing_replicas=list(partition.removing_replicas),
    )


def _find(context: ControllerContext, name: str, index: int) -> TopicImage:
    topic = context.image.topics.topic(name)
    if topic is None:
        raise UnknownTopicOrPartitionError(f"Unable to find a topic named {name}.")
    if not 0 <= index < len(topic.partitions):
        raise UnknownTopicOrPartitionError(f"Unable to find partition {name}:{index}.")
    return topic


def _reassign(
    context: ControllerContext, topic: TopicImage, wanted: ReassignablePartition, factor_rule: FactorRule
) -> VersionedRecord | None:
    index, target = wanted.partition_index, tuple(wanted.replicas or ())
    check_manual_assignment(context, target, None)
    partition = topic.partitions[index]
    factor_rule(partition, target)
    move = ReassignmentReplicas.of(partition).redirected(target)
    builder = PartitionChangeBuilder(context, topic, index, context.rules_of(topic))
    builder.replicas, builder.adding, builder.removing = move
    return builder.build()


def _cancel(context: ControllerContext, topic: TopicImage, index: int) -> VersionedRecord | None:
    partition = topic.partitions[index]
    if not partition.is_reassigning:
        raise NoReassignmentInProgressError
    rules = context.rules_of(topic)
    move = ReassignmentReplicas.of(partition)
    isr = tuple(replica for replica in partition.isr if replica not in partition.adding_replicas)
    if not isr:
        if not move.original:
            raise InvalidReplicaAssignmentError("Invalid replica assignment: addingReplicas contains all replicas.")
        if not rules.unclean:
            raise InvalidReplicaAssignmentError(
                f"Unable to revert partition assignment for {topic.name}:{index} because it would require an unclean "
                "leader election."
            )
    builder = PartitionChangeBuilder(context, topic, index, rules)
    builder.allow_unclean()
    if not isr:
        # Nothing says that this replica has all the data: an unclean election in effect. Kafka leaves it unmarked.
        isr = move.original[:1]
        builder.leader_recovery_state = LeaderRecoveryState.RECOVERING
    builder.isr = isr
    builder.replicas = move.original
    builder.removing = builder.adding = ()
    return builder.build()


def _any_factor(partition: PartitionRegistration, target: Sequence[int]) -> None:
    """Allows the replication factor to change."""


def _check_factor(partition: PartitionRegistration, target: Sequence[int]) -> None:
    """Without leave to change it, the replication factor stays what it is, or what the last reassignment made it."""
    current = {*partition.replicas, *partition.adding_replicas} - {*partition.removing_replicas}
    size = len(current) if partition.is_reassigning else len(partition.replicas)
    if size != len(target):
        raise InvalidReplicationFactorError(f"The replication factor is changed from {size} to {len(target)}")
