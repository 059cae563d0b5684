"""`ottla groups reset` and `delete`.

A group with live members is not reset: they would go on where they are and commit over it.
"""

import argparse
from collections.abc import Mapping

from ottla.base.errors import OttlaError
from ottla.cli.commands.groups.view import check_exist
from ottla.cli.commands.records.position import offsets_at, parse_point, resolve
from ottla.cli.commands.topics.name import chosen_partitions, parse_part
from ottla.cli.output.advice import CommandError, advised
from ottla.cli.output.document import print_document
from ottla.cli.output.quantity import counted
from ottla.cli.output.style import Style, Tone, Toned
from ottla.cli.output.table import table
from ottla.client.admin.async_admin import AsyncAdmin
from ottla.client.admin.value.offset import OffsetSpec
from ottla.client.record import TopicPartition
from ottla.protocol.errors import GroupIdNotFoundError

Offsets = dict[TopicPartition, int]


async def reset(admin: AsyncAdmin, options: argparse.Namespace) -> int:
    """Shows where a group would go on, and has it do so with `--execute`."""
    await _check_idle(admin, options.group)
    committed = await _committed(admin, options.group)
    plan = await _plan(admin, options, committed)
    if options.execute:
        await admin.alter_consumer_group_offsets(options.group, plan)
    if options.json:
        print_document(
            {
                "group": options.group,
                "executed": options.execute,
                "partitions": [
                    {**partition._asdict(), "old_offset": committed.get(partition), "new_offset": offset}
                    for partition, offset in plan.items()
                ],
            }
        )
        return 0
    style = Style.of()
    print(table(["Topic", "Partition", "Committed", "New", "Change"], _rows(plan, committed), style))
    if options.execute:
        print(f"\n{options.group} goes on at the new offsets of {counted(len(plan), 'partition')}.")
    else:
        print(style.paint("\nNothing was changed: add --execute to do it.", Tone.WARN))
    return 0


async def _check_idle(admin: AsyncAdmin, group: str) -> None:
    failed: dict[str, OttlaError] = {}
    found = (await admin.describe_consumer_groups([group], errors=failed)).get(group)
    error = failed.get(group)
    # A group that does not exist yet can be given offsets before its first consumer comes.
    if error is not None and not isinstance(error, GroupIdNotFoundError):
        raise error
    if found is not None and found.state not in ("Empty", "Dead"):
        members = counted(len(found.members), "live member")
        raise CommandError(f"{group} has {members}, and offsets change only without any; stop its consumers first")


async def _committed(admin: AsyncAdmin, group: str) -> Offsets:
    found = (await admin.list_consumer_group_offsets({group: None}))[group]
    return {partition: position.offset for partition, position in found.items() if position is not None}


async def _plan(admin: AsyncAdmin, options: argparse.Namespace, committed: Mapping[TopicPartition, int]) -> Offsets:
    if options.topic:
        partitions = await chosen_partitions(admin, map(parse_part, options.topic))
    else:
        partitions = sorted(committed)
    if not partitions:
        await check_exist(admin, [options.group])
        raise CommandError(f"{options.group} has committed nothing; say which topics are meant with --topic")
    if options.to is not None:
        return await resolve(admin, partitions, parse_point(options.to))
    absent = [partition for partition in partitions if partition not in committed]
    if absent:
        raise CommandError(f"{options.group} has committed nothing for {absent[0]} to shift from; use --to")
    starts = await offsets_at(admin, partitions, OffsetSpec.EARLIEST)
    ends = await offsets_at(admin, partitions, OffsetSpec.LATEST)
    return {
        partition: min(max(committed[partition] + options.shift, starts[partition]), ends[partition])
        for partition in partitions
    }


def _rows(plan: Mapping[TopicPartition, int], committed: Mapping[TopicPartition, int]) -> list[list[object]]:
    rows: list[list[object]] = []
    for partition, offset in plan.items():
        old = committed.get(partition)
        change = None if old is None else f"{offset - old:+,}" if offset != old else "0"
        rows.append([Toned(partition.topic, Tone.NAME), partition.partition, old, offset, change])
    return rows


async def delete(admin: AsyncAdmin, options: argparse.Namespace) -> int:
    """Deletes groups that the user was asked about."""
    failed: dict[str, OttlaError] = {}
    names = list(dict.fromkeys(options.groups))
    await admin.delete_groups(names, errors=failed)
    deleted = [name for name in names if name not in failed]
    if options.json:
        print_document({"deleted": deleted})
    else:
        for name in deleted:
            print(f"Deleted {name}.")
    for name, error in failed.items():
        if isinstance(error, GroupIdNotFoundError):
            await check_exist(admin, [name])
        raise CommandError(f"{name}: {advised(error)}") from error
    return 0
