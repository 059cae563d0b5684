"""`ottla topics list` and `describe`."""

import argparse
import asyncio
import fnmatch
from collections.abc import Mapping
from typing import NamedTuple

from ottla.base.errors import OttlaError
from ottla.cli.commands.topics.name import described
from ottla.cli.output.document import print_document
from ottla.cli.output.quantity import bytes_text, counted
from ottla.cli.output.style import Style, Text, Tone, Toned
from ottla.cli.output.table import table
from ottla.client.admin.async_admin import AsyncAdmin
from ottla.client.admin.value.config import ConfigEntry, ConfigResource, ConfigResourceType, ConfigSource
from ottla.client.admin.value.offset import OffsetSpec
from ottla.client.admin.value.topic import PartitionDescription, TopicDescription
from ottla.client.record import TopicPartition


async def list_topics(admin: AsyncAdmin, options: argparse.Namespace) -> int:
    """Prints topics with how they fare."""
    known = await admin.list_topics(include_internal=options.internal)
    names = [name for name in known if _is_wanted(name, options.like)]
    if options.names and not options.json and not options.trouble:
        print("".join(f"{name}\n" for name in names), end="")
        return 0
    topics = (await admin.describe_topics(names)).values()
    shown = [topic for topic in topics if not options.trouble or offline(topic) or lagging(topic)]
    if options.json:
        print_document([_summary(topic) for topic in shown])
    elif options.names:
        print("".join(f"{topic.name}\n" for topic in shown), end="")
    elif shown:
        rows = [_row(topic) for topic in shown]
        print(table(["Topic", "Partitions", "Replicas", "State"], rows, Style.of()))
    else:
        print(_nothing(options, has_topics=bool(known)))
    return 0


def _nothing(options: argparse.Namespace, *, has_topics: bool) -> str:
    if options.trouble:
        return "No topic is in trouble."
    if options.like and has_topics:
        return f"No topic matches {options.like}."
    return "There are no topics yet. Create one: ottla topics create NAME"


def _is_wanted(name: str, pattern: str | None) -> bool:
    if pattern is None:
        return True
    return fnmatch.fnmatchcase(name, pattern) if any(char in pattern for char in "*?[") else pattern in name


def offline(topic: TopicDescription) -> int:
    """The number of partitions without a leader."""
    return sum(info.leader is None for info in topic.partitions)


def lagging(topic: TopicDescription) -> int:
    """The number of partitions with too few replicas in sync."""
    return sum(len(info.isr) < len(info.replicas) for info in topic.partitions)


def _replicas(topic: TopicDescription) -> int:
    return max((len(info.replicas) for info in topic.partitions), default=0)


def _row(topic: TopicDescription) -> list[object]:
    return [Toned(topic.name, Tone.NAME), len(topic.partitions), _replicas(topic), _state(topic)]


def _state(topic: TopicDescription) -> Text:
    if offline(topic):
        return Toned(f"{offline(topic)} offline", Tone.BAD)
    if lagging(topic):
        return Toned(f"{lagging(topic)} under-replicated", Tone.WARN)
    return Toned("in sync", Tone.GOOD)


def _summary(topic: TopicDescription) -> dict[str, object]:
    return {
        "name": topic.name,
        "topic_id": str(topic.topic_id),
        "internal": topic.is_internal,
        "partitions": len(topic.partitions),
        "replicas": _replicas(topic),
        "offline": offline(topic),
        "under_replicated": lagging(topic),
    }


class Extent(NamedTuple):
    """The offsets and the size of a partition; None where no broker could tell."""

    start: int | None
    end: int | None
    size_bytes: int | None

    @property
    def records(self) -> int | None:
        """The number of offsets between start and end, which is that of records unless some were compacted away."""
        return None if self.start is None or self.end is None else self.end - self.start


class _Detail(NamedTuple):
    topic: TopicDescription
    extents: Mapping[int, Extent]
    configs: Mapping[str, ConfigEntry]


async def describe(admin: AsyncAdmin, options: argparse.Namespace) -> int:
    """Prints all there is to know about topics."""
    topics = await described(admin, options.topics)
    found, configs = await asyncio.gather(extents(admin, topics), _configs(admin, topics))
    details = [
        _Detail(
            topic,
            {number: extent for (name, number), extent in found.items() if name == topic.name},
            {
                name: entry
                for name, entry in sorted(configs.get(topic.name, {}).items())
                if options.all_configs or entry.source is ConfigSource.DYNAMIC_TOPIC_CONFIG
            },
        )
        for topic in topics.values()
    ]
    if options.json:
        print_document([_document(detail) for detail in details])
    else:
        print("\n\n".join(_text(detail, Style.of()) for detail in details))
    return 0


async def extents(admin: AsyncAdmin, topics: Mapping[str, TopicDescription]) -> dict[TopicPartition, Extent]:
    """The offsets and sizes of all partitions, as their leaders report them."""
    leaders = {
        TopicPartition(topic.name, info.partition): info.leader
        for topic in topics.values()
        for info in topic.partitions
    }
    led = [partition for partition, leader in leaders.items() if leader is not None]
    missing: dict[TopicPartition, OttlaError] = {}
    refused: dict[int, OttlaError] = {}
    starts, ends, dirs = await asyncio.gather(
        admin.list_offsets(dict.fromkeys(led, OffsetSpec.EARLIEST), errors=missing),
        admin.list_offsets(dict.fromkeys(led, OffsetSpec.LATEST), errors=missing),
        admin.describe_log_dirs({leader for leader in leaders.values() if leader is not None}, led, errors=refused),
    )
    sizes = {
        (broker, partition): replica.size_bytes
        for broker, directories in dirs.items()
        for directory in directories.values()
        for partition, replica in directory.replicas.items()
        if not replica.is_future
    }
    return {
        partition: Extent(
            starts[partition].offset if partition in starts else None,
            ends[partition].offset if partition in ends else None,
            None if leader is None else sizes.get((leader, partition)),
        )
        for partition, leader in leaders.items()
    }


async def _configs(admin: AsyncAdmin, topics: Mapping[str, TopicDescription]) -> dict[str, dict[str, ConfigEntry]]:
    refused: dict[ConfigResource, OttlaError] = {}
    resources = [ConfigResource(ConfigResourceType.TOPIC, name) for name in topics]
    found = await admin.describe_configs(resources, errors=refused)
    return {resource.name: entries for resource, entries in found.items()}


def _document(detail: _Detail) -> dict[str, object]:
    return {
        **_summary(detail.topic),
        "configs": {name: entry.value for name, entry in detail.configs.items()},
        "partitions": [
            {
                "partition": info.partition,
                "leader": info.leader,
                "leader_epoch": info.leader_epoch,
                "replicas": info.replicas,
                "isr": info.isr,
                "offline_replicas": info.offline_replicas,
                "start_offset": detail.extents[info.partition].start,
                "end_offset": detail.extents[info.partition].end,
                "size_bytes": detail.extents[info.partition].size_bytes,
            }
            for info in detail.topic.partitions
        ],
    }


def _text(detail: _Detail, style: Style) -> str:
    topic = detail.topic
    extents = detail.extents.values()
    parts = [
        counted(len(topic.partitions), "partition"),
        counted(_replicas(topic), "replica"),
        counted(sum(extent.records or 0 for extent in extents), "record"),
        bytes_text(sum(extent.size_bytes or 0 for extent in extents)),
    ]
    lines = [
        f"{style.paint(topic.name, Tone.NAME)}  {', '.join(parts)}, {style.paint(_state(topic))}",
        style.paint(f"id {topic.topic_id}", Tone.FAINT),
    ]
    lines += [f"{name} = {entry.value}" for name, entry in detail.configs.items()]
    headers = ["Partition", "Leader", "Replicas", "In sync", "Start", "End", "Records", "Size"]
    rows = [_partition_row(info, detail.extents[info.partition]) for info in topic.partitions]
    return "\n".join([*lines, "", table(headers, rows, style)])


def _partition_row(info: PartitionDescription, extent: Extent) -> list[object]:
    is_complete = len(info.isr) == len(info.replicas)
    isr = ", ".join(map(str, info.isr)) or "none"
    return [
        info.partition,
        Toned("none", Tone.BAD) if info.leader is None else info.leader,
        ", ".join(map(str, info.replicas)),
        isr if is_complete else Toned(isr, Tone.WARN),
        extent.start,
        extent.end,
        extent.records,
        None if extent.size_bytes is None else bytes_text(extent.size_bytes),
    ]
