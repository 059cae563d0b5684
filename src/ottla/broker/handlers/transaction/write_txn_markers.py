"""WriteTxnMarkers (key 27), versions 1–2: writes the ends of transactions into partitions that this broker leads.

Transaction coordinators send it, and operators to abort a hanging transaction. A marker for
`__consumer_offsets` decides over offsets of groups and goes through their coordinator; while that is not ready it is
NOT_LEADER_OR_FOLLOWER. The answer goes by producer id: what is said of one twice is said together. If one of them is of
no producer that can be, for a partition that exists, none is written: UNKNOWN_SERVER_ERROR.

KIP-98, KIP-664, KIP-1228.
"""

from ottla.broker.node.parts import BrokerParts
from ottla.broker.request.request_context import RequestContext, WorkInTurns
from ottla.coordinator.ports import MarkerErrors, MarkersToSend, PartitionKey, TransactionMarker
from ottla.protocol.definition import Response
from ottla.protocol.errors import ErrorCode
from ottla.protocol.messages.write_txn_markers import (
    WritableTxnMarker,
    WritableTxnMarkerPartitionResult,
    WritableTxnMarkerResult,
    WritableTxnMarkerTopicResult,
    WriteTxnMarkersRequest,
    WriteTxnMarkersResponse,
)


def handle(parts: BrokerParts, context: RequestContext, request: WriteTxnMarkersRequest) -> Response | None:
    """Answers when all of them are written, or refused; in turns with others if there are many."""
    return context.in_turns(_write(parts, context, request))


def _write(parts: BrokerParts, context: RequestContext, request: WriteTxnMarkersRequest) -> WorkInTurns:
    wanted = [_marker(entry) for entry in request.markers]
    present: list[MarkersToSend] = []
    absent: list[dict[PartitionKey, int]] = []
    for marker, partitions in wanted:
        found = tuple(key for key in partitions if parts.metadata.partition(*key) is not None)
        # Batches of it could not be read again.
        if found and (marker.producer_id < 0 or marker.producer_epoch < 0):
            code = int(ErrorCode.UNKNOWN_SERVER_ERROR)
            return _response(_by_producer(wanted, [dict.fromkeys(each.partitions, code) for each in wanted]))
        present.append(MarkersToSend(marker, found))
        absent.append(dict.fromkeys(set(partitions).difference(found), int(ErrorCode.UNKNOWN_TOPIC_OR_PARTITION)))
        yield

    def answer(errors: MarkerErrors) -> None:
        codes = _by_producer(wanted, [{**unknown, **written} for unknown, written in zip(absent, errors, strict=True)])
        context.answer(_response({producer_id: found for producer_id, found in codes.items() if found}))

    coordinators = parts.coordinators
    yield from coordinators.markers.write_in_steps(present, answer)
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


def _by_producer(markers: list[MarkersToSend], errors: MarkerErrors) -> dict[int, dict[PartitionKey, int]]:
    by_producer: dict[int, dict[PartitionKey, int]] = {}
    for (marker, _), codes in zip(markers, errors, strict=True):
        by_producer.setdefault(marker.producer_id, {}).update(codes)
    return by_producer


def _response(by_producer: dict[int, dict[PartitionKey, int]]) -> WriteTxnMarkersResponse:
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
