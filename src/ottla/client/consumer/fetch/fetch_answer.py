"""Interprets a fetch answer for each of its partitions: data, a better replica, a new leader, or an error.

Runs in the event loop and changes only what the fetcher owns. An answer counts for a partition only if it is still
fetched from where the request asked: a seek or an answer by another node in between makes it worthless.
"""

import asyncio
import logging
from collections.abc import Callable
from typing import Final, NamedTuple

from ottla.base.errors import OttlaError
from ottla.client.cluster.cluster_client import ClusterClient
from ottla.client.cluster.cluster_view import BrokerView
from ottla.client.consumer.fetch.completed_fetch import CompletedFetch, FetchedData
from ottla.client.consumer.fetch.fetch_buffer import FailedFetch, FetchBuffer, Fetched
from ottla.client.consumer.fetch.fetch_metric import FetchMetrics
from ottla.client.consumer.fetch.fetch_option import FetchOptions
from ottla.client.consumer.fetch.fetch_session import FetchTarget
from ottla.client.consumer.subscription_state import PartitionState, Position
from ottla.client.errors import OffsetOutOfRangeError
from ottla.client.record import TopicPartition
from ottla.protocol.errors import ErrorCode, error_for
from ottla.protocol.messages.fetch import FetchResponse, PartitionData

_log = logging.getLogger(__name__)

_LEADER_ERRORS: Final = frozenset(
    {
        ErrorCode.NOT_LEADER_OR_FOLLOWER,
        ErrorCode.REPLICA_NOT_AVAILABLE,
        ErrorCode.KAFKA_STORAGE_ERROR,
        ErrorCode.FENCED_LEADER_EPOCH,
        ErrorCode.OFFSET_NOT_AVAILABLE,
        ErrorCode.UNKNOWN_LEADER_EPOCH,
        ErrorCode.UNKNOWN_TOPIC_OR_PARTITION,
        ErrorCode.UNKNOWN_TOPIC_ID,
        ErrorCode.INCONSISTENT_TOPIC_ID,
    }
)
"""Known to pass once the metadata is fresh."""


class Sent(NamedTuple):
    """A request's demand for a partition, with the version of its position."""

    state: PartitionState
    version: int
    target: FetchTarget


class FetchAnswers:
    """Applies answers; `arrived` is told when there is something for the user."""

    def __init__(
        self,
        cluster: ClusterClient,
        options: FetchOptions,
        metrics: FetchMetrics,
        buffer: FetchBuffer,
        arrived: Callable[[], None],
    ) -> None:
        self.buffer: Final = buffer
        self.metrics: Final = metrics
        self._cluster: Final = cluster
        self._options: Final = options
        self._arrived: Final = arrived
        self._loop: Final = asyncio.get_running_loop()

    def apply(self, sent: dict[TopicPartition, Sent], response: FetchResponse) -> None:
        """Applies an answer to all partitions that it names."""
        endpoints = [BrokerView(node.node_id, node.host, node.port, node.rack) for node in response.node_endpoints]
        names = {each.target.topic_id: partition.topic for partition, each in sent.items()}
        for topic in response.responses:
            name = topic.topic or names.get(topic.topic_id, "")
            for data in topic.partitions:
                partition = TopicPartition(name, data.partition_index)
                asked = sent.get(partition)
                if asked is None or asked.state.version != asked.version:
                    continue
                position = asked.state.fetch_position
                if position is None or position.offset != asked.target.offset:
                    continue
                if data.error_code == ErrorCode.NONE:
                    self._accept(asked.state, position, data)
                else:
                    self._refuse(partition, asked.state, data, endpoints)

    def put(self, fetched: Fetched) -> None:
        """Something for the user."""
        self.buffer.put(fetched)
        self._arrived()

    def _accept(self, state: PartitionState, position: Position, data: PartitionData) -> None:
        state.high_watermark = data.high_watermark
        state.last_stable_offset = data.last_stable_offset if data.last_stable_offset >= 0 else None
        state.log_start_offset = data.log_start_offset if data.log_start_offset >= 0 else None
        if data.preferred_read_replica >= 0:
            _log.debug("%s is read from replica %d", state.partition, data.preferred_read_replica)
            state.read_replica = data.preferred_read_replica
            state.read_replica_until_s = self._loop.time() + self._options.metadata_max_age_ms / 1000
        records = data.records
        if not isinstance(records, memoryview) or not records:
            return
        fetched = FetchedData(
            state,
            state.version,
            position,
            records,
            data.aborted_transactions if self._options.isolation_level else None,
            self._options.check_crcs,
        )
        try:
            completed = CompletedFetch(fetched)
        except OttlaError as error:
            self._stop(state, error)
            return
        state.fetch_position = completed.end
        self.put(completed)
        self.metrics.received(state, completed.size)

    def _refuse(
        self, partition: TopicPartition, state: PartitionState, data: PartitionData, endpoints: list[BrokerView]
    ) -> None:
        code = data.error_code
        if code in _LEADER_ERRORS:
            state.read_replica = None
            self._retry_later(state)
            named = data.current_leader
            if not self._cluster.leader_changed(*partition, named.leader_id, named.leader_epoch, endpoints):
                self._cluster.refresh_soon()
        elif code == ErrorCode.OFFSET_OUT_OF_RANGE:
            self._out_of_range(partition, state)
        elif error_for(code).retriable or code == ErrorCode.UNKNOWN_SERVER_ERROR:
            _log.warning("fetch of %s: %s", partition, ErrorCode(code).name)
            self._retry_later(state)
        else:
            self._stop(state, error_for(code, f"fetch of {partition}: {error_for(code)}"))

    def _out_of_range(self, partition: TopicPartition, state: PartitionState) -> None:
        """Reads from the leader if a follower has answered, which may lag; fails if it was the leader."""
        if state.read_replica is not None:
            state.read_replica = None
            return
        assert state.fetch_position is not None
        self._stop(state, OffsetOutOfRangeError({partition: state.fetch_position.offset}))

    def _stop(self, state: PartitionState, error: OttlaError) -> None:
        """Stops fetching the partition until the user's next poll has dealt with the error."""
        state.fetch_position = None
        self.put(FailedFetch(error, state, state.version))

    def _retry_later(self, state: PartitionState) -> None:
        state.retry_at_s = self._loop.time() + self._cluster.backoff.delay_ms(0) / 1000
