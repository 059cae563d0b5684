"""`ottla consume` at work: where to begin, what to print, when to end, what to commit.

Invariant: with a group, what is committed are exactly the records that were looked at: a record that `--max` cut off
is the next one that the group reads. Looked at [5, 9) of a poll of [5, 20) → 9 is committed.
"""

import argparse
import sys
import time
from collections.abc import Iterable, Mapping
from typing import Final

from ottla.cli.commands.records.consume_field import RecordView
from ottla.cli.commands.records.consume_filter import Predicate, parse_filter
from ottla.cli.commands.records.consume_format import Render, json_render, line_render, template_render
from ottla.cli.commands.records.position import PointKind, offsets_at, parse_point, resolve
from ottla.cli.commands.topics.name import chosen_partitions, parse_part
from ottla.cli.connection import client_settings, run_admin
from ottla.cli.connection_news import connection_news
from ottla.cli.output.advice import CommandError
from ottla.cli.output.quantity import counted
from ottla.cli.output.style import Style, Tone
from ottla.client.admin.async_admin import AsyncAdmin
from ottla.client.admin.value.offset import OffsetSpec
from ottla.client.config.consumer import CONSUMER_KEYS
from ottla.client.consumer.consumer import Consumer
from ottla.client.consumer.fetch.record import Record
from ottla.client.record import TopicPartition

_POLL_S: Final = 0.5
_COMMIT_S: Final = 1.0

Offsets = dict[TopicPartition, int]


def read(options: argparse.Namespace) -> int:
    """Reads and prints until there is a reason to end; the exit code."""
    style = Style.of()
    wanted = None if options.filter is None else parse_filter(options.filter)
    printer = _Printer(_render(options, style), wanted, options.max)
    starts, ends = _extent(options)
    try:
        with connection_news(), Consumer(_settings(options)) as consumer:
            if options.group is None:
                consumer.assign(list(starts))
                for partition, offset in starts.items():
                    consumer.seek(partition, offset)
            else:
                consumer.subscribe({partition.topic for partition in starts})
            _announce(options, len(starts))
            _Reading(consumer, printer, ends if options.exit else None, commits=options.group is not None).run()
    finally:
        # Also after Ctrl-C, which is how most of these end.
        _conclude(printer)
    return 0


def _render(options: argparse.Namespace, style: Style) -> Render:
    if options.json:
        return json_render
    if options.format is not None:
        return template_render(options.format, style)
    return line_render(style, with_topic=len(options.topics) > 1)


def _extent(options: argparse.Namespace) -> tuple[Offsets, Offsets]:
    """The offsets where reading starts, and the present ends of the partitions."""
    point = parse_point(options.start or "end")
    if options.group is not None:
        _check_group(options, point.kind)
    starts: Offsets = {}
    ends: Offsets = {}

    async def look(admin: AsyncAdmin, options: argparse.Namespace) -> int:
        partitions = await chosen_partitions(admin, map(parse_part, options.topics))
        starts.update(await resolve(admin, partitions, point))
        ends.update(await offsets_at(admin, partitions, OffsetSpec.LATEST))
        return 0

    run_admin(options, look)
    return starts, ends


def _check_group(options: argparse.Namespace, kind: PointKind) -> None:
    if kind not in (PointKind.BEGINNING, PointKind.END):
        raise CommandError(
            "a group begins where it is; --from beginning or end says where it begins if it is new; "
            "`ottla groups reset` moves one"
        )
    if any(":" in topic for topic in options.topics):
        raise CommandError("a group shares whole topics: leave the partitions out, or --group")


def _settings(options: argparse.Namespace) -> dict[str, object]:
    settings = client_settings(options, CONSUMER_KEYS)
    settings.setdefault("max.poll.records", "1000")
    settings["enable.auto.commit"] = "false"
    settings.pop("group.id", None)
    if options.committed:
        settings["isolation.level"] = "read_committed"
    if options.group is not None:
        settings["group.id"] = options.group
        if options.start is not None:
            is_start = parse_point(options.start).kind is PointKind.BEGINNING
            settings["auto.offset.reset"] = "earliest" if is_start else "latest"
    return settings


class _Printer:
    """Prints the records that are wanted, up to a number."""

    def __init__(self, render: Render, wanted: Predicate | None, count_max: int | None) -> None:
        self._render: Final = render
        self._wanted: Final = wanted
        self._count_max: Final = count_max
        self.count = 0
        self.seen = 0

    @property
    def is_full(self) -> bool:
        """Whether enough was printed."""
        return self._count_max is not None and self.count >= self._count_max

    def print(self, records: Iterable[Record]) -> Offsets:
        """Prints records; the next offsets of those that were looked at."""
        lines: list[str] = []
        after: Offsets = {}
        for record in records:
            if self.is_full:
                break
            view = RecordView(record)
            if self._wanted is None or self._wanted(view):
                lines.append(self._render(view))
                self.count += 1
            self.seen += 1
            after[TopicPartition(record.topic, record.partition)] = record.offset + 1
        if lines:
            sys.stdout.write("".join(lines))
            sys.stdout.flush()
        return after


class _Reading:
    """One run: polls until everything is read, enough is printed, or the user has enough."""

    def __init__(self, consumer: Consumer, printer: _Printer, ends: Offsets | None, *, commits: bool) -> None:
        self._consumer: Final = consumer
        self._printer: Final = printer
        self._ends: Final = ends
        self._commits: Final = commits
        self._after: Offsets = {}
        self._uncommitted: Offsets = {}
        self._committed_at = time.monotonic()

    def run(self) -> None:
        """Reads; what was looked at is committed however it ends."""
        try:
            while not self._printer.is_full and not self._is_through():
                after = self._printer.print(self._consumer.poll(_POLL_S))
                self._after.update(after)
                if self._commits:
                    self._commit_soon(after)
        finally:
            if self._uncommitted:
                self._consumer.commit(self._uncommitted, timeout=5)

    def _commit_soon(self, after: Mapping[TopicPartition, int]) -> None:
        self._uncommitted.update(after)
        now = time.monotonic()
        if self._uncommitted and now - self._committed_at >= _COMMIT_S:
            self._consumer.commit_async(self._uncommitted)
            self._uncommitted = {}
            self._committed_at = now

    def _is_through(self) -> bool:
        """Whether all was read that was there at the start; markers and gaps at the end count as read."""
        if self._ends is None:
            return False
        assigned = self._consumer.assignment()
        if not assigned:
            return False
        return all(
            self._after.get(partition, -1) >= end or self._consumer.position(partition) >= end
            for partition, end in self._ends.items()
            if partition in assigned
        )


def _announce(options: argparse.Namespace, count: int) -> None:
    if sys.stderr.isatty() and sys.stdout.isatty() and not options.exit:
        what = f"{', '.join(options.topics)} ({counted(count, 'partition')})"
        hint = "" if options.start or options.group else "; --from beginning shows what is there"
        said = f"Waiting for records of {what}{hint}. Ctrl-C ends."
        print(Style.of(sys.stderr).paint(said, Tone.FAINT), file=sys.stderr)


def _conclude(printer: _Printer) -> None:
    if sys.stderr.isatty():
        of = f" of {printer.seen:,}" if printer.seen != printer.count else ""
        said = f"{counted(printer.count, 'record')}{of}."
        print(Style.of(sys.stderr).paint(said, Tone.FAINT), file=sys.stderr)
