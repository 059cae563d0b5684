"""The producer while its broker is killed, silent or slow: nothing is lost, doubled or swapped."""

import os
import random
import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import pytest

from ottla.client.errors import BufferExhaustedError, ClosedError, KafkaTimeoutError, NoBrokersAvailableError
from ottla.client.producer.producer import Producer
from ottla.client.record import RecordMetadata
from ottla.testing import EmbeddedBroker
from tests.clients.killing import Journal
from tests.clients.patience import until
from tests.clients.topic import create
from tests.integration.client.test_producer import read
from tests.kafka.port import free_port
from tests.kafka.server import Server

PARTITIONS = 3


@contextmanager
def silent(server: Server) -> Iterator[None]:
    """The broker's process is stopped, its connections stay open."""
    os.kill(server.pid, signal.SIGSTOP)
    # The signal stops one thread after the other.
    os.waitid(os.P_PID, server.pid, os.WSTOPPED)
    try:
        yield
    finally:
        os.kill(server.pid, signal.SIGCONT)


class Load:
    """Sends numbers to all partitions until it is stopped."""

    def __init__(self, producer: Producer, topic: str, journal: Journal) -> None:
        self._producer = producer
        self._topic = topic
        self._journal = journal
        self._stopping = threading.Event()
        self._thread = threading.Thread(target=self._run)
        self._thread.start()

    def stop(self) -> None:
        self._stopping.set()
        self._thread.join()

    def _run(self) -> None:
        number = 0
        while not self._stopping.is_set():
            for partition in range(PARTITIONS):
                value = b"%012d" % number + bytes(88)
                self._producer.send(self._topic, value, partition=partition, on_delivery=self._note(partition, number))
            number += 1
            if number % 50 == 0:
                self._stopping.wait(0.002)

    def _note(self, partition: int, number: int) -> Any:
        def note(metadata: RecordMetadata | None, error: Exception | None) -> None:
            if metadata is not None:
                self._journal.acknowledged[partition].append((number, metadata.offset))
            else:
                self._journal.failures.append(repr(error))

        return note


def test_killed_under_load_loses_doubles_and_swaps_nothing(lone_server: Callable[..., Server]) -> None:
    server = lone_server(log_flush_offset_checkpoint_interval_ms="500")
    create(server, "load", PARTITIONS, segment_bytes="1048576")
    journal, dice = Journal(PARTITIONS), random.Random(7)
    settings = {"linger_ms": 1, "batch_size": 4_000, "max_block_ms": 300_000, "delivery_timeout_ms": 300_000}
    with Producer(bootstrap_servers=server.bootstrap, **settings) as producer:
        load = Load(producer, "load", journal)
        try:
            for _ in range(4):
                wanted = journal.count + dice.randrange(500, 10_000)
                until(True, lambda wanted=wanted: journal.count >= wanted or bool(journal.failures))  # type: ignore[misc]
                server.kill()
                server.start()
        finally:
            load.stop()
        producer.flush(60)
    for partition in range(PARTITIONS):
        found = [(message.offset(), int(message.value()[:12])) for message in read(server, "load", partition)]
        journal.check(partition, found, idempotent=True)
        assert len(found) == len(journal.acknowledged[partition])


def test_delivery_times_out(lone_server: Callable[..., Server]) -> None:
    server = lone_server()
    create(server, "t")
    settings = {"request_timeout_ms": 300, "delivery_timeout_ms": 1_000, "linger_ms": 0}
    with Producer(bootstrap_servers=server.bootstrap, **settings) as producer:
        producer.send("t", b"before", partition=0).result(30)
        with silent(server):
            lost = producer.send("t", b"lost?", partition=0)
            with pytest.raises(KafkaTimeoutError, match="not delivered within"):
                lost.result(30)
        # The fate of "lost?" is unknown, so the next epoch starts from 0; nothing is stuck.
        after = producer.send("t", b"after", partition=0).result(30)
    values = [message.value() for message in read(server, "t")]
    assert values[0] == b"before"
    assert values[after.offset] == b"after"
    assert values.count(b"lost?") <= 1


def test_full_buffer_blocks_and_then_refuses(lone_server: Callable[..., Server]) -> None:
    server = lone_server()
    create(server, "t")
    settings = {"buffer_memory": 100_000, "max_block_ms": 300, "batch_size": 10_000}
    with Producer(bootstrap_servers=server.bootstrap, **settings) as producer:
        producer.send("t", b"known", partition=0).result(30)
        futures = []
        with silent(server):
            with pytest.raises(BufferExhaustedError, match=r"buffer\.memory"):
                futures.extend(producer.send("t", bytes(1_000), partition=0) for _ in range(1_000))
            assert 80 <= len(futures) <= 100
        # What it took is delivered all the same, and there is room again.
        assert [future.result(30).offset for future in futures] == list(range(1, len(futures) + 1))
        producer.send("t", b"again", partition=0).result(30)


def test_slow_broker_slows_the_sender(lone_server: Callable[..., Server]) -> None:
    server = lone_server()
    create(server, "t")
    with Producer(bootstrap_servers=server.bootstrap, buffer_memory=200_000, linger_ms=0) as producer:
        futures = [producer.send("t", bytes(1_000), partition=0) for _ in range(5_000)]
        assert futures[-1].result(60).offset == 4_999


def test_close_gives_up_after_its_timeout(lone_server: Callable[..., Server]) -> None:
    server = lone_server()
    create(server, "t")
    producer = Producer(bootstrap_servers=server.bootstrap, linger_ms=0)
    producer.send("t", b"v", partition=0).result(30)
    with silent(server):
        future = producer.send("t", b"lost", partition=0)
        producer.close(timeout=0.3)
    with pytest.raises(ClosedError, match="before the record was delivered"):
        future.result(0)


def test_nobody_there() -> None:
    with pytest.raises(NoBrokersAvailableError, match=r"127\.0\.0\.1"):
        Producer(bootstrap_servers=f"127.0.0.1:{free_port()}")


def test_an_advertised_address_that_leads_nowhere_is_named(
    lone_server: Callable[..., Server], caplog: pytest.LogCaptureFixture
) -> None:
    nowhere = f"127.0.0.1:{free_port()}"
    server = lone_server(advertised_listeners=f"PLAINTEXT://{nowhere}", auto_create_topics_enable="true")
    limits = {"request_timeout_ms": 1_000, "delivery_timeout_ms": 2_000, "linger_ms": 0}
    with Producer(bootstrap_servers=server.bootstrap, **limits) as producer:
        error = producer.send("t", b"v").exception(60)
    assert isinstance(error, KafkaTimeoutError)
    assert f"{nowhere} (broker 1): connection refused" in str(error)
    assert "advertised.listeners" in str(error)
    # It was tried many times, and told once.
    told = [record for record in caplog.records if record.levelname == "WARNING" and nowhere in record.getMessage()]
    assert len(told) == 1


def test_first_batch_that_is_refused_comes_first_all_the_same() -> None:
    """A broker that knows nothing of the producer would take the second batch for its first."""
    with EmbeddedBroker() as broker:
        broker.create_topic("new")
        refused = broker.faults.error("Produce", "NOT_LEADER_OR_FOLLOWER")
        with Producer(bootstrap_servers=broker.bootstrap_servers, batch_size=200, linger_ms=50) as producer:
            futures = [producer.send("new", bytes(100), partition=0) for _ in range(10)]
            assert [future.result(30).offset for future in futures] == list(range(10))
        assert refused.hits == 1
