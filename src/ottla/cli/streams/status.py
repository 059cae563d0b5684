"""`ottla streams list` and `status`: applications, their members, what they have to read and to keep."""

import argparse
from typing import Any

from ottla.cli.commands.groups.lag import lags
from ottla.cli.output.advice import CommandError
from ottla.cli.output.document import print_document
from ottla.cli.output.quantity import counted
from ottla.cli.output.style import Style, Tone, Toned
from ottla.cli.output.table import table
from ottla.cli.streams.application import ApplicationView, all_views, view_of
from ottla.client.admin.async_admin import AsyncAdmin
from ottla.client.record import OffsetAndMetadata, TopicPartition


async def list_applications(admin: AsyncAdmin, options: argparse.Namespace) -> int:
    """All applications."""
    found = [(view, await _lag(admin, options, view)) for view in await all_views(admin)]
    if options.json:
        print_document({"applications": [_document(view, lag) for view, lag in found]})
        return 0
    if not found:
        print("There are no applications: no group has changelogs or repartition topics.")
        return 0
    rows = [
        [
            Toned(view.application_id, Tone.NAME),
            view.state,
            view.members,
            len(view.internal_topics),
            sum(records or 0 for records in lag.values()),
        ]
        for view, lag in found
    ]
    print(table(["Application", "State", "Members", "Internal topics", "Lag"], rows, Style.of()))
    return 0


async def show_status(admin: AsyncAdmin, options: argparse.Namespace) -> int:
    """One application."""
    view = await view_of(admin, options.application)
    if view.group is None and not view.internal_topics:
        raise CommandError(f"there is no application {options.application}: see `ottla streams list`")
    lag = await _lag(admin, options, view)
    if options.json:
        print_document(_document(view, lag) | {"member_list": _members(view)})
        return 0
    style = Style.of()
    print(f"{view.application_id}: {view.state}, {counted(view.members, 'member')}\n")
    if view.members:
        rows = [[one["client_id"], one["host"], ", ".join(one["partitions"]) or None] for one in _members(view)]
        print(table(["Member", "Host", "Partitions"], rows, style), end="\n\n")
    topics = sorted({place.topic for place in lag})
    rows = [[Toned(name, Tone.NAME), _sum(lag, name), _kind(view, name)] for name in topics]
    print(table(["Topic", "Lag", "Kind"], rows, style))
    changelogs = [name for name in view.internal_topics if name.endswith("-changelog")]
    if changelogs:
        print("\n" + table(["Changelog"], [[name] for name in changelogs], style))
    return 0


async def _lag(
    admin: AsyncAdmin, options: argparse.Namespace, view: ApplicationView
) -> dict[TopicPartition, int | None]:
    committed = {place: OffsetAndMetadata(offset) for place, offset in view.committed.items()}
    found = await lags(admin, options, committed)
    return {place: one.records for place, one in found.items()}


def _document(view: ApplicationView, lag: dict[TopicPartition, int | None]) -> dict[str, object]:
    return {
        "application_id": view.application_id,
        "state": view.state,
        "members": view.members,
        "input_topics": list(view.input_topics),
        "internal_topics": list(view.internal_topics),
        "lag": [{**place._asdict(), "records": records} for place, records in sorted(lag.items())],
    }


def _members(view: ApplicationView) -> list[dict[str, Any]]:
    members = () if view.group is None else view.group.members
    return [
        {
            "client_id": member.client_id,
            "member_id": member.member_id,
            "host": member.host,
            "partitions": [str(place) for place in sorted(member.assignment)],
        }
        for member in sorted(members, key=lambda one: one.client_id)
    ]


def _sum(lag: dict[TopicPartition, int | None], topic: str) -> int:
    return sum(records or 0 for place, records in lag.items() if place.topic == topic)


def _kind(view: ApplicationView, topic: str) -> str:
    return "repartition" if topic in view.internal_topics else "input"
