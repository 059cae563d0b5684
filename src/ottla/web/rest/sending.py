"""Records on their way to Kafka: one producer for all requests, and what became of each record.

A request is held back while the producer's memory is used up. A record for a topic or partition that is not known
waits for `max.block.ms` by itself: the records beside it go on.
"""

import asyncio
from collections.abc import Awaitable, Sequence
from typing import Final, Protocol, TypeAlias

from ottla.base.errors import OttlaError
from ottla.base.frozen import frozen
from ottla.client.errors import KafkaTimeoutError
from ottla.client.producer.async_producer import AsyncProducer
from ottla.client.record import RecordMetadata
from ottla.protocol.errors import UnknownTopicOrPartitionError

SendResult: TypeAlias = RecordMetadata | OttlaError


class TopicAbsentError(OttlaError):
    """The topic was not found in all the time that there was."""


class Sent(Awaitable[RecordMetadata], Protocol):
    """A record on its way."""

    def done(self) -> bool:
        """Whether it has arrived, or failed."""
        ...


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

    async def send_all(self, topic: str, records: Sequence[OutgoingRecord]) -> list[SendResult]:
        """Sends records; the outcome of each, in their order."""
        try:
            count = await self._partition_count(topic)
        except OttlaError as error:
            return [error] * len(records)
        sent: list[Sent | OttlaError] = []
        for record in records:
            try:
                sent.append(await self._submit(topic, record, count))
            except OttlaError as error:
                sent.append(error)
        return [each if isinstance(each, OttlaError) else await outcome_of(each) for each in sent]

    async def submit(self, topic: str, record: OutgoingRecord) -> Sent:
        """Puts one record on its way; its outcome is awaited apart. Raises `OttlaError`, `TopicAbsentError` for one."""
        try:
            count = await self._partition_count(topic)
        except (UnknownTopicOrPartitionError, KafkaTimeoutError) as error:
            raise TopicAbsentError(str(error)) from error
        return await self._submit(topic, record, count)

    async def _partition_count(self, topic: str) -> int:
        return len(await self._producer.partitions_for(topic))

    async def _submit(self, topic: str, record: OutgoingRecord, partition_count: int) -> Sent:
        arguments = (topic, record.value, record.key)
        more = {"partition": record.partition, "timestamp_ms": record.timestamp_ms, "headers": record.headers or None}
        if record.partition is not None and record.partition >= partition_count:
            late = asyncio.ensure_future(self._producer.send(*arguments, **more))  # type: ignore[arg-type]
            # A client that goes away does not wait for it.
            late.add_done_callback(lambda done: done.cancelled() or done.exception())
            return late
        return await self._producer.enqueue(*arguments, **more)  # type: ignore[arg-type]


async def outcome_of(sent: Sent) -> SendResult:
    """A record's place, or its failure."""
    try:
        return await sent
    except OttlaError as error:
        return error


def is_late(sent: Sent) -> bool:
    """Whether a record waits for a partition that its topic does not have yet."""
    return isinstance(sent, asyncio.Task)
