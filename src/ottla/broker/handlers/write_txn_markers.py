"""WriteTxnMarkers (key 27), versions 1–2: writes the ends of transactions into partitions that this broker leads.

Transaction coordinators send it, and operators to abort a transaction that nobody ends. A marker for
`__consumer_offsets` decides over offsets of groups and goes through their coordinator; while that is not ready it is
NOT_LEADER_OR_FOLLOWER. The answer goes by producer id: what is said of one twice is said together.

KIP-98, KIP-664, KIP-1228.
"""

from ottla.broker.parts import BrokerParts
from ottla.broker.request_context import RequestContext, Work
from ottla.coordinator.ports import MarkerErrors, MarkersToSend, PartitionKey, TransactionMarker
from ottla.protocol.errors import ErrorCode
from ottla.protocol.messages.write_txn_markers import (
    WritableTxnMarker,
    WritableTxnMarkerPartitionResult,
    WritableTxnMarkerResult,
    WritableTxnMarkerTopicResult,
    WriteTxnMarkersRequest,
    WriteTxnMarkersResponse,
)


def handle(parts: BrokerParts, context: RequestContext, request: WriteTxnMarkersRequest) -> None:
    """Answers when all of them are written, or refused; in turns with others if there are many."""
    context.in_turns(_write(parts, context, request))


def _write(parts: BrokerParts, context: RequestContext, request: WriteTxnMarkersRequest) -> Work:
    # A batch can't be of a producer without an epoch.
    good = [entry for entry in request.markers if entry.producer_epoch >= 0]
    refused = [entry for entry in request.markers if entry.producer_epoch < 0]

    def answer(errors: MarkerErrors) -> None:
        codes = [dict.fromkeys(_marker(entry).partitions, int(ErrorCode.UNKNOWN_SERVER_ERROR)) for entry in refused]
        context.answer(_response([*good, *refused], [*errors, *codes]))

    coordinators = parts.coordinators
    yield from coordinators.markers.write_in_steps([_marker(entry) for entry in good], answer)
    coordinators.touched()
    return None


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


def _response(markers: list[WritableTxnMarker], errors: MarkerErrors) -> WriteTxnMarkersResponse:
    by_producer: dict[int, dict[PartitionKey, int]] = {}
    for entry, codes in zip(markers, errors, strict=True):
        by_producer.setdefault(entry.producer_id, {}).update(codes)
    return WriteTxnMarkersResponse(
        markers=[
            WritableTxnMarkerResult(producer_id=producer_id, topics=_topics(codes))
            for producer_id, codes in by_producer.items()
            if codes
        ]
    )


def _topics(codes: dict[PartitionKey, int]) -> list[WritableTxnMarkerTopicResult]:
    topics: dict[str, WritableTxnMarkerTopicResult] = {}
    for (topic, index), code in codes.items():
        found = topics.setdefault(topic, WritableTxnMarkerTopicResult(name=topic))
        found.partitions.append(WritableTxnMarkerPartitionResult(partition_index=index, error_code=code))
    return list(topics.values())
