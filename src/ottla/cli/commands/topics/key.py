"""Whether a topic's records have keys, found by looking at the newest of them; and the warning for who has some."""

from collections.abc import Mapping
from math import lcm
from typing import Final

from ottla.base.errors import OttlaError
from ottla.client.admin.async_admin import AsyncAdmin
from ottla.client.admin.value.config import ConfigResource, ConfigResourceType
from ottla.client.admin.value.offset import ListedOffset, OffsetSpec
from ottla.client.admin.value.topic import TopicDescription
from ottla.client.consumer.async_consumer import AsyncConsumer
from ottla.client.record import TopicPartition

_LOOKED_AT: Final = 20
"""Records of each partition."""
_PARTITIONS_MAX: Final = 8
_PATIENCE_S: Final = 5.0


async def has_keys(admin: AsyncAdmin, topic: TopicDescription, settings: Mapping[str, object]) -> bool | None:
    """Whether some of the newest records have a key; None if that can't be seen."""
    resource = ConfigResource(ConfigResourceType.TOPIC, topic.name)
    try:
        configs = await admin.describe_configs([resource])
        if "compact" in (configs[resource]["cleanup.policy"].value or ""):
            return True
        return await _finds_key(admin, topic, settings)
    except OttlaError:
        return None


async def _finds_key(admin: AsyncAdmin, topic: TopicDescription, settings: Mapping[str, object]) -> bool:
    led = [TopicPartition(topic.name, info.partition) for info in topic.partitions if info.leader is not None]
    ends = {part: found.offset for part, found in (await _offsets(admin, led, OffsetSpec.LATEST)).items()}
    starts = {part: found.offset for part, found in (await _offsets(admin, led, OffsetSpec.EARLIEST)).items()}
    filled = [part for part in led if ends[part] > starts[part]][:_PARTITIONS_MAX]
    if not filled:
        return False
    async with AsyncConsumer({**settings, "auto.offset.reset": "earliest", "enable.auto.commit": "false"}) as consumer:
        consumer.assign(filled)
        for part in filled:
            consumer.seek(part, max(starts[part], ends[part] - _LOOKED_AT))
        left = set(filled)
        while left:
            records = await consumer.poll(_PATIENCE_S)
            if any(record.key is not None for record in records):
                return True
            if not records:
                return False
            left -= {part for part, at in records.next_offsets().items() if at.offset >= ends[part]}
    return False


async def _offsets(
    admin: AsyncAdmin, partitions: list[TopicPartition], spec: OffsetSpec
) -> dict[TopicPartition, ListedOffset]:
    return await admin.list_offsets(dict.fromkeys(partitions, spec))


def key_warning(topic: str, before: int, after: int, *, is_certain: bool) -> str:
    """The warning that more partitions move keys."""
    found = "has records with keys" if is_certain else "may have records with keys"
    return (
        f"{topic} {found}: with {after} partitions instead of {before} about {moved_share(before, after):.0%} of all "
        "keys move to another partition, so what is written of such a key from now on is no longer in one order with "
        "what is there, and stores built from the topic look in the wrong place. "
        f"To keep order per key: ottla topics repartition {topic} NEW -p {after}"
    )


def moved_share(before: int, after: int) -> float:
    """The part of all keys that changes its partition.

    A key's partition is its hash modulo the number of partitions, so a change of that number sends most keys elsewhere:
    3 → 6 keeps half of them, 3 → 4 a quarter.

    >>> moved_share(3, 6), moved_share(3, 4), moved_share(5, 5)
    (0.5, 0.75, 0.0)
    """
    # In each stretch of lcm(before, after) hashes one for each remainder below both stays.
    return 1 - min(before, after) / lcm(before, after)
