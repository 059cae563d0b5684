"""`ottla topics describe --sizes`: bytes and rate of each partition, the hottest first."""

import argparse
import asyncio
import time
from collections.abc import Mapping

from ottla.cli.commands.topics.name import described
from ottla.cli.commands.topics.skew import Heat, Look, heats, skew
from ottla.cli.commands.topics.view import extents
from ottla.cli.output.advice import CommandError
from ottla.cli.output.document import print_document
from ottla.cli.output.quantity import bytes_text, counted, duration_text
from ottla.cli.output.style import Style, Text, Tone, Toned
from ottla.cli.output.table import table
from ottla.client.admin.async_admin import AsyncAdmin
from ottla.client.admin.value.topic import TopicDescription

_HOT = 2.0
"""So many times the mean are worth a colour."""


async def sizes(admin: AsyncAdmin, options: argparse.Namespace) -> int:
    """Looks twice, `--seconds` apart, and prints what changed."""
    if options.seconds <= 0:
        raise CommandError(f"--seconds {options.seconds:g}: it must be more than nothing")
    topics = await described(admin, options.topics)
    before, started = await _looks(admin, topics), time.monotonic()
    await asyncio.sleep(options.seconds)
    after, seconds = await _looks(admin, topics), time.monotonic() - started
    found = {name: heats(before[name], after[name], seconds) for name in topics}
    if options.json:
        print_document([_document(topics[name], hot, seconds) for name, hot in found.items()])
    else:
        style = Style.of()
        print("\n\n".join(_text(topics[name], hot, seconds, style) for name, hot in found.items()))
    return 0


async def _looks(admin: AsyncAdmin, topics: Mapping[str, TopicDescription]) -> dict[str, dict[int, Look]]:
    looks: dict[str, dict[int, Look]] = {name: {} for name in topics}
    for (name, number), extent in (await extents(admin, topics)).items():
        looks[name][number] = Look(extent.start, extent.end, extent.size_bytes)
    return looks


def _text(topic: TopicDescription, hot: list[Heat], seconds: float, style: Style) -> str:
    total = sum(heat.size_bytes or 0 for heat in hot)
    rate = sum(heat.bytes_per_second or 0.0 for heat in hot)
    parts = [counted(len(hot), "partition"), bytes_text(total), f"{bytes_text(rate)}/s in {duration_text(seconds)}"]
    leaders = {info.partition: info.leader for info in topic.partitions}
    mean_rate, mean_size = rate / len(hot), total / len(hot)
    rows = [
        [
            heat.partition,
            Toned("none", Tone.BAD) if leaders[heat.partition] is None else leaders[heat.partition],
            _amount(heat.size_bytes, mean_size),
            _share(heat.size_bytes, total),
            heat.records,
            _amount(heat.bytes_per_second, mean_rate, "/s"),
            _share(heat.bytes_per_second, rate),
            None if heat.records_per_second is None else f"{heat.records_per_second:,.0f}/s",
        ]
        for heat in hot
    ]
    headers = ["Partition", "Leader", "Size", "of all", "Records", "Written", "of all", "Records written"]
    head = f"{style.paint(topic.name, Tone.NAME)}  {', '.join(parts)}"
    return "\n".join([head, "", table(headers, rows, style), *_verdict(hot)])


def _amount(value: float | None, mean: float, unit: str = "") -> Text | None:
    if value is None:
        return None
    text = f"{bytes_text(value)}{unit}"
    return Toned(text, Tone.WARN) if value > _HOT * mean else text


def _share(value: float | None, total: float) -> str | None:
    return None if value is None or not total else f"{value / total:.0%}"


def _verdict(hot: list[Heat]) -> list[str]:
    lines = []
    by_rate, by_size = skew(heat.bytes_per_second for heat in hot), skew(heat.size_bytes for heat in hot)
    if by_rate is not None and len(hot) > 1:
        lines.append(f"Partition {hot[0].partition} is written {by_rate:.1f} times as much as the mean.")
    if by_size is not None and len(hot) > 1:
        largest = max(hot, key=lambda heat: heat.size_bytes or 0)
        lines.append(f"Partition {largest.partition} holds {by_size:.1f} times as much as the mean.")
    return ["", *lines] if lines else []


def _document(topic: TopicDescription, hot: list[Heat], seconds: float) -> dict[str, object]:
    leaders = {info.partition: info.leader for info in topic.partitions}
    return {
        "name": topic.name,
        "seconds": round(seconds, 3),
        "size_skew": skew(heat.size_bytes for heat in hot),
        "rate_skew": skew(heat.bytes_per_second for heat in hot),
        "partitions": [{**heat._asdict(), "leader": leaders[heat.partition]} for heat in hot],
    }
