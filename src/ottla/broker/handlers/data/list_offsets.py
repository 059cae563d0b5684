"""ListOffsets (key 2), versions 1–11: finds an offset in each of several partitions by time, or by a special time.

The special times need versions: -3 (largest timestamp) v7, -4 (local start) v8, -5 (last tiered) v9, -6 (first not
uploaded) v11; below it, and for other negative times, UNSUPPORTED_VERSION for the partition. A partition that is listed
twice gets INVALID_REQUEST, once. Replica id -1 is a client, which sees as far as its isolation level lets it; followers
and debuggers (-2, which also ask replicas that don't lead) see everything. OFFSET_NOT_AVAILABLE, while a new leader's
high watermark lags behind, is LEADER_NOT_AVAILABLE before v5. `timeout_ms` (v10) is for tiered storage alone.

Deviations: answers keep the request's order. KIP-79, KIP-207, KIP-320, KIP-734, KIP-405, KIP-1005, KIP-1023.
"""

from collections import Counter
from functools import partial
from typing import Final

from ottla.broker.node.parts import BrokerParts
from ottla.broker.request.request_context import RequestContext, WorkInTurns
from ottla.broker.security.rights import may_topic
from ottla.protocol.acl import AclOperation
from ottla.protocol.definition import Response
from ottla.protocol.errors import ApiError, ErrorCode, OffsetNotAvailableError, UnknownServerError
from ottla.protocol.messages.list_offsets import (
    ListOffsetsPartition,
    ListOffsetsPartitionResponse,
    ListOffsetsRequest,
    ListOffsetsResponse,
    ListOffsetsTopicResponse,
)
from ottla.replication.request.fetch import CONSUMER, READ_COMMITTED, READ_UNCOMMITTED
from ottla.replication.request.offset_query import (
    EARLIEST,
    EARLIEST_LOCAL,
    EARLIEST_PENDING_UPLOAD,
    LATEST,
    LATEST_TIERED,
    MAX_TIMESTAMP,
    OffsetQuery,
)

_SINCE: Final = {
    LATEST: 1,
    EARLIEST: 1,
    MAX_TIMESTAMP: 7,
    EARLIEST_LOCAL: 8,
    LATEST_TIERED: 9,
    EARLIEST_PENDING_UPLOAD: 11,
}
"""The version from which a special time may be asked for."""
_DEBUGGER: Final = -2
_LEADER_EPOCH_SINCE: Final = 4
_OFFSET_NOT_AVAILABLE_SINCE: Final = 5


def handle(parts: BrokerParts, context: RequestContext, request: ListOffsetsRequest) -> Response | None:
    """Looks all of them up, in turns with others if there are many."""
    if request.isolation_level not in (READ_UNCOMMITTED, READ_COMMITTED):
        raise UnknownServerError(f"Unknown isolation level {request.isolation_level}")
    work = _look_up_all(parts, context, request)
    times = [
        (topic.name, asked.partition_index, asked.timestamp)
        for topic in request.topics
        if may_topic(context.rights, AclOperation.DESCRIBE, topic.name)
        for asked in topic.partitions
    ]
    if all(timestamp in (EARLIEST, LATEST) for _, _, timestamp in times):
        return context.in_turns(work)

    def look_up(_: None) -> None:
        response = None if context.exchange.is_done else context.in_turns(work)
        if response is not None:
            context.answer(response)

    # To look for a time takes indexes and batches of old segments, which may have to come from the disk.
    parts.replicas.search_ahead(times, partial(context.guarded(look_up), None))
    return None


def _look_up_all(parts: BrokerParts, context: RequestContext, request: ListOffsetsRequest) -> WorkInTurns:
    version, rights = context.version, context.rights
    listed = Counter((topic.name, asked.partition_index) for topic in request.topics for asked in topic.partitions)
    topics: dict[str, ListOffsetsTopicResponse] = {}
    for topic in request.topics:
        may = may_topic(rights, AclOperation.DESCRIBE, topic.name)
        for asked in topic.partitions:
            count = listed.pop((topic.name, asked.partition_index), 0)
            if not count:
                continue
            if not may:
                answer = _refused(asked, ErrorCode.TOPIC_AUTHORIZATION_FAILED)
            elif count > 1:
                answer = _refused(asked, ErrorCode.INVALID_REQUEST)
            else:
                answer = _look_up(parts, version, request, topic.name, asked)
            if topic.name not in topics:
                topics[topic.name] = ListOffsetsTopicResponse(name=topic.name)
            topics[topic.name].partitions.append(answer)
            yield
    return ListOffsetsResponse(topics=list(topics.values()))


def _refused(asked: ListOffsetsPartition, code: ErrorCode) -> ListOffsetsPartitionResponse:
    return ListOffsetsPartitionResponse(partition_index=asked.partition_index, error_code=int(code))


def _look_up(
    parts: BrokerParts, version: int, request: ListOffsetsRequest, topic: str, asked: ListOffsetsPartition
) -> ListOffsetsPartitionResponse:
    answer = ListOffsetsPartitionResponse(partition_index=asked.partition_index)
    if asked.timestamp < 0 and version < _SINCE.get(asked.timestamp, version + 1):
        answer.error_code = int(ErrorCode.UNSUPPORTED_VERSION)
        return answer
    query = OffsetQuery(
        topic,
        asked.partition_index,
        asked.timestamp,
        asked.current_leader_epoch,
        isolation_level=request.isolation_level if request.replica_id == CONSUMER else None,
        leader_only=request.replica_id != _DEBUGGER,
    )
    try:
        found = parts.replicas.list_offset(query)
    except ApiError as error:
        answer.error_code = int(_known(error, version))
        return answer
    answer.timestamp, answer.offset = found.timestamp, found.offset
    if version >= _LEADER_EPOCH_SINCE:
        answer.leader_epoch = found.leader_epoch
    return answer


def _known(error: ApiError, version: int) -> ErrorCode:
    """The code for a client of that version."""
    if isinstance(error, OffsetNotAvailableError) and version < _OFFSET_NOT_AVAILABLE_SINCE:
        return ErrorCode.LEADER_NOT_AVAILABLE
    return error.code
