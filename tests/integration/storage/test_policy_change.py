"""A topic is compacted, then it is not any more, and the broker is killed: what was committed is there.

Real processes, real compaction, real SIGKILL; Apache Kafka's own cleaner, too, on a directory that goes back and forth.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from confluent_kafka import Consumer, Producer, TopicPartition
from confluent_kafka.admin import AdminClient, AlterConfigOpType, ConfigEntry, ConfigResource, ResourceType

from tests.clients.patience import until
from tests.clients.server import CLUSTER_ID, OttlaServer
from tests.clients.topic import create
from tests.kafka.peer import KafkaServer, require_kafka
from tests.kafka.server import Server

TOPIC = "states"
KEYS = 500
VALUE = b"v" * 1000
SETTINGS = {"log_cleaner_backoff_ms": "100", "log_initial_task_delay_ms": "86400000"}


@contextmanager
def killed_in_the_end(server: Server) -> Iterator[Server]:
    try:
        yield server
    finally:
        server.kill()


def create_compacted(server: Server, dirty_ratio: str) -> None:
    create(server, TOPIC, cleanup_policy="compact", segment_bytes="1048576", min_cleanable_dirty_ratio=dirty_ratio)


def produce(server: Server, count: int) -> None:
    producer = Producer({"bootstrap.servers": server.bootstrap, "enable.idempotence": True, "linger.ms": 5})
    for number in range(count):
        producer.produce(TOPIC, VALUE, str(number % KEYS).encode(), partition=0)
    assert producer.flush(60) == 0


def consume(server: Server) -> list[tuple[int, bytes]]:
    """Offset and key of all records up to the log end, which is the last entry."""
    consumer = Consumer({"bootstrap.servers": server.bootstrap, "group.id": "none", "enable.auto.commit": False})
    place = TopicPartition(TOPIC, 0, 0)
    end_offset = consumer.get_watermark_offsets(place, timeout=30)[1]
    consumer.assign([place])
    found: list[tuple[int, bytes]] = []
    while not found or found[-1][0] < end_offset - 1:
        message = consumer.poll(30)
        assert message is not None, f"nothing behind {found[-1:]}, though the log ends at {end_offset}"
        offset, key = message.offset(), message.key()
        assert offset is not None
        assert key is not None
        found.append((offset, key))
    consumer.close()
    return [*found, (end_offset, b"end")]


def wait_until_cleaned(server: Server) -> None:
    """A round is over once the directory has no more than the keys' last records and the active segment."""
    directory = server.log_directory / f"{TOPIC}-0"
    limit = (KEYS + 100) * len(VALUE) + 1048576
    until(True, lambda: sum(path.stat().st_size for path in directory.glob("*.log")) < limit)


def alter(server: Server, name: str, value: str) -> None:
    admin = AdminClient({"bootstrap.servers": server.bootstrap})
    entry = ConfigEntry(name, value, incremental_operation=AlterConfigOpType.SET)
    topic = ConfigResource(ResourceType.TOPIC, TOPIC, incremental_configs=[entry])
    admin.incremental_alter_configs([topic])[topic].result(30)


def test_a_topic_that_was_compacted_survives_kill_9(tmp_path: Path) -> None:
    with killed_in_the_end(OttlaServer(tmp_path, **SETTINGS)) as server:
        server.format(CLUSTER_ID)
        server.start()
        create_compacted(server, "0.01")
        produce(server, 6000)
        wait_until_cleaned(server)
        alter(server, "cleanup.policy", "delete")
        before = consume(server)
        assert before[-1] == (6000, b"end")
        for _ in range(2):
            server.kill()
            server.start()
            assert consume(server) == before
        produce(server, 10)
        assert consume(server)[-1] == (6010, b"end")


@pytest.mark.long
def test_what_kafka_compacted_after_us_survives_kill_9(tmp_path: Path) -> None:
    """Killed as ours, cleaned and killed as Apache Kafka's, opened by us: no claim outlives Kafka's cleaning."""
    require_kafka()
    ours = OttlaServer(tmp_path, **SETTINGS)
    with killed_in_the_end(ours):
        ours.format(CLUSTER_ID)
        ours.start()
        create_compacted(ours, "1")
        produce(ours, 3000)
    kafka = KafkaServer(tmp_path)
    kafka.port, kafka.controller_port = ours.port, ours.controller_port
    kafka.configure(**SETTINGS)
    directory = ours.log_directory / f"{TOPIC}-0"
    assert list(directory.glob("contiguous-from-*"))
    with killed_in_the_end(kafka):
        kafka.start()
        assert not list(directory.glob("contiguous-from-*"))
        alter(kafka, "min.cleanable.dirty.ratio", "0.01")
        produce(kafka, 3000)
        wait_until_cleaned(kafka)
        alter(kafka, "cleanup.policy", "delete")
        before = consume(kafka)
    with killed_in_the_end(ours):
        ours.start()
        assert consume(ours) == before
