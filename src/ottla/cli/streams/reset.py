"""Resets an application: its inputs are read anew, and what it has made of them is deleted.

The group's offsets of input topics go to a point, those of internal topics are forgotten with the topics. The local
state of instances is theirs to delete: `KafkaStreams.clean_up`, before the next start.
"""

import argparse
from collections.abc import Collection

from ottla.cli.commands.records.position import parse_point, resolve
from ottla.cli.output.advice import CommandError
from ottla.cli.output.document import print_document
from ottla.cli.output.quantity import counted
from ottla.cli.output.style import Style, Tone, Toned
from ottla.cli.output.table import table
from ottla.cli.streams.application import ApplicationView, view_of
from ottla.client.admin.async_admin import AsyncAdmin
from ottla.client.record import TopicPartition


async def reset(admin: AsyncAdmin, options: argparse.Namespace) -> int:
    """Shows what would be done, and does it with `--execute`."""
    view = await view_of(admin, options.application)
    if view.group is None and not view.internal_topics and not options.input:
        raise CommandError(f"there is no application {options.application}: see `ottla streams list`")
    if view.members and not options.force:
        raise CommandError(
            f"{options.application} has {counted(view.members, 'live member')} and can be reset only without any; stop "
            f"the instances first, or add --force to take them out of the group"
        )
    topics = options.input or view.input_topics
    offsets = await resolve(admin, await partitions_of(admin, topics), parse_point(options.to)) if topics else {}
    if options.execute:
        await carry_out(admin, view, offsets, view.internal_topics)
    _show(options, view, offsets)
    return 0


async def partitions_of(admin: AsyncAdmin, topics: Collection[str]) -> list[TopicPartition]:
    """All partitions of topics."""
    found = await admin.describe_topics(list(topics))
    return [TopicPartition(name, part.partition) for name, topic in sorted(found.items()) for part in topic.partitions]


async def carry_out(
    admin: AsyncAdmin, view: ApplicationView, offsets: dict[TopicPartition, int], topics: Collection[str]
) -> None:
    """Moves the offsets and deletes the topics, with the group's offsets in them."""
    if view.members:
        await admin.remove_members(view.application_id, reason="the application is reset")
    if offsets:
        await admin.alter_consumer_group_offsets(view.application_id, offsets)
    stale = [place for place in view.committed if place.topic in topics]
    if stale:
        await admin.delete_consumer_group_offsets(view.application_id, stale)
    if topics:
        await admin.delete_topics(list(topics))


def _show(options: argparse.Namespace, view: ApplicationView, offsets: dict[TopicPartition, int]) -> None:
    if options.json:
        partitions = [{**place._asdict(), "offset": offset} for place, offset in offsets.items()]
        print_document({"executed": options.execute, "partitions": partitions, "deleted": list(view.internal_topics)})
        return
    style = Style.of()
    rows = [
        [Toned(place.topic, Tone.NAME), place.partition, view.committed.get(place), offset]
        for place, offset in offsets.items()
    ]
    print(table(["Input", "Partition", "Committed", "New"], rows, style))
    if view.internal_topics:
        print(
            "\n"
            + table(["Deleted" if options.execute else "To delete"], [[name] for name in view.internal_topics], style)
        )
    if options.execute:
        print("\nBefore an instance starts again, it has to call clean_up(), or its state.dir has to be deleted.")
    else:
        print(style.paint("\nNothing was changed: add --execute to do it.", Tone.WARN))
