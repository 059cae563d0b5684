"""confluent-kafka (librdkafka) under quotas: the one that is named waits, and nobody else."""

import time
from collections.abc import Iterator

import pytest
from confluent_kafka import Consumer, Producer

from ottla.cli.kafka.configs import main as configs
from tests.clients.client import confluent
from tests.clients.topic import create
from tests.kafka.server import Server

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


def _alter(server: Server, *change: str) -> None:
    entity = ("--entity-type", "clients", "--entity-name", "limited")
    assert configs(["--bootstrap-server", server.bootstrap, "--alter", *entity, *change]) == 0


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
