"""confluent-kafka (librdkafka) under quotas: the one that is named waits, and nobody else."""

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
