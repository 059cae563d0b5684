"""`kafka-consumer-groups --reset-offsets`: plans new offsets for groups without members, and commits them if told to.

Invariant: a planned offset lies within the partition; one that was asked for outside of it is moved to the nearer end.
"""

import csv
import io
import sys
import time
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from ottla.base.errors import OttlaError
from ottla.cli.kafka.argument.consumer_groups_choice import SCENARIOS
from ottla.cli.kafka.argument.moment import parse_duration_ms, parse_moment_ms
from ottla.cli.kafka.argument.option import ChosenOptions, OptionValueError, ToolError
from ottla.client.admin.async_admin import AsyncAdmin
from ottla.client.admin.value.offset import OffsetSpec
from ottla.client.record import TopicPartition
from ottla.protocol.errors import GroupIdNotFoundError, LeaderNotAvailableError, UnknownTopicOrPartitionError

Plan = dict[TopicPartition, int]


class ResetPlanError(OptionValueError):
    """A file that is no plan, or none at all."""

    java_class = "java.lang.RuntimeException"


async def reset(admin: AsyncAdmin, options: ChosenOptions, group_ids: Sequence[str]) -> None:
    """Plans, commits with `--execute`, and prints the plan."""
    for name in ("to-offset", "shift-by"):
        options.integer(name)  # raises what is no number before anything is asked
    plans: dict[str, Plan] = {}
    failed: dict[str, OttlaError] = {}
    groups = await admin.describe_consumer_groups(group_ids, errors=failed)
    for group in group_ids:
        error = failed.get(group)
        if error is not None and not isinstance(error, GroupIdNotFoundError):
            raise error
        state = groups[group].state if group in groups else "Dead"
        if state not in ("Empty", "Dead"):
            print(
                f"\nError: Assignments can only be reset if the group '{group}' is inactive, "
                f"but the current state is {state}."
            )
            plans[group] = {}
            continue
        plans[group] = await _plan(admin, options, group)
        if options.has("execute"):
            await admin.alter_consumer_group_offsets(group, plans[group])
    if options.has("export"):
        print(_exported(plans, with_group=len(options.texts("group")) != 1))
    else:
        _print(plans)


async def _plan(admin: AsyncAdmin, options: ChosenOptions, group: str) -> Plan:
    partitions = await _scope(admin, options, group)
    await _check_partitions(admin, partitions)
    scenario = next((name for name in SCENARIOS if options.has(name)), None)
    if scenario == "to-offset":
        offset = options.integer("to-offset")
        return await _within(admin, dict.fromkeys(partitions, offset or 0))
    if scenario in ("to-earliest", "to-latest"):
        spec = OffsetSpec.EARLIEST if scenario == "to-earliest" else OffsetSpec.LATEST
        return await _offsets(admin, partitions, spec)
    if scenario == "to-datetime":
        return await _at(admin, partitions, parse_moment_ms(options.required_text(scenario)))
    if scenario == "by-duration":
        past = round(time.time() * 1000) - parse_duration_ms(options.required_text(scenario))
        return await _at(admin, partitions, past)
    if scenario == "from-file":
        return await _from_file(admin, options, group)
    if scenario is None:
        listed = ", ".join(f"[{name}]" for name in SCENARIOS)
        options.fail(f"Option '[reset-offsets]' requires one of the following scenarios: [{listed}]")
    return await _from_current(admin, group, partitions, options.integer("shift-by"))


async def _from_current(admin: AsyncAdmin, group: str, partitions: Sequence[TopicPartition], shift: int | None) -> Plan:
    """The present offsets, moved by `shift`; without one, partitions that have none go to their ends."""
    committed = (await admin.list_consumer_group_offsets({group: None}))[group]
    plan: Plan = {}
    missing: list[TopicPartition] = []
    for partition in partitions:
        position = committed.get(partition)
        if position is not None:
            plan[partition] = position.offset + (shift or 0)
        elif shift is None:
            missing.append(partition)
        else:
            raise ToolError(f"Cannot shift offset for partition {partition} since there is no current committed offset")
    if shift is not None:
        return await _within(admin, plan)
    return plan | await _offsets(admin, missing, OffsetSpec.LATEST)


async def _from_file(admin: AsyncAdmin, options: ChosenOptions, group: str) -> Plan:
    path = options.required_text("from-file")
    try:
        text = Path(path).read_text()
    except OSError as error:
        raise ResetPlanError(f"java.io.IOException: Unable to read file {path}") from error
    plan = read_plan(text, options.texts("group")).get(group)
    if plan is None:
        print(f"\nError: No reset plan for group {group} found")
        return {}
    return await _within(admin, plan)


def read_plan(text: str, groups: Sequence[str]) -> dict[str, Plan]:
    """Plans by group: lines of `topic,partition,offset` for the one group, or with the group in front.

    >>> read_plan("orders,0,5", ["g"])
    {'g': {TopicPartition(topic='orders', partition=0): 5}}
    >>> read_plan("orders,0,5", ["g", "h"])
    {}
    """
    plans: dict[str, Plan] = {}
    for row in csv.reader(io.StringIO(text)):
        if not row:
            continue
        try:
            *names, partition, offset = row
            if len(names) == 1 and len(groups) > 1:
                continue  # whose would it be?
            group, topic = (groups[0], names[0]) if len(names) == 1 else (names[0], names[1])
            plans.setdefault(group, {})[TopicPartition(topic, int(partition))] = int(offset)
        except (ValueError, IndexError):
            raise ResetPlanError(f"Cannot read the reset plan: {','.join(row)}") from None
    return plans


async def _scope(admin: AsyncAdmin, options: ChosenOptions, group: str) -> list[TopicPartition]:
    if options.has("all-topics"):
        return sorted((await admin.list_consumer_group_offsets({group: None}))[group])
    if options.has("topic"):
        return await named_partitions(admin, options.texts("topic"))
    if not options.has("from-file"):
        options.fail("One of the reset scopes should be defined: --all-topics, --topic.")
    return []


async def named_partitions(
    admin: AsyncAdmin, topics: Iterable[str], *, errors: dict[str, OttlaError] | None = None
) -> list[TopicPartition]:
    """The partitions meant by `topic` (all of it) and `topic:0,1`."""
    named, whole = [], []
    for text in topics:
        if ":" in text:
            named += listed_partitions(text)
        else:
            whole.append(text)
    described = await admin.describe_topics(whole, errors=errors)
    return named + [
        TopicPartition(topic.name, info.partition) for topic in described.values() for info in topic.partitions
    ]


def listed_partitions(text: str) -> list[TopicPartition]:
    """The partitions in `topic:0,1`."""
    parts = text.split(":")
    if len(parts) != 2 or not parts[1]:
        raise ToolError(f"Invalid topic arg '{text}', expected topic name and partitions")
    found = []
    for number in parts[1].split(","):
        if not number.isdecimal():
            raise ToolError(f"Invalid partition '{number}' specified in topic arg '{text}''")
        found.append(TopicPartition(parts[0], int(number)))
    return found


async def _check_partitions(admin: AsyncAdmin, partitions: Sequence[TopicPartition]) -> None:
    topics = await admin.describe_topics({partition.topic for partition in partitions})
    leaders = {
        TopicPartition(topic.name, info.partition): info.leader
        for topic in topics.values()
        for info in topic.partitions
    }
    absent = ",".join(str(partition) for partition in partitions if partition not in leaders)
    if absent:
        raise UnknownTopicOrPartitionError(f'The partitions "{absent}" do not exist')
    leaderless = ",".join(str(partition) for partition in partitions if leaders[partition] is None)
    if leaderless:
        raise LeaderNotAvailableError(f'The partitions "{leaderless}" have no leader')


async def _offsets(admin: AsyncAdmin, partitions: Iterable[TopicPartition], spec: OffsetSpec | int) -> Plan:
    found = await admin.list_offsets(dict.fromkeys(partitions, spec))
    return {partition: listed.offset for partition, listed in found.items()}


async def _at(admin: AsyncAdmin, partitions: Sequence[TopicPartition], timestamp_ms: int) -> Plan:
    """The first offsets from a time on; the ends where nothing is as new."""
    plan = await _offsets(admin, partitions, timestamp_ms)
    beyond = [partition for partition, offset in plan.items() if offset < 0]
    for partition in beyond:
        print(
            f"\nWarn: Partition {partition.partition} from topic {partition.topic} is empty. "
            "Falling back to latest known offset."
        )
    return plan | await _offsets(admin, beyond, OffsetSpec.LATEST)


async def _within(admin: AsyncAdmin, wished: Mapping[TopicPartition, int]) -> Plan:
    starts = await _offsets(admin, wished, OffsetSpec.EARLIEST)
    ends = await _offsets(admin, wished, OffsetSpec.LATEST)
    plan: Plan = {}
    for partition, offset in wished.items():
        plan[partition] = min(max(offset, starts[partition]), ends[partition])
        if plan[partition] != offset:
            side = "higher than latest" if offset > plan[partition] else "lower than earliest"
            print(
                f"[main] WARN New offset ({offset}) is {side} offset for topic partition {partition}. "
                f"Value will be set to {plan[partition]}",
                file=sys.stderr,
            )
    return plan


def _print(plans: Mapping[str, Plan]) -> None:
    group_width = max([15, *map(len, plans)])
    topic_width = max([15, *(len(partition.topic) for plan in plans.values() for partition in plan)])
    if plans:
        print(f"\n{'GROUP':<{group_width}} {'TOPIC':<{topic_width}} {'PARTITION':<10} NEW-OFFSET", end="")
    for group, plan in plans.items():
        for partition, offset in sorted(plan.items()):
            row = f"{group:<{group_width}} {partition.topic:<{topic_width}} {partition.partition:<10} {offset}"
            print(f"\n{row}", end="")
    print()


def _exported(plans: Mapping[str, Plan], *, with_group: bool) -> str:
    output = io.StringIO()
    writer = csv.writer(output, lineterminator="\n")
    for group, plan in plans.items():
        for partition, offset in sorted(plan.items()):
            row = (partition.topic, partition.partition, offset)
            writer.writerow((group, *row) if with_group else row)
    return output.getvalue()
