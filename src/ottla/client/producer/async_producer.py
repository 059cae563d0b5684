"""`AsyncProducer`: sends records from an event loop.

Thin: all logic is in `ProducerCore`, which lives in the caller's loop. Made anywhere, started in the loop in which it
is used, by `async with` or `start()`.
"""

import asyncio
from collections.abc import AsyncIterator, Callable, Coroutine, Mapping
from contextlib import asynccontextmanager
from types import TracebackType
from typing import TYPE_CHECKING, Any, Final, Self

from ottla.client import other_client
from ottla.client.cluster.cluster_view import PartitionView
from ottla.client.config.producer import PRODUCER_KEYS
from ottla.client.config.settings import ClientSettings
from ottla.client.errors import KafkaTimeoutError
from ottla.client.metric.metric_name import MetricName
from ottla.client.producer.append import OnDelivery, SendFuture
from ottla.client.producer.core import ProducerCore
from ottla.client.producer.interceptor import ProducerRecord
from ottla.client.record import Headers, OffsetAndMetadata, RecordMetadata, TopicPartition

if TYPE_CHECKING:
    from ottla.client.producer.arrow import ArrowSent


class AsyncProducer:
    """Sends records to topics, in batches, from asyncio.

        async with AsyncProducer(bootstrap_servers="localhost:9092") as producer:
            metadata = await producer.send("orders", b"...")               # delivered
            futures = [await producer.enqueue("orders", value) for value in values]
            await asyncio.gather(*futures)

    Settings as `Producer` has them. It belongs to the event loop that started it.
    """

    def __init__(self, config: Mapping[str, object] | None = None, /, **settings: object) -> None:
        """Reads the settings; `ConfigError` for a bad one. Nothing is connected yet."""
        found = ClientSettings.of(PRODUCER_KEYS, config, **settings)
        self._core: Final = ProducerCore(found, self._wake)
        self._max_block_s: Final = self._core.options.max_block_ms / 1000
        self._loop: asyncio.AbstractEventLoop | None = None
        self._is_plain: Final = self._core.maker.is_plain
        self._append: Final = self._core.accumulator.append

    async def start(self) -> None:
        """Connects to the cluster; `NoBrokersAvailableError`, `AuthenticationFailedError`."""
        self._loop = asyncio.get_running_loop()
        await self._core.start()

    async def send(
        self,
        topic: str,
        value: object = None,
        key: object = None,
        *,
        partition: int | None = None,
        timestamp_ms: int | None = None,
        headers: Headers | None = None,
        on_delivery: OnDelivery | None = None,
    ) -> RecordMetadata:
        """Sends a record and waits until it is delivered; raises what it failed with.

        To send many at once, gather several, or use `enqueue`.
        """
        if self._is_plain:
            future = self._append(topic, value, key, partition, timestamp_ms, headers, on_delivery)
            if future is not None:
                return await future
        record = ProducerRecord(topic, value, key, partition, timestamp_ms, headers or ())
        return await (await self._enqueue(record, on_delivery))

    async def enqueue(
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
        """Puts a record into its batch; its future can be awaited, or dropped.

        Waits for at most `max.block.ms` if the topic is not known yet or `buffer.memory` is used up, so a loop of
        `enqueue` never runs away from the brokers. Raises what `Producer.send` raises.
        """
        if self._is_plain:
            future = self._append(topic, value, key, partition, timestamp_ms, headers, on_delivery)
            if future is not None:
                return future
        record = ProducerRecord(topic, value, key, partition, timestamp_ms, headers or ())
        return await self._enqueue(record, on_delivery)

    def send_now(
        self,
        topic: str,
        value: bytes | None,
        key: bytes | None,
        partition: int | None,
        timestamp_ms: int | None,
        headers: Headers | None,
        on_delivery: OnDelivery | None = None,
    ) -> SendFuture | None:
        """Puts a record of bytes into its batch if that takes no waiting; None: nothing has happened, `enqueue` it."""
        if not self._is_plain:
            return None
        return self._append(topic, value, key, partition, timestamp_ms, headers, on_delivery)

    def watch_failures(self, failed: Callable[[Exception], None]) -> None:
        """Has `failed` called for each batch that is given up; who sends without looking at futures hears of it so."""
        self._core.watch_failures(failed)

    async def _enqueue(self, record: ProducerRecord, on_delivery: OnDelivery | None) -> SendFuture:
        core = self._core
        core.check_may_send()
        deadline = asyncio.get_running_loop().time() + self._max_block_s
        record = core.interceptors.on_send(record)
        with core.noting_refusals():
            await self._learn_topic(record.topic, record.partition)
            made = core.make(record, on_delivery)
            while (future := core.accumulator.append(*made)) is None:
                core.check_may_send()
                await self._wait_for_room(made.bytes_max, deadline)
        return future

    async def _learn_topic(self, topic: str, partition: int | None) -> None:
        if not self._core.knows_partition(topic, partition):
            await self._core.learn_topic(topic, partition, self._core.options.max_block_ms)

    async def _wait_for_room(self, size: int, deadline: float) -> None:
        with self._core.metric.span("bufferpool-wait"):
            room: asyncio.Future[None] = asyncio.get_running_loop().create_future()
            self._core.accumulator.on_room(size, lambda: None if room.done() else room.set_result(None))
            try:
                async with asyncio.timeout_at(deadline):
                    await room
            except TimeoutError:
                raise self._core.exhausted() from None

    async def send_arrow(
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
        """Sends the rows of a `pyarrow.Table` or `RecordBatch` as `Producer.send_arrow` does.

        Returns when everything is in the buffer; `await` what it returns to know that it is delivered.
        """
        from ottla.client.producer.arrow import ArrowOptions, ArrowSender

        self._core.check_may_send()
        wanted = ArrowOptions(value, key, headers, timestamp, partition_by)
        await self._learn_topic(topic, None)
        sender = ArrowSender(self._core, topic, wanted)
        for batch in sender.batches(records):
            while not self._core.accumulator.add_batch(batch):
                self._core.check_may_send()
                await self._wait_for_room(batch.used, asyncio.get_running_loop().time() + self._max_block_s)
            # Encoding takes a while: the sender sends written batches meanwhile.
            await asyncio.sleep(0)
        return sender.sent

    async def flush(self, timeout: float | None = None) -> None:
        """Waits until all records sent before are delivered or have failed; `KafkaTimeoutError` after `timeout` s."""
        try:
            async with asyncio.timeout(timeout):
                await self._core.flush()
        except TimeoutError:
            raise KafkaTimeoutError(f"not done within {timeout} s") from None

    async def partitions_for(self, topic: str) -> list[PartitionView]:
        """The topic's partitions with their leaders, by number; waits for at most `max.block.ms`."""
        await self._learn_topic(topic, None)
        partitions = self._core.cluster.view.topics[topic].partitions
        return [partitions[index] for index in sorted(partitions)]

    def metrics(self) -> dict[MetricName, float]:
        """All metrics now, with Kafka's names, groups and tags."""
        return self._core.cluster.metrics.values()

    async def init_transactions(self) -> None:
        """See `Producer.init_transactions`."""
        await self._limited(self._core.init_transactions)

    def begin_transaction(self) -> None:
        """Starts a transaction: records sent from here on are part of it."""
        self._core.begin_transaction()

    async def commit_transaction(self) -> None:
        """See `Producer.commit_transaction`."""
        await self._limited(self._core.commit_transaction)

    async def abort_transaction(self) -> None:
        """See `Producer.abort_transaction`."""
        await self._limited(self._core.abort_transaction)

    @asynccontextmanager
    async def transaction(self) -> AsyncIterator[Self]:
        """A transaction as a block: committed at its end, aborted if an exception leaves it."""
        self.begin_transaction()
        try:
            yield self
            await self.commit_transaction()
        except BaseException:
            if self._core.can_abort:
                await self.abort_transaction()
            raise

    async def send_offsets_to_transaction(
        self, offsets: Mapping[TopicPartition, OffsetAndMetadata | int], group_metadata: object
    ) -> None:
        """See `Producer.send_offsets_to_transaction`."""
        await self._limited(lambda: self._core.send_offsets(offsets, group_metadata))

    async def close(self, timeout: float | None = None) -> None:
        """Delivers what was sent, for at most `timeout` seconds; what is left fails with `ClosedError`."""
        await self._core.close(timeout)

    async def __aenter__(self) -> Self:
        await self.start()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.close()

    async def _limited(self, work: Callable[[], Coroutine[Any, Any, None]]) -> None:
        try:
            async with asyncio.timeout(self._max_block_s):
                await work()
        except TimeoutError as error:
            if isinstance(error, KafkaTimeoutError):
                raise
            raise KafkaTimeoutError(f"not done within {self._max_block_s} s (max.block.ms)") from None

    def _wake(self, run: Callable[[], None]) -> None:
        if self._loop is not None:
            self._loop.call_soon(run)

    if not TYPE_CHECKING:

        def __getattr__(self, name: str) -> object:
            """Names what to call instead, for users of other clients."""
            raise other_client.missing(self, name, other_client.PRODUCER)
