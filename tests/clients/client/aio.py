"""aiokafka: the asyncio client in Python with a compiled record codec."""

import asyncio
import importlib.metadata
from collections.abc import Iterable

from aiokafka import AIOKafkaConsumer, AIOKafkaProducer, TopicPartition

from tests.clients.record import Record

NAME = f"aiokafka {importlib.metadata.version('aiokafka')}"


def write(
    bootstrap: str, topic: str, records: Iterable[Record], *, codec: str = "none", **settings: object
) -> list[int]:
    """Writes records into partition 0; their offsets."""
    return asyncio.run(_write(bootstrap, topic, records, codec, settings))


async def _write(
    bootstrap: str, topic: str, records: Iterable[Record], codec: str, settings: dict[str, object]
) -> list[int]:
    compression = None if codec == "none" else codec
    async with AIOKafkaProducer(bootstrap_servers=bootstrap, compression_type=compression, **settings) as client:
        futures = [
            await client.send(
                topic,
                record.value,
                record.key,
                partition=0,
                timestamp_ms=record.timestamp_ms,
                headers=list(record.headers),
            )
            for record in records
        ]
        return [(await future).offset for future in futures]


def read(bootstrap: str, topic: str, count: int, **settings: object) -> list[Record]:
    """The first `count` records of partition 0."""
    return asyncio.run(_read(bootstrap, topic, count, settings))


async def _read(bootstrap: str, topic: str, count: int, settings: dict[str, object]) -> list[Record]:
    async with AIOKafkaConsumer(bootstrap_servers=bootstrap, **settings) as client:
        partition = TopicPartition(topic, 0)
        client.assign([partition])
        client.seek(partition, 0)
        found: list[Record] = []
        async with asyncio.timeout(60):
            while len(found) < count:
                message = await client.getone()
                found.append(Record(message.key, message.value, tuple(message.headers), message.timestamp))
        return found
