"""Transaction markers: written into partitions that this broker leads, sent to brokers that lead the others.

A marker for `__consumer_offsets` goes through the group coordinator, whose offsets it decides over; any other is
appended as it is. Either way it counts as written once all in-sync replicas have it.
"""

from collections.abc import Callable, Generator, Sequence
from functools import partial
from typing import Final

from ottla.base.clock import Clock
from ottla.broker.coordinator_host.coordinator_log import marker_batch, marker_options
from ottla.broker.coordinator_host.coordinator_peer import BrokerPeers
from ottla.broker.coordinator_host.internal_topic import CONSUMER_OFFSETS
from ottla.coordinator.group.group_coordinator import GroupCoordinator
from ottla.coordinator.ports import MarkerErrors, MarkersToSend, PartitionKey, TransactionMarker
from ottla.protocol.definition import Response
from ottla.protocol.errors import ApiError, ErrorCode, UnknownServerError
from ottla.protocol.messages.write_txn_markers import (
    WritableTxnMarker,
    WritableTxnMarkerTopic,
    WriteTxnMarkersRequest,
    WriteTxnMarkersResponse,
)
from ottla.replication.partition.partition import ALL_IN_SYNC
from ottla.replication.replica_manager import ReplicaManager
from ottla.replication.request.produce import AppendEntry, AppendResult

_STEP_PARTITIONS: Final = 500
_NOT_READY: Final = frozenset(
    {
        ErrorCode.COORDINATOR_NOT_AVAILABLE,
        ErrorCode.COORDINATOR_LOAD_IN_PROGRESS,
        ErrorCode.NOT_COORDINATOR,
    }
)
"""Errors of a group coordinator that can't take the marker yet; the sender of markers sees "no leader yet"."""


class MarkerWriter:
    """Writes markers into local partitions. Loop thread only."""

    def __init__(
        self, replicas: ReplicaManager, groups: GroupCoordinator, clocks: tuple[Clock, Clock], timeout_ms: int
    ) -> None:
        """`clocks` are the one that never runs backwards, for the groups, and the time of day, for what is written."""
        self._replicas: Final = replicas
        self._groups: Final = groups
        self._clock, self._day_clock = clocks
        self._timeout_ms: Final = timeout_ms

    def write(self, markers: Sequence[MarkersToSend], done: Callable[[MarkerErrors], None]) -> None:
        """Writes all of them; `done` gets the code of every partition, maybe within this call."""
        for _ in self.write_in_steps(markers, done):
            pass

    def write_in_steps(
        self, markers: Sequence[MarkersToSend], done: Callable[[MarkerErrors], None]
    ) -> Generator[None, None, None]:
        """Like `write`, some partitions at each step."""
        work = _Writing(markers, done)
        for place, (marker, partitions) in enumerate(markers):
            yield
            keys = list(dict.fromkeys(partitions))
            for start in range(0, len(keys), _STEP_PARTITIONS):
                self._write(work, place, marker, keys[start : start + _STEP_PARTITIONS])
                yield

    def _write(self, work: "_Writing", place: int, marker: TransactionMarker, keys: Sequence[PartitionKey]) -> None:
        now_ms, day_ms = self._clock.now_ms(), self._day_clock.now_ms()
        entries: list[AppendEntry] = []
        for key in keys:
            if key.topic == CONSUMER_OFFSETS:
                self._groups.write_marker(key.partition, marker, now_ms, partial(work.ended, place, key))
            else:
                entries.append(AppendEntry(*key, marker_batch(marker, day_ms), marker_options(marker)))
        if entries:
            self._replicas.append(
                entries,
                acks=ALL_IN_SYNC,
                timeout_ms=self._timeout_ms,
                done=partial(work.appended, place),
                internal_topics_allowed=True,
            )


class _Writing:
    """The open part of a request."""

    def __init__(self, markers: Sequence[MarkersToSend], done: Callable[[MarkerErrors], None]) -> None:
        self._done = done
        self._codes: list[dict[PartitionKey, int]] = [{} for _ in markers]
        self._open = sum(len(set(entry.partitions)) for entry in markers)
        if not self._open:
            done(self._codes)

    def ended(self, place: int, key: PartitionKey, result: ApiError | None) -> None:
        """The group coordinator's result for a marker."""
        code = ErrorCode.NONE if result is None else result.code
        self._add(place, key, ErrorCode.NOT_LEADER_OR_FOLLOWER if code in _NOT_READY else code)

    def appended(self, place: int, results: Sequence[AppendResult]) -> None:
        """The results of the other partitions of a marker."""
        for result in results:
            self._add(place, PartitionKey(result.topic, result.partition), result.error_code)

    def _add(self, place: int, key: PartitionKey, code: int) -> None:
        self._codes[place][key] = int(code)
        self._open -= 1
        if not self._open:
            self._done(self._codes)


class BrokerMarkerSender:
    """`MarkerSender`: to this broker without a detour, to others by WriteTxnMarkers."""

    def __init__(self, node_id: int, writer: MarkerWriter, peers: BrokerPeers, timeout_ms: int) -> None:
        self._node_id: Final = node_id
        self._writer: Final = writer
        self._peers: Final = peers
        self._timeout_ms: Final = timeout_ms

    def send(
        self, broker_id: int, markers: Sequence[MarkersToSend], done: Callable[[MarkerErrors | ApiError], None]
    ) -> None:
        """See `MarkerSender`."""
        if broker_id == self._node_id:
            self._writer.write(markers, done)
            return

        def heard(answer: Response | ApiError) -> None:
            if isinstance(answer, WriteTxnMarkersResponse):
                done(_codes(markers, answer))
            else:
                done(answer if isinstance(answer, ApiError) else UnknownServerError())

        request = WriteTxnMarkersRequest(markers=[_writable(entry) for entry in markers])
        self._peers.send(broker_id, request, heard, self._timeout_ms)


def _writable(entry: MarkersToSend) -> WritableTxnMarker:
    marker, partitions = entry
    topics: dict[str, WritableTxnMarkerTopic] = {}
    for topic, index in partitions:
        topics.setdefault(topic, WritableTxnMarkerTopic(name=topic)).partition_indexes.append(index)
    return WritableTxnMarker(
        producer_id=marker.producer_id,
        producer_epoch=marker.producer_epoch,
        transaction_result=marker.committed,
        topics=list(topics.values()),
        coordinator_epoch=marker.coordinator_epoch,
        transaction_version=marker.transaction_version,
    )


def _codes(markers: Sequence[MarkersToSend], answer: WriteTxnMarkersResponse) -> list[dict[PartitionKey, int]]:
    """The codes by entry: an answer names producers, and none of them twice."""
    by_producer = {
        found.producer_id: {
            PartitionKey(topic.name, partition.partition_index): partition.error_code
            for topic in found.topics
            for partition in topic.partitions
        }
        for found in answer.markers
    }
    return [by_producer.get(entry.marker.producer_id, {}) for entry in markers]
