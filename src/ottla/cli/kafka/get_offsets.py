"""`kafka-get-offsets`: prints offsets of partitions, `topic:partition:offset`. Flags and output are Kafka's."""

import re
import sys
from collections.abc import Callable
from typing import TYPE_CHECKING, Final

from ottla.base.errors import OttlaError
from ottla.cli.kafka.argument.option import (
    BOOTSTRAP_SERVER,
    COMMAND_CONFIG,
    ChosenOptions,
    Option,
    OptionTable,
    ToolError,
)
from ottla.cli.kafka.session.tool_main import behind, tool_main

if TYPE_CHECKING:
    from ottla.client.admin.async_admin import AsyncAdmin

_TIMES: Final = {
    "latest": -1,
    "earliest": -2,
    "max-timestamp": -3,
    "earliest-local": -4,
    "latest-tiered": -5,
    "earliest-pending-upload": -6,
}
_TIMES_SHOWN: Final = " / ".join(f"{number} or {name}" for name, number in _TIMES.items())
_RULE: Final = re.compile(r"([^:,]*)(?::(?:([0-9]*)|(?:([0-9]*)-([0-9]*))))?")
_ADDRESS: Final = re.compile(r"[^,]*?[^,:\[\]]\]?:\d+")
_LARGEST: Final = 2**31 - 1

Filter = Callable[[str, int], bool]
"""Whether a partition of a topic is meant."""

OPTIONS: Final = OptionTable(
    "An interactive shell for getting topic-partition offsets.",
    (
        BOOTSTRAP_SERVER,
        COMMAND_CONFIG,
        Option(
            "topic-partitions",
            "Partitions by patterns: orders, orders:3, orders:1-3 (3 is not meant), orders:2-, orders:-2, :0.",
            "topic1:1,topic2:0-3,topic3,topic4:5-,topic5:-3",
        ),
        Option("topic", "The topic, or a pattern that whole names must match.", "topic"),
        Option("partitions", "The partitions, separated by commas.", "partition ids"),
        Option("time", "The first offset from this timestamp on, or a special one.", f"<timestamp> / {_TIMES_SHOWN}",
               default="latest"),
        Option("exclude-internal-topics", "Leave out internal topics."),
    ),
)  # fmt: skip


@tool_main(behind("Error occurred: "))
def main(arguments: list[str]) -> None:
    """Runs the tool."""
    options = OPTIONS.parse(arguments)
    servers = options.required_text("bootstrap-server")
    if not all(_ADDRESS.fullmatch(address) for address in servers.split(",")):
        options.fail("Please provide valid host:port like host1:9091,host2:9092\n")
    is_meant, time = _filter(options), offset_time(options.required_text("time"))
    from ottla.cli.kafka.session.admin_session import run_work

    run_work(options, lambda admin: _print(admin, options, is_meant, time))


async def _print(admin: "AsyncAdmin", options: ChosenOptions, is_meant: Filter, time: int) -> None:
    from ottla.cli.kafka.output.java_error import java_text
    from ottla.client.record import TopicPartition

    names = await admin.list_topics(include_internal=not options.has("exclude-internal-topics"))
    described = await admin.describe_topics(name for name in names if is_meant(name, -1))
    partitions = [
        TopicPartition(topic.name, info.partition)
        for topic in described.values()
        for info in topic.partitions
        if is_meant(topic.name, info.partition)
    ]
    if not partitions:
        raise ToolError("Could not match any topic-partitions with the specified filters")
    failed: dict[TopicPartition, OttlaError] = {}
    found = await admin.list_offsets(dict.fromkeys(partitions, time), errors=failed)
    for partition, error in failed.items():
        reason = java_text(error)
        print(f"Skip getting offsets for topic-partition {partition} due to error: {reason}", file=sys.stderr)
    for partition in sorted(found, key=str):
        if found[partition].offset >= 0:
            print(f"{partition.topic}:{partition.partition}:{found[partition].offset}")


def offset_time(text: str) -> int:
    """A timestamp, or the number of a special offset.

    >>> offset_time("earliest"), offset_time("-3"), offset_time("1700000000000")
    (-2, -3, 1700000000000)
    """
    if text in _TIMES:
        return _TIMES[text]
    try:
        return int(text)
    except ValueError:
        raise ToolError(
            f"Malformed time argument {text}. Please use {_TIMES_SHOWN}, or a specified long format timestamp"
        ) from None


def _filter(options: ChosenOptions) -> Filter:
    patterns = options.text("topic-partitions")
    if patterns is not None:
        if options.has("topic") or options.has("partitions"):
            raise ToolError("--topic-partitions cannot be used with --topic or --partitions")
        rules = [_rule(pattern) for pattern in patterns.split(",")]
        return lambda topic, partition: any(rule(topic, partition) for rule in rules)
    numbers = _numbers(options.text("partitions"))
    return _matching(options.text("topic"), lambda partition: not numbers or partition in numbers)


def _matching(topic: str | None, is_partition: Callable[[int], bool]) -> Filter:
    """Partition -1 asks about the topic alone."""
    from ottla.cli.kafka.argument.topic_filter import TopicFilter

    topics = TopicFilter(topic or ".*")
    return lambda name, partition: topics.allows(name) and (partition < 0 or is_partition(partition))


def _rule(pattern: str) -> Filter:
    found = _RULE.fullmatch(pattern)
    if found is None:
        raise ToolError(f"org.apache.kafka.tools.TerseException: Invalid rule specification: {pattern}")
    topic, only, first, end = found.groups()
    if only:
        number = int(only)
        return _matching(topic, lambda partition: partition == number)
    wanted = range(int(first or 0), int(end or _LARGEST))
    return _matching(topic, lambda partition: partition in wanted)


def _numbers(text: str | None) -> set[int]:
    try:
        return {int(number) for number in text.split(",")} if text else set()
    except ValueError:
        raise ToolError(
            f"--partitions expects a comma separated list of numeric partition ids, but received: {text}"
        ) from None


if __name__ == "__main__":
    sys.exit(main())
