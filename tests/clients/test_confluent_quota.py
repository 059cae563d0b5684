"""confluent-kafka (librdkafka) under quotas: the one that is named waits, and nobody else."""

import random
import statistics
import threading
import time
from collections.abc import Iterator

import pytest
from confluent_kafka import Consumer, Producer

from ottla.cli.kafka.configs import main as configs
from ottla.protocol.errors import ErrorCode
from ottla.protocol.messages.create_topics import CreatableTopic, CreateTopicsRequest, CreateTopicsResponse
from tests.clients.client import confluent
from tests.clients.topic import create
from tests.kafka.server import Server
from tests.kafka.wire import Wire

pytestmark = pytest.mark.client(confluent.NAME)
RATE = 500_000
RECORD_BYTES = 50_000
RECORDS = 106
"""Ten seconds' worth are free at the start: six records have to wait."""


@pytest.fixture
def limited(server: Server) -> Iterator[None]:
    quotas = {"producer_byte_rate": float(RATE), "consumer_byte_rate": float(RATE)}
    add = ",".join(f"{name}={value}" for name, value in quotas.items())
    _alter(server, "--add-config", add)
    yield
    _alter(server, "--delete-config", ",".join(quotas))


def _alter(server: Server, *change: str, entity: str = "--entity-name=limited") -> None:
    who = ("--entity-type", "clients", entity)
    assert configs(["--bootstrap-server", server.bootstrap, "--alter", *who, *change]) == 0


def write(server: Server, topic: str, client_id: str) -> list[float]:
    """Writes more than the quota allows at once; the times that the broker had the producer wait."""
    waits: list[float] = []
    producer = Producer(
        {
            "bootstrap.servers": server.bootstrap,
            "client.id": client_id,
            "throttle_cb": lambda event: waits.append(event.throttle_time),
        }
    )
    for _ in range(RECORDS):
        producer.produce(topic, bytes(RECORD_BYTES))
        producer.flush(60)
    assert producer.flush(60) == 0
    return waits


def read(server: Server, topic: str, client_id: str) -> None:
    """Reads what was written."""
    consumer = Consumer(
        {
            "bootstrap.servers": server.bootstrap,
            "client.id": client_id,
            "group.id": f"{topic}-{client_id}",
            "auto.offset.reset": "earliest",
        }
    )
    consumer.subscribe([topic])
    started, left = time.monotonic(), RECORDS
    while left:
        left -= len(consumer.consume(left, timeout=1))
        assert time.monotonic() - started < 60
    consumer.close()


@pytest.mark.usefixtures("limited")
def test_quotas_slow_the_one_they_name(server: Server, topic: str) -> None:
    """byte rates of a client id: the producer hears how long to wait, the consumer gets all, others are free"""
    create(server, topic)
    assert any(wait > 0 for wait in write(server, topic, "limited"))
    assert write(server, topic, "bystander") == []
    read(server, topic, "limited")


@pytest.mark.parametrize(("version", "code"), [(4, ErrorCode.NONE), (7, ErrorCode.THROTTLING_QUOTA_EXCEEDED)])
def test_topics_come_no_faster_than_the_quota_says(server: Server, topic: str, version: int, code: int) -> None:
    """controller_mutation_rate: an overdrawn client is told to wait, and refused in versions that know of the quota"""
    _alter(server, "--add-config", "controller_mutation_rate=1", entity="--entity-default")
    try:
        large, small = create_topics(f"{topic}-large", 100), create_topics(f"{topic}-small", 1)
        # The connection of the first is not read from for a while, so the second comes over another one.
        with Wire(("127.0.0.1", server.port)) as first, Wire(("127.0.0.1", server.port)) as second:
            first.ask(large, version)
            answer = second.ask(small, version)
        assert isinstance(answer, CreateTopicsResponse)
        assert answer.topics[0].error_code == code
        assert answer.throttle_time_ms > 0
    finally:
        _alter(server, "--delete-config", "controller_mutation_rate", entity="--entity-default")


def create_topics(name: str, partitions: int) -> CreateTopicsRequest:
    topic = CreatableTopic(name=name, num_partitions=partitions, replication_factor=1)
    return CreateTopicsRequest(topics=[topic], timeout_ms=30_000)


SMOOTH_RATE = 1_000_000
MEASURED_S = 22.0
"""Two times what a rate is measured over: what was free at first comes back when it is forgotten."""
TOLERANCE = 0.15


class Greedy:
    """A producer that sends as fast as it can, and counts what was acknowledged."""

    def __init__(self, server: Server, topic: str, client_id: str) -> None:
        self._topic = topic
        self.acknowledged = 0
        self._value = random.Random(1).randbytes(1_000)
        self._producer = Producer(
            {
                "bootstrap.servers": server.bootstrap,
                "client.id": client_id,
                "linger.ms": 5,
                "batch.size": 32_768,
                "queue.buffering.max.kbytes": 1_024,
                "delivery.timeout.ms": 120_000,
            }
        )

    def run(self, seconds: float) -> float:
        """Sends for a while; the bytes a second that were acknowledged meanwhile."""
        before, began = self.acknowledged, time.monotonic()
        while time.monotonic() - began < seconds:
            try:
                self._producer.produce(self._topic, self._value, on_delivery=self._delivered)
            except BufferError:
                self._producer.poll(0.01)
            self._producer.poll(0)
        return (self.acknowledged - before) / (time.monotonic() - began)

    def _delivered(self, error: object, _: object) -> None:
        assert error is None
        self.acknowledged += len(self._value)

    def end(self) -> None:
        """Forgets what was not sent."""
        self._producer.purge()
        self._producer.flush(10)


class Bystander(threading.Thread):
    """A client without a quota, which sends a record now and then and waits for it."""

    def __init__(self, server: Server, topic: str) -> None:
        super().__init__()
        self.waits: list[float] = []
        self.times_s: list[float] = []
        self.is_over = threading.Event()
        self._topic = topic
        self._producer = Producer(
            {
                "bootstrap.servers": server.bootstrap,
                "client.id": "bystander",
                "linger.ms": 0,
                "throttle_cb": lambda event: self.waits.append(event.throttle_time),
            }
        )

    def run(self) -> None:
        """Until it is told to end."""
        while not self.is_over.wait(0.02):
            began = time.monotonic()
            self._producer.produce(self._topic, b"now and then")
            assert self._producer.flush(60) == 0
            self.times_s.append(time.monotonic() - began)


@pytest.mark.long
def test_a_measured_rate_and_a_bystander(server: Server, topic: str) -> None:
    """producer_byte_rate: a greedy producer gets what its quota says within 15 %, a bystander is not slowed"""
    create(server, topic)
    greedy, bystander = Greedy(server, topic, "limited"), Bystander(server, topic)
    _alter(server, "--add-config", f"producer_byte_rate={SMOOTH_RATE}")
    bystander.start()
    try:
        # Ten seconds' worth are free at first.
        greedy.run(12.0)
        bystander.times_s.clear()
        measured = greedy.run(MEASURED_S)
    finally:
        bystander.is_over.set()
        bystander.join()
        _alter(server, "--delete-config", "producer_byte_rate")
        greedy.end()
    assert measured == pytest.approx(SMOOTH_RATE, rel=TOLERANCE)
    assert not any(bystander.waits)
    assert statistics.median(bystander.times_s) < 0.25
