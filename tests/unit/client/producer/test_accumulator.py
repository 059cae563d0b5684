"""Records become batches: when they are full, due, flushed, or in the way."""

from collections.abc import Callable, Sequence
from typing import Any

import pytest

from ottla.client.producer.accumulator import Accumulator
from ottla.client.producer.batch import ProducerBatch
from ottla.client.producer.new_record import NewRecord
from tests.unit.client.producer.conftest import StillClock

Make = Callable[..., Accumulator]


def record(value: bytes = bytes(100), partition: int | None = 0, **fields: Any) -> NewRecord:
    return NewRecord("t", value, None, partition, **fields)


def test_batch_is_ready_when_it_is_full(make_accumulator: Make, clock: StillClock, wakes: list[int]) -> None:
    accumulator = make_accumulator(batch_size=500, linger_ms=10)
    for _ in range(5):
        accumulator.append(*record())
    [queue] = accumulator.take_ready(clock.ms)
    assert queue.topic_partition == ("t", 0)
    assert [batch.is_closed for batch in queue.batches] == [True, False]
    assert accumulator.is_due(queue.batches[0], clock.ms)
    assert not accumulator.is_due(queue.batches[1], clock.ms)
    assert wakes


def test_batch_is_ready_when_it_has_waited(make_accumulator: Make, clock: StillClock) -> None:
    accumulator = make_accumulator(linger_ms=10)
    accumulator.append(*record())
    assert accumulator.take_ready(clock.ms) == []
    assert accumulator.next_due_ms() == clock.ms + 10
    clock.ms += 10
    [queue] = accumulator.take_ready(clock.ms)
    batch = accumulator.take(queue)
    assert (batch.count, batch.is_closed, queue.lane.open[0]) == (1, True, None)
    assert accumulator.next_due_ms() is None


def test_sender_is_called_once_until_it_comes(make_accumulator: Make, clock: StillClock, wakes: list[int]) -> None:
    accumulator = make_accumulator(linger_ms=0)
    for partition in (0, 1, 2, 0, 1):
        accumulator.append(*record(partition=partition))
    assert len(wakes) == 1
    assert len(accumulator.take_ready(clock.ms)) == 3
    accumulator.mark_ready(accumulator.queues["t"][0])
    assert len(wakes) == 2


def test_sender_is_not_called_for_a_queue_that_it_has(
    make_accumulator: Make, clock: StillClock, wakes: list[int]
) -> None:
    accumulator = make_accumulator(batch_size=200)
    for _ in range(3):
        accumulator.append(*record())
    [queue] = accumulator.take_ready(clock.ms)
    called = len(wakes)
    for _ in range(5):
        accumulator.append(*record())
    assert (len(wakes), accumulator.take_ready(clock.ms)) == (called, [])
    while queue.batches:
        accumulator.take(queue)
    for _ in range(2):
        accumulator.append(*record())
    assert accumulator.take_ready(clock.ms) == [queue]


def test_first_record_opens_its_batch(make_accumulator: Make, wakes: list[int]) -> None:
    accumulator = make_accumulator(linger_ms=0)
    future = accumulator.append("t", b"v", b"k", None, None, None, None)
    assert future is not None
    assert future.batch.count == 1
    assert wakes == [1]
    second = accumulator.append("t", b"v", b"k", None, None, None, None)
    assert second is not None
    assert second.batch is future.batch
    assert wakes == [1]


@pytest.mark.parametrize(
    "refused",
    [
        ("absent", b"v", None, 0, None, None, None),
        ("t", b"v", None, 3, None, None, None),
        ("t", b"v", None, -1, None, None, None),
        ("t", "text", None, 0, None, None, None),
        ("t", b"v", bytearray(b"k"), 0, None, None, None),
        ("t", b"v", None, 0, -1, None, None),
        ("t", b"v", None, 0, None, {"name": b"value"}, None),
        ("t", b"v", None, 0, None, [("name", "value")], None),
        ("t", b"v", None, 0, None, [("\udc80", b"value")], None),
        ("t", b"v", None, 0, None, [("name", bytes(1 << 20))], None),
        ("t", bytes(1 << 20), None, 0, None, None, None),
    ],
)
def test_what_can_not_be_appended_as_it_is(make_accumulator: Make, refused: Sequence[Any]) -> None:
    accumulator = make_accumulator(linger_ms=0)
    for _ in range(2):
        assert accumulator.append(*refused) is None
        assert not any(accumulator.lanes["t"].open)
        assert (accumulator.memory_used, list(accumulator.incomplete)) == (0, [])
    accumulator.append(*record())
    assert accumulator.append(*refused) is None
    assert sum(batch.count for batch in accumulator.incomplete) == 1


def test_memory_is_bounded_and_comes_back(make_accumulator: Make, clock: StillClock) -> None:
    accumulator = make_accumulator(memory_bytes=2_000, batch_size=500, linger_ms=1_000)
    futures = []
    while (future := accumulator.append(*record())) is not None:
        futures.append(future)
    assert 10 < len(futures) < 20
    assert accumulator.memory_used <= 2_000
    woken: list[int] = []
    accumulator.on_room(100, lambda: woken.append(1))
    # Somebody waits: batches go before their time.
    [queue] = accumulator.take_ready(clock.ms)
    while queue.batches:
        accumulator.forget(accumulator.take(queue))
    assert woken == [1]
    assert accumulator.memory_used == 0
    assert not accumulator.is_hurried


def test_waiter_that_comes_too_late_is_woken_at_once(make_accumulator: Make) -> None:
    woken: list[int] = []
    make_accumulator().on_room(100, lambda: woken.append(1))
    assert woken == [1]


def test_sticky_partition_changes_after_a_batch(make_accumulator: Make) -> None:
    accumulator = make_accumulator(batch_size=500)
    turns = iter([1, 2, 0])
    accumulator.choose_partition = lambda lane: next(turns)
    for _ in range(10):
        accumulator.append(*record(partition=None))
    counts = [sum(batch.count for batch in queue.batches) for queue in accumulator.queues["t"]]
    assert counts == [4, 4, 2]


def test_flush_ends_when_all_batches_of_its_time_are_done(make_accumulator: Make, clock: StillClock) -> None:
    accumulator = make_accumulator(linger_ms=1_000)
    done: list[int] = []
    accumulator.flush(lambda: done.append(0))
    assert done == [0]
    accumulator.append(*record())
    accumulator.flush(lambda: done.append(1))
    assert accumulator.is_hurried
    [queue] = accumulator.take_ready(clock.ms)
    first = accumulator.take(queue)
    accumulator.append(*record())
    assert done == [0]
    accumulator.forget(first)
    assert done == [0, 1]
    assert not accumulator.is_hurried


def test_written_batch_stands_behind_the_open_one(make_accumulator: Make, clock: StillClock) -> None:
    accumulator = make_accumulator()
    accumulator.append(*record(b"before"))
    queue = accumulator.queues["t"][0]
    written = ProducerBatch(queue, clock.ms, 1_000)
    written.append(1, None, b"written", None)
    written.adopt(written.trimmed(), 1, 1, 1)
    assert accumulator.add_batch(written)
    accumulator.append(*record(b"after"))
    assert [batch.is_closed for batch in queue.batches] == [True, True, False]
    assert queue.batches[1] is written


def test_retry_stands_before_all_that_come_after_it(make_accumulator: Make) -> None:
    accumulator = make_accumulator(batch_size=1)
    for _ in range(5):
        accumulator.append(*record())
    queue = accumulator.queues["t"][0]
    batches = [accumulator.take(queue) for _ in range(4)]
    for number, batch in enumerate(batches):
        batch.assign(1, 0, (2**31 - 2 + number) & 0x7FFFFFFF)
    for batch in (batches[2], batches[0], batches[3], batches[1]):
        accumulator.put_back(batch)
    assert list(queue.batches)[:4] == batches
    assert not queue.batches[4].has_sequence


def test_split_parts_share_memory_and_flush(make_accumulator: Make, clock: StillClock) -> None:
    from ottla.protocol.records.writer import BatchOptions

    accumulator = make_accumulator(batch_size=5_000)
    futures = [accumulator.append(*record(b"%d" % number + bytes(300))) for number in range(10)]
    done: list[int] = []
    accumulator.flush(lambda: done.append(1))
    [queue] = accumulator.take_ready(clock.ms)
    batch = accumulator.take(queue)
    batch.write(BatchOptions(), (9, 0, 40))
    parts = batch.split(1_000)
    accumulator.replace(batch, parts)
    assert [part.base_sequence for part in parts] == [40, 43, 46, 49]
    assert sum(part.count for part in parts) == 10
    assert list(queue.batches) == parts
    for start, part in enumerate(parts):
        accumulator.take(queue)
        accumulator.forget(part)
        part.complete(100 + 3 * start)
    assert done == [1]
    assert accumulator.memory_used == 0
    assert [future.result(0).offset for future in futures if future] == list(range(100, 110))


def test_compression_ratio_falls_slowly_and_rises_quickly(make_accumulator: Make) -> None:
    accumulator = make_accumulator(compressed=True)
    accumulator.learn_ratio("t", 0.2)
    assert accumulator.ratios["t"] == 0.995
    accumulator.learn_ratio("t", 1.2)
    assert accumulator.ratios["t"] == 1.2
    accumulator.forget_ratio("t")
    assert accumulator.ratios["t"] == 1.0


def test_waiter_for_much_waits_for_much(make_accumulator: Make, clock: StillClock) -> None:
    accumulator = make_accumulator(memory_bytes=4_000, batch_size=500, linger_ms=1_000)
    while accumulator.append(*record()) is not None:
        pass
    woken: list[int] = []
    for size in (100, 3_000):
        accumulator.on_room(size, lambda size=size: woken.append(size))  # type: ignore[misc]
    [queue] = accumulator.take_ready(clock.ms)
    while queue.batches:
        accumulator.forget(accumulator.take(queue))
        if accumulator.memory_used > 1_000:
            assert 3_000 not in woken
    assert woken == [100, 3_000]


def test_batch_that_stays_empty_is_taken_back(make_accumulator: Make, clock: StillClock) -> None:
    accumulator = make_accumulator(linger_ms=0)

    def interrupted(*_: Any) -> None:
        """Ctrl-C, after the batch was opened."""
        if accumulator.lanes["t"].open[0] is not None:
            raise KeyboardInterrupt

    accumulator.append_to_open_batch = interrupted  # type: ignore[method-assign, assignment]
    with pytest.raises(KeyboardInterrupt):
        accumulator.append("t", b"v", None, 0, None, None, None)
    assert accumulator.lanes["t"].open[0] is None
    assert not accumulator.queues["t"][0].batches
    assert not accumulator.incomplete
    assert accumulator.memory_used == 0
    assert accumulator.take_ready(clock.ms) == []
    assert accumulator.next_due_ms() is None


def test_batch_behind_one_that_stays_empty_is_ready(make_accumulator: Make, clock: StillClock) -> None:
    accumulator = make_accumulator(linger_ms=0)
    queue = accumulator.queues["t"][0]
    written = ProducerBatch(queue, clock.ms, 1_000)
    written.append(1, None, b"written", None)
    written.adopt(written.trimmed(), 1, 1, 1)

    def interrupted(*arguments: Any) -> None:
        """Another thread's batch comes in between, and the sender looks before the empty one is taken back."""
        if accumulator.lanes["t"].open[0] is None:
            return
        assert accumulator.add_batch(written)
        assert accumulator.take_ready(clock.ms) == [queue]
        raise KeyboardInterrupt

    accumulator.append_to_open_batch = interrupted  # type: ignore[method-assign, assignment]
    with pytest.raises(KeyboardInterrupt):
        accumulator.append("t", b"v", None, 0, None, None, None)
    assert list(queue.batches) == [written]
    assert accumulator.take_ready(clock.ms) == [queue]


def test_parts_of_two_batches_stand_in_order(make_accumulator: Make) -> None:
    from ottla.protocol.records.writer import BatchOptions

    accumulator = make_accumulator(batch_size=300)
    for _ in range(5):
        accumulator.append(*record())
    queue = accumulator.queues["t"][0]
    first, second = accumulator.take(queue), accumulator.take(queue)
    first.write(BatchOptions(), (9, 0, 0))
    second.write(BatchOptions(), (9, 0, 2))
    for batch in (first, second):
        accumulator.replace(batch, batch.split(1))
    assert [batch.base_sequence for batch in queue.batches] == [0, 1, 2, 3, -1]
