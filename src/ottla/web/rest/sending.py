"""Records on their way to Kafka: one producer for all requests, and what became of each record.

A request is held back while the producer's memory is used up. A record for a topic or partition that is not known
waits for `max.block.ms` by itself: the records beside it go on.
"""

import asyncio
from collections.abc import Awaitable, Sequence
from typing import Final, TypeAlias

from ottla.base.errors import OttlaError
from ottla.base.frozen import frozen
from ottla.client.errors import KafkaTimeoutError
from ottla.client.producer.async_producer import AsyncProducer
from ottla.client.record import RecordMetadata
from ottla.protocol.errors import UnknownTopicOrPartitionError

Outcome: TypeAlias = RecordMetadata | OttlaError


@frozen
class OutgoingRecord:
    """A record as it is sent."""

    key: bytes | None
    value: bytes | None
    partition: int | None = None
    timestamp_ms: int | None = None
    headers: Sequence[tuple[str, bytes | None]] = ()


class RecordSender:
    """Sends records of requests."""

    def __init__(self, producer: AsyncProducer) -> None:
        self._producer: Final = producer

    async def send_all(self, topic: str, records: Sequence[OutgoingRecord]) -> list[Outcome]:
        """What became of each record, in their order."""
        try:
            count = await self._partition_count(topic)
        except OttlaError as error:
            return [error] * len(records)
        sent: list[Awaitable[RecordMetadata] | OttlaError] = []
        for record in records:
            try:
                sent.append(await self._submit(topic, record, count))
            except OttlaError as error:
                sent.append(error)
        return [each if isinstance(each, OttlaError) else await outcome_of(each) for each in sent]

    async def submit(self, topic: str, record: OutgoingRecord) -> Awaitable[RecordMetadata]:
        """Puts one record on its way; its outcome is awaited apart. Raises `OttlaError`."""
        return await self._submit(topic, record, await self._partition_count(topic))

    async def _partition_count(self, topic: str) -> int:
        return len(await self._producer.partitions_for(topic))

    async def _submit(self, topic: str, record: OutgoingRecord, partition_count: int) -> Awaitable[RecordMetadata]:
        arguments = (topic, record.value, record.key)
        more = {"partition": record.partition, "timestamp_ms": record.timestamp_ms, "headers": record.headers or None}
        if record.partition is not None and record.partition >= partition_count:
            return asyncio.ensure_future(self._producer.send(*arguments, **more))  # type: ignore[arg-type]
        return await self._producer.enqueue(*arguments, **more)  # type: ignore[arg-type]


async def outcome_of(sent: Awaitable[RecordMetadata]) -> Outcome:
    """Where a record is, or what it failed with."""
    try:
        return await sent
    except OttlaError as error:
        return error


def is_absent(error: OttlaError) -> bool:
    """Whether a topic or partition was not found in all the time that there was."""
    return isinstance(error, (UnknownTopicOrPartitionError, KafkaTimeoutError))
