"""The outcome of a batch by its answer: done, again, in smaller pieces, or given up.

The one place where batches become done, so that memory, sequence numbers, metrics and the transaction always hear of
it. Nothing is repeated that may have been written twice: with idempotence the broker knows batches again by number,
without it a repeated batch may double, as in Kafka.
"""

from collections.abc import Callable, Mapping
from typing import Final

from ottla.base.clock import Clock
from ottla.base.errors import OttlaError
from ottla.client.errors import ClientError, KafkaTimeoutError
from ottla.client.producer.accumulator import Accumulator
from ottla.client.producer.batch import ProducerBatch
from ottla.client.producer.metric import ProducerMetric
from ottla.client.producer.option import ProducerOptions
from ottla.client.producer.sequence import SequenceLedger
from ottla.protocol.errors import ApiError, ErrorCode, InvalidRecordError, MessageTooLargeError, error_for
from ottla.protocol.messages.produce import PartitionProduceResponse

OnFailure = Callable[[ProducerBatch, Exception], Exception]
"""Hears of each batch that was given up, before those who sent its records; says what they shall hear."""


class BatchCompletion:
    """Carries out what answers mean."""

    def __init__(
        self,
        accumulator: Accumulator,
        ledger: SequenceLedger | None,
        options: ProducerOptions,
        metric: ProducerMetric,
        clock: Clock,
    ) -> None:
        self._accumulator: Final = accumulator
        self._ledger: Final = ledger
        self._options: Final = options
        self._metric: Final = metric
        self._clock: Final = clock
        self.on_failure: OnFailure | None = None

    def answered(self, batch: ProducerBatch, answer: PartitionProduceResponse, *, may_hurry: bool) -> ApiError | None:
        """Applies a broker's answer; the error in it, if there is one.

        `may_hurry`: the answer named another leader, so that a retry need not wait.
        """
        code = answer.error_code
        if code == ErrorCode.NONE or code == ErrorCode.DUPLICATE_SEQUENCE_NUMBER:
            self.complete(batch, answer.base_offset, answer.log_append_time_ms)
            return None
        error = _refusal(code, batch, answer.error_message)
        if batch.is_done:
            return error
        if code == ErrorCode.MESSAGE_TOO_LARGE and batch.count > 1:
            self._split(batch)
        elif self._may_retry(batch, error, answer.log_start_offset):
            self._retry(batch, error, may_hurry=may_hurry)
        else:
            self.fail(batch, error, _record_errors(answer))
        return error

    def unanswered(self, batch: ProducerBatch, error: OttlaError) -> None:
        """Handles a request without an answer: lost, or of unknown outcome."""
        if batch.is_done:
            return
        if isinstance(error, (ApiError, ClientError)) and error.retriable and self._has_time_left(batch):
            self._retry(batch, error, may_hurry=False)
        else:
            self.fail(batch, error)

    def complete(self, batch: ProducerBatch, base_offset: int, log_append_time_ms: int = -1) -> None:
        """The broker has the batch, or was not asked (`acks=0`)."""
        if self._ledger is not None and batch.has_sequence:
            self._ledger.completed(batch, base_offset)
        if not batch.is_done:
            self._accumulator.forget(batch)
            batch.complete(base_offset, log_append_time_ms)

    def complete_here(self, batch: ProducerBatch, base_offset: int, log_append_time_ms: int) -> bool:
        """Like `complete`, in the thread that waits; False, having done nothing, if the loop has to do it."""
        if not batch.is_done:
            if batch.callbacks or not self._accumulator.forget_quietly(batch):
                return False
            if self._ledger is not None and batch.has_sequence:
                self._ledger.completed(batch, base_offset)
            batch.complete(base_offset, log_append_time_ms)
        return True

    def fail(
        self, batch: ProducerBatch, error: Exception, record_errors: Mapping[int, Exception] | None = None
    ) -> None:
        """Gives a batch up."""
        if batch.is_done:
            return
        if self._ledger is not None and batch.has_sequence:
            code = error.code if isinstance(error, ApiError) else None
            # A refusal is certain, unless the last of several attempts was refused: an earlier one may have been taken.
            is_certain = isinstance(error, ApiError) and not error.retriable and batch.attempts <= self._options.retries
            self._ledger.failed(batch, code, is_certain=is_certain)
        if self.on_failure is not None:
            error = self.on_failure(batch, error)
        self._metric.batch_failed(batch)
        self._accumulator.forget(batch)
        batch.fail(error, record_errors)

    def expire(self, batch: ProducerBatch, trouble: OttlaError | None = None) -> None:
        """`delivery.timeout.ms` has passed; `trouble` is what was met with on the way to the leader."""
        trouble = batch.trouble or trouble
        waited_ms = self._clock.monotonic_ms() - batch.created_ms
        where = batch.queue.topic_partition
        because = f", {batch.attempts} attempts were made" if batch.attempts else " and no leader took it"
        why = "is its leader up?" if trouble is None else f"{type(trouble).__name__}: {trouble}"
        text = f"{batch.count} records for {where} were not delivered within {waited_ms} ms{because}: {why}"
        error = KafkaTimeoutError(text)
        error.__cause__ = trouble
        self.fail(batch, error)

    def _may_retry(self, batch: ProducerBatch, error: ApiError, log_start_offset: int) -> bool:
        if not self._has_time_left(batch):
            return False
        if self._ledger is not None and batch.has_sequence:
            return self._ledger.may_retry(batch, error.code, log_start_offset)
        return error.retriable

    def _has_time_left(self, batch: ProducerBatch) -> bool:
        if batch.attempts > self._options.retries:
            return False
        return self._clock.monotonic_ms() - batch.created_ms < self._options.delivery_timeout_ms

    def _retry(self, batch: ProducerBatch, error: OttlaError, *, may_hurry: bool) -> None:
        batch.trouble = error
        pause_ms = 0 if may_hurry else self._options.backoff.delay_ms(max(0, batch.attempts - 1))
        batch.retry_at_ms = self._clock.monotonic_ms() + round(pause_ms)
        self._metric.batch_retried(batch)
        self._accumulator.put_back(batch)

    def _split(self, batch: ProducerBatch) -> None:
        """A broker takes less than we send: halves next time, and expects nothing of compression."""
        target = self._options.accumulator.batch_size
        if batch.is_split or batch.used <= target:
            target = max(batch.record_bytes_max, batch.used // 2)
        self._accumulator.forget_ratio(batch.queue.topic)
        parts = batch.split(target)
        if self._ledger is not None:
            self._ledger.replaced(batch, parts)
        self._metric.splits.record()
        self._accumulator.replace(batch, parts)


def _refusal(code: int, batch: ProducerBatch, message: str | None) -> ApiError:
    """The broker's error; those about rights and size name the topic, which Kafka's own texts do not."""
    if code == ErrorCode.TOPIC_AUTHORIZATION_FAILED:
        return error_for(code, f"{batch.queue.topic}: {error_for(code, message)}")
    if code != ErrorCode.MESSAGE_TOO_LARGE:
        return error_for(code, message)
    return MessageTooLargeError(
        f"a batch of {batch.used} bytes for {batch.queue.topic_partition} is larger than the broker takes: raise "
        f"max.message.bytes of topic {batch.queue.topic} (message.max.bytes of the brokers), or send smaller records"
    )


def _record_errors(answer: PartitionProduceResponse) -> dict[int, Exception] | None:
    """The records that spoiled a batch each get their own reason (KIP-467)."""
    if not answer.record_errors:
        return None
    return {
        found.batch_index: InvalidRecordError(found.batch_index_error_message or answer.error_message)
        for found in answer.record_errors
    }
