"""CreateTopics: names, configs and placement are checked topic by topic; what passes is created in one batch.

Answered when the topics are in the committed metadata; a leader may be a moment later (NOT_LEADER_OR_FOLLOWER until
then). v5 and later return the topic's configs, v7 its id. A time-out of 0 or less is REQUEST_TIMED_OUT without a try.
More than 10,000 partitions in one request are refused. KIP-4, KIP-464, KIP-516, KIP-525, KIP-599.
"""

from collections import Counter

from ottla.base.ids import Uuid
from ottla.metadata.controller.context import Caller, ControllerContext
from ottla.metadata.controller.controller_result import RECORDS_PER_BATCH_MAX, ControllerResult, bounded, message_of
from ottla.metadata.controller.ports import NewTopic
from ottla.metadata.controller.resource.config_alteration import ConfigChange, alter_configs_of
from ottla.metadata.controller.topic.replica_assignment import (
    check_manual_assignment,
    new_partition,
    new_partitions,
    place_replicas,
)
from ottla.metadata.image.config import CLUSTER_DEFAULT, ConfigResource, ResourceType, topic_resource
from ottla.metadata.image.partition import PartitionRegistration
from ottla.metadata.image.snapshot import partition_records
from ottla.metadata.image.topic import TopicImage
from ottla.metadata.topic_name import (
    CLUSTER_METADATA_TOPIC,
    check_topic_name,
    has_collision_chars,
    unify_collision_chars,
)
from ottla.protocol.acl import CLUSTER_NAME, AclOperation, AclResourceType
from ottla.protocol.errors import (
    ApiError,
    InvalidConfigError,
    InvalidPartitionsError,
    InvalidReplicaAssignmentError,
    InvalidReplicationFactorError,
    InvalidRequestError,
    InvalidTopicError,
    PolicyViolationError,
    TopicAlreadyExistsError,
    TopicAuthorizationFailedError,
)
from ottla.protocol.messages.create_topics import (
    CreatableTopic,
    CreatableTopicResult,
    CreateTopicsRequest,
    CreateTopicsResponse,
)
from ottla.protocol.metadata_log.log import VersionedRecord
from ottla.protocol.metadata_log.topic import TopicRecord


def create_topics(
    context: ControllerContext, request: CreateTopicsRequest, caller: Caller
) -> ControllerResult[CreateTopicsResponse]:
    """Creates the topics that can be created, and says of each why not, if not."""
    counts = Counter(topic.name for topic in request.topics)
    forbidden = _forbidden(list(counts), caller)
    _check_partition_count(
        context, [topic for topic in request.topics if counts[topic.name] == 1 and topic.name not in forbidden]
    )
    duplicates = sorted(name for name, count in counts.items() if count > 1)
    records: list[VersionedRecord] = []
    results = []
    for topic in request.topics:
        if counts[topic.name] > 1 or topic.name in forbidden:
            continue
        try:
            made, result = _create(context, topic, caller)
            records += made
        except ApiError as error:
            result = _refusal(topic.name, error.code, message_of(error))
        results.append(result)
    results += [_refusal(name, InvalidRequestError.code, "Duplicate topic name.") for name in duplicates]
    results += [
        _refusal(name, TopicAuthorizationFailedError.code, "Authorization failed.")
        for name in forbidden
        if counts[name] == 1
    ]
    response = CreateTopicsResponse(topics=results)
    return ControllerResult(response) if request.validate_only else ControllerResult(response, bounded(records))


def _forbidden(names: list[str], caller: Caller) -> list[str]:
    """The topics that the caller may not create. An invalid topic is named to every caller."""
    if caller.may(AclOperation.CREATE, AclResourceType.CLUSTER, CLUSTER_NAME):
        return []
    return [
        name
        for name in names
        if name != CLUSTER_METADATA_TOPIC and not caller.may(AclOperation.CREATE, AclResourceType.TOPIC, name)
    ]


def _refusal(name: str, code: int, message: str | None) -> CreatableTopicResult:
    return CreatableTopicResult(name=name, error_code=code, error_message=message)


def _check_partition_count(context: ControllerContext, topics: list[CreatableTopic]) -> None:
    total = 0
    for topic in topics:
        if topic.assignments:
            total += len(topic.assignments)
        else:
            total += context.settings.num_partitions if topic.num_partitions == -1 else max(0, topic.num_partitions)
    if total > RECORDS_PER_BATCH_MAX:
        raise PolicyViolationError("Excessively large number of partitions per request.")


def _create(
    context: ControllerContext, topic: CreatableTopic, caller: Caller
) -> tuple[list[VersionedRecord], CreatableTopicResult]:
    _check_name(context, topic.name)
    config_records = _config_records(context, topic, caller)
    partitions = _manual_partitions(context, topic) if topic.assignments else _placed_partitions(context, topic)
    caller.mutation_quota(len(partitions))
    made = TopicImage(topic.name, context.new_id(), tuple(partitions))
    records = [
        VersionedRecord(TopicRecord(name=made.name, topic_id=made.id), 0),
        *config_records,
        *partition_records(made.id, enumerate(partitions), context.version),
    ]
    return records, _result(context, topic, caller, made)


def _check_name(context: ControllerContext, name: str) -> None:
    if name == CLUSTER_METADATA_TOPIC:
        raise InvalidRequestError(f"Creation of internal topic {CLUSTER_METADATA_TOPIC} is prohibited.")
    if name in context.image.topics.ids:
        raise TopicAlreadyExistsError(f"Topic '{name}' already exists.")
    check_topic_name(name)
    if has_collision_chars(name):
        colliding = context.index.colliding.get(unify_collision_chars(name))
        if colliding:
            raise InvalidTopicError(f"Topic '{name}' collides with existing topic: {min(colliding)}")


def _config_records(context: ControllerContext, topic: CreatableTopic, caller: Caller) -> list[VersionedRecord]:
    nulls = [config.name for config in topic.configs if config.value is None]
    if nulls:
        raise InvalidConfigError(f"Null value not supported for topic configs: {','.join(nulls)}")
    if not topic.configs:
        return []
    change = ConfigChange(topic_resource(topic.name), is_new=True, through_broker=caller.through_broker)
    return alter_configs_of(context, change, {config.name: config.value for config in topic.configs})


def _manual_partitions(context: ControllerContext, topic: CreatableTopic) -> list[PartitionRegistration]:
    if topic.replication_factor != -1:
        raise InvalidRequestError(
            "A manual partition assignment was specified, but replication factor was not set to -1."
        )
    if topic.num_partitions != -1:
        raise InvalidRequestError("A manual partition assignment was specified, but numPartitions was not set to -1.")
    made: dict[int, PartitionRegistration] = {}
    factor = None
    for assignment in topic.assignments:
        index = assignment.partition_index
        if index in made:
            raise InvalidReplicaAssignmentError(f"Found multiple manual partition assignments for partition {index}")
        check_manual_assignment(context, assignment.broker_ids, factor)
        factor = len(assignment.broker_ids)
        partition = new_partition(context, assignment.broker_ids)
        if partition is None:
            raise InvalidReplicaAssignmentError(
                f"All brokers specified in the manual partition assignment for partition {index} are fenced or in "
                "controlled shutdown."
            )
        made[index] = partition
    if made.keys() != set(range(len(made))):
        raise InvalidReplicaAssignmentError("partitions should be a consecutive 0-based integer sequence")
    assignments = {index: partition.replicas for index, partition in made.items()}
    context.ports.policy.check_topic(NewTopic(topic.name, None, None, assignments, _configs(topic)))
    return [made[index] for index in range(len(made))]


def _placed_partitions(context: ControllerContext, topic: CreatableTopic) -> list[PartitionRegistration]:
    if topic.replication_factor < -1 or topic.replication_factor == 0:
        raise InvalidReplicationFactorError("Replication factor must be larger than 0, or -1 to use the default value.")
    if topic.num_partitions < -1 or topic.num_partitions == 0:
        raise InvalidPartitionsError("Number of partitions was set to an invalid non-positive value.")
    count = context.settings.num_partitions if topic.num_partitions == -1 else topic.num_partitions
    factor = topic.replication_factor
    if factor == -1:
        factor = context.settings.default_replication_factor
    try:
        placements = place_replicas(context, count, factor)
    except InvalidReplicationFactorError as error:
        raise InvalidReplicationFactorError(
            f"Unable to replicate the partition {factor} time(s): {error.message}"
        ) from error
    partitions = new_partitions(context, placements)
    context.ports.policy.check_topic(NewTopic(topic.name, count, factor, None, _configs(topic)))
    return partitions


def _configs(topic: CreatableTopic) -> dict[str, str | None]:
    return {config.name: config.value for config in topic.configs}


def _result(
    context: ControllerContext, topic: CreatableTopic, caller: Caller, made: TopicImage
) -> CreatableTopicResult:
    result = CreatableTopicResult(name=topic.name, topic_id=Uuid(made.id), error_message=None)
    if not caller.may(AclOperation.DESCRIBE_CONFIGS, AclResourceType.TOPIC, topic.name):
        result.topic_config_error_code = TopicAuthorizationFailedError.code
        return result
    node = ConfigResource(ResourceType.BROKER, str(context.settings.node_id))
    result.configs = context.ports.schema.topic_configs(
        {config.name: config.value for config in topic.configs if config.value is not None},
        context.image.configs_of(node),
        context.image.configs_of(CLUSTER_DEFAULT),
    )
    result.num_partitions = len(made.partitions)
    result.replication_factor = len(made.partitions[0].replicas)
    return result
