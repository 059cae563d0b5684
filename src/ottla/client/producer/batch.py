"""One batch of the producer's, from its first record to its answer, and the queue of those that wait for a partition.

It is open while records are added, then written with its header, then perhaps sent several times. It becomes done
exactly once: complete, failed, or split into parts that take its records over. Who asked to hear of records hears in
the order in which they were sent.
"""

import threading
import time
from collections import deque
from collections.abc import Callable, Mapping
from typing import Protocol

from ottla.base.errors import OttlaError
from ottla.client.producer.append import FULL, OnDelivery, RecordBuffer, SendFuture, TopicLane
from ottla.client.producer.send_future import call, callback_lock
from ottla.client.record import TopicPartition
from ottla.protocol.compression import CompressionType, compress
from ottla.protocol.records.batch import HEADER_BYTES, Batch
from ottla.protocol.records.reader import read_tuples
from ottla.protocol.records.writer import BatchOptions


class ProducerBatch(RecordBuffer):
    """Records of one partition that travel together."""

    __slots__ = (
        "_waiters",
        "attempts",
        "base_offset",
        "base_sequence",
        "created_ms",
        "error",
        "is_closed",
        "is_done",
        "is_split",
        "log_append_time_ms",
        "parts",
        "producer_epoch",
        "producer_id",
        "queue",
        "record_errors",
        "records",
        "reserved_bytes",
        "retry_at_ms",
        "sent_ms",
        "trouble",
        "was_resequenced",
    )

    def __init__(self, queue: "PartitionQueue", created_ms: int, limit: int, ratio: float = 1.0) -> None:
        super().__init__(limit, ratio)
        self.queue = queue
        self.created_ms = created_ms
        """On the monotonic clock: linger and delivery time-out count from here."""
        self.is_closed = False
        self.is_done = False
        self.is_split = False
        """Whether it came out of a larger one that a broker refused."""
        self.records: bytearray | None = None
        """The whole batch as it is sent, once it is written."""
        self.reserved_bytes = 0
        """The share of `buffer.memory` beside its records; the whole batch once it is closed."""
        self.producer_id = self.producer_epoch = self.base_sequence = -1
        self.was_resequenced = False
        """Whether its sequence numbers are not the ones that it was sent with before."""
        self.attempts = 0
        self.sent_ms = 0
        self.retry_at_ms = 0
        self.base_offset = self.log_append_time_ms = -1
        self.error: Exception | None = None
        self.trouble: OttlaError | None = None
        """Why the last attempt has to be repeated."""
        self.record_errors: Mapping[int, Exception] = {}
        self.parts: list[tuple[int, ProducerBatch]] = []
        self._waiters: list[threading.Lock] = []

    @property
    def has_sequence(self) -> bool:
        """Whether a broker may have seen it: then it has to be sent as it is."""
        return self.base_sequence >= 0

    @property
    def last_sequence(self) -> int:
        """The sequence number of the last record; they start again at 0 after 2^31-1."""
        return (self.base_sequence + self.count - 1) & 0x7FFFFFFF

    def write(self, options: BatchOptions, identity: tuple[int, int, int]) -> bytearray:
        """The batch as it is sent, with its header and compressed; remembered.

        `identity` is producer id, epoch and base sequence; those of `options` are not looked at.
        """
        if not self.is_compressed:
            data = self.trimmed()
            if options.compression is not CompressionType.NONE:
                with memoryview(data) as view:
                    self.compressed(compress(options.compression, view[HEADER_BYTES:], options.compression_level))
        self.write_header(options.attributes, *identity)
        self.records = data = self.data
        self.producer_id, self.producer_epoch, self.base_sequence = identity
        return data

    def assign(self, producer_id: int, producer_epoch: int, base_sequence: int) -> None:
        """Gives a written batch another identity."""
        self.producer_id, self.producer_epoch, self.base_sequence = producer_id, producer_epoch, base_sequence
        if self.records is not None:
            Batch(self.records).set_producer(producer_id, producer_epoch, base_sequence)

    def error_of(self, index: int) -> Exception | None:
        """The error of one record; a broker may name the records that spoiled a batch (KIP-467)."""
        return self.record_errors.get(index, self.error)

    def complete(self, base_offset: int, log_append_time_ms: int = -1) -> None:
        """The broker has it."""
        self.base_offset = base_offset
        self.log_append_time_ms = log_append_time_ms
        self.finish()

    def fail(self, error: Exception, record_errors: Mapping[int, Exception] | None = None) -> None:
        """Ends the batch without an offset: it will not be written, or it is unknown whether it was."""
        self.error = error
        self.record_errors = record_errors or {}
        self.finish()

    def finish(self) -> None:
        """Completes the futures of the batch; also a second time, if the first was interrupted."""
        with callback_lock:
            self.is_done = True
        self.drop_data()
        self.records = None
        self._release_waiters()
        self.callbacks.reverse()
        while self.callbacks:
            call(*self.callbacks.pop())

    def add_callback(self, future: SendFuture, callback: OnDelivery) -> None:
        """Tells `callback` of a record when it is done, or at once."""
        with callback_lock:
            heir = self._heir(future)
            if not heir.is_done:
                heir.callbacks.append((future, callback))
                return
        call(future, callback)

    def _heir(self, future: SendFuture) -> "ProducerBatch":
        batch: ProducerBatch = future.batch
        index = future.index
        while batch.parts:
            first, batch = next((first, part) for first, part in reversed(batch.parts) if first <= index)
            index -= first
        return batch

    def wait(self, timeout: float | None) -> bool:
        """Waits until it is done or split; False if that took longer than `timeout` seconds."""
        deadline = None if timeout is None else time.monotonic() + timeout
        self.queue.waited_for(self, timeout)
        if self.is_done:
            return True
        timeout = None if deadline is None else deadline - time.monotonic()
        lock = threading.Lock()
        lock.acquire()
        self._waiters.append(lock)
        # The batch may have become done before it saw this lock; afterwards it releases all that it sees.
        if self.is_done or self.parts:
            return True
        return lock.acquire(timeout=-1 if timeout is None else max(timeout, 0))

    def _release_waiters(self) -> None:
        for lock in self._waiters:
            if lock.locked():
                lock.release()
        self._waiters = []

    def split(self, target_bytes: int) -> list["ProducerBatch"]:
        """Smaller batches with the same records and the same sequence numbers; this one is over.

        Records of 300 bytes, 0 to 9 from sequence 40 on, `target_bytes` 1000: batches of the records 0-2, 3-5, 6-8
        and 9, from the sequences 40, 43, 46 and 49 on.
        """
        assert self.records is not None
        parts: list[tuple[int, ProducerBatch]] = []
        for index, (_, timestamp, key, value, headers) in enumerate(read_tuples(self.records)):
            if not parts or parts[-1][1].append(timestamp, key, value, headers) == FULL:
                part = ProducerBatch(self.queue, self.created_ms, target_bytes)
                part.append(timestamp, key, value, headers)
                part.is_split = part.is_closed = True
                part.attempts, part.retry_at_ms = self.attempts, 0
                parts.append((index, part))
        for first, part in parts:
            part.reserved_bytes = part.used
            if self.has_sequence:
                sequence = (self.base_sequence + first) & 0x7FFFFFFF
                part.assign(self.producer_id, self.producer_epoch, sequence)
        self._hand_over(parts)
        return [part for _, part in parts]

    def _hand_over(self, parts: list[tuple[int, "ProducerBatch"]]) -> None:
        with callback_lock:
            self.parts = parts
            for future, callback in self.callbacks:
                self._heir(future).callbacks.append((future, callback))
            self.callbacks.clear()
        self.drop_data()
        self.records = None
        self._release_waiters()


class Holder(Protocol):
    """The reason why a partition is held."""

    @property
    def batch(self) -> ProducerBatch:
        """The batch that is carried."""
        ...


class PartitionQueue:
    """The waiting batches of one partition."""

    __slots__ = ("batches", "held_for", "in_flight", "lane", "partition", "topic", "topic_partition", "waited_for")

    def __init__(self, lane: TopicLane, partition: int) -> None:
        self.lane = lane
        self.topic: str = lane.topic
        self.partition = partition
        self.topic_partition = TopicPartition(lane.topic, partition)
        self.batches: deque[ProducerBatch] = deque()
        self.in_flight = 0
        """How many of its batches are on their way."""
        self.held_for: Holder | None = None
        """The sender of a batch in the thread that waits for it; no other batch of the partition is sent meanwhile."""
        self.waited_for: Callable[[ProducerBatch, float | None], None] = _ignored
        """Called by a thread that is about to wait for a batch, with the seconds that it will wait."""

    @property
    def is_held(self) -> bool:
        """Whether a batch of it is carried that is not done."""
        return self.held_for is not None and not self.held_for.batch.is_done

    def put_back(self, batch: ProducerBatch) -> None:
        """A batch that has to be sent again: before all with later sequence numbers, and before all that have none.

        Waiting are sequences [20, 30] and a batch without; 10 goes to the front, 25 between 20 and 30.
        """
        later = 0
        if batch.has_sequence:
            for waiting in self.batches:
                if not waiting.has_sequence or _is_before(batch, waiting):
                    break
                later += 1
        self.batches.insert(later, batch)

    def __repr__(self) -> str:
        return f"<PartitionQueue {self.topic_partition}: {len(self.batches)} batches, {self.in_flight} in flight>"


def _ignored(_batch: ProducerBatch, _timeout_s: float | None) -> None:
    """Does nothing: a waiting thread waits for the loop."""


def _is_before(batch: ProducerBatch, other: ProducerBatch) -> bool:
    """Sequences go round at 2^31, and no two in a queue are half a circle apart."""
    return (other.base_sequence - batch.base_sequence) & 0x7FFFFFFF < 0x40000000
