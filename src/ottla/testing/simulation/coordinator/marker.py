"""Transaction markers: written into partitions that a broker leads, sent to the brokers that lead the others."""

from collections.abc import Callable, Sequence
from functools import partial
from typing import Final

from ottla.broker.coordinator_host.coordinator_log import marker_batch, marker_options
from ottla.coordinator.group.group_coordinator import GroupCoordinator
from ottla.coordinator.ports import MarkerErrors, MarkersToSend, PartitionKey, TransactionMarker
from ottla.protocol.definition import Response
from ottla.protocol.errors import ApiError, ErrorCode, NetworkError
from ottla.protocol.messages.write_txn_markers import (
    WritableTxnMarker,
    WritableTxnMarkerPartitionResult,
    WritableTxnMarkerResult,
    WritableTxnMarkerTopic,
    WritableTxnMarkerTopicResult,
    WriteTxnMarkersRequest,
    WriteTxnMarkersResponse,
)
from ottla.testing.simulation.coordinator.connection import Caller
from ottla.testing.simulation.coordinator.image import OFFSETS
from ottla.testing.simulation.coordinator.replica import Replicas
from ottla.testing.simulation.node import SimulatedNode

_TIMEOUT_MS: Final = 800
_VERSION: Final = 2
_NOT_READY: Final = (
    ErrorCode.COORDINATOR_NOT_AVAILABLE,
    ErrorCode.COORDINATOR_LOAD_IN_PROGRESS,
    ErrorCode.NOT_COORDINATOR,
)


class MarkerWriter:
    """Writes markers into a broker's own partitions."""

    def __init__(self, node: SimulatedNode, replicas: Replicas, groups: GroupCoordinator) -> None:
        self._node: Final = node
        self._replicas: Final = replicas
        self._groups: Final = groups

    def write(self, markers: Sequence[MarkersToSend], done: Callable[[MarkerErrors], None]) -> None:
        """Writes all of them; `done` gets the code of every partition once it is known."""
        codes: list[dict[PartitionKey, int]] = [{} for _ in markers]
        missing = sum(len(entry.partitions) for entry in markers)

        def ended(place: int, key: PartitionKey, result: ApiError | None) -> None:
            nonlocal missing
            code = ErrorCode.NONE if result is None else result.code
            codes[place][key] = ErrorCode.NOT_LEADER_OR_FOLLOWER if code in _NOT_READY else code
            missing -= 1
            if missing == 0:
                done(codes)

        for place, (marker, partitions) in enumerate(markers):
            for key in partitions:
                self._write_one(marker, key, partial(ended, place, key))

    def _write_one(self, marker: TransactionMarker, key: PartitionKey, done: Callable[[ApiError | None], None]) -> None:
        now_ms = self._node.clock.now_ms()
        if key.topic == OFFSETS:
            self._groups.write_marker(key.partition, marker, now_ms, done)
            return
        try:
            end_offset = self._replicas.append(key, marker_batch(marker, now_ms), marker_options(marker))
        except ApiError as error:
            done(error)
        else:
            self._replicas.when_committed(key, end_offset, done)


class SimulatedMarkerSender:
    """`MarkerSender`."""

    def __init__(self, node: SimulatedNode, writer: MarkerWriter, caller: Caller) -> None:
        self._node: Final = node
        self._writer: Final = writer
        self._caller: Final = caller

    def send(
        self, broker_id: int, markers: Sequence[MarkersToSend], done: Callable[[MarkerErrors | ApiError], None]
    ) -> None:
        """See `MarkerSender`."""
        if broker_id == self._node.id:
            self._writer.write(markers, done)
            return

        def heard(response: Response | None) -> None:
            if isinstance(response, WriteTxnMarkersResponse):
                done(_codes(markers, response))
            else:
                done(NetworkError())

        request = WriteTxnMarkersRequest(markers=[_writable(entry) for entry in markers])
        self._caller.ask(broker_id, request, _VERSION, heard, _TIMEOUT_MS)


def markers_of(request: WriteTxnMarkersRequest) -> list[MarkersToSend]:
    """The markers that a request asks to write."""
    return [
        MarkersToSend(
            TransactionMarker(
                entry.producer_id,
                entry.producer_epoch,
                entry.coordinator_epoch,
                entry.transaction_result,
                entry.transaction_version,
            ),
            tuple(PartitionKey(topic.name, index) for topic in entry.topics for index in topic.partition_indexes),
        )
        for entry in request.markers
    ]


def response_of(request: WriteTxnMarkersRequest, errors: MarkerErrors) -> WriteTxnMarkersResponse:
    """The answer to a request."""
    return WriteTxnMarkersResponse(
        markers=[
            WritableTxnMarkerResult(
                producer_id=entry.producer_id,
                topics=[
                    WritableTxnMarkerTopicResult(
                        name=topic,
                        partitions=[WritableTxnMarkerPartitionResult(partition_index=index, error_code=int(code))],
                    )
                    for (topic, index), code in codes.items()
                ],
            )
            for entry, codes in zip(request.markers, errors, strict=True)
        ]
    )


def _writable(entry: MarkersToSend) -> WritableTxnMarker:
    marker, partitions = entry
    return WritableTxnMarker(
        producer_id=marker.producer_id,
        producer_epoch=marker.producer_epoch,
        transaction_result=marker.committed,
        topics=[WritableTxnMarkerTopic(name=topic, partition_indexes=[index]) for topic, index in partitions],
        coordinator_epoch=marker.coordinator_epoch,
        transaction_version=marker.transaction_version,
    )


def _codes(markers: Sequence[MarkersToSend], answer: WriteTxnMarkersResponse) -> list[dict[PartitionKey, int]]:
    by_producer = {
        found.producer_id: {
            PartitionKey(topic.name, partition.partition_index): partition.error_code
            for topic in found.topics
            for partition in topic.partitions
        }
        for found in answer.markers
    }
    return [by_producer.get(entry.marker.producer_id, {}) for entry in markers]
