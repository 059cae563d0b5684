"""DeleteRecords (key 21), versions 0–2: moves the start of partitions forward.

Offset -1 stands for the high watermark. One behind the start succeeds and changes nothing, one beyond the high
watermark is OFFSET_OUT_OF_RANGE. Answers once the live replicas have moved too, with their lowest start, or with
REQUEST_TIMED_OUT. Topics that are only compacted refuse (POLICY_VIOLATION), and so do internal ones
(INVALID_TOPIC_EXCEPTION).

Deviations: answers keep the request's order. KIP-107.
"""

from collections.abc import Iterable, Sequence

from ottla.broker.parts import BrokerParts
from ottla.broker.request_context import RequestContext
from ottla.protocol.errors import ErrorCode
from ottla.protocol.messages.delete_records import (
    DeleteRecordsPartitionResult,
    DeleteRecordsRequest,
    DeleteRecordsResponse,
    DeleteRecordsTopicResult,
)
from ottla.replication.delete_records import DeleteRecordsEntry, DeleteRecordsResult


def handle(parts: BrokerParts, context: RequestContext, request: DeleteRecordsRequest) -> DeleteRecordsResponse | None:
    """Deletes what can be deleted; answers by itself, at once or when the replicas have."""
    entries: dict[tuple[str, int], DeleteRecordsEntry] = {}
    unknown: dict[tuple[str, int], DeleteRecordsResult] = {}
    for topic in request.topics:
        for asked in topic.partitions:
            key = (topic.name, asked.partition_index)
            if parts.metadata.partition(*key) is None:
                unknown[key] = DeleteRecordsResult(*key, int(ErrorCode.UNKNOWN_TOPIC_OR_PARTITION))
            else:
                entries[key] = DeleteRecordsEntry(*key, asked.offset)
    if not entries:
        return _response(unknown.values())
    work = _Work(context, list(unknown.values()))
    parts.replicas.delete_records(
        list(entries.values()), timeout_ms=request.timeout_ms, done=context.guarded(work.deleted)
    )
    return None


class _Work:
    """A request that waits for replicas."""

    __slots__ = ("_context", "_unknown")

    def __init__(self, context: RequestContext, unknown: Sequence[DeleteRecordsResult]) -> None:
        self._context = context
        self._unknown = unknown

    def deleted(self, results: Sequence[DeleteRecordsResult]) -> None:
        """Answers: every partition has its outcome."""
        self._context.answer(_response([*results, *self._unknown]))


def _response(results: Iterable[DeleteRecordsResult]) -> DeleteRecordsResponse:
    topics: dict[str, DeleteRecordsTopicResult] = {}
    for result in results:
        if result.topic not in topics:
            topics[result.topic] = DeleteRecordsTopicResult(name=result.topic)
        topics[result.topic].partitions.append(
            DeleteRecordsPartitionResult(
                partition_index=result.partition, low_watermark=result.low_watermark, error_code=result.error_code
            )
        )
    return DeleteRecordsResponse(topics=list(topics.values()))
