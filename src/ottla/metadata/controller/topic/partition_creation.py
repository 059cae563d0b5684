"""CreatePartitions: topics only grow. New partitions have as many replicas as the first.

What keys hash to changes with their number. Deviation: like CreateTopics it takes no more than 10,000 partitions in one
request, where Apache Kafka's controller stands still over ten million. KIP-195, KIP-599.
"""

from collections import Counter

from ottla.metadata.controller.context import Caller, ControllerContext
from ottla.metadata.controller.controller_result import RECORDS_PER_BATCH_MAX, ControllerResult, bounded, message_of
from ottla.metadata.controller.topic.replica_assignment import (
    check_manual_assignment,
    new_partition,
    new_partitions,
    place_replicas,
)
from ottla.metadata.image.partition import PartitionRegistration
from ottla.metadata.image.snapshot import partition_records
from ottla.metadata.image.topic import TopicImage
from ottla.protocol.acl import AclOperation, AclResourceType
from ottla.protocol.errors import (
    ApiError,
    InvalidPartitionsError,
    InvalidReplicaAssignmentError,
    InvalidRequestError,
    PolicyViolationError,
    TopicAuthorizationFailedError,
    UnknownTopicOrPartitionError,
)
from ottla.protocol.messages.create_partitions import (
    CreatePartitionsAssignment,
    CreatePartitionsRequest,
    CreatePartitionsResponse,
    CreatePartitionsTopic,
    CreatePartitionsTopicResult,
)
from ottla.protocol.metadata_log.log import VersionedRecord


def create_partitions(
    context: ControllerContext, request: CreatePartitionsRequest, caller: Caller
) -> ControllerResult[CreatePartitionsResponse]:
    """Adds partitions to topics, each checked by itself."""
    counts = Counter(topic.name for topic in request.topics)
    once = [topic for topic in request.topics if counts[topic.name] == 1]
    _check_total(
        context, [topic for topic in once if caller.may(AclOperation.ALTER, AclResourceType.TOPIC, topic.name)]
    )
    records: list[VersionedRecord] = []
    results = [
        CreatePartitionsTopicResult(
            name=name, error_code=InvalidRequestError.code, error_message="Duplicate topic name."
        )
        for name, count in counts.items()
        if count > 1
    ]
    for topic in request.topics:
        if counts[topic.name] > 1:
            continue
        result = CreatePartitionsTopicResult(name=topic.name)
        try:
            if not caller.may(AclOperation.ALTER, AclResourceType.TOPIC, topic.name):
                raise TopicAuthorizationFailedError
            records += _grow(context, topic, caller)
        except ApiError as error:
            result.error_code, result.error_message = error.code, message_of(error)
        results.append(result)
    response = CreatePartitionsResponse(results=results)
    return ControllerResult(response) if request.validate_only else ControllerResult(response, bounded(records))


def _check_total(context: ControllerContext, topics: list[CreatePartitionsTopic]) -> None:
    """Kafka places them all before it finds that they are too many: ten million stall its controller."""
    total = 0
    for wanted in topics:
        topic = context.image.topics.topic(wanted.name)
        if topic is None:
            continue
        added = wanted.count - len(topic.partitions)
        if added > 0 and (wanted.assignments is None or len(wanted.assignments) == added):
            total += added
    if total > RECORDS_PER_BATCH_MAX:
        raise PolicyViolationError("Excessively large number of partitions per request.")


def _grow(context: ControllerContext, wanted: CreatePartitionsTopic, caller: Caller) -> list[VersionedRecord]:
    topic = context.image.topics.topic(wanted.name)
    if topic is None:
        raise UnknownTopicOrPartitionError
    current = len(topic.partitions)
    if wanted.count == current:
        raise InvalidPartitionsError(f"Topic already has {current} partition(s).")
    if wanted.count < current:
        raise InvalidPartitionsError(
            f"The topic {wanted.name} currently has {current} partition(s); {wanted.count} would not be an increase."
        )
    additional = wanted.count - current
    if wanted.assignments is not None and len(wanted.assignments) != additional:
        raise InvalidReplicaAssignmentError(
            f"Attempted to add {additional} additional partition(s), but only {len(wanted.assignments)} assignment(s) "
            "were specified."
        )
    caller.mutation_quota(additional)
    factor = len(topic.partitions[0].replicas)
    if wanted.assignments is None:
        made = new_partitions(context, place_replicas(context, additional, factor))
    else:
        made = _manual(context, topic, wanted.assignments)
    return list(partition_records(topic.id, enumerate(made, current), context.version))


def _manual(
    context: ControllerContext, topic: TopicImage, assignments: list[CreatePartitionsAssignment]
) -> list[PartitionRegistration]:
    made = []
    for index, assignment in enumerate(assignments, start=len(topic.partitions)):
        check_manual_assignment(context, assignment.broker_ids, len(topic.partitions[0].replicas))
        partition = new_partition(context, assignment.broker_ids)
        if partition is None:
            raise InvalidReplicaAssignmentError(
                f"All brokers specified in the manual partition assignment for partition {index} are fenced or in "
                "controlled shutdown."
            )
        made.append(partition)
    return made
