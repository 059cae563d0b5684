"""The consumer for asyncio, and transactions as consumers see them, on a real server."""

import asyncio
from collections.abc import Collection
from typing import Any

import pytest
from confluent_kafka import Producer

from ottla.client.consumer.async_consumer import AsyncConsumer
from ottla.client.consumer.errors import ConcurrentModificationError
from ottla.client.consumer.fetch.record import Record
from ottla.client.errors import WakeupError
from ottla.client.record import OffsetAndMetadata, TopicPartition
from tests.clients.topic import create
from tests.kafka.server import Server

PATIENCE_S = 30.0


@pytest.fixture
def filled(server: Server, topic: str) -> TopicPartition:
    """A partition with 50 records."""
    create(server, topic)
    producer = Producer({"bootstrap.servers": server.bootstrap})
    for number in range(50):
        producer.produce(topic, b"%d" % number, partition=0)
    assert producer.flush(PATIENCE_S) == 0
    return TopicPartition(topic, 0)


async def read(consumer: AsyncConsumer, count: int) -> list[Record]:
    found: list[Record] = []
    async with asyncio.timeout(PATIENCE_S):
        while len(found) < count:
            found += await consumer.poll(0.5)
    return found


def test_iteration_and_queries(bootstrap: str, filled: TopicPartition) -> None:
    async def main() -> None:
        async with AsyncConsumer(bootstrap_servers=bootstrap, auto_offset_reset="earliest") as consumer:
            consumer.assign([filled])
            offsets = []
            async for record in consumer:
                offsets.append(record.offset)
                if record.offset == 49:
                    break
            assert offsets == list(range(50))
            assert await consumer.position(filled) == 50
            assert await consumer.end_offsets([filled]) == {filled: 50}
            consumer.seek(filled, 45)
            assert (await consumer.poll_arrow(PATIENCE_S, ["offset"])).to_pydict() == {"offset": [45, 46, 47, 48, 49]}

    asyncio.run(main())
    asyncio.run(main())


def test_a_group_with_a_listener_that_awaits(bootstrap: str, filled: TopicPartition) -> None:
    heard: list[int] = []

    async def assigned(consumer: Any, partitions: Collection[TopicPartition]) -> None:
        found = await consumer.end_offsets(partitions)
        heard.extend(found.values())

    async def main() -> None:
        settings = {"bootstrap.servers": bootstrap, "group.id": f"of-{filled.topic}", "auto.offset.reset": "earliest"}
        async with AsyncConsumer(settings) as consumer:
            consumer.subscribe([filled.topic], on_assigned=assigned)
            assert len(await read(consumer, 50)) == 50
            await consumer.commit({filled: OffsetAndMetadata(20, "half")})
            assert await consumer.committed([filled]) == {filled: OffsetAndMetadata(20, "half")}

    asyncio.run(main())
    assert heard == [50]


def test_one_task_at_a_time(bootstrap: str, filled: TopicPartition) -> None:
    async def main() -> None:
        async with AsyncConsumer(bootstrap_servers=bootstrap, auto_offset_reset="latest") as consumer:
            consumer.assign([filled])
            await consumer.poll(0.1)
            waiting = asyncio.create_task(consumer.poll(PATIENCE_S), name="the first")
            await asyncio.sleep(0)
            with pytest.raises(ConcurrentModificationError, match="the first"):
                await consumer.poll(0)
            consumer.wakeup()
            with pytest.raises(WakeupError):
                await waiting
            waiting = asyncio.create_task(consumer.poll(PATIENCE_S))
            await asyncio.sleep(0)
            waiting.cancel()
            with pytest.raises(asyncio.CancelledError):
                await waiting
            consumer.seek_to_beginning()
            assert len(await read(consumer, 50)) == 50

    asyncio.run(main())


@pytest.mark.parametrize(("isolation", "wanted"), [("read_committed", b"ad"), ("read_uncommitted", b"abcde")])
def test_transactions(server: Server, topic: str, isolation: str, wanted: bytes) -> None:
    """Committed a, aborted b and c, committed d, open e."""
    create(server, topic)
    producers = [
        Producer({"bootstrap.servers": server.bootstrap, "transactional.id": f"{topic}-{number}"})
        for number in range(2)
    ]
    for producer in producers:
        producer.init_transactions(PATIENCE_S)
        producer.begin_transaction()
    first, second = producers
    _write(first, topic, b"a")
    _write(second, topic, b"b")
    first.commit_transaction(PATIENCE_S)
    _write(second, topic, b"c")
    second.abort_transaction(PATIENCE_S)
    second.begin_transaction()
    _write(second, topic, b"d")
    second.commit_transaction(PATIENCE_S)
    first.begin_transaction()
    _write(first, topic, b"e")
    partition = TopicPartition(topic, 0)

    async def main() -> tuple[list[Record], bytes, int]:
        settings = {"bootstrap.servers": server.bootstrap, "auto.offset.reset": "earliest"}
        async with AsyncConsumer(settings, isolation_level=isolation) as consumer:
            consumer.assign([partition])
            records = await read(consumer, len(wanted))
            records += await consumer.poll(0.2)
            position, end = await consumer.position(partition), (await consumer.end_offsets([partition]))[partition]
            assert position == end
            consumer.seek_to_beginning()
            values = b""
            while len(values) < len(wanted):
                values += b"".join((await consumer.poll_arrow(PATIENCE_S)).column("value").to_pylist())
            return records, values, end

    records, columns, _ = asyncio.run(main())
    assert b"".join(record.value for record in records) == wanted
    assert columns == wanted
    first.abort_transaction(PATIENCE_S)


def _write(producer: Producer, topic: str, value: bytes) -> None:
    producer.produce(topic, value, partition=0)
    producer.flush(PATIENCE_S)
