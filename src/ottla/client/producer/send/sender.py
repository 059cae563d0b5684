"""Sends what is ready: one request per broker with many partitions, several in flight, again after a failure.

Runs in the event loop, never waits: `run` looks at what changed, sends what may be sent, sets a timer for what will be
due, and returns. It is called when batches become ready, when answers come, when leaders change and when the timer
rings. Which batch may go is decided by the queue's order, the sequence ledger and the gate (identity, transaction).
"""

import asyncio
import heapq
import logging
from typing import Final, Protocol

from ottla.base.clock import Clock
from ottla.base.errors import OttlaError
from ottla.base.frozen import frozen
from ottla.base.thread_owner import any_thread, one_thread
from ottla.client.cluster.cluster_client import ClusterClient
from ottla.client.cluster.cluster_view import ClusterView
from ottla.client.cluster.node_connection import NodeConnection
from ottla.client.errors import AuthenticationFailedError
from ottla.client.producer.accumulator import Accumulator
from ottla.client.producer.batch import PartitionQueue, ProducerBatch
from ottla.client.producer.metric import ProducerMetric
from ottla.client.producer.option import ProducerOptions
from ottla.client.producer.send.batch_completion import BatchCompletion
from ottla.client.producer.send.batch_writer import BatchWriter
from ottla.client.producer.send.in_flight import NodeLine
from ottla.client.producer.send.produce_request import LAST_BEFORE_TRANSACTIONS_V2, SentBatches, endpoints, topic_id
from ottla.client.producer.sequence import SequenceLedger
from ottla.protocol.api_key import ApiKey
from ottla.protocol.definition import Response
from ottla.protocol.errors import NetworkError, UnsupportedVersionError
from ottla.protocol.messages.produce import ProduceResponse

_log = logging.getLogger(__name__)


class Gate(Protocol):
    """Conditions for sending that are not the sender's own."""

    def before_run(self) -> bool:
        """Whether anything may be sent at all; starts what is missing, and calls the sender when it is there."""
        ...

    def may_send(self, queue: PartitionQueue) -> bool:
        """Whether the partition may be written to; starts what is missing, and marks the queue ready afterwards."""
        ...

    @property
    def uses_transactions_v2(self) -> bool:
        """Whether a write adds its partition to the transaction (KIP-890)."""
        ...


@frozen
class SenderParts:
    """The collaborators of a sender."""

    gate: Gate
    ledger: SequenceLedger | None
    writer: BatchWriter
    metric: ProducerMetric
    clock: Clock


@one_thread
class Sender:
    """Drives one producer's batches to their brokers."""

    def __init__(
        self,
        cluster: ClusterClient,
        accumulator: Accumulator,
        completion: BatchCompletion,
        options: ProducerOptions,
        parts: SenderParts,
    ) -> None:
        self._cluster: Final = cluster
        self._accumulator: Final = accumulator
        self._completion: Final = completion
        self._options: Final = options
        self._gate: Final = parts.gate
        self._ledger: Final = parts.ledger
        self._writer: Final = parts.writer
        self._metric: Final = parts.metric
        self._clock: Final = parts.clock
        self._loop: Final = asyncio.get_running_loop()
        self._lines: Final[dict[int, NodeLine]] = {}
        self._leaderless: Final[dict[PartitionQueue, None]] = {}
        self._delayed: Final[list[tuple[int, int, PartitionQueue]]] = []
        self._tasks: Final[set[asyncio.Task[None]]] = set()
        self._timer: asyncio.TimerHandle | None = None
        self._timer_ms = 0
        self._expiry_ms = 0
        """Before this nothing can have waited for `delivery.timeout.ms`."""
        self.is_closed = False
        cluster.on_change(self._view_changed)

    def run(self) -> None:
        """Sends what may be sent."""
        if self.is_closed:
            return
        now_ms = self._clock.monotonic_ms()
        if now_ms >= self._expiry_ms:
            self._expire(now_ms)
        may_send = self._gate.before_run()
        for queue in self._accumulator.take_ready(now_ms):
            self._place(queue)
        while self._delayed and self._delayed[0][0] <= now_ms:
            self._place(heapq.heappop(self._delayed)[2])
        if may_send:
            for node_id, line in self._lines.items():
                if line.queues:
                    self._serve(node_id, line, now_ms)
        self._set_timer(now_ms)

    @any_thread
    def is_available(self, node_id: int, timeout_ms: int) -> bool:
        """Whether a broker takes what it is sent."""
        line = self._lines.get(node_id)
        return line is None or not line.is_stuck(self._clock.monotonic_ms(), timeout_ms)

    async def close(self) -> None:
        """Sends nothing any more; answers that still come are not waited for."""
        self.is_closed = True
        if self._timer is not None:
            self._timer.cancel()
        for task in self._tasks:
            task.cancel()
        if self._tasks:
            await asyncio.wait(self._tasks)

    @property
    def in_flight(self) -> int:
        """Requests without an answer."""
        return sum(line.in_flight for line in self._lines.values())

    def _place(self, queue: PartitionQueue) -> None:
        """Puts the queue into the line of the broker that leads its partition."""
        if not queue.batches:
            return
        leader = self._leader(queue)
        if leader < 0:
            self._leaderless[queue] = None
            self._cluster.refresh_soon()
            return
        line = self._lines.get(leader)
        if line is None:
            line = self._lines[leader] = NodeLine()
        line.queues[queue] = None

    def _leader(self, queue: PartitionQueue) -> int:
        view = self._cluster.view
        found = view.partition(queue.topic, queue.partition)
        return found.leader if found is not None and found.leader in view.brokers else -1

    def _view_changed(self, before: ClusterView, after: ClusterView) -> None:
        if self.is_closed:
            return
        for topic, lane in self._accumulator.lanes.items():
            found = after.topics.get(topic)
            if found is not None and found.partitions and len(found.partitions) != lane.partition_count:
                self._accumulator.add_topic(topic, len(found.partitions))
        waiting, moved = list(self._leaderless), before.brokers != after.brokers
        self._leaderless.clear()
        for node_id, line in self._lines.items():
            if moved or line.queues:
                strayed = [queue for queue in line.queues if self._leader(queue) != node_id]
                waiting += strayed
                for queue in strayed:
                    del line.queues[queue]
        for queue in waiting:
            # Not at once: the view may still be without a leader, and its refresh be under way.
            self._accumulator.mark_ready(queue)

    def _serve(self, node_id: int, line: NodeLine, now_ms: int) -> None:
        while line.queues and line.in_flight < self._options.in_flight_max:
            connection = self._cluster.ready_connection(node_id)
            if connection is None:
                self._connect(node_id, line)
                break
            pause_ms = connection.throttled_ms or self._backlog_ms(connection)
            if pause_ms:
                self._loop.call_later(pause_ms / 1000, self.run)
                break
            if not self._can_produce(connection, line):
                break
            batches = self._collect(node_id, line, now_ms)
            if not batches:
                break
            line.waiting_since_ms = None
            self._send(line, connection, batches)
        if line.queues and line.waiting_since_ms is None:
            line.waiting_since_ms = now_ms

    def _backlog_ms(self, connection: NodeConnection) -> int:
        """The pause for a broker that takes unanswered requests (`acks=0`) slower than we send them.

        Their memory is given back at once, so nothing else would keep them from piling up.
        """
        unsent_bytes_max = self._options.request_bytes_max * self._options.in_flight_max
        return 1 if self._options.acks == 0 and connection.unsent_bytes > unsent_bytes_max else 0

    def _can_produce(self, connection: NodeConnection, line: NodeLine) -> bool:
        """Whether we and the broker have a version of Produce in common; what waits for it fails if not."""
        try:
            connection.version_of(ApiKey.PRODUCE)
        except UnsupportedVersionError as error:
            self._fail_line(line, error)
            return False
        return True

    def _fail_line(self, line: NodeLine, error: OttlaError) -> None:
        for queue in line.queues:
            for batch in self._accumulator.remove_waiting_of(queue):
                self._completion.fail(batch, error)
        line.queues.clear()

    def _collect(self, node_id: int, line: NodeLine, now_ms: int) -> list[ProducerBatch]:
        """The oldest batch of each partition that may go, as many as fit into a request; fair by turns."""
        room = self._options.request_bytes_max
        batches: list[ProducerBatch] = []
        again: list[PartitionQueue] = []
        for queue in list(line.queues):
            if queue.batches and batches and queue.batches[0].used > room:
                continue
            del line.queues[queue]
            batch = self._next_batch(node_id, queue, now_ms)
            if batch is None:
                continue
            records = batch.records
            assert records is not None
            room -= len(records)
            batches.append(batch)
            if queue.batches:
                again.append(queue)
        line.queues.update(dict.fromkeys(again))
        return batches

    def _next_batch(self, node_id: int, queue: PartitionQueue, now_ms: int) -> ProducerBatch | None:
        """Takes the queue's oldest batch if it may go now; otherwise whatever it waits for brings the queue back."""
        if not queue.batches or queue.is_held or (self._options.keeps_order and queue.in_flight):
            return None
        if self._leader(queue) != node_id:
            self._place(queue)
            return None
        batch = queue.batches[0]
        if batch.retry_at_ms > now_ms:
            heapq.heappush(self._delayed, (batch.retry_at_ms, id(queue), queue))
            return None
        if not self._accumulator.is_due(batch, now_ms) or not self._gate.may_send(queue):
            return None
        topic = topic_id(self._cluster.view, queue.topic)
        if self._ledger is not None and not self._ledger.may_send(queue, batch, topic):
            return None
        if not self._accumulator.take_first(batch):
            return None
        self._writer.write(batch)
        return batch

    def _send(self, line: NodeLine, connection: NodeConnection, batches: list[ProducerBatch]) -> None:
        now_ms = self._clock.monotonic_ms()
        for batch in batches:
            if batch.attempts == 0:
                self._metric.batch_sent(batch, now_ms)
            batch.attempts += 1
            batch.queue.in_flight += 1
        self._metric.records_per_request.record(sum(batch.count for batch in batches))
        options = self._options
        version = connection.version_of(ApiKey.PRODUCE)
        if options.transactional_id is not None and not self._gate.uses_transactions_v2:
            version = min(version, LAST_BEFORE_TRANSACTIONS_V2)
        sent = SentBatches(batches, version, self._cluster.view)
        if options.acks == 0:
            self._send_unanswered(connection, sent)
            return
        request = sent.request(options.acks, options.request_timeout_ms, options.transactional_id)
        line.in_flight += 1
        connection.send(
            request,
            lambda result: self._answered(line, connection, sent, result),
            timeout_ms=options.request_timeout_ms,
            version=sent.version,
        )

    def _send_unanswered(self, connection: NodeConnection, sent: SentBatches) -> None:
        request = sent.request(0, self._options.request_timeout_ms, None)
        try:
            connection.send_unanswered(request, version=sent.version)
        except OttlaError as error:
            for batch in sent.batches:
                self._returned(batch)
                self._completion.unanswered(batch, error)
            return
        for batch in sent.batches:
            self._returned(batch)
            self._completion.complete(batch, -1)

    def _answered(
        self, line: NodeLine, connection: NodeConnection, sent: SentBatches, result: Response | OttlaError
    ) -> None:
        line.in_flight -= 1
        if isinstance(result, ProduceResponse):
            if result.throttle_time_ms:
                connection.throttle(result.throttle_time_ms)
                self._metric.throttle_ms.record(result.throttle_time_ms)
            self._apply(sent, result)
            missing: OttlaError = NetworkError("the broker's answer left the batch out")
        else:
            missing = result if isinstance(result, OttlaError) else NetworkError("not the answer to a Produce")
            line.trouble = missing
            self._cluster.refresh_soon()
        for batch in sent.unanswered:
            self._returned(batch)
            self._completion.unanswered(batch, missing)
        # What became ready meanwhile has called for itself; what had to wait for this answer stands in a line.
        if any(line.queues for line in self._lines.values()):
            self.run()

    def hear(self, sent: SentBatches, connection: NodeConnection, result: Response | OttlaError) -> None:
        """Deals with the answer to a request that a waiting thread has sent: see `express`."""
        line = NodeLine()
        for batch in sent.batches:
            line.in_flight = batch.queue.in_flight = 1  # as if the loop had sent it
        self._answered(line, connection, sent, result)

    def _apply(self, sent: SentBatches, response: ProduceResponse) -> None:
        brokers = endpoints(response)
        for batch, answer in sent.answers(response):
            self._returned(batch)
            leader = answer.current_leader
            place = batch.queue
            is_news = leader.leader_id >= 0 and self._cluster.leader_changed(
                place.topic, place.partition, leader.leader_id, leader.leader_epoch, brokers
            )
            error = self._completion.answered(batch, answer, may_hurry=is_news)
            if error is not None and error.refreshes_metadata and not is_news:
                self._cluster.refresh_soon()

    def _returned(self, batch: ProducerBatch) -> None:
        """A batch is not in flight any more: those behind it may have waited for that."""
        queue = batch.queue
        queue.in_flight -= 1
        if queue.batches:
            self._place(queue)

    def _connect(self, node_id: int, line: NodeLine) -> None:
        if line.is_connecting:
            return
        line.is_connecting = True
        task = self._loop.create_task(self._connected(node_id, line))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _connected(self, node_id: int, line: NodeLine) -> None:
        try:
            await self._cluster.connection(node_id)
            line.trouble = None
        except AuthenticationFailedError as error:
            self._fail_line(line, error)
        except OttlaError as error:
            _log.debug("broker %d: %s", node_id, error)
            line.trouble = error
            # It may be gone for good, and another leads its partitions.
            self._cluster.refresh_soon()
            await asyncio.sleep(self._options.backoff.delay_ms(0) / 1000)
        finally:
            line.is_connecting = False
        self._loop.call_soon(self.run)

    def _expire(self, now_ms: int) -> None:
        """Gives up batches older than `delivery.timeout.ms`, waiting or in flight."""
        latest = now_ms - self._options.delivery_timeout_ms
        while (batch := self._accumulator.oldest) is not None and batch.created_ms <= latest:
            self._accumulator.remove(batch)
            line = self._lines.get(self._leader(batch.queue))
            self._completion.expire(batch, None if line is None else line.trouble)
        oldest_ms = now_ms if batch is None else batch.created_ms
        self._expiry_ms = oldest_ms + self._options.delivery_timeout_ms

    def _set_timer(self, now_ms: int) -> None:
        wanted = self._expiry_ms
        due_ms = self._accumulator.next_due_ms()
        if due_ms is not None and due_ms < wanted:
            wanted = due_ms
        if self._delayed and self._delayed[0][0] < wanted:
            wanted = self._delayed[0][0]
        # A timer that rings too early is left alone: it sets the next one.
        if self._timer is not None and self._timer_ms <= wanted:
            return
        if self._timer is not None:
            self._timer.cancel()
        self._timer_ms = wanted
        pause_s = max(0, wanted - now_ms) / 1000
        self._timer = self._loop.call_later(pause_s, self._ring)

    def _ring(self) -> None:
        self._timer = None
        self.run()
