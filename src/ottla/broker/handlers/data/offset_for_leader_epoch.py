"""OffsetForLeaderEpoch (key 23), versions 2–4: where a leader epoch ends in each of several partitions.

Consumers ask it to notice that their position was truncated away (KIP-320). The answer is the largest epoch up to the
one asked for and the offset behind its last record, both -1 if that is not known. Only leaders answer;
`current_leader_epoch` fences as in Fetch.

Deviations: none. KIP-101, KIP-279, KIP-320.
"""

from ottla.broker.node.parts import BrokerParts
from ottla.broker.request.request_context import RequestContext, WorkInTurns
from ottla.broker.security.rights import may_topic
from ottla.protocol.acl import CLUSTER_NAME, AclOperation, AclResourceType
from ottla.protocol.definition import Response
from ottla.protocol.errors import ApiError, ErrorCode
from ottla.protocol.messages.offset_for_leader_epoch import (
    EpochEndOffset,
    OffsetForLeaderEpochRequest,
    OffsetForLeaderEpochResponse,
    OffsetForLeaderPartition,
    OffsetForLeaderTopicResult,
)
from ottla.storage.topic_partition import TopicPartition


def handle(parts: BrokerParts, context: RequestContext, request: OffsetForLeaderEpochRequest) -> Response | None:
    """Looks all of them up, in turns with others if there are many."""
    return context.in_turns(_look_up_all(parts, context, request))


def _look_up_all(parts: BrokerParts, context: RequestContext, request: OffsetForLeaderEpochRequest) -> WorkInTurns:
    response = OffsetForLeaderEpochResponse()
    rights = context.rights
    is_node = rights.is_unlimited or rights.sees(AclOperation.CLUSTER_ACTION, AclResourceType.CLUSTER, CLUSTER_NAME)
    for topic in request.topics:
        found = OffsetForLeaderTopicResult(topic=topic.topic)
        response.topics.append(found)
        yield
        may = is_node or may_topic(rights, AclOperation.DESCRIBE, topic.topic)
        for asked in topic.partitions:
            found.partitions.append(_look_up(parts, topic.topic, asked) if may else _forbidden(asked))
            yield
    return response


def _forbidden(asked: OffsetForLeaderPartition) -> EpochEndOffset:
    return EpochEndOffset(partition=asked.partition, error_code=int(ErrorCode.TOPIC_AUTHORIZATION_FAILED))


def _look_up(parts: BrokerParts, topic: str, asked: OffsetForLeaderPartition) -> EpochEndOffset:
    try:
        epoch, end_offset = parts.replicas.last_offset_for_epoch(
            TopicPartition(topic, asked.partition), asked.current_leader_epoch, asked.leader_epoch
        )
    except ApiError as error:
        return EpochEndOffset(partition=asked.partition, error_code=int(error.code))
    return EpochEndOffset(partition=asked.partition, leader_epoch=epoch, end_offset=end_offset)
