"""Delete the records before a point, for good. Without --execute it only shows what would be deleted.

ottla records delete orders --before 7d
ottla records delete orders:0 --before 1200 --execute
"""

import argparse
from typing import TYPE_CHECKING

from ottla.cli.commands.records.position import POINT_HELP, parse_point
from ottla.cli.connection import add_actions, run_admin

if TYPE_CHECKING:
    from ottla.client.admin.async_admin import AsyncAdmin


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declares the options."""
    delete = add_actions(parser, {"delete": "delete the records before a point"})["delete"]
    delete.add_argument("topics", nargs="+", metavar="TOPIC[:PARTITIONS]", help="orders, orders:0 or orders:0,2-4")
    delete.add_argument("--before", required=True, metavar="POINT", help=f"the first that stays: {POINT_HELP}")
    delete.add_argument("--execute", action="store_true", help="delete them; without it nothing changes")


def run(options: argparse.Namespace) -> int:
    """Shows or deletes; the exit code."""
    return run_admin(options, _delete)


async def _delete(admin: "AsyncAdmin", options: argparse.Namespace) -> int:
    from ottla.cli.commands.records.position import offsets_at, resolve
    from ottla.cli.commands.topics.name import chosen_partitions, parse_part
    from ottla.cli.output.document import print_document
    from ottla.cli.output.quantity import counted
    from ottla.cli.output.style import Style, Tone, Toned
    from ottla.cli.output.table import table
    from ottla.client.admin.value.offset import OffsetSpec

    point = parse_point(options.before)
    partitions = await chosen_partitions(admin, map(parse_part, options.topics))
    starts = await offsets_at(admin, partitions, OffsetSpec.EARLIEST)
    firsts = await resolve(admin, partitions, point)
    if options.execute:
        wanted = {partition: first for partition, first in firsts.items() if first > starts[partition]}
        firsts = {**firsts, **await admin.delete_records(wanted)}
    gone = {partition: firsts[partition] - starts[partition] for partition in partitions}
    if options.json:
        print_document(
            {
                "executed": options.execute,
                "partitions": [
                    {
                        "topic": partition.topic,
                        "partition": partition.partition,
                        "old_start_offset": starts[partition],
                        "new_start_offset": firsts[partition],
                    }
                    for partition in partitions
                ],
            }
        )
        return 0
    rows = [
        [Toned(part.topic, Tone.NAME), part.partition, starts[part], firsts[part], gone[part]] for part in partitions
    ]
    style = Style.of()
    print(table(["Topic", "Partition", "Start", "New start", "Records"], rows, style))
    count = counted(sum(gone.values()), "record")
    if options.execute:
        print(f"\nDeleted {count}.")
    else:
        print(style.paint(f"\nNothing was deleted: add --execute to delete {count} for good.", Tone.WARN))
    return 0
