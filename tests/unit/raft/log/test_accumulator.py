"""Records on their way into the leader's log."""

import pytest

from ottla.protocol.control_record import LeaderChangeMessage
from ottla.protocol.errors import NotLeaderOrFollowerError, RecordListTooLargeError
from ottla.protocol.records.batch import batches
from ottla.protocol.records.reader import decode_batch
from ottla.raft.config import NEVER_MS, QuorumConfig
from ottla.raft.errors import AppendBufferFullError
from ottla.raft.log.accumulator import BatchAccumulator

NOW_MS = 1_700_000_000_000


def accumulator(**settings: int) -> BatchAccumulator:
    return BatchAccumulator(epoch=4, base_offset=10, config=QuorumConfig(**settings))  # type: ignore[arg-type]


def test_records_collect_into_one_batch_for_the_linger_time() -> None:
    pending = accumulator(append_linger_ms=25)
    assert pending.drain_deadline_ms == NEVER_MS
    assert pending.append(4, [b"a", b"b"], NOW_MS) == 11
    assert pending.append(4, [b"c"], NOW_MS + 10) == 12
    assert pending.drain_deadline_ms == NOW_MS + 25
    [data] = pending.drain()
    [batch] = batches(data)
    assert (batch.base_offset, batch.last_offset, batch.partition_leader_epoch) == (10, 12, 4)
    assert [record[3] for record in decode_batch(batch)] == [b"a", b"b", b"c"]
    assert (pending.drain_deadline_ms, pending.pending_bytes) == (NEVER_MS, 0)


def test_all_records_of_a_batch_have_the_time_of_its_first() -> None:
    """Apache Kafka's nodes end themselves over a metadata batch whose records differ in time."""
    pending = accumulator(append_linger_ms=25)
    pending.append(4, [b"a"], NOW_MS)
    pending.append(4, [b"b"], NOW_MS + 10)
    [first] = pending.drain()
    pending.append(4, [b"c"], NOW_MS + 20)
    [second] = pending.drain()
    times = [[record[1] for batch in batches(data) for record in decode_batch(batch)] for data in (first, second)]
    assert times == [[NOW_MS, NOW_MS], [NOW_MS + 20]]


def test_records_appended_together_never_span_two_batches() -> None:
    pending = accumulator(batch_max_bytes=300)
    pending.append(4, [b"x" * 100], NOW_MS)
    pending.append(4, [b"y" * 60, b"z" * 60], NOW_MS)
    assert pending.drain_deadline_ms == 0, "a full batch need not wait"
    found = [batch for data in pending.drain() for batch in batches(data)]
    assert [[record[3] for record in decode_batch(batch)] for batch in found] == [
        [b"x" * 100],
        [b"y" * 60, b"z" * 60],
    ]


def test_control_records_are_a_batch_of_their_own_and_go_at_once() -> None:
    pending = accumulator(append_linger_ms=25)
    pending.append(4, [b"a"], NOW_MS)
    assert pending.append_control([LeaderChangeMessage(leader_id=1)], NOW_MS) == 11
    assert pending.drain_deadline_ms == 0
    kinds = [batch.is_control for data in pending.drain() for batch in batches(data)]
    assert kinds == [False, True]


def test_more_than_a_batch_is_too_much() -> None:
    with pytest.raises(RecordListTooLargeError):
        accumulator(batch_max_bytes=300).append(4, [b"x" * 200, b"y" * 200], NOW_MS)


def test_memory_is_bounded() -> None:
    pending = accumulator(pending_bytes_max=1000)
    taken = 0
    while pending.pending_bytes < 1000 - 100:
        taken = pending.append(4, [b"x" * 50], NOW_MS)
    with pytest.raises(AppendBufferFullError):
        pending.append(4, [b"x" * 100], NOW_MS)
    assert pending.next_offset == taken + 1, "what was refused took no offset"
    assert pending.pending_bytes <= 1000
    pending.drain()
    pending.append(4, [b"x" * 50], NOW_MS)


def test_other_epochs_are_refused() -> None:
    with pytest.raises(NotLeaderOrFollowerError):
        accumulator().append(3, [b"x"], NOW_MS)
    with pytest.raises(ValueError, match="epoch 5"):
        accumulator().append(5, [b"x"], NOW_MS)
    with pytest.raises(ValueError, match="0 records"):
        accumulator().append(4, [], NOW_MS)
