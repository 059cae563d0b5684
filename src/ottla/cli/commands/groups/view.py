"""`ottla groups list` and `describe`."""

import argparse
import difflib
from collections.abc import Mapping
from typing import NamedTuple

from ottla.base.errors import OttlaError
from ottla.cli.commands.groups.lag import Lag, lags
from ottla.cli.output.advice import CommandError
from ottla.cli.output.document import print_document
from ottla.cli.output.quantity import counted, duration_text
from ottla.cli.output.style import Style, Text, Tone, Toned
from ottla.cli.output.table import Number, table
from ottla.client.admin.async_admin import AsyncAdmin
from ottla.client.admin.value.group import ConsumerGroupDescription, GroupListing, MemberDescription
from ottla.client.record import TopicPartition
from ottla.protocol.errors import GroupIdNotFoundError

_TONES = {"Stable": Tone.GOOD, "Empty": Tone.FAINT, "Dead": Tone.BAD}


async def list_groups(admin: AsyncAdmin, options: argparse.Namespace) -> int:
    """Prints the groups, sorted by name."""
    groups = sorted(await admin.list_groups(states=options.state))
    if options.json:
        print_document([_listing(group) for group in groups])
    elif options.names:
        print("".join(f"{group.group_id}\n" for group in groups), end="")
    elif not groups:
        print("There are no such groups." if options.state else "There are no groups yet: no consumer has joined one.")
    else:
        rows = [
            [Toned(group.group_id, Tone.NAME), _state(group.state), group.type, group.protocol or None]
            for group in groups
        ]
        print(table(["Group", "State", "Type", "Protocol"], rows, Style.of()))
    return 0


def _listing(group: GroupListing) -> dict[str, object]:
    return {"group": group.group_id, "state": group.state, "type": group.type, "protocol": group.protocol}


def _state(state: str) -> Text:
    return Toned(state, _TONES.get(state, Tone.WARN))


class _Detail(NamedTuple):
    """A group with its lag, and who reads what."""

    group: ConsumerGroupDescription
    lags: Mapping[TopicPartition, Lag]
    owners: Mapping[TopicPartition, MemberDescription]

    @property
    def records(self) -> int:
        """The lag of all partitions."""
        return sum(lag.records or 0 for lag in self.lags.values())

    @property
    def seconds(self) -> float | None:
        """The longest wait of a next record."""
        return max((lag.seconds for lag in self.lags.values() if lag.seconds is not None), default=None)


async def describe(admin: AsyncAdmin, options: argparse.Namespace) -> int:
    """Prints groups with their lag, or their members."""
    failed: dict[str, OttlaError] = {}
    groups = await admin.describe_consumer_groups(options.groups, errors=failed)
    for error in failed.values():
        if not isinstance(error, GroupIdNotFoundError):
            raise error
    await check_exist(
        admin, [group for group in options.groups if group not in groups or groups[group].state == "Dead"]
    )
    details = [await _detail(admin, options, groups[name]) for name in dict.fromkeys(options.groups) if name in groups]
    if options.json:
        print_document([_document(detail) for detail in details])
    else:
        print("\n\n".join(_text(detail, Style.of(), with_members=options.members) for detail in details))
    return 0


async def check_exist(admin: AsyncAdmin, doubtful: list[str]) -> None:
    """Raises `CommandError` if the first of these groups does not exist, with the nearest that does."""
    if doubtful:
        known = {group.group_id: group.type for group in await admin.list_groups()}
        kind = known.pop(doubtful[0], "")
        if kind in ("Share", "Streams"):
            raise CommandError(f"{doubtful[0]} is a {kind.lower()} group, and this is for groups of consumers")
        if kind:
            return
        near = difflib.get_close_matches(doubtful[0], known, n=1)
        hint = f"did you mean {near[0]}?" if near else "`ottla groups list` shows them"
        raise CommandError(f"there is no consumer group {doubtful[0]}; {hint}")


async def _detail(admin: AsyncAdmin, options: argparse.Namespace, group: ConsumerGroupDescription) -> _Detail:
    committed = (await admin.list_consumer_group_offsets({group.group_id: None}))[group.group_id]
    owners = {partition: member for member in group.members for partition in member.assignment}
    found = await lags(admin, options, {**dict.fromkeys(owners), **committed})
    return _Detail(group, dict(sorted(found.items())), owners)


def _document(detail: _Detail) -> dict[str, object]:
    group = detail.group
    return {
        "group": group.group_id,
        "state": group.state,
        "type": group.type,
        "assignor": group.assignor,
        "coordinator": group.coordinator.id,
        "lag_records": detail.records,
        "lag_seconds": detail.seconds,
        "members": [
            {
                "member_id": member.member_id,
                "instance_id": member.instance_id,
                "client_id": member.client_id,
                "host": member.host,
                "partitions": [partition._asdict() for partition in sorted(member.assignment)],
            }
            for member in group.members
        ],
        "partitions": [
            {
                **partition._asdict(),
                "committed_offset": lag.committed,
                "end_offset": lag.end,
                "lag_records": lag.records,
                "lag_seconds": lag.seconds,
                "member_id": detail.owners[partition].member_id if partition in detail.owners else None,
            }
            for partition, lag in detail.lags.items()
        ],
    }


def _text(detail: _Detail, style: Style, *, with_members: bool) -> str:
    group = detail.group
    parts = [style.paint(_state(group.state)), counted(len(group.members), "member"), _lag_text(detail)]
    facts = f"{group.type.lower()} protocol, {group.assignor or 'no'} assignor, coordinator {group.coordinator.id}"
    lines = [f"{style.paint(group.group_id, Tone.NAME)}  {', '.join(parts)}", style.paint(facts, Tone.FAINT)]
    if with_members:
        rows = [_member_row(member) for member in group.members]
        lines += ["", table(["Member", "Instance", "Client", "Host", "Partitions"], rows, style)] if rows else []
    elif detail.lags:
        headers = ["Topic", "Partition", "Committed", "End", "Lag", "Waiting", "Client", "Host"]
        rows = [_lag_row(partition, lag, detail.owners.get(partition)) for partition, lag in detail.lags.items()]
        lines += ["", table(headers, rows, style)]
    else:
        lines.append("It has committed nothing yet.")
    return "\n".join(lines)


def _lag_text(detail: _Detail) -> str:
    if not detail.records:
        return "no lag"
    waiting = "" if detail.seconds is None else f" or {duration_text(detail.seconds)}"
    return f"{counted(detail.records, 'record')}{waiting} behind"


def _lag_row(partition: TopicPartition, lag: Lag, owner: MemberDescription | None) -> list[object]:
    records = lag.records
    return [
        Toned(partition.topic, Tone.NAME),
        partition.partition,
        lag.committed,
        lag.end,
        Number(records, Tone.WARN) if records else records,
        None if lag.seconds is None else duration_text(lag.seconds),
        None if owner is None else owner.client_id,
        None if owner is None else owner.host.lstrip("/"),
    ]


def _member_row(member: MemberDescription) -> list[object]:
    topics: dict[str, list[int]] = {}
    for partition in sorted(member.assignment):
        topics.setdefault(partition.topic, []).append(partition.partition)
    assigned = " ".join(f"{topic}:{','.join(map(str, numbers))}" for topic, numbers in topics.items())
    return [member.member_id, member.instance_id, member.client_id, member.host.lstrip("/"), assigned or None]
