"""What a client does with a broker under test, with confluent-kafka: records in and out."""

import time
from typing import Any

from confluent_kafka import Consumer, Producer, TopicPartition

from ottla.testing import EmbeddedBroker

PATIENCE_S = 60.0
CLEAN_SHUTDOWN_FILE = ".kafka_cleanshutdown"


def producer(broker: EmbeddedBroker, **settings: Any) -> Producer:
    """A producer that waits for nothing."""
    given = {name.replace("_", "."): value for name, value in settings.items()}
    quick = {"linger.ms": 0, "reconnect.backoff.ms": 10, "retry.backoff.ms": 10, "reconnect.backoff.max.ms": 100}
    return Producer({"bootstrap.servers": broker.bootstrap_servers, **quick, **given})


def write(client: Producer, topic: str, *values: bytes) -> list[int]:
    """Writes to partition 0 and waits for it; the offsets."""
    offsets: list[int] = []

    def delivered(error: object, message: Any) -> None:
        assert error is None, error
        offsets.append(message.offset())

    for value in values:
        client.produce(topic, value, partition=0, on_delivery=delivered)
    assert client.flush(PATIENCE_S) == 0
    return offsets


def read(broker: EmbeddedBroker, topic: str, *, isolation: str = "read_uncommitted") -> list[bytes]:
    """Everything in partition 0."""
    client = Consumer(
        {
            "bootstrap.servers": broker.bootstrap_servers,
            "group.id": "reader",
            "enable.auto.commit": False,
            "enable.partition.eof": True,
            "isolation.level": isolation,
        }
    )
    client.assign([TopicPartition(topic, 0, 0)])
    found: list[bytes] = []
    deadline = time.monotonic() + PATIENCE_S
    try:
        while True:
            message = client.poll(1.0)
            assert message is not None or time.monotonic() < deadline, found
            if message is None:
                continue
            if message.error() is not None:
                return found
            found.append(message.value())
    finally:
        client.close()
