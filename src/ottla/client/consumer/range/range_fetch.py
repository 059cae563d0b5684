"""Fetches one range of one partition, in order, wherever its leader is.

Lives in an event loop. It ends when the position has reached the end of the range, never by counting records: aborted
transactions, markers and compaction leave offsets without any. The caller decides what lost records mean; what passes
(a new leader, a broken connection) is tried again for as long as the limits allow.
"""

from collections.abc import Callable
from typing import Final, NamedTuple

from ottla.base.errors import OttlaError
from ottla.base.frozen import frozen
from ottla.base.ids import ZERO_UUID
from ottla.base.thread_owner import one_thread
from ottla.client.cluster.cluster_client import ClusterClient
from ottla.client.cluster.cluster_view import PartitionView, TopicView
from ottla.client.cluster.retries import Retries
from ottla.client.consumer.fetch.completed_fetch import CompletedFetch, FetchedData
from ottla.client.consumer.range.offset_range import OffsetRange
from ottla.client.consumer.subscription_state import PartitionState, Position
from ottla.client.errors import KafkaTimeoutError
from ottla.protocol.errors import ErrorCode, LeaderNotAvailableError, UnknownTopicOrPartitionError, error_for
from ottla.protocol.messages.fetch import FetchPartition, FetchRequest, FetchResponse, FetchTopic, PartitionData
from ottla.protocol.messages.list_offsets import (
    ListOffsetsPartition,
    ListOffsetsRequest,
    ListOffsetsResponse,
    ListOffsetsTopic,
)

_LAST_VERSION_BY_NAME: Final = 12
_UNKNOWN_TOPIC_PATIENCE_MS: Final = 5_000
_EARLIEST, _LATEST = -2, -1
_EMPTY_ANSWERS_MAX: Final = 2


@frozen
class FetchLimits:
    """The sizes and time limits of requests."""

    bytes_max: int
    wait_ms_max: int
    timeout_ms: int
    is_committed_only: bool
    check_crcs: bool
    rack: str = ""
    timeout_setting: str = "default.api.timeout.ms"
    """The setting that `timeout_ms` comes from, to be named in errors."""


OnLoss = Callable[[str], None]
"""Hears that records of the range are gone, in words; raises if reading shall not go on with what is left."""


class FetchedBatches(NamedTuple):
    """The bytes of batches, as few pieces as possible; records before `start` are not meant."""

    start: int
    pieces: list[memoryview]


@one_thread
class RangeFetch:
    """The batches of a range, one answer at a time."""

    def __init__(self, cluster: ClusterClient, wanted: OffsetRange, limits: FetchLimits, on_loss: OnLoss) -> None:
        self._cluster: Final = cluster
        self._range: Final = wanted
        self._limits: Final = limits
        self._on_loss: Final = on_loss
        self._state: Final = PartitionState(wanted.partition)
        self._position = wanted.start
        self._topic_id = wanted.topic_id
        """The topic that is read: one made anew under its name has another."""
        self._replica: int | None = None
        self._empty_answers = 0

    async def next(self) -> FetchedBatches | None:
        """The batches that the next answer with records brings; None at the end."""
        position = -1
        retries = Retries.within(self._cluster.backoff, self._limits.timeout_ms)
        while self._position < self._range.end:
            if position != self._position:
                # It moves: what it skips are aborted records.
                position, retries = self._position, Retries.within(self._cluster.backoff, self._limits.timeout_ms)
            try:
                pieces = await self._fetch()
            except OttlaError as error:
                self._replica = None
                self._cluster.refresh_soon()
                error.add_note(f"while reading {self._range.partition} at offset {self._position}")
                await retries.pause(error)
                continue
            if pieces:
                # Not from the start of the range, if what lies there was deleted: batches are kept whole.
                return FetchedBatches(position, pieces)
            if retries.is_late and position == self._position:
                self._give_up()
        return None

    async def _fetch(self) -> list[memoryview]:
        place = await self._place()
        if place is None:
            self._position = self._range.end
            return []
        topic, partition = place
        node = partition.leader if self._replica is None else self._replica
        has_id = topic.id != ZERO_UUID
        response = await self._cluster.request(
            node,
            self._request(topic, partition),
            timeout_ms=max(self._cluster.request_timeout_ms, self._limits.wait_ms_max + 1000),
            version=None if has_id else _LAST_VERSION_BY_NAME,
        )
        assert isinstance(response, FetchResponse)
        if response.error_code != ErrorCode.NONE:
            raise error_for(response.error_code)
        if not response.responses:
            # A reader's quota is used up: Apache Kafka asks for a pause and says nothing else.
            return []
        return await self._answered(response.responses[0].partitions[0], response.throttle_time_ms)

    def _request(self, topic: TopicView, partition: PartitionView) -> FetchRequest:
        wanted = FetchPartition(
            partition=partition.index,
            current_leader_epoch=partition.leader_epoch,
            fetch_offset=self._position,
            partition_max_bytes=self._limits.bytes_max,
        )
        return FetchRequest(
            max_wait_ms=self._limits.wait_ms_max,
            min_bytes=1,
            max_bytes=self._limits.bytes_max,
            isolation_level=int(self._limits.is_committed_only),
            topics=[FetchTopic(topic=topic.name, topic_id=topic.id, partitions=[wanted])],
            rack_id=self._limits.rack,
        )

    async def _answered(self, data: PartitionData, throttle_time_ms: int) -> list[memoryview]:
        if data.error_code == ErrorCode.OFFSET_OUT_OF_RANGE:
            await self._find_range()
            return []
        if data.error_code != ErrorCode.NONE:
            await self._cluster.refresh()
            raise error_for(data.error_code)
        if data.preferred_read_replica >= 0 and not data.records:
            # A replica in the reader's rack (KIP-392).
            self._replica = data.preferred_read_replica
            return []
        if not data.records:
            self._count_empty(data, throttle_time_ms)
            return []
        self._empty_answers = 0
        assert isinstance(data.records, memoryview)
        completed = CompletedFetch(
            FetchedData(
                self._state,
                self._state.version,
                Position(self._position),
                data.records,
                data.aborted_transactions if self._limits.is_committed_only else None,
                self._limits.check_crcs,
            )
        )
        self._position = completed.end.offset
        return completed.take_data()

    def _count_empty(self, data: PartitionData, throttle_time_ms: int) -> None:
        """A log that is known to go on behind the range and has nothing at the position has nothing in between.

        Compacted to [..,40] with its end at 100: at 41 there is nothing to fetch, and [41,100) is done.
        """
        end = data.last_stable_offset if self._limits.is_committed_only else data.high_watermark
        if end >= self._range.end and not throttle_time_ms:
            self._empty_answers += 1
            if self._empty_answers >= _EMPTY_ANSWERS_MAX:
                self._position = self._range.end

    async def _place(self) -> tuple[TopicView, PartitionView] | None:
        """The topic and the partition with its leader; None if they are gone and that is accepted."""
        name, index = self._range.partition
        topic = self._cluster.view.topics.get(name)
        if topic is not None and not self._is_meant(topic):
            topic = (await self._cluster.refresh()).topics.get(name)
        if topic is None:
            try:
                topic = await self._cluster.topic(name, timeout_ms=_UNKNOWN_TOPIC_PATIENCE_MS)
            except UnknownTopicOrPartitionError:
                self._on_loss(f"the topic {name} was deleted while it was read")
                return None
        if not self._is_meant(topic):
            self._on_loss(f"the topic {name} was deleted and made anew while it was read")
            return None
        self._topic_id = topic.id
        partition = topic.partitions.get(index)
        if partition is None or partition.leader < 0:
            raise LeaderNotAvailableError(f"{self._range.partition} has no leader")
        return topic, partition

    def _is_meant(self, topic: TopicView) -> bool:
        return ZERO_UUID in (self._topic_id, topic.id) or topic.id == self._topic_id

    async def _find_range(self) -> None:
        """The position is not in the log: goes on where it is again, if there is anything left of the range."""
        first, last = await self._log_end(_EARLIEST), await self._log_end(_LATEST)
        if self._position < first:
            self._on_loss(f"{self._range.partition} begins at {first}: {self._position} is gone")
            self._position = min(first, self._range.end)
        elif self._position > last:
            self._on_loss(f"{self._range.partition} ends at {last}: {self._position} is gone")
            self._position = self._range.end

    async def _log_end(self, which: int) -> int:
        place = await self._place()
        if place is None:
            return self._range.end
        topic, partition = place
        asked = ListOffsetsPartition(
            partition_index=partition.index, current_leader_epoch=partition.leader_epoch, timestamp=which
        )
        request = ListOffsetsRequest(
            replica_id=-1,
            isolation_level=0,
            topics=[ListOffsetsTopic(name=topic.name, partitions=[asked])],
            timeout_ms=self._cluster.request_timeout_ms,
        )
        response = await self._cluster.request(partition.leader, request)
        assert isinstance(response, ListOffsetsResponse)
        found = response.topics[0].partitions[0]
        if found.error_code != ErrorCode.NONE:
            raise error_for(found.error_code)
        return found.offset

    def _give_up(self) -> None:
        raise KafkaTimeoutError(
            f"no records of {self._range.partition} from offset {self._position} on within {self._limits.timeout_ms} "
            f"ms ({self._limits.timeout_setting}), though the range goes up to {self._range.end}: a transaction may be "
            "open there, or the log was cut off"
        )
