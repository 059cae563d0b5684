"""kill -9 in a loop under load: what was acknowledged is there, at the offset that was said.

An idempotent producer's records are there once and in order; with plain acks=1 a retry may double or swap them, as with
any server. What is lost at one kill stays lost, so that one look at the end sees all of them.

`OTTLA_TEST_KILLS=200` makes it a long one.
"""

import os
import random
from collections.abc import Callable

import pytest
from confluent_kafka.admin import AdminClient, NewTopic

from tests.clients.client import confluent
from tests.clients.killing import Journal, Load
from tests.clients.topic import create_with
from tests.kafka.server import Server

pytestmark = pytest.mark.client(f"{confluent.NAME} while the server is killed")
KILLS = int(os.environ.get("OTTLA_TEST_KILLS", "4"))
PARTITIONS = 3


@pytest.mark.parametrize("promise", ["idempotent", "acks=1"])
def test_kill_under_load(lone_server: Callable[..., Server], promise: str) -> None:
    """nothing acknowledged is lost; what an idempotent producer wrote is neither doubled nor reordered"""
    # A segment that is rolled often, an index entry often, checkpoints often: kills hit all of it.
    server = lone_server(
        log_flush_offset_checkpoint_interval_ms="500", replica_high_watermark_checkpoint_interval_ms="200"
    )
    topic = NewTopic("load", PARTITIONS, 1, config={"segment.bytes": "1048576", "index.interval.bytes": "1024"})
    create_with(AdminClient({"bootstrap.servers": server.bootstrap}), topic)
    journal = Journal(PARTITIONS)
    dice = random.Random(promise)
    with Load(server.bootstrap, "load", journal, idempotent=promise == "idempotent") as load:
        for _ in range(KILLS):
            load.wait_for_acknowledged(dice.randrange(500, 20_000))
            server.kill()
            server.start()
        load.wait_for_acknowledged(1_000)
    for partition in range(PARTITIONS):
        journal.check(partition, read_all(server, partition), idempotent=promise == "idempotent")


def read_all(server: Server, partition: int) -> list[tuple[int, int]]:
    """Offset and number of every record of a partition."""
    client = confluent.consumer(server.bootstrap)
    assigned = confluent.TopicPartition("load", partition, 0)
    _, end = client.get_watermark_offsets(assigned, timeout=30)
    client.assign([assigned])
    found: list[tuple[int, int]] = []
    while len(found) < end:
        batch = client.consume(min(10_000, end - len(found)), timeout=30)
        assert batch, f"{len(found)} records of {end}, then nothing for 30 s"
        found += [(message.offset(), int(message.value()[:12])) for message in batch]
    client.close()
    return found
