"""A thread that sends one record at a time and waits for each: quick, and as safe as any other way of sending.

After some records the thread does without the producer's own; a second connection is the sign of it.
"""

import asyncio
import itertools
import os
import random
import signal
import threading
from collections.abc import Callable
from types import FrameType
from typing import Any

import pytest

from ottla.client.errors import ClosedError
from ottla.client.producer.producer import Producer
from ottla.client.record import RecordMetadata
from tests.clients.patience import until
from tests.clients.topic import create
from tests.integration.client.test_producer import read
from tests.integration.client.test_producer_failure import silent
from tests.kafka.server import Server

_WARM = 40
SAFE: dict[str, object] = {"linger_ms": 0}
LAX: dict[str, object] = {"linger_ms": 0, "acks": 1}


def metric(producer: Producer, name: str) -> float:
    """One of the producer's own figures."""
    (value,) = [
        value for found, value in producer.metrics().items() if (found.name, found.group) == (name, "producer-metrics")
    ]
    return value


def send_one_by_one(producer: Producer, topic: str, count: int, start: int = 0, partition: int = 0) -> list[int]:
    """Sends numbers and waits for each; their offsets."""
    return [
        producer.send(topic, b"%d" % number, partition=partition).result(30).offset
        for number in range(start, start + count)
    ]


def warm(producer: Producer, topic: str) -> None:
    """Sends numbers until the thread carries its own records; the topic has them from 0 on."""
    for round_ in range(50):
        send_one_by_one(producer, topic, _WARM, round_ * _WARM)
        if metric(producer, "connection-count") == 2:
            return
    raise AssertionError("the second connection was not made")


def numbers(server: Server, topic: str, partition: int = 0) -> list[int]:
    """What was written."""
    return [int(message.value()) for message in read(server, topic, partition)]


@pytest.mark.parametrize(
    "settings", [SAFE, LAX, {**SAFE, "compression_type": "zstd"}], ids=["idempotent", "acks=1", "zstd"]
)
def test_records_are_written_once_in_order(server: Server, topic: str, settings: dict[str, object]) -> None:
    create(server, topic)
    with Producer(bootstrap_servers=server.bootstrap, **settings) as producer:
        assert send_one_by_one(producer, topic, 2_000) == list(range(2_000))
        assert metric(producer, "connection-count") == 2
        assert metric(producer, "record-send-total") == 2_000
        assert metric(producer, "request-total") >= 2_000
        assert metric(producer, "buffer-available-bytes") == metric(producer, "buffer-total-bytes")
    assert numbers(server, topic) == list(range(2_000))


def test_every_field_and_partition(server: Server, topic: str) -> None:
    create(server, topic, partitions=3)
    with Producer(bootstrap_servers=server.bootstrap, linger_ms=0) as producer:
        warm(producer, topic)
        for partition in range(3):
            for size in (0, 1, 127, 128, 20_000):
                sent = producer.send(
                    topic, bytes(size), b"k", partition=partition, timestamp_ms=7, headers=[("h", b"1")]
                )
                found = sent.result(30)
                assert (found.topic, found.partition, found.timestamp_ms) == (topic, partition, 7)
                message = read(server, topic, partition)[found.offset]
                assert (message.value(), message.key(), message.headers()) == (bytes(size), b"k", [("h", b"1")])


def test_what_nobody_waits_for_is_sent_all_the_same(server: Server, topic: str) -> None:
    create(server, topic)
    with Producer(bootstrap_servers=server.bootstrap, linger_ms=0) as producer:
        warm(producer, topic)
        future = producer.send(topic, b"alone", partition=0)
        until(True, future.done)
        warm(producer, topic)
        producer.send(topic, b"flushed", partition=0)
        producer.flush(30)
        warm(producer, topic)
        awaited = producer.send(topic, b"awaited", partition=0)

        async def wait() -> RecordMetadata:
            return await awaited

        assert asyncio.run(wait()).topic == topic
        warm(producer, topic)
        producer.send(topic, b"closed", partition=0)
    values = [message.value() for message in read(server, topic)]
    assert {b"alone", b"flushed", b"awaited", b"closed"} <= set(values)
    assert values[-1] == b"closed"


def test_callbacks_run_in_the_producers_thread_in_order(server: Server, topic: str) -> None:
    create(server, topic)
    heard: list[tuple[int, str]] = []

    def delivered(metadata: RecordMetadata | None, error: Exception | None) -> None:
        assert metadata is not None, error
        heard.append((metadata.offset, threading.current_thread().name))

    with Producer(bootstrap_servers=server.bootstrap, linger_ms=0, client_id="shop") as producer:
        warm(producer, topic)
        first = producer.send(topic, b"0", partition=0).result(30).offset
        for _ in range(200):
            producer.send(topic, b"0", partition=0, on_delivery=delivered).result(30)
    assert heard == [(first + 1 + number, "shop producer") for number in range(200)]


def test_threads_side_by_side(server: Server, topic: str) -> None:
    create(server, topic)
    with Producer(bootstrap_servers=server.bootstrap, linger_ms=0) as producer:
        warm(producer, topic)
        before = len(read(server, topic))
        offsets: list[list[int]] = [[], [], []]

        def run(mine: list[int]) -> None:
            mine += send_one_by_one(producer, topic, 500)

        threads = [threading.Thread(target=run, args=(mine,)) for mine in offsets]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert all(mine == sorted(mine) for mine in offsets)
    assert sorted(itertools.chain(*offsets)) == list(range(before, before + 1_500))


@pytest.mark.parametrize("settings", [SAFE, LAX], ids=["idempotent", "acks=1"])
def test_a_wait_that_is_given_up_goes_on_in_the_background(
    lone_server: Callable[..., Server], settings: dict[str, object]
) -> None:
    server = lone_server()
    create(server, "t")
    with Producer(bootstrap_servers=server.bootstrap, **settings) as producer:
        warm(producer, "t")
        for _ in range(3):
            with silent(server):
                future = producer.send("t", b"0", partition=0)
                with pytest.raises(TimeoutError):
                    future.result(0.2)
            offset = future.result(30).offset
            assert send_one_by_one(producer, "t", 20) == list(range(offset + 1, offset + 21))
    assert len(read(server, "t")) == offset + 21


def test_killed_brokers_lose_and_double_nothing(lone_server: Callable[..., Server]) -> None:
    server = lone_server()
    create(server, "t")
    with Producer(bootstrap_servers=server.bootstrap, **SAFE) as producer:
        count = 0
        for _ in range(4):
            assert send_one_by_one(producer, "t", 300, count) == list(range(count, count + 300))
            count += 300
            killer = threading.Timer(0.01, server.kill)
            killer.start()
            killer.join()
            starter = threading.Thread(target=server.start)
            starter.start()
            assert send_one_by_one(producer, "t", 100, count) == list(range(count, count + 100))
            count += 100
            starter.join()
    assert numbers(server, "t") == list(range(count))


def test_close_ends_a_wait(lone_server: Callable[..., Server]) -> None:
    server = lone_server()
    create(server, "t")
    producer = Producer(bootstrap_servers=server.bootstrap, **SAFE)
    warm(producer, "t")
    heard: list[BaseException | None] = []
    with silent(server):
        future = producer.send("t", b"0", partition=0)
        waiting = threading.Thread(target=lambda: heard.append(future.exception(30)))
        waiting.start()
        producer.close(timeout=0.3)
        waiting.join(20)
    assert isinstance(heard[0], ClosedError)


def test_refusals_reach_the_one_who_waits(server: Server, topic: str) -> None:
    create(server, topic, max_message_bytes="10000")
    with Producer(bootstrap_servers=server.bootstrap, **SAFE) as producer:
        warm(producer, topic)
        for _ in range(3):
            assert "MessageTooLarge" in repr(producer.send(topic, bytes(20_000), partition=0).exception(30))
            warm(producer, topic)


def test_a_forked_child_leaves_the_connection_alone(server: Server, topic: str) -> None:
    create(server, topic)
    with Producer(bootstrap_servers=server.bootstrap, **SAFE) as producer:
        warm(producer, topic)
        future = producer.send(topic, b"0", partition=0)
        child = os.fork()
        if child == 0:
            try:
                future.result(0.1)
            except TimeoutError:
                os._exit(0)
            os._exit(1 if not future.done() else 0)
        assert os.waitpid(child, 0)[1] == 0
        offset = future.result(30).offset
        assert send_one_by_one(producer, topic, 50) == list(range(offset + 1, offset + 51))


class Interruption(BaseException):
    """What a signal handler raises, as Ctrl-C does."""


# A signal may come while something is tidied up, where Python can only print what is raised.
@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
@pytest.mark.parametrize("seconds_max", [8e-5, 1.5e-3], ids=["in-send", "in-wait"])
@pytest.mark.parametrize("compression", ["none", "zstd"])
def test_interruptions_anywhere_lose_double_and_swap_nothing(
    server: Server, topic: str, compression: str, seconds_max: float
) -> None:
    create(server, topic)
    dice, is_armed = random.Random(16), False

    def interrupt(_number: int, _frame: FrameType | None) -> None:
        if is_armed:
            raise Interruption

    before = signal.signal(signal.SIGALRM, interrupt)
    futures: dict[int, Any] = {}
    interrupted = 0
    try:
        with Producer(bootstrap_servers=server.bootstrap, compression_type=compression, **SAFE) as producer:
            warm(producer, topic)
            first = len(read(server, topic))
            for number in range(first, first + 2_000):
                signal.setitimer(signal.ITIMER_REAL, dice.uniform(1e-6, seconds_max))
                try:
                    is_armed = True
                    futures[number] = producer.send(topic, b"%d" % number, partition=0)
                    futures[number].result(30)
                    is_armed = False
                except Interruption:
                    is_armed = False
                    interrupted += 1
                signal.setitimer(signal.ITIMER_REAL, 0)
            offsets = {number: future.result(30).offset for number, future in futures.items()}
            producer.flush(30)
            assert metric(producer, "buffer-available-bytes") == metric(producer, "buffer-total-bytes")
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
    assert interrupted > 100
    written = numbers(server, topic)
    assert written == sorted(set(written))
    assert [written[offset] for offset in offsets.values()] == list(offsets)
