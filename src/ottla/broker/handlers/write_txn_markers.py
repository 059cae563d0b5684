"""WriteTxnMarkers (key 27), versions 1–2: writes the ends of transactions into partitions that this broker leads.

Transaction coordinators send it, and operators to abort a transaction that nobody ends. A marker for
`__consumer_offsets` decides over offsets of groups and goes through their coordinator; while that is not ready it is
NOT_LEADER_OR_FOLLOWER. The answer goes by producer id: what is said of one twice is said together.

KIP-98, KIP-664, KIP-1228.
"""

from ottla.broker.parts import BrokerParts
from ottla.broker.request_context import RequestContext
from ottla.coordinator.ports import MarkerErrors, MarkersToSend, PartitionKey, TransactionMarker
from ottla.protocol.messages.write_txn_markers import (
    WritableTxnMarker,
    WritableTxnMarkerPartitionResult,
    WritableTxnMarkerResult,
    WritableTxnMarkerTopicResult,
    WriteTxnMarkersRequest,
    WriteTxnMarkersResponse,
)


def handle(parts: BrokerParts, context: RequestContext, request: WriteTxnMarkersRequest) -> None:
    """Answers when all of them are written, or refused."""

    def answer(errors: MarkerErrors) -> None:
        context.answer(_response(request, errors))

    coordinators = parts.coordinators
    coordinators.markers.write([_marker(entry) for entry in request.markers], answer)
    coordinators.touched()


def _marker(entry: WritableTxnMarker) -> MarkersToSend:
    marker = TransactionMarker(
        entry.producer_id,
        entry.producer_epoch,
        entry.coordinator_epoch,
        entry.transaction_result,
        entry.transaction_version,
    )
    partitions = (PartitionKey(topic.name, index) for topic in entry.topics for index in topic.partition_indexes)
    return MarkersToSend(marker, tuple(partitions))


def _response(request: WriteTxnMarkersRequest, errors: MarkerErrors) -> WriteTxnMarkersResponse:
    by_producer: dict[int, dict[PartitionKey, int]] = {}
    for entry, codes in zip(request.markers, errors, strict=True):
        by_producer.setdefault(entry.producer_id, {}).update(codes)
    return WriteTxnMarkersResponse(
        markers=[
            WritableTxnMarkerResult(producer_id=producer_id, topics=_topics(codes))
            for producer_id, codes in by_producer.items()
        ]
    )


def _topics(codes: dict[PartitionKey, int]) -> list[WritableTxnMarkerTopicResult]:
    topics: dict[str, WritableTxnMarkerTopicResult] = {}
    for (topic, index), code in codes.items():
        found = topics.setdefault(topic, WritableTxnMarkerTopicResult(name=topic))
        found.partitions.append(WritableTxnMarkerPartitionResult(partition_index=index, error_code=code))
    return list(topics.values())
