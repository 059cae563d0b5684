"""The producer's side of the express way: takes lone batches out of their queues, and has answers dealt with."""

from typing import Final

from ottla.base.errors import OttlaError
from ottla.client.cluster.node_connection import NodeConnection
from ottla.client.producer.accumulator import Accumulator
from ottla.client.producer.batch import PartitionQueue, ProducerBatch
from ottla.client.producer.express.lone_request import LoneRequest
from ottla.client.producer.express.road import Ride
from ottla.client.producer.send.batch_completion import BatchCompletion
from ottla.client.producer.send.produce_request import SentBatches
from ottla.client.producer.send.sender import Sender, SenderParts
from ottla.protocol.definition import Response


class LoneBatchDesk:
    """Implements `LoneBatches` beside one producer's sender."""

    def __init__(
        self, accumulator: Accumulator, completion: BatchCompletion, sender: Sender, parts: SenderParts
    ) -> None:
        self._accumulator: Final = accumulator
        self._completion: Final = completion
        self._sender: Final = sender
        self._ledger: Final = parts.ledger
        self._writer: Final = parts.writer
        self._metric: Final = parts.metric
        self._clock: Final = parts.clock

    def take(self, ride: Ride) -> bool:
        """Takes a batch that may go by itself, holds its partition for it, and writes it; False if it has to wait."""
        if not self._accumulator.claim(ride, self._may_go):
            return False
        self._writer.write(ride.batch)
        return True

    def _may_go(self, queue: PartitionQueue) -> bool:
        if self._sender.is_closed:
            return False
        return self._ledger is None or self._ledger.is_settled(queue)

    def sent(self, batch: ProducerBatch) -> None:
        """The batch is on its way: counts it."""
        self._metric.batch_sent(batch, self._clock.monotonic_ms())
        self._metric.records_per_request.record(batch.count)
        batch.attempts += 1

    def complete(self, batch: ProducerBatch, base_offset: int, log_append_time_ms: int) -> bool:
        """The broker has the batch; False, having done nothing, if the loop has to deal with that."""
        queue = batch.queue
        if not self._completion.complete_here(batch, base_offset, log_append_time_ms):
            return False
        queue.held_for = None
        if queue.batches:
            self._accumulator.mark_ready(queue)
        return True

    def mark_ready(self, queue: PartitionQueue) -> None:
        """Has the sender look at a partition."""
        self._accumulator.mark_ready(queue)

    def wake_sender(self) -> None:
        """Has the sender look at what has become ready."""
        self._accumulator.wake()

    def answered(
        self, batch: ProducerBatch, request: LoneRequest, connection: NodeConnection, result: Response | OttlaError
    ) -> None:
        """In the loop: deals with an answer, or with none, as with those to any other request."""
        if batch.is_done or batch in batch.queue.batches:
            if batch.is_done:
                batch.finish()
            self._accumulator.mark_ready(batch.queue)
            return
        if self._ledger is not None:
            self._ledger.take_back(batch)
        self._sender.hear(SentBatches([batch], request.version, request.view), connection, result)

    def are_few(self) -> bool:
        """Whether at most one batch is not done."""
        return len(self._accumulator.incomplete) <= 1

    def has_waited(self, age_ms: int) -> bool:
        """Whether an open batch is older than that."""
        return self._accumulator.has_waited(age_ms)
