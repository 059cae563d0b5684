"""The core of both producers: the asyncio one runs it as it is, the blocking one in a loop of its own.

Sending has three steps that belong to the caller's thread (intercept, make ready, append) and two waits between them
(for the topic, for memory) that belong to the facade, which knows how its caller waits. Everything else happens in
the event loop.
"""

import asyncio
import os
import weakref
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Final

from ottla.base.errors import OttlaError
from ottla.base.system_clock import SystemClock
from ottla.client.cluster.cluster_client import ClusterClient
from ottla.client.config.settings import ClientSettings
from ottla.client.errors import BufferExhaustedError, ClosedError, InvalidStateError, KafkaTimeoutError
from ottla.client.producer.accumulator import Accumulator
from ottla.client.producer.append import OnDelivery
from ottla.client.producer.batch import ProducerBatch
from ottla.client.producer.express.express import Express
from ottla.client.producer.express.lone_batch import LoneBatchDesk
from ottla.client.producer.identity import IdempotentGate, OpenGate
from ottla.client.producer.interceptor import ProducerRecord
from ottla.client.producer.metric import ProducerMetric
from ottla.client.producer.new_record import NewRecord
from ottla.client.producer.option import ProducerOptions
from ottla.client.producer.partitioner.sticky import StickyPartitioner
from ottla.client.producer.record_maker import RecordMaker
from ottla.client.producer.send.batch_completion import BatchCompletion
from ottla.client.producer.send.batch_writer import BatchWriter
from ottla.client.producer.send.sender import Sender, SenderParts
from ottla.client.producer.sequence import SequenceLedger
from ottla.client.producer.transaction.coordinator import TransactionCoordinator
from ottla.client.producer.transaction.manager import TransactionManager
from ottla.client.producer.transaction.state import TransactionState
from ottla.client.record import OffsetAndMetadata, TopicPartition

_live: "weakref.WeakSet[ProducerCore]" = weakref.WeakSet()


class ProducerCore:
    """One producer, without its face."""

    def __init__(
        self, settings: ClientSettings, wake: Callable[[Callable[[], None]], None], *, has_threads: bool = False
    ) -> None:
        """`wake` has a function called in the event loop soon, from whichever thread sends."""
        self._has_threads: Final = has_threads
        self.options: Final = ProducerOptions.of(settings)
        self.settings: Final = settings
        self.cluster: Final = ClusterClient(settings)
        self.accumulator: Final = Accumulator(self.options.accumulator, SystemClock(), lambda: wake(self._run_sender))
        self.maker: Final = RecordMaker(settings, self.accumulator, lambda: self.cluster.view)
        self.interceptors: Final = self.maker.interceptors
        self.metric: Final = ProducerMetric(self.cluster.metrics)
        self.metric.show_memory(self.accumulator)
        self.ledger: Final = (
            SequenceLedger(is_transactional=self.options.transactional_id is not None)
            if self.options.is_idempotent
            else None
        )
        self.completion: Final = BatchCompletion(
            self.accumulator, self.ledger, self.options, self.metric, SystemClock()
        )
        self.transactions: Final = self._transactions()
        self._error: Exception | None = None
        self._sender: Sender | None = None
        self._gate: IdempotentGate | None = None
        self._express: Express | None = None
        self._is_closed = False
        _live.add(self)

    async def start(self) -> None:
        """Connects; must be awaited in the loop that the producer will live in."""
        await self.cluster.start(timeout_ms=0)
        gate: OpenGate | IdempotentGate | TransactionManager = OpenGate()
        if self.transactions is not None:
            gate = self.transactions
        elif self.ledger is not None:
            gate = self._gate = IdempotentGate(self.cluster, self.ledger, self._become_fatal)
        writer = BatchWriter(self.accumulator, self.ledger, self.options.batch)
        parts = SenderParts(gate, self.ledger, writer, self.metric, SystemClock())
        sender = Sender(self.cluster, self.accumulator, self.completion, self.options, parts)
        if not isinstance(gate, OpenGate):
            gate.run_sender = sender.run
        self._sender = sender
        self.metric.show_sending(lambda: sender.in_flight, lambda: self.cluster.metadata_age_s)
        options = self.options
        if self._has_threads and options.acks and not options.accumulator.linger_ms and self.transactions is None:
            batches = LoneBatchDesk(self.accumulator, self.completion, sender, parts)
            self._express = self.accumulator.carrier = Express(self.cluster, batches, options)
        timeout_ms = self.settings.integer("partitioner.availability.timeout.ms")
        self.accumulator.choose_partition = StickyPartitioner(
            lambda: self.cluster.view,
            lambda topic: self.accumulator.queues.get(topic, ()),
            lambda node_id: sender.is_available(node_id, timeout_ms),
            is_adaptive=self.settings.boolean("partitioner.adaptive.partitioning.enable"),
        )
        self.accumulator.is_open = self.transactions is None

    def _transactions(self) -> TransactionManager | None:
        if self.options.transactional_id is None or self.ledger is None:
            return None
        manager = TransactionManager(
            TransactionCoordinator(self.cluster, self.options.transactional_id),
            self.ledger,
            self.accumulator,
            self.options.transaction_timeout_ms,
            self.completion.fail,
        )
        self.completion.on_failure = manager.batch_failed
        return manager

    def _run_sender(self) -> None:
        if self._sender is not None:
            self._sender.run()

    def _become_fatal(self, error: Exception) -> None:
        """Fails all sends from now on: the brokers don't give this producer an id."""
        self._error = error
        self.accumulator.is_open = False
        for batch in self.accumulator.remove_waiting():
            self.completion.fail(batch, error)

    def check_may_send(self) -> None:
        """Raises why records can't be sent now."""
        if self._is_closed:
            raise ClosedError("the producer was closed")
        if self._error is not None:
            raise self._error
        if self.transactions is not None:
            self.transactions.check_may_send()
        if self._sender is None:
            raise InvalidStateError("the producer was not started: use it in `async with`, or call start()")

    @property
    def can_abort(self) -> bool:
        """Whether there is a transaction that can be taken back."""
        return self.transactions is not None and self.transactions.state in (
            TransactionState.IN_TRANSACTION,
            TransactionState.ABORTABLE_ERROR,
        )

    def exhausted(self, more: str = "") -> BufferExhaustedError:
        """The error when there was no memory for too long; counts it."""
        self.metric.exhausted.record()
        options = self.options
        return BufferExhaustedError(
            f"no room in buffer.memory ({options.accumulator.memory_bytes} bytes) within max.block.ms "
            f"({options.max_block_ms}): records come faster than the brokers take them{more}"
        )

    def knows_partition(self, topic: str, partition: int | None) -> bool:
        """Whether a record for it can be appended."""
        lane = self.accumulator.lanes.get(topic)
        return lane is not None and (partition is None or partition < lane.partition_count)

    async def learn_topic(self, topic: str, partition: int | None, timeout_ms: int) -> None:
        """Waits until a topic, and the partition of it, is known.

        Raises `UnknownTopicOrPartitionError`, `KafkaTimeoutError`, or what the brokers refuse with.
        """
        deadline = asyncio.get_running_loop().time() + timeout_ms / 1000
        with self.metric.span("metadata-wait"):
            found = await self.cluster.topic(topic, timeout_ms=timeout_ms)
            failures = 0
            while partition is not None and partition >= len(found.partitions):
                left_ms = round((deadline - asyncio.get_running_loop().time()) * 1000)
                if left_ms <= 0:
                    count = len(found.partitions)
                    raise KafkaTimeoutError(f"{topic} has {count} partitions after {timeout_ms} ms: no {partition}")
                await asyncio.sleep(min(left_ms, self.cluster.backoff.delay_ms(failures)) / 1000)
                failures += 1
                await self.cluster.refresh(timeout_ms=left_ms)
                found = await self.cluster.topic(topic, timeout_ms=left_ms)
        self.maker.add_topic(topic, len(found.partitions))

    def make(self, record: ProducerRecord, on_delivery: OnDelivery | None) -> NewRecord:
        """A record of a known topic, as it goes into a batch."""
        return self.maker.make(record, on_delivery)

    @contextmanager
    def noting_refusals(self) -> Iterator[None]:
        """Counts a record that is refused before it is in a batch, and lets interceptors know."""
        try:
            yield
        except Exception as error:
            self.metric.record_refused()
            self.interceptors.acknowledged(None, error)
            raise

    def watch_failures(self, failed: Callable[[Exception], None]) -> None:
        """Tells of each batch that is given up."""
        before = self.completion.on_failure

        def on_failure(batch: ProducerBatch, error: Exception) -> Exception:
            told = error if before is None else before(batch, error)
            failed(told)
            return told

        self.completion.on_failure = on_failure

    async def flush(self) -> None:
        """Waits until all that was sent before is done."""
        with self.metric.span("flush"):
            await self._flushed()

    def _flushed(self) -> "asyncio.Future[None]":
        flushed: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self.accumulator.flush(lambda: None if flushed.done() else flushed.set_result(None))
        return flushed

    def need_transactions(self) -> TransactionManager:
        """The transactions of a producer that has them."""
        if self._is_closed:
            raise ClosedError("the producer was closed")
        if self.transactions is None:
            raise InvalidStateError("transactions need a transactional.id in the producer's settings")
        return self.transactions

    async def init_transactions(self) -> None:
        """Takes over the transactional id."""
        with self.metric.span("txn-init"):
            await self.need_transactions().init()

    def begin_transaction(self) -> None:
        """Starts a transaction."""
        with self.metric.span("txn-begin"):
            self.need_transactions().begin()

    async def commit_transaction(self) -> None:
        """Waits for all records and commits."""
        with self.metric.span("txn-commit"):
            await self.need_transactions().commit(self._flushed)

    async def abort_transaction(self) -> None:
        """Drops or takes back all records of the transaction."""
        with self.metric.span("txn-abort"):
            await self.need_transactions().abort(self._flushed)

    async def send_offsets(self, offsets: Mapping[TopicPartition, OffsetAndMetadata | int], group: object) -> None:
        """Makes a consumer's positions part of the transaction."""
        with self.metric.span("txn-send-offsets"):
            await self.need_transactions().send_offsets(offsets, group)

    async def close(self, timeout_s: float | None) -> None:
        """Sends what is left for at most `timeout_s`; what is not delivered then has failed. May be called again."""
        if self._is_closed:
            return
        self.accumulator.is_open = False
        try:
            async with asyncio.timeout(timeout_s):
                await self._finish()
        except (TimeoutError, OttlaError):
            # What is left fails below, and who sent it hears why.
            pass
        finally:
            self._is_closed = True
            self._fail_all(ClosedError("the producer was closed before the record was delivered"))
            await self._close_parts()

    async def _finish(self) -> None:
        if self.transactions is not None and self.can_abort:
            await self.transactions.abort(self._flushed)
        else:
            await self._flushed()

    def _fail_all(self, error: OttlaError) -> None:
        self.accumulator.remove_waiting()
        left: list[ProducerBatch] = list(self.accumulator.incomplete)
        for batch in left:
            self.completion.fail(batch, error)

    async def _close_parts(self) -> None:
        if self._express is not None:
            await self._express.close()
        if self._sender is not None:
            await self._sender.close()
        if self._gate is not None:
            await self._gate.close()
        if self.transactions is not None:
            await self.transactions.close()
        await self.cluster.close()
        self.interceptors.close()

    def forget_parent(self) -> None:
        """This process is a fork: the loop that would send is not here, so `send` must not take records."""
        self.accumulator.is_open = False
        if self._express is not None:
            self._express.forbid()


def _after_fork() -> None:
    for core in list(_live):
        core.forget_parent()


os.register_at_fork(after_in_child=_after_fork)
