"""DeleteRecords (key 21), versions 0–2: moves the start of partitions forward.

Offset -1 stands for the high watermark. One behind the start succeeds and changes nothing, one beyond the high
watermark is OFFSET_OUT_OF_RANGE. Answers once the live replicas have moved too, with their lowest start, or with
REQUEST_TIMED_OUT. Topics that are only compacted refuse (POLICY_VIOLATION), and so do internal ones
(INVALID_TOPIC_EXCEPTION).

Deviations: answers keep the request's order, and leave when the new starts are on the disk: after a crash of Apache
Kafka what was deleted within the last minute is back. KIP-107.
"""

from collections.abc import Iterable, Sequence

from ottla.broker.node.parts import BrokerParts
from ottla.broker.request.request_context import RequestContext, WorkInTurns
from ottla.broker.security.rights import may_topic
from ottla.protocol.acl import AclOperation
from ottla.protocol.definition import Response
from ottla.protocol.errors import ErrorCode
from ottla.protocol.messages.delete_records import (
    DeleteRecordsPartitionResult,
    DeleteRecordsRequest,
    DeleteRecordsResponse,
    DeleteRecordsTopicResult,
)
from ottla.replication.request.delete_records import DeleteRecordsEntry, DeleteRecordsResult


def handle(parts: BrokerParts, context: RequestContext, request: DeleteRecordsRequest) -> Response | None:
    """Deletes what can be deleted; answers by itself, at once or when the replicas have."""
    return context.in_turns(_delete(parts, context, request))


def _delete(parts: BrokerParts, context: RequestContext, request: DeleteRecordsRequest) -> WorkInTurns:
    entries: dict[tuple[str, int], DeleteRecordsEntry] = {}
    unknown: dict[tuple[str, int], DeleteRecordsResult] = {}
    for topic in request.topics:
        yield
        may_delete = may_topic(context.rights, AclOperation.DELETE, topic.name)
        for asked in topic.partitions:
            yield
            key = (topic.name, asked.partition_index)
            if not may_delete:
                unknown[key] = DeleteRecordsResult(*key, int(ErrorCode.TOPIC_AUTHORIZATION_FAILED))
            elif parts.metadata.partition(*key) is None:
                unknown[key] = DeleteRecordsResult(*key, int(ErrorCode.UNKNOWN_TOPIC_OR_PARTITION))
            else:
                entries[key] = DeleteRecordsEntry(*key, asked.offset)
    if not entries:
        return (yield from _response(unknown.values()))

    def deleted(results: Sequence[DeleteRecordsResult]) -> None:
        response = context.in_turns(_response([*results, *unknown.values()]))
        if response is not None:
            context.answer(response)

    parts.replicas.delete_records(list(entries.values()), timeout_ms=request.timeout_ms, done=context.guarded(deleted))
    return None


def _response(results: Iterable[DeleteRecordsResult]) -> WorkInTurns:
    topics: dict[str, DeleteRecordsTopicResult] = {}
    for result in results:
        yield
        if result.topic not in topics:
            topics[result.topic] = DeleteRecordsTopicResult(name=result.topic)
        topics[result.topic].partitions.append(
            DeleteRecordsPartitionResult(
                partition_index=result.partition, low_watermark=result.low_watermark, error_code=result.error_code
            )
        )
    return DeleteRecordsResponse(topics=list(topics.values()))
