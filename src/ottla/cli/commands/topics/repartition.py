"""`ottla topics repartition OLD NEW`: copies a topic into one with another number of partitions.

All records of a key lie in one partition of OLD, are read in its order and written by one idempotent producer, so they
stand in that order in NEW. Records and the position in OLD are one transaction: a copy that is interrupted goes on
where it was, and nothing is there twice. Two copies of the same pair fence each other off.
"""

import argparse
import time
import zlib
from collections.abc import Callable
from typing import Final, NamedTuple

from ottla.cli.commands.topics.name import described
from ottla.cli.connection import client_settings, explained, run_admin
from ottla.cli.output.advice import CommandError
from ottla.cli.output.document import print_document
from ottla.cli.output.progress import Progress
from ottla.cli.output.quantity import counted, duration_text
from ottla.client.admin.async_admin import AsyncAdmin
from ottla.client.admin.value.config import ConfigEntry, ConfigResource, ConfigResourceType, ConfigSource
from ottla.client.admin.value.offset import OffsetSpec
from ottla.client.admin.value.topic import NewTopic, TopicDescription
from ottla.client.config.consumer import CONSUMER_KEYS
from ottla.client.config.producer import PRODUCER_KEYS
from ottla.client.consumer.consumer import Consumer
from ottla.client.producer.producer import Producer
from ottla.client.record import TopicPartition

_POLL_S: Final = 1.0
_BATCH_MAX: Final = 5_000
_REQUEST_BYTES: Final = 1_048_576

Choose = Callable[[bytes | None], int | None]
"""The partition of a key; None leaves it to the producer, which takes the hash of Kafka's clients."""


class Copying(NamedTuple):
    """The source of a copy, the number of partitions to make, and the largest record to send."""

    old: TopicDescription
    partitions: int
    record_bytes_max: int


class Copied(NamedTuple):
    """The result of one run; `left` came into OLD meanwhile."""

    records: int
    left: int
    seconds: float


def repartition(options: argparse.Namespace) -> int:
    """Makes NEW if it is not there, copies, and says what is left; the exit code."""
    if options.old == options.new:
        raise CommandError("OLD and NEW are the same topic; to add partitions in place: ottla topics alter -p N")
    prepared: list[Copying] = []

    async def prepare(admin: AsyncAdmin, options: argparse.Namespace) -> int:
        prepared.append(await _prepare(admin, options))
        return 0

    run_admin(options, prepare)
    with explained(options):
        copied = _copy(options, prepared[0])
    if options.json:
        print_document({"old": options.old, "new": options.new, **copied._asdict()})
        return 0
    pair = f"{options.old} ({len(prepared[0].old.partitions)}) to {options.new} ({prepared[0].partitions} partitions)"
    print(f"Copied {counted(copied.records, 'record')} from {pair} in {duration_text(copied.seconds)}.")
    if copied.left:
        print(
            f"{counted(copied.left, 'record')} came since: run this again once producers write to {options.new} only."
        )
    return 0


def copy_name(old: str, new: str) -> str:
    """The group that holds the positions, which is the transactional id as well."""
    return f"ottla-repartition.{old}.{new}"


def chooser(name: str, partitions: int) -> Choose:
    """What chooses partitions as a client's partitioner of that name does.

    >>> chooser("crc32", 12)(b"key"), chooser("murmur2", 12)(b"key")
    (1, None)
    """
    if name == "murmur2":
        return lambda key: None
    return lambda key: zlib.crc32(key) % partitions if key else None


async def _prepare(admin: AsyncAdmin, options: argparse.Namespace) -> Copying:
    old = (await described(admin, [options.old]))[options.old]
    resource = ConfigResource(ConfigResourceType.TOPIC, options.old)
    configs = (await admin.describe_configs([resource]))[resource]
    group = copy_name(options.old, options.new)
    if options.new in await admin.list_topics(include_internal=True):
        new = (await described(admin, [options.new]))[options.new]
        count, is_resumed = len(new.partitions), await _is_resumed(admin, options, new)
    elif options.partitions is None:
        raise CommandError(f"there is no topic {options.new} yet: say how many partitions it shall have with -p N")
    else:
        count, is_resumed = options.partitions, False
        replicas = max(len(info.replicas) for info in old.partitions)
        await admin.create_topics([NewTopic(options.new, count, replicas, None, _own(configs))])
    if not is_resumed:
        # What an earlier topic of NEW's name got is forgotten, and an interrupted copy is known by its positions.
        starts = {TopicPartition(options.old, info.partition): OffsetSpec.EARLIEST for info in old.partitions}
        found = await admin.list_offsets(starts)
        await admin.alter_consumer_group_offsets(group, {part: at.offset for part, at in found.items()})
    return Copying(old, count, int(configs["max.message.bytes"].value or _REQUEST_BYTES))


def _own(configs: dict[str, ConfigEntry]) -> dict[str, str]:
    """The settings that OLD's owner has changed."""
    return {
        name: entry.value
        for name, entry in configs.items()
        if entry.source is ConfigSource.DYNAMIC_TOPIC_CONFIG and entry.value is not None
    }


async def _is_resumed(admin: AsyncAdmin, options: argparse.Namespace, new: TopicDescription) -> bool:
    """Whether NEW holds what an interrupted copy left; raises if it holds anything else."""
    count = len(new.partitions)
    if options.partitions not in (None, count):
        raise CommandError(f"{new.name} exists with {counted(count, 'partition')}: leave -p out, or name another topic")
    ends = await admin.list_offsets({TopicPartition(new.name, n): OffsetSpec.LATEST for n in range(count)})
    if not any(found.offset for found in ends.values()):
        return False
    group = copy_name(options.old, options.new)
    if not (await admin.list_consumer_group_offsets({group: None})).get(group):
        raise CommandError(f"{new.name} holds records that no copy of {options.old} wrote: name a topic that is empty")
    return True


def _copy(options: argparse.Namespace, copying: Copying) -> Copied:
    name = copy_name(options.old, options.new)
    reading = client_settings(options, CONSUMER_KEYS)
    reading |= {"group.id": name, "enable.auto.commit": "false", "isolation.level": "read_committed"}
    reading |= {"auto.offset.reset": "earliest", "max.poll.records": str(_BATCH_MAX)}
    writing = {"compression.type": "lz4", **client_settings(options, PRODUCER_KEYS)}
    writing |= {"transactional.id": name, "max.request.size": str(max(_REQUEST_BYTES, 2 * copying.record_bytes_max))}
    partitions = [TopicPartition(options.old, info.partition) for info in copying.old.partitions]
    started = time.monotonic()
    with Producer(writing) as producer, Consumer(reading) as consumer:
        # An earlier copy is fenced off before the positions are read.
        producer.init_transactions()
        consumer.assign(partitions)
        records = _pump(consumer, producer, options.new, chooser(options.partitioner, copying.partitions))
        ends = consumer.end_offsets(partitions)
        left = sum(max(0, ends[part] - consumer.position(part)) for part in partitions)
    return Copied(records, left, time.monotonic() - started)


def _pump(consumer: Consumer, producer: Producer, topic: str, choose: Choose) -> int:
    """Copies up to what is the end now; how many records."""
    partitions = sorted(consumer.assignment())
    ends = consumer.end_offsets(partitions)
    first = {part: consumer.position(part) for part in partitions}
    total, count = sum(ends[part] - first[part] for part in partitions), 0
    with Progress("copy", max(0, total)) as progress:
        while any(consumer.position(part) < ends[part] for part in partitions):
            records = consumer.poll(_POLL_S)
            if not records:
                continue
            with producer.transaction():
                for record in records:
                    producer.send(
                        topic, record.value, record.key, partition=choose(record.key),
                        timestamp_ms=record.timestamp, headers=record.headers,
                    )  # fmt: skip
                producer.send_offsets_to_transaction(records.next_offsets(), consumer.group_metadata())
            count += len(records)
            progress.update(sum(consumer.position(part) - first[part] for part in partitions))
    return count
