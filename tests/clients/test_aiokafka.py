"""aiokafka: producer, consumer with assigned partitions, admin client, errors as it shows them."""

import asyncio

import pytest
from aiokafka import AIOKafkaConsumer, AIOKafkaProducer, TopicPartition
from aiokafka.admin import AIOKafkaAdminClient, NewPartitions, NewTopic, RecordsToDelete
from aiokafka.admin.config_resource import ConfigResource, ConfigResourceType
from aiokafka.errors import MessageSizeTooLargeError, OffsetOutOfRangeError

from tests.clients.client import aio
from tests.clients.record import Record
from tests.kafka.server import Server

pytestmark = pytest.mark.client(aio.NAME)


def fill(server: Server, topic: str, count: int = 50) -> None:
    aio.write(
        server.bootstrap,
        topic,
        [Record(b"%d" % number, b"v%d" % number, (), 1_000 * (number + 1)) for number in range(count)],
    )


@pytest.mark.parametrize("acks", [0, 1, "all"])
def test_acknowledgements(server: Server, topic: str, acks: int | str) -> None:
    """produce with acks 0, 1 and all"""
    # A record that is acknowledged shows that the leader serves: until then acks=0 may lose some, with Kafka too.
    records = [Record(None, b"%d" % number, (), number + 1) for number in range(1_000)]
    aio.write(server.bootstrap, topic, records[:1], acks=1)
    if acks == 0:
        asyncio.run(_write_unacknowledged(server, topic, records[1:]))
    else:
        aio.write(server.bootstrap, topic, records[1:], acks=acks)
    assert aio.read(server.bootstrap, topic, len(records)) == records


async def _write_unacknowledged(server: Server, topic: str, records: list[Record]) -> None:
    async with AIOKafkaProducer(bootstrap_servers=server.bootstrap, acks=0) as client:
        for record in records:
            await client.send(topic, record.value, partition=0, timestamp_ms=record.timestamp_ms)


def test_idempotent_producer(server: Server, topic: str) -> None:
    """idempotent producer: offsets without gaps"""
    records = [Record(b"%d" % number, b"%d" % number, (), number + 1) for number in range(2_000)]
    assert aio.write(server.bootstrap, topic, records, enable_idempotence=True) == list(range(len(records)))


def test_offsets(server: Server, topic: str) -> None:
    """beginning_offsets, end_offsets, offsets_for_times, seek, position, highwater"""
    fill(server, topic)

    async def look() -> None:
        async with AIOKafkaConsumer(bootstrap_servers=server.bootstrap) as client:
            partition = TopicPartition(topic, 0)
            client.assign([partition])
            assert await client.beginning_offsets([partition]) == {partition: 0}
            assert await client.end_offsets([partition]) == {partition: 50}
            assert (await client.offsets_for_times({partition: 10_500}))[partition].offset == 10
            client.seek(partition, 42)
            assert (await client.getone()).offset == 42
            assert (await client.position(partition), client.highwater(partition)) == (43, 50)

    asyncio.run(look())


def test_offset_out_of_range(server: Server, topic: str) -> None:
    """an offset out of range is an error where nothing says how to reset"""
    fill(server, topic)

    async def look() -> None:
        async with AIOKafkaConsumer(bootstrap_servers=server.bootstrap, auto_offset_reset="none") as client:
            partition = TopicPartition(topic, 0)
            client.assign([partition])
            client.seek(partition, 5_000)
            with pytest.raises(OffsetOutOfRangeError):
                await asyncio.wait_for(client.getone(), 20)

    asyncio.run(look())


def test_admin(server: Server, topic: str) -> None:
    """admin: topics, partitions, configs, deleted records, the cluster"""

    async def look() -> None:
        client = AIOKafkaAdminClient(bootstrap_servers=server.bootstrap)
        await client.start()
        try:
            await client.create_topics([NewTopic(topic, 1, 1, topic_configs={"max.message.bytes": "500"})])
            async with asyncio.timeout(20):
                while topic not in await client.list_topics():
                    await asyncio.sleep(0.05)
            await client.create_partitions({topic: NewPartitions(total_count=3)})
            [described] = await client.describe_configs([ConfigResource(ConfigResourceType.TOPIC, topic)])
            [resource] = described.resources
            assert {entry[0]: entry[1] for entry in resource[4]}["max.message.bytes"] == "500"
            with pytest.raises(MessageSizeTooLargeError):
                await _send(server, topic, bytes(1_000))
            assert await _send(server, topic, b"small") == 0
            deleted = await client.delete_records({TopicPartition(topic, 0): RecordsToDelete(before_offset=1)})
            assert deleted == {TopicPartition(topic, 0): 1}
            cluster = await client.describe_cluster()
            assert [node["node_id"] for node in cluster["brokers"]] == [1]
            await client.delete_topics([topic])
        finally:
            await client.close()

    asyncio.run(look())


async def _send(server: Server, topic: str, value: bytes) -> int:
    async with AIOKafkaProducer(bootstrap_servers=server.bootstrap) as client:
        sent = await client.send_and_wait(topic, value, partition=0)
        offset: int = sent.offset
        return offset
