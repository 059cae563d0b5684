"""`kafka-consumer-groups --describe`: offsets and lag, members, or the state of groups, in Kafka's columns."""

import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Final, NamedTuple

from ottla.base.errors import OttlaError
from ottla.cli.kafka.argument.option import ChosenOptions, ToolError
from ottla.cli.kafka.output.java_error import java_text
from ottla.client.admin.async_admin import AsyncAdmin
from ottla.client.admin.operation.group_offset import GroupOffsets
from ottla.client.admin.value.group import ConsumerGroupDescription, MemberDescription
from ottla.client.admin.value.offset import OffsetSpec
from ottla.client.record import TopicPartition

MISSING: Final = "-"
_REBALANCING: Final = ("PreparingRebalance", "CompletingRebalance", "Assigning", "Reconciling")
_PLAIN: Final = ("TOPIC", "PARTITION", "CURRENT-OFFSET", "LOG-END-OFFSET", "LAG", "CONSUMER-ID", "HOST", "CLIENT-ID")
_VERBOSE: Final = (*_PLAIN[:2], "LEADER-EPOCH", *_PLAIN[2:])


class DescribeFailedError(OttlaError):
    """A group that cannot be described; the text has Java's name of the reason in front."""


async def describe(admin: AsyncAdmin, options: ChosenOptions, group_ids: Sequence[str]) -> None:
    """Prints the groups, sorted by name."""
    try:
        groups = await admin.describe_consumer_groups(group_ids)
    except ToolError:
        raise
    except OttlaError as error:
        raise DescribeFailedError(java_text(error)) from error
    verbose = options.has("verbose")
    for group_id in sorted(groups):
        group = groups[group_id]
        if options.has("members"):
            _print_members(group, verbose=verbose)
        elif options.has("state"):
            _print_state(group, verbose=verbose)
        else:
            await _print_offsets(admin, group, verbose=verbose)


def _may_print(group: ConsumerGroupDescription, row_count: int) -> bool:
    """Says what is special about the group; whether there is anything to print."""
    if group.state == "Dead":
        print(f"\nError: Consumer group '{group.group_id}' does not exist.")
    elif group.state == "Empty":
        print(f"\nConsumer group '{group.group_id}' has no active members.", file=sys.stderr)
    elif group.state in _REBALANCING:
        print(f"\nWarning: Consumer group '{group.group_id}' is rebalancing.", file=sys.stderr)
    return group.state != "Dead" and row_count > 0


class _Owner(NamedTuple):
    """Who reads partitions."""

    consumer_id: str
    host: str
    client_id: str


_NOBODY: Final = _Owner(MISSING, MISSING, MISSING)


async def _print_offsets(admin: AsyncAdmin, group: ConsumerGroupDescription, *, verbose: bool) -> None:
    committed = (await admin.list_consumer_group_offsets({group.group_id: None}))[group.group_id]
    owned = _owned_partitions(group.members, committed)
    ends = await _end_offsets(admin, [partition for partition, _ in owned])
    rows = [_offset_row(partition, owner, committed, ends, verbose=verbose) for partition, owner in owned]
    if not _may_print(group, len(rows)):
        return
    table = [("GROUP", *(_VERBOSE if verbose else _PLAIN)), *((group.group_id, *row) for row in rows)]
    print("\n" + "\n".join(_aligned(table, verbose=verbose)))


def _aligned(table: Sequence[tuple[str, ...]], *, verbose: bool) -> Iterable[str]:
    """Group, topic, consumer and host as wide as needed, the rest as Kafka has it; the last is not padded."""
    numbers = [10, 15, 15, 15, 15] if verbose else [10, 15, 15, 15]
    widths = [0, 0, *numbers, 0, 0]
    for index, width in enumerate(widths):
        if not width:
            widths[index] = max(15, *(len(row[index]) for row in table))
    for row in table:
        padded = [f"{cell:<{width}}" for cell, width in zip(row, widths, strict=False)]
        yield " ".join([*padded, row[-1]])


def _owned_partitions(
    members: Sequence[MemberDescription], committed: GroupOffsets
) -> list[tuple[TopicPartition, _Owner]]:
    """Partitions by member, the busiest first, then those without a reader; sorted within."""
    owned: list[tuple[TopicPartition, _Owner]] = []
    for member in sorted(members, key=lambda member: -len(member.assignment)):
        owner = _Owner(member.member_id, member.host, member.client_id)
        owned += [(partition, owner) for partition in sorted(member.assignment)]
    assigned = {partition for partition, _ in owned}
    return owned + [(partition, _NOBODY) for partition in sorted(committed) if partition not in assigned]


async def _end_offsets(admin: AsyncAdmin, partitions: Sequence[TopicPartition]) -> dict[TopicPartition, int]:
    """The ends of partitions that have leaders."""
    topics = await admin.describe_topics({partition.topic for partition in partitions})
    led = {
        TopicPartition(topic.name, info.partition)
        for topic in topics.values()
        for info in topic.partitions
        if info.leader is not None
    }
    found = await admin.list_offsets({part: OffsetSpec.LATEST for part in partitions if part in led})
    return {partition: listed.offset for partition, listed in found.items()}


def _offset_row(
    partition: TopicPartition,
    owner: _Owner,
    committed: GroupOffsets,
    ends: Mapping[TopicPartition, int],
    *,
    verbose: bool,
) -> tuple[str, ...]:
    position, end = committed.get(partition), ends.get(partition)
    offset = None if position is None else position.offset
    lag = None if offset is None or end is None else end - offset
    epoch = (_text(None if position is None else position.leader_epoch),) if verbose else ()
    return (partition.topic, str(partition.partition), *epoch, _text(offset), _text(end), _text(lag), *owner)


def _text(value: object) -> str:
    return MISSING if value is None else str(value)


def _print_state(group: ConsumerGroupDescription, *, verbose: bool) -> None:
    if not _may_print(group, 1):
        return
    node = group.coordinator
    coordinator = f"{node.host}:{node.port}  ({node.id})"
    names = ["GROUP", "COORDINATOR (ID)", "ASSIGNMENT-STRATEGY", "STATE"]
    cells = [group.group_id, coordinator, group.assignor or MISSING, group.state]
    widths = [max(15, len(group.group_id)), max(25, len(coordinator)), 20, 20]
    if verbose:
        names += ["GROUP-EPOCH", "TARGET-ASSIGNMENT-EPOCH"]
        cells += [_text(group.group_epoch), _text(group.target_assignment_epoch)]
        widths += [15, 25]
    for row, last in ((names, "#MEMBERS"), (cells, str(len(group.members)))):
        padded = " ".join(f"{cell:<{width}}" for cell, width in zip(row, widths, strict=True))
        print(f"\n{padded} {last}", end="")
    print()


def _print_members(group: ConsumerGroupDescription, *, verbose: bool) -> None:
    members = group.members
    shown = members if _may_print(group, len(members)) else ()
    with_instance = any(member.instance_id for member in shown)
    kinds = {member.is_upgraded for member in shown}
    columns: list[tuple[str, int, Callable[[MemberDescription], str]]] = [
        ("GROUP", 15, lambda _: group.group_id),
        ("CONSUMER-ID", 15, lambda member: member.member_id),
        *([("GROUP-INSTANCE-ID", 17, lambda member: member.instance_id or "")] if with_instance else []),
        ("HOST", 15, lambda member: member.host),
        ("CLIENT-ID", 15, lambda member: member.client_id),
    ]
    table = [[name for name, _, _ in columns], *([read(member) for _, _, read in columns] for member in members)]
    widths = [max(least, *(len(row[index]) for row in table)) for index, (_, least, _) in enumerate(columns)]
    details = _member_details(group, shown, with_upgrade={True, False} <= kinds) if verbose else [""] * len(table)
    counts = ["#PARTITIONS", *(str(len(member.assignment)) for member in members)]
    print()
    for row, count, detail in zip(table, counts, details, strict=True):
        padded = " ".join(f"{cell:<{width}}" for cell, width in zip(row, widths, strict=True))
        print(f"{padded} {count:<15} {detail}")


def _member_details(
    group: ConsumerGroupDescription, shown: Sequence[MemberDescription], *, with_upgrade: bool
) -> list[str]:
    """The further columns of `--verbose`: the header's first, then each member's."""
    current = max([20, *(len(_assignment(member.assignment)) for member in shown)])
    target = max([20, *(len(_assignment(member.target_assignment)) for member in shown)])
    rows = [("CURRENT-EPOCH", "CURRENT-ASSIGNMENT", "TARGET-EPOCH", "TARGET-ASSIGNMENT", "UPGRADED")]
    rows += [
        (
            _text(member.member_epoch),
            _assignment(member.assignment),
            _text(group.target_assignment_epoch),
            _assignment(member.target_assignment),
            MISSING if member.is_upgraded is None else str(member.is_upgraded).lower(),
        )
        for member in group.members
    ]
    return [
        f"{row[0]:<15} {row[1]:<{current}} {row[2]:<15} {row[3]:<{target}}{f' {row[4]}' if with_upgrade else ''}"
        for row in rows
    ]


def _assignment(partitions: Iterable[TopicPartition] | None) -> str:
    topics: dict[str, list[int]] = {}
    for partition in sorted(partitions or ()):
        topics.setdefault(partition.topic, []).append(partition.partition)
    if not topics:
        return MISSING
    return ";".join(f"{topic}:{','.join(map(str, numbers))}" for topic, numbers in sorted(topics.items()))
