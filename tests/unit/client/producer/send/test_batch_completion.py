"""What an answer means for a batch."""

from collections.abc import Callable
from typing import Any

import pytest

from ottla.client.cluster.backoff import Backoff
from ottla.client.config.producer import PRODUCER_KEYS
from ottla.client.config.settings import ClientSettings
from ottla.client.errors import KafkaTimeoutError
from ottla.client.metric.client_metric import ClientMetrics
from ottla.client.producer.accumulator import Accumulator
from ottla.client.producer.append import SendFuture
from ottla.client.producer.batch import ProducerBatch
from ottla.client.producer.metric import ProducerMetric
from ottla.client.producer.option import ProducerOptions
from ottla.client.producer.send.batch_completion import BatchCompletion
from ottla.client.producer.sequence import ProducerIdentity, SequenceLedger
from ottla.protocol.errors import (
    ErrorCode,
    InvalidRecordError,
    MessageTooLargeError,
    NetworkError,
    TopicAuthorizationFailedError,
)
from ottla.protocol.messages.produce import BatchIndexAndErrorMessage, PartitionProduceResponse
from tests.unit.client.producer.conftest import StillClock


class Bench:
    """A batch in flight, and all that its answer touches."""

    def __init__(self, accumulator: Accumulator, clock: StillClock, **settings: Any) -> None:
        found = ClientSettings.of(PRODUCER_KEYS, bootstrap_servers="a:1", retry_backoff_ms=100, **settings)
        self.options = ProducerOptions.of(found)
        self.accumulator = accumulator
        self.clock = clock
        self.ledger = SequenceLedger(is_transactional=False) if self.options.is_idempotent else None
        if self.ledger is not None:
            self.ledger.adopt_new(ProducerIdentity(9, 0))
        self.metrics = ClientMetrics(found, "me")
        metric = ProducerMetric(self.metrics)
        self.completion = BatchCompletion(accumulator, self.ledger, self.options, metric, clock)
        self.queue = accumulator.queues["t"][0]

    def send(self, *values: bytes) -> tuple[ProducerBatch, list[SendFuture]]:
        futures = [self.accumulator.append("t", value, None, 0, 5, None, None) for value in values]
        batch = self.accumulator.take(self.queue)
        self.resend(batch)
        return batch, [future for future in futures if future is not None]

    def resend(self, batch: ProducerBatch) -> None:
        identity = (-1, -1, -1) if self.ledger is None else self.ledger.number(self.queue, batch)
        batch.write(self.options.batch, identity)
        batch.attempts += 1

    def answer(self, batch: ProducerBatch, code: int = 0, *, may_hurry: bool = False, **fields: Any) -> None:
        response = PartitionProduceResponse(index=0, error_code=code, **fields)
        self.completion.answered(batch, response, may_hurry=may_hurry)

    def count(self, name: str) -> float:
        return next(value for found, value in self.metrics.values().items() if found.name == name)


@pytest.fixture
def make(make_accumulator: Callable[..., Accumulator], clock: StillClock) -> Callable[..., Bench]:
    return lambda **settings: Bench(make_accumulator(), clock, **settings)


def test_success(make: Callable[..., Bench]) -> None:
    bench = make()
    batch, [first, second] = bench.send(b"a", b"b")
    bench.answer(batch, base_offset=7)
    assert (first.result(0).offset, second.result(0).offset) == (7, 8)
    assert bench.accumulator.memory_used == 0


def test_duplicate_is_a_success_without_offset(make: Callable[..., Bench]) -> None:
    bench = make()
    batch, [future] = bench.send(b"a")
    bench.answer(batch, ErrorCode.DUPLICATE_SEQUENCE_NUMBER, base_offset=-1)
    assert future.result(0).offset == -1


def test_passing_trouble_is_retried_after_a_pause(make: Callable[..., Bench]) -> None:
    bench = make()
    batch, [future] = bench.send(b"a")
    bench.answer(batch, ErrorCode.NOT_LEADER_OR_FOLLOWER)
    assert not future.done()
    assert list(bench.queue.batches) == [batch]
    assert 80 <= batch.retry_at_ms - bench.clock.ms <= 120
    assert bench.count("record-retry-total") == 1


def test_known_new_leader_is_asked_at_once(make: Callable[..., Bench]) -> None:
    bench = make()
    batch, _ = bench.send(b"a")
    bench.answer(batch, ErrorCode.NOT_LEADER_OR_FOLLOWER, may_hurry=True)
    assert batch.retry_at_ms == bench.clock.ms


def test_refusal_is_final(make: Callable[..., Bench]) -> None:
    bench = make()
    batch, [future] = bench.send(b"a")
    bench.answer(batch, ErrorCode.TOPIC_AUTHORIZATION_FAILED)
    assert isinstance(future.exception(0), TopicAuthorizationFailedError)
    assert bench.accumulator.memory_used == 0
    assert bench.count("record-error-total") == 1


def test_retries_and_time_are_limited(make: Callable[..., Bench]) -> None:
    bench = make(acks=1, retries=1)
    batch, [future] = bench.send(b"a")
    bench.completion.unanswered(batch, NetworkError("lost"))
    assert not future.done()
    batch.attempts += 1
    bench.completion.unanswered(batch, NetworkError("lost again"))
    assert "lost again" in str(future.exception(0))
    bench = make(acks=1)
    batch, [future] = bench.send(b"a")
    bench.clock.ms += bench.options.delivery_timeout_ms
    bench.answer(batch, ErrorCode.NOT_LEADER_OR_FOLLOWER)
    assert future.done()


def test_expiry_says_what_was_tried(make: Callable[..., Bench]) -> None:
    bench = make()
    batch, [future] = bench.send(b"a")
    bench.completion.expire(batch)
    assert isinstance(future.exception(0), KafkaTimeoutError)
    assert "t-0" in str(future.exception(0))
    # A late answer changes nothing, but tells that the number is not missing.
    bench.answer(batch, base_offset=3)
    assert future.exception(0) is not None
    assert bench.ledger is not None
    bench.ledger.resolve()
    bench.ledger.bump_if_needed()
    assert bench.ledger.identity.epoch == 0


def test_too_large_is_split_until_single_records(make: Callable[..., Bench]) -> None:
    bench = make()
    batch, futures = bench.send(bytes(300), bytes(300), bytes(300))
    bench.answer(batch, ErrorCode.MESSAGE_TOO_LARGE)
    parts = list(bench.queue.batches)
    assert [part.count for part in parts] == [1, 1, 1]
    assert [part.base_sequence for part in parts] == [0, 1, 2]
    first = bench.accumulator.take(bench.queue)
    bench.answer(first, ErrorCode.MESSAGE_TOO_LARGE)
    assert isinstance(futures[0].exception(0), MessageTooLargeError)
    assert not futures[1].done()
    assert bench.count("batch-split-total") == 1


def test_records_that_spoiled_the_batch_are_named(make: Callable[..., Bench]) -> None:
    bench = make()
    batch, [good, bad] = bench.send(b"a", b"b")
    named = [BatchIndexAndErrorMessage(batch_index=1, batch_index_error_message="no key")]
    bench.answer(batch, ErrorCode.INVALID_RECORD, record_errors=named, error_message="one was bad")
    assert (str(good.exception(0)), str(bad.exception(0))) == ("one was bad", "no key")
    assert isinstance(bad.exception(0), InvalidRecordError)


def test_backoff_is_the_clients(make: Callable[..., Bench]) -> None:
    assert make().options.backoff == Backoff(100, 1_000)
