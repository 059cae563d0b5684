"""Show what partitions hold: first and next offset, number of records, time of the newest.

ottla offsets orders                    all partitions
ottla offsets orders:0,2 --at 15m       and where the last fifteen minutes begin
"""

import argparse
from typing import TYPE_CHECKING

from ottla.cli.commands.records.position import POINT_HELP, parse_point
from ottla.cli.connection import add_connection, run_admin

if TYPE_CHECKING:
    from ottla.client.admin.async_admin import AsyncAdmin


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declares the options."""
    parser.add_argument("topics", nargs="+", metavar="TOPIC[:PARTITIONS]", help="orders, orders:0 or orders:0,2-4")
    parser.add_argument("--at", type=str, metavar="POINT", help=f"also the offset at a point: {POINT_HELP}")
    add_connection(parser)


def run(options: argparse.Namespace) -> int:
    """Prints them; the exit code."""
    return run_admin(options, _show)


async def _show(admin: "AsyncAdmin", options: argparse.Namespace) -> int:
    from ottla.cli.commands.records.position import offsets_at, resolve
    from ottla.cli.commands.topics.name import chosen_partitions, parse_part
    from ottla.cli.output.document import print_document
    from ottla.cli.output.quantity import moment_text
    from ottla.cli.output.style import Style, Tone, Toned
    from ottla.cli.output.table import table
    from ottla.client.admin.value.offset import OffsetSpec

    point = None if options.at is None else parse_point(options.at)
    partitions = await chosen_partitions(admin, map(parse_part, options.topics))
    starts = await offsets_at(admin, partitions, OffsetSpec.EARLIEST)
    ends = await offsets_at(admin, partitions, OffsetSpec.LATEST)
    newest = await admin.list_offsets(dict.fromkeys(partitions, OffsetSpec.MAX_TIMESTAMP))
    times = {partition: newest[partition].timestamp for partition in partitions if newest[partition].timestamp >= 0}
    found = None if point is None else await resolve(admin, partitions, point)
    if options.json:
        print_document(
            [
                {
                    "topic": partition.topic,
                    "partition": partition.partition,
                    "start_offset": starts[partition],
                    "end_offset": ends[partition],
                    "newest_timestamp": times.get(partition),
                    **({} if found is None else {"offset": found[partition]}),
                }
                for partition in partitions
            ]
        )
        return 0
    headers = ["Topic", "Partition", "Start", "End", "Records", "Newest", *([] if found is None else ["At"])]
    rows = [
        [
            Toned(partition.topic, Tone.NAME),
            partition.partition,
            starts[partition],
            ends[partition],
            ends[partition] - starts[partition],
            moment_text(times[partition]) if partition in times else None,
            *([] if found is None else [found[partition]]),
        ]
        for partition in partitions
    ]
    print(table(headers, rows, Style.of()))
    return 0
