"""`ottla connect redrive`: sends dead letters back to the topics that they came from.

What was sent is noted as offsets of a group, after the brokers have it: a second run goes on where the first ended, and
one that was killed sends its last records again. Each keeps key, value, its own headers and its place among the others.
"""

import argparse
import asyncio
from collections.abc import Sequence
from typing import Final

from ottla.cli.connection import client_settings, explained
from ottla.cli.output.advice import CommandError
from ottla.client.config.admin import ADMIN_KEYS
from ottla.client.consumer.async_consumer import AsyncConsumer
from ottla.client.consumer.fetch.record import Record
from ottla.client.producer.async_producer import AsyncProducer
from ottla.client.record import TopicPartition

ORIGIN: Final = "__connect.errors.topic"
_CONTEXT: Final = "__connect.errors."
_POLL_S: Final = 1.0
_BATCH: Final = 500


def redrive(options: argparse.Namespace) -> int:
    """Sends what there is at the start; the exit code."""
    if options.max is not None and options.max < 1:
        raise CommandError("--max: has to be 1 or more")
    with explained():
        sent = asyncio.run(_redrive(options))
    print(f"Sent {sent} dead letter{'' if sent == 1 else 's'} of {options.topic} back")
    return 0


def destination(headers: Sequence[tuple[str, bytes | None]], to: str | None) -> str | None:
    """Where a dead letter goes; None if nothing says it.

    >>> destination([("__connect.errors.topic", b"orders")], None)
    'orders'
    """
    if to is not None:
        return to
    found = next((value for name, value in headers if name == ORIGIN), None)
    return None if not found else found.decode("utf-8", "replace")


def own_headers(headers: Sequence[tuple[str, bytes | None]]) -> list[tuple[str, bytes | None]]:
    """The headers that the record had before it died."""
    return [(name, value) for name, value in headers if not name.startswith(_CONTEXT)]


async def _redrive(options: argparse.Namespace) -> int:
    client = client_settings(options, ADMIN_KEYS)
    settings = {
        **client,
        "group.id": options.group or f"ottla-redrive-{options.topic}",
        "auto.offset.reset": "earliest",
        "enable.auto.commit": False,
        "isolation.level": "read_committed",
        "allow.auto.create.topics": False,
        "max.poll.records": _BATCH,
    }
    async with AsyncConsumer(settings) as consumer, AsyncProducer({**client, "acks": "all"}) as producer:
        topics = await consumer.list_topics()
        if options.topic not in topics:
            raise CommandError(f"there is no topic {options.topic}; ottla topics list shows those that there are")
        places = [TopicPartition(options.topic, number) for number in topics[options.topic].partitions]
        consumer.assign(places)
        ends = await consumer.end_offsets(places)
        return await _copy(consumer, producer, ends, options)


async def _copy(
    consumer: AsyncConsumer, producer: AsyncProducer, ends: dict[TopicPartition, int], options: argparse.Namespace
) -> int:
    left = options.max
    sent = 0
    while [place for place, end in ends.items() if await consumer.position(place) < end] and left != 0:
        records = [
            each
            for each in await consumer.poll(_POLL_S)
            if each.offset < ends[TopicPartition(each.topic, each.partition)]
        ][:left]
        # All of them are looked at before the first is sent: what is sent and not committed would be sent again.
        targets = [_target(record, options) for record in records]
        futures = []
        done: dict[TopicPartition, int] = {}
        for topic, record in zip(targets, records, strict=True):
            headers = own_headers(record.headers)
            futures.append(await producer.enqueue(topic, record.value, record.key, headers=headers or None))
            done[TopicPartition(record.topic, record.partition)] = record.offset + 1
        await asyncio.gather(*futures)
        if done:
            await consumer.commit(done)
        sent += len(records)
        left = None if left is None else left - len(records)
    return sent


def _target(record: Record, options: argparse.Namespace) -> str:
    topic = destination(record.headers, options.to)
    if topic is None:
        raise CommandError(
            f"the dead letter at offset {record.offset} of partition {record.partition} does not say where it "
            "came from: set errors.deadletterqueue.context.headers.enable=true, or give --to TOPIC"
        )
    if topic == options.topic:
        raise CommandError(f"dead letters of {options.topic} would go to {options.topic} itself; give --to TOPIC")
    return topic
