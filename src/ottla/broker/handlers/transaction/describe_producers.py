"""DescribeProducers (key 61), version 0: the producers that partitions remember, to find hanging transactions.

Only leaders answer. A topic that does not exist, or whose name cannot exist, is refused with a message for each of its
partitions; other errors have none.

Deviations: none. KIP-664.
"""

from ottla.broker.node.parts import BrokerParts
from ottla.broker.request.request_context import RequestContext, WorkInTurns
from ottla.broker.security.rights import Rights, may_topic
from ottla.metadata.topic_name import check_topic_name
from ottla.protocol.acl import AclOperation
from ottla.protocol.definition import Response
from ottla.protocol.errors import ApiError, TopicAuthorizationFailedError, UnknownTopicOrPartitionError
from ottla.protocol.messages.describe_producers import (
    DescribeProducersRequest,
    DescribeProducersResponse,
    PartitionResponse,
    ProducerState,
    TopicResponse,
)
from ottla.storage.producer_state.entry import ProducerEntry
from ottla.storage.topic_partition import TopicPartition


def handle(parts: BrokerParts, context: RequestContext, request: DescribeProducersRequest) -> Response | None:
    """Describes all of them, in turns with others if there are many."""
    return context.in_turns(_describe_all(parts, context.rights, request))


def _describe_all(parts: BrokerParts, rights: Rights, request: DescribeProducersRequest) -> WorkInTurns:
    response = DescribeProducersResponse()
    for topic in request.topics:
        error = _refusal(parts, rights, topic.name)
        described = TopicResponse(name=topic.name)
        response.topics.append(described)
        yield
        for index in topic.partition_indexes:
            described.partitions.append(
                _describe(parts, topic.name, index)
                if error is None
                else PartitionResponse(partition_index=index, error_code=int(error.code), error_message=error.message)
            )
            yield
    return response


def _refusal(parts: BrokerParts, rights: Rights, topic: str) -> ApiError | None:
    """Why nothing of the topic can be described."""
    try:
        check_topic_name(topic)
    except ApiError as error:
        return error
    if not may_topic(rights, AclOperation.READ, topic):
        return TopicAuthorizationFailedError()
    return None if parts.metadata.topic(topic) is not None else UnknownTopicOrPartitionError()


def _describe(parts: BrokerParts, topic: str, index: int) -> PartitionResponse:
    try:
        producers = parts.replicas.describe_producers(TopicPartition(topic, index))
    except ApiError as error:
        return PartitionResponse(partition_index=index, error_code=int(error.code))
    return PartitionResponse(partition_index=index, active_producers=[_state(entry) for entry in producers])


def _state(entry: ProducerEntry) -> ProducerState:
    first_offset = entry.transaction_first_offset
    return ProducerState(
        producer_id=entry.producer_id,
        producer_epoch=entry.producer_epoch,
        last_sequence=entry.last_sequence,
        last_timestamp=entry.last_timestamp,
        coordinator_epoch=entry.coordinator_epoch,
        current_txn_start_offset=-1 if first_offset is None else first_offset,
    )
