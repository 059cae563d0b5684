"""Sequence numbers: without gaps, in order after a retry, from 0 with the next epoch after a gap."""

import pytest

from ottla.client.producer.append import TopicLane
from ottla.client.producer.batch import PartitionQueue, ProducerBatch
from ottla.client.producer.sequence import EPOCH_MAX, ProducerIdentity, SequenceLedger
from ottla.protocol.errors import ErrorCode

OUT_OF_ORDER, UNKNOWN = ErrorCode.OUT_OF_ORDER_SEQUENCE_NUMBER, ErrorCode.UNKNOWN_PRODUCER_ID


@pytest.fixture
def queue() -> PartitionQueue:
    return PartitionQueue(TopicLane("t", 2), 0)


def ledger_of(*, is_transactional: bool = False) -> SequenceLedger:
    ledger = SequenceLedger(is_transactional=is_transactional)
    ledger.adopt_new(ProducerIdentity(9, 0))
    return ledger


def begun_of(queue: PartitionQueue, *, is_transactional: bool = False) -> SequenceLedger:
    """One whose number 0 is acknowledged: several batches may be in flight."""
    ledger = ledger_of(is_transactional=is_transactional)
    ledger.completed(sent(ledger, queue, 1), 0)
    return ledger


def sent(ledger: SequenceLedger, queue: PartitionQueue, count: int) -> ProducerBatch:
    """A batch of `count` records, numbered and on its way."""
    batch = ProducerBatch(queue, 0, 1_000)
    for _ in range(count):
        batch.append(0, None, b"v", None)
    assert ledger.may_send(queue, batch)
    batch.assign(*ledger.number(queue, batch))
    batch.attempts += 1
    return batch


def numbers(*batches: ProducerBatch) -> list[tuple[int, int]]:
    return [(batch.producer_epoch, batch.base_sequence) for batch in batches]


def test_first_number_is_acknowledged_before_the_second_batch_leaves(queue: PartitionQueue) -> None:
    """To a broker that knows nothing of the producer any number is the first."""
    ledger = ledger_of()
    first = sent(ledger, queue, 3)
    waiting = ProducerBatch(queue, 0, 1_000)
    assert not ledger.may_send(queue, waiting)
    assert ledger.may_retry(first, ErrorCode.NOT_LEADER_OR_FOLLOWER, -1)
    assert not ledger.may_send(queue, waiting)
    ledger.completed(first, 0)
    assert numbers(sent(ledger, queue, 1), sent(ledger, queue, 1)) == [(0, 3), (0, 4)]


def test_numbers_have_no_gaps_and_go_round(queue: PartitionQueue) -> None:
    ledger = begun_of(queue)
    first, second = sent(ledger, queue, 3), sent(ledger, queue, 2)
    assert numbers(first, second) == [(0, 1), (0, 4)]
    ledger.entry(queue).next_sequence = 2**31 - 1
    last, next_one = sent(ledger, queue, 3), sent(ledger, queue, 1)
    assert numbers(last, next_one) == [(0, 2**31 - 1), (0, 2)]
    assert last.last_sequence == 1


def test_only_the_oldest_is_sent_again(queue: PartitionQueue) -> None:
    ledger = begun_of(queue)
    first, second = sent(ledger, queue, 1), sent(ledger, queue, 1)
    assert ledger.may_retry(first, ErrorCode.NOT_LEADER_OR_FOLLOWER, -1)
    assert ledger.may_retry(second, OUT_OF_ORDER, -1)
    assert not ledger.may_send(queue, second)
    assert ledger.may_send(queue, first)
    ledger.completed(first, 10)
    assert ledger.may_send(queue, second)
    assert ledger.identity.epoch == 0


def test_gap_that_is_certain_takes_the_next_epoch(queue: PartitionQueue) -> None:
    ledger = begun_of(queue)
    first, second = sent(ledger, queue, 2), sent(ledger, queue, 1)
    assert ledger.may_retry(first, OUT_OF_ORDER, -1)
    ledger.bump_if_needed()
    assert numbers(first, second) == [(1, 0), (1, 2)]
    # The answer to what was sent with the old numbers is no reason for another epoch.
    assert ledger.may_retry(second, OUT_OF_ORDER, -1)
    ledger.bump_if_needed()
    assert ledger.identity.epoch == 1


def test_given_up_in_flight_stops_new_numbers_until_it_is_resolved(queue: PartitionQueue) -> None:
    ledger = begun_of(queue)
    lost, second = sent(ledger, queue, 1), sent(ledger, queue, 1)
    ledger.failed(lost, None, is_certain=False)
    waiting = ProducerBatch(queue, 0, 1_000)
    assert not ledger.may_send(queue, waiting)
    assert ledger.resolve() == []
    assert ledger.has_unresolved
    # The broker took the second one, so it had the first one too.
    ledger.completed(second, 11)
    ledger.resolve()
    ledger.bump_if_needed()
    assert ledger.may_send(queue, waiting)
    assert ledger.identity.epoch == 0


def test_given_up_and_never_resolved_takes_the_next_epoch(queue: PartitionQueue) -> None:
    ledger = ledger_of()
    lost = sent(ledger, queue, 5)
    ledger.failed(lost, None, is_certain=False)
    ledger.resolve()
    ledger.bump_if_needed()
    assert numbers(sent(ledger, queue, 1)) == [(1, 0)]


def test_refused_batch_of_a_transaction_closes_the_gap(queue: PartitionQueue) -> None:
    ledger = begun_of(queue, is_transactional=True)
    first, refused, third = (sent(ledger, queue, 2) for _ in range(3))
    ledger.completed(first, 1)
    ledger.failed(refused, ErrorCode.MESSAGE_TOO_LARGE, is_certain=True)
    assert numbers(third, sent(ledger, queue, 1)) == [(0, 3), (0, 5)]


def test_transactional_gap_has_to_be_aborted(queue: PartitionQueue) -> None:
    ledger = ledger_of(is_transactional=True)
    lost = sent(ledger, queue, 1)
    ledger.failed(lost, None, is_certain=False)
    assert ledger.resolve() == [queue]
    assert ledger.resolve() == []


def test_forgotten_by_the_broker(queue: PartitionQueue) -> None:
    ledger = ledger_of()
    batch = sent(ledger, queue, 1)
    assert ledger.may_retry(batch, UNKNOWN, -1)
    ledger.bump_if_needed()
    assert ledger.identity.epoch == 0
    assert ledger.may_retry(batch, UNKNOWN, 100)
    ledger.bump_if_needed()
    assert numbers(batch) == [(1, 0)]


def test_other_partitions_change_epoch_when_they_are_idle(queue: PartitionQueue) -> None:
    ledger = ledger_of()
    other = PartitionQueue(queue.lane, 1)
    busy = sent(ledger, other, 4)
    assert ledger.may_retry(sent(ledger, queue, 1), OUT_OF_ORDER, -1)
    ledger.bump_if_needed()
    waiting = ProducerBatch(other, 0, 1_000)
    assert not ledger.may_send(other, waiting)
    ledger.completed(busy, 4)
    assert numbers(busy, sent(ledger, other, 1)) == [(0, 0), (1, 0)]


def test_used_up_epochs_need_a_new_id(queue: PartitionQueue) -> None:
    ledger = ledger_of()
    ledger.adopt_new(ProducerIdentity(9, EPOCH_MAX))
    batch = sent(ledger, queue, 1)
    assert ledger.may_retry(batch, OUT_OF_ORDER, -1)
    ledger.bump_if_needed()
    assert ledger.needs_identity
    ledger.adopt_new(ProducerIdentity(10, 0))
    assert (batch.producer_id, *numbers(batch)) == (10, (0, 0))


def test_split_keeps_its_place(queue: PartitionQueue) -> None:
    ledger = begun_of(queue)
    large, behind = sent(ledger, queue, 4), sent(ledger, queue, 1)
    parts = [sent(ledger_of(), queue, 2) for _ in range(2)]
    ledger.replaced(large, parts)
    assert ledger.entry(queue).in_flight == [*parts, behind]
    assert not ledger.may_send(queue, parts[1])
    assert ledger.may_send(queue, parts[0])
