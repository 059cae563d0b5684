"""How far a group is behind, in records and in seconds.

In seconds: how long the next record to be read has been waiting, by its timestamp. It is looked up in the log, since
offsets alone don't tell: with 5 committed and the end at 9, the record at 5, or the first one after it that compaction
has left, is read. None where nothing was committed or the record could not be read in time.
"""

import asyncio
import time
from argparse import Namespace
from collections.abc import Mapping
from typing import Final, NamedTuple

from ottla.base.errors import OttlaError
from ottla.cli.connection import client_settings
from ottla.client.admin.async_admin import AsyncAdmin
from ottla.client.admin.value.offset import OffsetSpec
from ottla.client.config.consumer import CONSUMER_KEYS
from ottla.client.consumer.async_consumer import AsyncConsumer
from ottla.client.record import OffsetAndMetadata, TopicPartition

_LOOK_S: Final = 3.0
_FETCH_BYTES: Final = "65536"


class Lag(NamedTuple):
    """The lag of a group in one partition."""

    committed: int | None
    end: int | None
    seconds: float | None

    @property
    def records(self) -> int | None:
        """The number of records ahead."""
        return None if self.committed is None or self.end is None else max(0, self.end - self.committed)


async def lags(
    admin: AsyncAdmin, options: Namespace, committed: Mapping[TopicPartition, OffsetAndMetadata | None]
) -> dict[TopicPartition, Lag]:
    """The lag in each partition; a partition that can't be looked at has no end."""
    missing: dict[TopicPartition, OttlaError] = {}
    ends = await admin.list_offsets(dict.fromkeys(committed, OffsetSpec.LATEST), errors=missing)
    starts = await admin.list_offsets(dict.fromkeys(ends, OffsetSpec.EARLIEST), errors=missing)
    behind = {
        partition: max(position.offset, starts[partition].offset)
        for partition, position in committed.items()
        if position is not None and partition in starts and position.offset < ends[partition].offset
    }
    waiting = await _waiting_since(options, behind) if behind else {}
    now_ms = time.time() * 1000
    return {
        partition: Lag(
            None if position is None else position.offset,
            ends[partition].offset if partition in ends else None,
            _seconds(partition, position, behind, waiting, now_ms),
        )
        for partition, position in committed.items()
    }


def _seconds(
    partition: TopicPartition,
    position: OffsetAndMetadata | None,
    behind: Mapping[TopicPartition, int],
    waiting: Mapping[TopicPartition, int],
    now_ms: float,
) -> float | None:
    if partition in waiting:
        return max(0.0, (now_ms - waiting[partition]) / 1000)
    return None if position is None or partition in behind else 0.0


async def _waiting_since(options: Namespace, offsets: Mapping[TopicPartition, int]) -> dict[TopicPartition, int]:
    """The timestamps of the first records from these offsets on, as far as they could be read in time."""
    settings = client_settings(options, CONSUMER_KEYS)
    settings.pop("group.id", None)
    settings |= {"max.partition.fetch.bytes": _FETCH_BYTES, "enable.auto.commit": "false", "max.poll.records": "10000"}
    found: dict[TopicPartition, int] = {}
    loop = asyncio.get_running_loop()
    deadline = loop.time() + _LOOK_S
    async with AsyncConsumer(settings) as consumer:
        consumer.assign(list(offsets))
        for partition, offset in offsets.items():
            consumer.seek(partition, offset)
        while len(found) < len(offsets) and loop.time() < deadline:
            records = await consumer.poll(timeout=min(0.5, deadline - loop.time()))
            fresh = {part: of[0].timestamp for part, of in records.by_partition().items() if part not in found}
            found |= fresh
            consumer.pause(list(fresh))
    return found
