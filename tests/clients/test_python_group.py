"""kafka-python and aiokafka in groups, alone and together with confluent-kafka in one group."""

import asyncio
from collections.abc import Callable

import pytest
from aiokafka import AIOKafkaConsumer

from tests.clients.client import aio, confluent, kafka_python
from tests.clients.patience import until
from tests.clients.record import Record
from tests.clients.topic import create
from tests.kafka.server import Server

pytestmark = pytest.mark.client(f"{kafka_python.NAME} and {aio.NAME}")


@pytest.fixture
def quick(lone_server: Callable[..., Server]) -> Server:
    """A server where a group's first generation begins without delay."""
    return lone_server(group_initial_rebalance_delay_ms="0")


def fill(server: Server, topic: str, partitions: int = 1) -> None:
    """A topic with 50 records in partition 0."""
    create(server, topic, partitions)
    confluent.write(server.bootstrap, topic, [Record(None, b"%d" % number, (), number) for number in range(50)])


def test_kafka_python(quick: Server, topic: str) -> None:
    """kafka-python joins, commits and leaves; the next one goes on from there"""
    fill(quick, topic)
    for expected in (range(30), range(30, 50)):
        client = kafka_python.member(
            quick.bootstrap,
            "readers",
            topic,
            auto_offset_reset="earliest",
            enable_auto_commit=False,
            max_poll_records=1,
            consumer_timeout_ms=30_000,
        )
        assert [next(client).offset for _ in expected] == list(expected)
        client.commit()
        client.close()


def test_aiokafka(quick: Server, topic: str) -> None:
    """aiokafka joins, commits and leaves; the next one goes on from there"""
    fill(quick, topic)

    async def read(count: int) -> list[int]:
        client = AIOKafkaConsumer(
            topic,
            bootstrap_servers=quick.bootstrap,
            group_id="async-readers",
            auto_offset_reset="earliest",
            enable_auto_commit=False,
            max_poll_records=1,
        )
        async with client:
            offsets = [(await asyncio.wait_for(client.getone(), 30)).offset for _ in range(count)]
            await client.commit()
            return offsets

    assert asyncio.run(read(30)) == list(range(30))
    assert asyncio.run(read(20)) == list(range(30, 50))


def test_different_clients_in_one_group(quick: Server, topic: str) -> None:
    """kafka-python and confluent-kafka share the partitions of a topic between them"""
    create(quick, topic, 4)
    one = kafka_python.member(quick.bootstrap, "mixed", topic, heartbeat_interval_ms=500, session_timeout_ms=10_000)
    two = confluent.consumer(
        quick.bootstrap, group_id="mixed", partition_assignment_strategy="range", heartbeat_interval_ms=500
    )
    two.subscribe([topic])

    def counts() -> tuple[int, int]:
        one.poll(timeout_ms=2_000)  # one that ends in the middle of a rebalance may lose its end
        two.poll(0.1)
        return len(one.assignment()), len(two.assignment())

    until((2, 2), counts)
    mine = {found.partition for found in one.assignment()}
    assert mine | {found.partition for found in two.assignment()} == {0, 1, 2, 3}
    one.close()
    two.close()
