"""`Producer`: sends records from ordinary threads.

Thin: records go straight into their batches in the caller's thread, everything else happens in `ProducerCore`, which
lives in the event loop of a thread of its own. Thread-safe; a forked child has to make its own.
"""

import asyncio
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from types import TracebackType
from typing import TYPE_CHECKING, Any, Final, Self

from ottla.client import other_client
from ottla.client.cluster.cluster_view import PartitionView
from ottla.client.config.producer import PRODUCER_KEYS
from ottla.client.config.settings import ClientSettings
from ottla.client.facade.loop_thread import LoopThread
from ottla.client.metric.metric_name import MetricName
from ottla.client.producer.append import OnDelivery, SendFuture
from ottla.client.producer.core import ProducerCore
from ottla.client.producer.interceptor import ProducerRecord
from ottla.client.record import Headers, OffsetAndMetadata, TopicPartition

if TYPE_CHECKING:
    from ottla.client.producer.arrow import ArrowSent

_CLOSE_GRACE_S: Final = 5.0


class Producer:
    """Sends records to topics, in batches, from any thread.

    Settings are Kafka's, in a mapping with their dotted names or as keyword arguments with underscores:

        with Producer(bootstrap_servers="localhost:9092", linger_ms=20, compression_type="zstd") as producer:
            future = producer.send("orders", value=b"...", key=b"customer-7")
            print(future.result(timeout=10).offset)

    It is idempotent unless told otherwise: a record is written once and in order, however often it had to be sent.
    """

    def __init__(self, config: Mapping[str, object] | None = None, /, **settings: object) -> None:
        """Connects to the cluster.

        Raises `NoBrokersAvailableError`, `AuthenticationFailedError`, or `ConfigError` for a bad setting.
        """
        found = ClientSettings.of(PRODUCER_KEYS, config, **settings)
        self._core: Final = ProducerCore(found, self._wake, has_threads=True)
        self._max_block_s: Final = self._core.options.max_block_ms / 1000
        self._thread: Final = LoopThread(f"{self._core.cluster.client_id} producer")
        try:
            self._thread.run(self._core.start())
        except BaseException:
            self._thread.close()
            raise
        # The common case in one call, which gives None for all others.
        append = self._core.accumulator.append if self._core.maker.is_plain else _nothing
        self._append: Final[Callable[..., SendFuture | None]] = append

    def send(
        self,
        topic: str,
        value: object = None,
        key: object = None,
        *,
        partition: int | None = None,
        timestamp_ms: int | None = None,
        headers: Headers | None = None,
        on_delivery: OnDelivery | None = None,
    ) -> SendFuture:
        """Puts a record into its batch and returns its future at once.

        Waits for at most `max.block.ms` if the topic is not known yet or `buffer.memory` is used up. `on_delivery` is
        called with the `RecordMetadata` and None, or with None and the error, in the producer's own thread, in the
        order of sending within a partition; it must not block.

        Raises what can be told at once: `SerializationError`, `RecordTooLargeError`, `UnknownTopicOrPartitionError`,
        `KafkaTimeoutError` for a partition that does not exist, `BufferExhaustedError`, `ClosedError`, and what stands
        against sending in a transaction.
        """
        future = self._append(topic, value, key, partition, timestamp_ms, headers, on_delivery)
        if future is not None:
            return future
        record = ProducerRecord(topic, value, key, partition, timestamp_ms, headers or ())
        return self._send_slowly(record, on_delivery)

    def _send_slowly(self, record: ProducerRecord, on_delivery: OnDelivery | None) -> SendFuture:
        core = self._core
        self._thread.check()
        core.check_may_send()
        deadline = time.monotonic() + self._max_block_s
        record = core.interceptors.on_send(record)
        with core.noting_refusals():
            self._learn_topic(record.topic, record.partition, deadline)
            made = core.make(record, on_delivery)
            while (future := core.accumulator.append(*made)) is None:
                core.check_may_send()
                self._wait_for_room(made.bytes_max, deadline)
        return future

    def _learn_topic(self, topic: str, partition: int | None, deadline: float) -> None:
        if not self._core.knows_partition(topic, partition):
            left_ms = max(0, round((deadline - time.monotonic()) * 1000))
            self._thread.run(self._core.learn_topic(topic, partition, left_ms))

    def _wait_for_room(self, size: int, deadline: float) -> None:
        with self._core.metric.span("bufferpool-wait"):
            if asyncio._get_running_loop() is self._thread.loop:
                # In a callback: memory would be given back by the very thread that waits for it.
                raise self._core.exhausted("; callbacks can't wait for room")
            lock = threading.Lock()
            lock.acquire()
            self._core.accumulator.on_room(size, lock.release)
            if not lock.acquire(timeout=max(0.0, deadline - time.monotonic())):
                raise self._core.exhausted()

    def send_arrow(
        self,
        topic: str,
        records: Any,
        *,
        key: str | None = None,
        value: str = "value",
        headers: str | None = None,
        timestamp: str | int | None = None,
        partition_by: str | int | None = None,
    ) -> "ArrowSent":
        """Sends the rows of a `pyarrow.Table` or `RecordBatch`, whole columns at a time, no Python object per record.

            sent = producer.send_arrow("orders", table, key="customer", value="payload")
            sent.result(timeout=30)

        `key`, `value` and `headers` name columns (columns called so are found by themselves), `timestamp` a column or
        the milliseconds of all rows. `partition_by` is a column of partition numbers, or one partition for all; without
        it the key's hash decides, and rows without a key go a batch to each partition in turn.

        Waits while `buffer.memory` is used up, for at most `max.block.ms` without progress.
        """
        from ottla.client.producer.arrow import ArrowOptions, ArrowSender

        self._thread.check()
        self._core.check_may_send()
        wanted = ArrowOptions(value, key, headers, timestamp, partition_by)
        self._learn_topic(topic, None, time.monotonic() + self._max_block_s)
        sender = ArrowSender(self._core, topic, wanted)
        for batch in sender.batches(records):
            while not self._core.accumulator.add_batch(batch):
                self._core.check_may_send()
                self._wait_for_room(batch.used, time.monotonic() + self._max_block_s)
        return sender.sent

    def flush(self, timeout: float | None = None) -> None:
        """Waits until all records sent before are delivered or have failed; `KafkaTimeoutError` after `timeout` s."""
        self._thread.run(self._core.flush(), timeout)

    def partitions_for(self, topic: str) -> list[PartitionView]:
        """The topic's partitions with their leaders, by number; waits for at most `max.block.ms`."""
        self._learn_topic(topic, None, time.monotonic() + self._max_block_s)
        partitions = self._core.cluster.view.topics[topic].partitions
        return [partitions[index] for index in sorted(partitions)]

    def metrics(self) -> dict[MetricName, float]:
        """All metrics now, with Kafka's names, groups and tags."""
        return self._core.cluster.metrics.values()

    def init_transactions(self, timeout: float | None = None) -> None:
        """Prepares for transactions: aborts what an earlier producer with the same `transactional.id` left open, and
        fences it. Once, before the first transaction; may be repeated after a time-out (`max.block.ms`).
        """
        self._thread.run(self._core.init_transactions(), self._limit(timeout))

    def begin_transaction(self) -> None:
        """Starts a transaction: records sent from here on are part of it."""
        self._thread.run(_called(self._core.begin_transaction))

    def commit_transaction(self, timeout: float | None = None) -> None:
        """Waits for all records of the transaction and commits it; after a time-out it may be called again.

        Raises `TransactionFailedError` if something failed (then abort), `ProducerFencedError` if another producer has
        taken the `transactional.id` over (then close).
        """
        self._thread.run(self._core.commit_transaction(), self._limit(timeout))

    def abort_transaction(self, timeout: float | None = None) -> None:
        """Takes back the transaction: what was not sent yet fails, what was sent is never seen by `read_committed`."""
        self._thread.run(self._core.abort_transaction(), self._limit(timeout))

    @contextmanager
    def transaction(self) -> Iterator[Self]:
        """A transaction as a block: committed at its end, aborted if an exception leaves it.

        with producer.transaction():
            producer.send("out", b"...")
            producer.send_offsets_to_transaction(offsets, consumer.group_metadata())
        """
        self.begin_transaction()
        try:
            yield self
            self.commit_transaction()
        except BaseException:
            if self._core.can_abort:
                self.abort_transaction()
            raise

    def send_offsets_to_transaction(
        self,
        offsets: Mapping[TopicPartition, OffsetAndMetadata | int],
        group_metadata: object,
        timeout: float | None = None,
    ) -> None:
        """Makes a consumer's positions part of the transaction: they count if and when it is committed.

        `group_metadata` is `consumer.group_metadata()`, so that members that have lost their partitions are refused.
        """
        self._thread.run(self._core.send_offsets(offsets, group_metadata), self._limit(timeout))

    def close(self, timeout: float | None = None) -> None:
        """Delivers what was sent, for at most `timeout` seconds; what is left fails with `ClosedError`.

        A transaction that is open is aborted. May be called again.
        """
        if not self._thread.is_usable:
            return
        try:
            self._thread.run(self._core.close(timeout), None if timeout is None else timeout + _CLOSE_GRACE_S)
        finally:
            self._thread.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    if not TYPE_CHECKING:

        def __getattr__(self, name: str) -> object:
            """Names what to call instead, for users of other clients."""
            raise other_client.missing(self, name, other_client.PRODUCER)

    def _limit(self, timeout: float | None) -> float:
        return self._max_block_s if timeout is None else timeout

    def _wake(self, run: Callable[[], None]) -> None:
        # Not by the thread's own `call_soon`: whether this is a fork was looked at before a record was taken.
        self._thread.loop.call_soon_threadsafe(run)


def _nothing(*_record: object) -> None:
    """Leaves every record to the slow way."""


async def _called(function: Callable[[], None]) -> None:
    function()
