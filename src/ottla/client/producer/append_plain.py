"""The way of a record from `send` into its partition's open batch, plain Python.

Only the common case lives here and in the compiled twin `_append`: the topic is known, the batch is open, the record is
bytes and fits. `Accumulator` opens batches, and says what else can't be appended. Threads may send while the loop's
thread takes batches away; this twin needs a lock for that, which the compiled one does without.
"""

import struct
import threading
import time
from collections.abc import Callable, Generator
from typing import TYPE_CHECKING, Any, Final, Protocol, TypeGuard

from ottla.client.producer import send_future
from ottla.client.producer.partitioner.murmur2 import partition_of_key
from ottla.client.producer.send_future import OnDelivery
from ottla.client.record import Headers, RecordMetadata
from ottla.protocol.checksum import crc32c
from ottla.protocol.errors import EncodeError
from ottla.protocol.records.batch import HEADER_BYTES, LOG_OVERHEAD, MAGIC
from ottla.protocol.records.frames_plain import encode_record

FULL: Final = -1
UNUSUAL: Final = -2
_INT32_MAX = 2**31 - 1
_HEADER: Final = struct.Struct(">qiibIhiqqqhii")
_CRC: Final = struct.Struct(">I")
_CRC_AT, _ATTRIBUTES_AT = 17, 21


class Reservation(Protocol):
    """The holder of reserved memory."""

    reserved_bytes: int


class RecordBuffer:
    """Records of one partition as they will stand in a batch, behind room for its header.

    `ratio` is what compression is expected to leave; a buffer takes its first record whatever its size.
    """

    __slots__ = (
        "_limit",
        "_ratio",
        "base_timestamp",
        "callbacks",
        "count",
        "data",
        "is_compressed",
        "max_timestamp",
        "record_bytes_max",
        "used",
    )

    def __init__(self, limit: int, ratio: float) -> None:
        self._limit = limit
        self._ratio = ratio
        self.data = bytearray(HEADER_BYTES)
        self.used = HEADER_BYTES
        """Bytes of the header and the records."""
        self.count = 0
        self.base_timestamp = 0
        self.max_timestamp = 0
        self.record_bytes_max = 0
        """The largest record's bytes."""
        self.callbacks: list[tuple[SendFuture, OnDelivery]] = []
        """The futures and callbacks of the records."""
        self.is_compressed = False
        """Whether `data` is compressed already."""

    def append(self, timestamp: int, key: bytes | None, value: bytes | None, headers: Headers | None) -> int:
        """The bytes that the record took; FULL if it does not fit, UNUSUAL if it is not made of plain bytes."""
        if not (key is None or type(key) is bytes) or not (value is None or type(value) is bytes):
            return UNUSUAL
        base = self.base_timestamp if self.count else timestamp
        frame = bytearray()
        try:
            encode_record(frame, (self.count, timestamp, key, value, headers or ()), 0, 0, base)
        except EncodeError:
            return UNUSUAL
        section = self.used - HEADER_BYTES + len(frame)
        if self.count and HEADER_BYTES + int(section * self._ratio) > self._limit:
            return FULL
        self.data += frame
        self.used += len(frame)
        self.max_timestamp = max(self.max_timestamp, timestamp) if self.count else timestamp
        self.base_timestamp = base
        self.record_bytes_max = max(self.record_bytes_max, len(frame))
        self.count += 1
        return len(frame)

    def write_header(self, attributes: int, producer_id: int, producer_epoch: int, base_sequence: int) -> None:
        """Fills the room for the header, checksum included; base offset 0 is for the broker to move."""
        counts = (self.count - 1, self.base_timestamp, self.max_timestamp)
        producer = (producer_id, producer_epoch, base_sequence, self.count)
        _HEADER.pack_into(self.data, 0, 0, len(self.data) - LOG_OVERHEAD, -1, MAGIC, 0, attributes, *counts, *producer)
        with memoryview(self.data) as view:
            _CRC.pack_into(self.data, _CRC_AT, crc32c(view[_ATTRIBUTES_AT:]))

    def compressed(self, section: bytes) -> None:
        """Has the records as one compressed section instead."""
        self.data = bytearray(HEADER_BYTES) + section
        self.is_compressed = True

    def trimmed(self) -> bytearray:
        """The header's room and the records, nothing behind them."""
        return self.data

    def adopt(self, data: bytearray, count: int, base_timestamp: int, max_timestamp: int) -> None:
        """Holds a batch that was written elsewhere."""
        self.data = data
        self.used = len(data)
        self.count = count
        self.base_timestamp = base_timestamp
        self.max_timestamp = max_timestamp

    def drop_data(self) -> None:
        """Lets go of the bytes."""
        self.data = bytearray()


class SendFuture:
    """The outcome of one record: its `RecordMetadata`, or its error.

    It looks like a `concurrent.futures.Future`, and can be awaited in asyncio. It has no lock of its own: it knows its
    batch, and the batch knows.
    """

    __slots__ = ("__weakref__", "batch", "index", "key_size", "timestamp", "value_size")

    def __init__(self, batch: Any, index: int, timestamp: int, key_size: int, value_size: int) -> None:
        self.batch: Any = batch
        self.index = index
        self.timestamp = timestamp
        self.key_size = key_size
        self.value_size = value_size

    def done(self) -> bool:
        """Whether the record was acknowledged, or has failed."""
        return send_future.is_done(self)

    def result(self, timeout: float | None = None) -> RecordMetadata:
        """The record's place, once it is acknowledged; raises its failure, or `TimeoutError` after `timeout` s."""
        return send_future.result(self, timeout)

    def exception(self, timeout: float | None = None) -> Exception | None:
        """The record's error, None if it has none; raises `TimeoutError` after `timeout` seconds."""
        return send_future.exception(self, timeout)

    def add_done_callback(self, callback: Callable[["SendFuture"], object]) -> None:
        """Calls `callback` with this future when it is done: on the producer's loop, or at once if it is done."""
        send_future.add_done_callback(self, callback)

    def __await__(self) -> Generator[Any, None, RecordMetadata]:
        return send_future.awaited(self)

    def __repr__(self) -> str:
        return send_future.shown(self)

    if not TYPE_CHECKING:

        def __getattr__(self, name):
            raise send_future.missing(self, name)


class TopicLane:
    """A topic's open batch by partition, and the partition that records without a key stick to."""

    __slots__ = ("open", "partition_count", "sticky_bytes", "sticky_partition", "topic", "uses_keys")

    def __init__(self, topic: str, partition_count: int) -> None:
        self.topic = topic
        self.partition_count = 0
        self.open: list[Any] = []
        """By partition the `ProducerBatch` that takes records now, or None."""
        self.uses_keys = True
        """Whether records with a key go by its hash."""
        self.sticky_partition = -1
        """-1 until one is chosen, and where a partitioner of the user's decides."""
        self.sticky_bytes = 0
        """The bytes that the sticky partition got since it was chosen."""
        self.grow(partition_count)

    def grow(self, partition_count: int) -> None:
        """The topic has more partitions now (or fewer: it is another topic of that name)."""
        self.open.extend([None] * (partition_count - len(self.open)))
        self.partition_count = partition_count


class Appender:
    """All topics' lanes, and the count of the memory in use."""

    def __init__(self, memory_bytes: int) -> None:
        self.lanes: dict[str, TopicLane] = {}
        self.is_open = False
        """Whether records may be sent; closed producers and those outside of their transactions may not."""
        self.memory_bytes: Final = memory_bytes
        self.memory_used = 0
        self.record_bytes_limit = _INT32_MAX
        """Keys and values that are larger together are left to the slow way."""
        self._lock = threading.Lock()

    def append(
        self,
        topic: str,
        value: object,
        key: object,
        partition: int | None,
        timestamp_ms: int | None,
        headers: Headers | None,
        on_delivery: OnDelivery | None,
    ) -> SendFuture | None:
        """Puts a record into a batch; its future, or None, with nothing changed, if the record can't be taken as it is.

        The open batch of its partition takes it, or `append_to_new_batch` opens another one.
        """
        future = self.append_to_open_batch(topic, value, key, partition, timestamp_ms, headers, on_delivery)
        if future is None:
            future = self.append_to_new_batch(topic, value, key, partition, timestamp_ms, headers, on_delivery)
        return future

    def append_to_new_batch(
        self,
        topic: str,
        value: object,
        key: object,
        partition: int | None,
        timestamp_ms: int | None,
        headers: Headers | None,
        on_delivery: OnDelivery | None,
    ) -> SendFuture | None:
        """Appends a record that no open batch takes. Defined by the owner of the batches."""
        return None

    def append_to_open_batch(
        self,
        topic: str,
        value: object,
        key: object,
        partition: int | None,
        timestamp_ms: int | None,
        headers: Headers | None,
        on_delivery: OnDelivery | None,
    ) -> SendFuture | None:
        """The record's future; None, with nothing changed, if its partition's open batch does not take it."""
        lane = self.lanes.get(topic) if self.is_open else None
        if lane is None or not _is_plain(key) or not _is_plain(value):
            return None
        number = _partition(lane, key, partition)
        timestamp = time.time_ns() // 1_000_000 if timestamp_ms is None else timestamp_ms
        if not 0 <= number < lane.partition_count or timestamp < 0:
            return None
        key_size = -1 if key is None else len(key)
        value_size = -1 if value is None else len(value)
        with self._lock:
            batch = lane.open[number]
            if batch is None or key_size + value_size > self.record_bytes_limit:
                return None
            if self.memory_used + key_size + value_size + 64 > self.memory_bytes:
                return None
            future = SendFuture(batch, batch.count, timestamp, key_size, value_size)
            size = batch.append(timestamp, key, value, headers)
            if size < 0:
                return None
            if on_delivery is not None:
                batch.callbacks.append((future, on_delivery))
            self.memory_used += size
            if number == lane.sticky_partition:
                lane.sticky_bytes += size
        return future

    def reserve(self, batch: Reservation, size: int) -> bool:
        """Takes memory for a batch; False, with nothing changed, if there is less."""
        with self._lock:
            if self.memory_used + size > self.memory_bytes:
                return False
            self.memory_used += size
            batch.reserved_bytes = size
            return True

    def resize(self, before: int, after: int) -> None:
        """Replaces one reservation by another, whether there is that much memory or not."""
        with self._lock:
            self.memory_used += after - before

    def give_back(self, batch: Reservation) -> None:
        """Gives back the memory that a batch has reserved; that of a batch is given back once."""
        with self._lock:
            self.memory_used -= batch.reserved_bytes
            batch.reserved_bytes = 0


def _is_plain(value: object) -> TypeGuard[bytes | None]:
    return value is None or type(value) is bytes


def _partition(lane: TopicLane, key: bytes | None, partition: int | None) -> int:
    if partition is not None:
        return partition
    if key is not None and lane.uses_keys:
        return partition_of_key(key, lane.partition_count)
    return lane.sticky_partition
