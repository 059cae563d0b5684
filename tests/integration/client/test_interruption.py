"""Signal handlers that raise (Ctrl-C, time-outs of one's own) in the midst of blocking calls: the client goes on."""

import logging
import random
import signal
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from functools import partial
from types import FrameType

import pytest

from ottla.client import Admin, Consumer, Producer, TopicPartition
from ottla.client.producer.transaction_error import TransactionStateError
from tests.clients.topic import create
from tests.kafka.server import Server

_RECORDS = 3_000

# A signal may come while something is tidied up, where Python can only print what is raised; and between the call of a
# coroutine function and its first step, which Python says, too.
pytestmark = [
    pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning"),
    pytest.mark.filterwarnings("ignore:coroutine .* was never awaited"),
]


class Interruption(BaseException):
    """What a signal handler raises, as Ctrl-C does."""


class Interrupter:
    """Interrupts calls at any moment, and counts how often."""

    def __init__(self, seed: int, seconds_max: float) -> None:
        self._dice = random.Random(seed)
        self._seconds_max = seconds_max
        self._is_armed = False
        self.count = 0

    def __call__(self, _number: int, _frame: FrameType | None) -> None:
        """The signal's handler."""
        if self._is_armed:
            self._is_armed = False
            raise Interruption

    def during(self, call: Callable[[], object]) -> None:
        """Calls, and interrupts that if it lasts."""
        try:
            self._is_armed = True
            signal.setitimer(signal.ITIMER_REAL, self._dice.uniform(1e-6, self._seconds_max))
            call()
        except Interruption:
            self.count += 1
        finally:
            self._is_armed = False
            signal.setitimer(signal.ITIMER_REAL, 0)


@contextmanager
def interruptions(seed: int, seconds_max: float) -> Iterator[Interrupter]:
    """SIGALRM is the interrupter's meanwhile."""
    interrupter = Interrupter(seed, seconds_max)
    before = signal.signal(signal.SIGALRM, interrupter)
    try:
        yield interrupter
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


def warnings(caplog: pytest.LogCaptureFixture) -> list[str]:
    """What was logged that nobody wants to see."""
    return [record.getMessage() for record in caplog.records if record.levelno >= logging.WARNING]


def fill(server: Server, topic: str) -> None:
    """Numbers in three partitions."""
    create(server, topic, partitions=3)
    with Producer(bootstrap_servers=server.bootstrap) as producer:
        for number in range(_RECORDS):
            producer.send(topic, b"%d" % number, partition=number % 3)


@pytest.mark.parametrize("seconds_max", [8e-5, 2e-3], ids=["in-call", "in-wait"])
@pytest.mark.parametrize("is_member", [False, True], ids=["assigned", "member"])
def test_a_consumer_goes_on(
    server: Server, topic: str, caplog: pytest.LogCaptureFixture, seconds_max: float, *, is_member: bool
) -> None:
    fill(server, topic)
    partitions = [TopicPartition(topic, number) for number in range(3)]
    group = {"group_id": topic} if is_member else {}
    with Consumer(bootstrap_servers=server.bootstrap, auto_offset_reset="earliest", **group) as consumer:
        if is_member:
            consumer.subscribe([topic])
        else:
            consumer.assign(partitions)
        last: dict[int, int] = {}

        def poll(seconds: float = 0.01) -> None:
            for record in consumer.poll(seconds):
                assert record.offset > last.get(record.partition, -1)
                last[record.partition] = record.offset

        calls: list[Callable[[], object]] = [poll] * 8 + [lambda: consumer.end_offsets(partitions)]
        calls.append(consumer.commit if is_member else lambda: consumer.position(partitions[0]))
        with interruptions(14, seconds_max) as interrupter:
            for number in range(600):
                interrupter.during(calls[number % len(calls)])
        assert interrupter.count > 5
        deadline = time.monotonic() + 60
        while len(consumer.assignment()) < 3:
            assert time.monotonic() < deadline, "the group was not joined"
            poll(1)
        # What was handed out by a poll that was interrupted is read again.
        consumer.seek_to_beginning(partitions)
        last.clear()
        while sum(last.values()) < _RECORDS - 3:
            assert time.monotonic() < deadline, f"read up to {last}"
            poll(1)
        if is_member:
            consumer.commit()
            assert [found and found.offset for found in consumer.committed(partitions).values()] == [_RECORDS // 3] * 3
    assert not warnings(caplog)


def test_an_admin_goes_on(server: Server, topic: str, caplog: pytest.LogCaptureFixture) -> None:
    create(server, topic)
    with Admin(bootstrap_servers=server.bootstrap) as admin:
        calls: list[Callable[[], object]] = [admin.list_topics, lambda: admin.describe_topics([topic])]
        with interruptions(24, 2e-3) as interrupter:
            for number in range(300):
                interrupter.during(calls[number % 2])
        assert interrupter.count > 5
        assert topic in admin.describe_topics([topic])
    assert not warnings(caplog)


def test_an_interrupted_transaction_is_committed_or_taken_back_whole(server: Server, topic: str) -> None:
    create(server, topic, partitions=2)
    committed: set[int] = set()
    taken_back: set[int] = set()
    with (
        Producer(bootstrap_servers=server.bootstrap, transactional_id=topic) as producer,
        interruptions(9, 2e-3) as interrupter,
    ):
        producer.init_transactions()

        def transaction(number: int) -> None:
            producer.begin_transaction()
            for partition in (0, 1):
                producer.send(topic, b"%d" % number, partition=partition)
            producer.commit_transaction()
            committed.add(number)

        for number in range(200):
            interrupter.during(partial(transaction, number))
            if number not in committed and was_open(producer):
                taken_back.add(number)
        producer.flush(30)
    assert interrupter.count > 5
    with Consumer(
        bootstrap_servers=server.bootstrap, isolation_level="read_committed", auto_offset_reset="earliest"
    ) as consumer:
        partitions = [TopicPartition(topic, number) for number in (0, 1)]
        consumer.assign(partitions)
        ends = consumer.end_offsets(partitions)
        seen: Counter[int] = Counter()
        deadline = time.monotonic() + 60
        while any(consumer.position(partition) < ends[partition] for partition in partitions):
            assert time.monotonic() < deadline, "the end was not reached"
            seen.update(int(record.value) for record in consumer.poll(1))
    assert set(seen.values()) == {2}
    assert committed <= set(seen)
    assert not taken_back & set(seen)


def was_open(producer: Producer) -> bool:
    """Whether a transaction was open, which is taken back; one that was being committed is."""
    try:
        producer.abort_transaction()
    except TransactionStateError:
        with suppress(TransactionStateError):
            producer.commit_transaction()
        return False
    return True
