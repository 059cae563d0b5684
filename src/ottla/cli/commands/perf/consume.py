"""`ottla perf consume`: how many records a second one consumer reads, from the beginning to what is the end now."""

import argparse
import time
from typing import Final

from ottla.cli.commands.perf.figure import show_throughput
from ottla.cli.commands.records.position import offsets_at
from ottla.cli.commands.topics.name import TopicPart, chosen_partitions
from ottla.cli.connection import client_settings, run_admin
from ottla.cli.output.advice import CommandError
from ottla.cli.output.progress import Progress
from ottla.client.admin.async_admin import AsyncAdmin
from ottla.client.admin.value.offset import OffsetSpec
from ottla.client.config.consumer import CONSUMER_KEYS
from ottla.client.consumer.consumer import Consumer
from ottla.client.record import TopicPartition

_POLL_S: Final = 1.0
_SILENCE_S: Final = 10.0


def measure_consume(options: argparse.Namespace) -> int:
    """Reads the records and prints the figures; the exit code."""
    starts, ends = _extent(options)
    there = sum(ends.values()) - sum(starts.values())
    if not there:
        raise CommandError(f"{options.topic} is empty; write to it first: ottla perf produce {options.topic}")
    wanted = min(options.count or there, there)
    settings = client_settings(options, CONSUMER_KEYS)
    settings.setdefault("max.poll.records", "10000")
    settings.pop("group.id", None)
    settings["enable.auto.commit"] = "false"
    with Consumer(settings) as consumer:
        consumer.assign(list(starts))
        for partition, offset in starts.items():
            consumer.seek(partition, offset)
        if options.arrow:
            import pyarrow  # noqa: F401, importing it is not what is measured
        started = time.perf_counter()
        count, size = _read(consumer, wanted, is_arrow=options.arrow)
        seconds = time.perf_counter() - started
    show_throughput(records=count, size_bytes=size, seconds=seconds, latencies_ms={}, is_json=options.json)
    return 0


def _extent(options: argparse.Namespace) -> tuple[dict[TopicPartition, int], dict[TopicPartition, int]]:
    starts: dict[TopicPartition, int] = {}
    ends: dict[TopicPartition, int] = {}

    async def look(admin: AsyncAdmin, options: argparse.Namespace) -> int:
        partitions = await chosen_partitions(admin, [TopicPart(options.topic)])
        starts.update(await offsets_at(admin, partitions, OffsetSpec.EARLIEST))
        ends.update(await offsets_at(admin, partitions, OffsetSpec.LATEST))
        return 0

    run_admin(options, look)
    return starts, ends


def _read(consumer: Consumer, wanted: int, *, is_arrow: bool) -> tuple[int, int]:
    """Records and bytes of values; ends early where transactions and compaction left fewer records than offsets."""
    count = size = 0
    heard = time.monotonic()
    with Progress("read", wanted) as progress:
        while count < wanted and time.monotonic() - heard < _SILENCE_S:
            if is_arrow:
                batch = consumer.poll_arrow(_POLL_S, columns=("value",))
                found = 0 if batch is None else batch.num_rows
                size += 0 if batch is None else batch.nbytes
            else:
                records = consumer.poll(_POLL_S)
                found = len(records)
                size += sum(len(record.value) for record in records if record.value is not None)
            if found:
                count += found
                heard = time.monotonic()
            elif all(consumer.current_lag(partition) == 0 for partition in consumer.assignment()):
                break
            progress.update(count)
    return count, size
