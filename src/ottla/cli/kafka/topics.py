"""`kafka-topics`: lists, describes, creates, alters and deletes topics. Flags, output and exit codes are Kafka's."""

import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

from ottla.cli.kafka.argument.option import (
    BOOTSTRAP_SERVER,
    COMMAND_CONFIG,
    ChosenOptions,
    Option,
    OptionTable,
    ToolError,
)
from ottla.cli.kafka.session.tool_main import tool_main

if TYPE_CHECKING:
    from ottla.client.admin.async_admin import AsyncAdmin

_ACTIONS: Final = ("create", "list", "alter", "describe", "delete")
_REPORTS: Final = (
    "under-replicated-partitions",
    "under-min-isr-partitions",
    "at-min-isr-partitions",
    "unavailable-partitions",
)
_SEE_CONFIGS: Final = " (To alter topic configurations, the kafka-configs tool can be used.)"
_COLLISION: Final = (
    "WARNING: Due to limitations in metric names, topics with a period ('.') or underscore ('_') could collide. "
    "To avoid issues it is best to use either, but not both."
)
_FACTOR_MAX: Final = 32767

OPTIONS: Final = OptionTable(
    "This tool helps to create, delete, describe, or change a topic.",
    (
        BOOTSTRAP_SERVER,
        COMMAND_CONFIG,
        Option("list", "List the topics."),
        Option("create", "Create a topic."),
        Option("delete", "Delete topics."),
        Option("alter", "Give topics more partitions." + _SEE_CONFIGS),
        Option("describe", "Show topics and their partitions."),
        Option("topic", "The topic; except with --create a pattern that whole names must match.", "topic"),
        Option("topic-id", "The id of the topic to describe.", "topic-id"),
        Option("config", "A config of the topic to create, name=value; may be repeated." + _SEE_CONFIGS, "name=value"),
        Option("delete-config", "Has no effect since 4.0.", "name"),
        Option("partitions", "How many partitions the topic shall have.", "# of partitions", "Integer"),
        Option("replication-factor", "How many copies of each partition.", "replication factor", "Integer"),
        Option(
            "replica-assignment",
            "The brokers of each partition, instead of numbers: 1:2,2:3 for two partitions with two replicas each.",
            "broker:broker,broker:broker,...",
        ),
        Option("under-replicated-partitions", "Describe only partitions with replicas that lag behind."),
        Option("unavailable-partitions", "Describe only partitions without a leader."),
        Option("under-min-isr-partitions", "Describe only partitions with fewer in-sync replicas than required."),
        Option("at-min-isr-partitions", "Describe only partitions with no more in-sync replicas than required."),
        Option("topics-with-overrides", "Describe only topics that have configs of their own, without partitions."),
        Option("if-exists", "Do nothing if the topic does not exist."),
        Option("if-not-exists", "Do nothing if the topic exists."),
        Option("exclude-internal", "Leave out internal topics."),
        Option(
            "partition-size-limit-per-response",
            "How many partitions a broker may put into one answer.",
            "maximum number of partitions per response",
            "Integer",
        ),
    ),
    bare="Create, delete, describe, or change a topic.",
)


@tool_main()
def main(arguments: list[str]) -> int:
    """Runs the tool; the exit code."""
    options = OPTIONS.parse(arguments)
    _check(options)
    from ottla.cli.kafka.session.admin_session import run_reported

    label = "Error while executing topic command"
    return run_reported(options, lambda admin: _run(admin, options), label, is_client_labelled=False)


def _check(options: ChosenOptions) -> None:
    if sum(options.has(action) for action in _ACTIONS) != 1:
        options.fail("Command must include exactly one action: --list, --describe, --create, --alter or --delete")
    if options.has("delete-config"):
        print(
            "delete-config option is no longer supported and deprecated since version 4.0. "
            "The config will be fully removed in future releases.",
            file=sys.stderr,
        )
    _check_required(options)
    _check_combinations(options)


def _check_required(options: ChosenOptions) -> None:
    if not options.has("bootstrap-server"):
        raise ToolError("--bootstrap-server must be specified")
    if options.has("describe") and options.has("if-exists"):
        if not options.has("topic") and not options.has("topic-id"):
            options.fail("--topic or --topic-id is required to describe a topic")
        if options.has("topic") and options.has("topic-id"):
            print(
                "Only topic id will be used when both --topic and --topic-id are specified "
                "and topicId is not Uuid.ZERO_UUID"
            )
    if not options.has("list") and not options.has("describe"):
        options.require("topic")
    if options.has("alter"):
        if options.has("config"):
            both = '"[[bootstrap-server], [config]]"'
            options.fail(f'Option combination {both} can\'t be used with option "[alter]"{_SEE_CONFIGS}')
        options.require("partitions")


def _check_combinations(options: ChosenOptions) -> None:
    def only_with(used: str, *actions: str, never: Sequence[str] = ()) -> None:
        options.forbid(used, *(action for action in _ACTIONS if action not in actions), *never)

    only_with("config", "alter", "create")
    only_with("partitions", "alter", "create")
    only_with("replication-factor", "create")
    only_with("replica-assignment", "alter", "create")
    if options.has("create"):
        options.forbid("replica-assignment", "partitions", "replication-factor")
    for report in _REPORTS:
        only_with(report, "describe", never=("topics-with-overrides",))
    only_with("topics-with-overrides", "describe", never=_REPORTS)
    only_with("if-exists", "alter", "delete", "describe")
    only_with("if-not-exists", "create")
    only_with("exclude-internal", "list", "describe")


async def _run(admin: "AsyncAdmin", options: ChosenOptions) -> None:
    if options.has("create"):
        await _create(admin, options)
    elif options.has("alter"):
        await _alter(admin, options)
    elif options.has("list"):
        print("\n".join(await _topics(admin, options)))
    elif options.has("describe"):
        from ottla.cli.kafka.subcommand.topics_describe import describe

        await describe(admin, options)
    else:
        await admin.delete_topics(await _existing(admin, options))


async def _topics(admin: "AsyncAdmin", options: ChosenOptions) -> list[str]:
    from ottla.cli.kafka.argument.topic_filter import INTERNAL, TopicFilter

    exclude = options.has("exclude-internal")
    names = [
        name for name in await admin.list_topics(include_internal=not exclude) if not (exclude and name in INTERNAL)
    ]
    wanted = options.text("topic")
    if wanted is None:
        return names
    only = TopicFilter(wanted)
    return [name for name in names if only.allows(name)]


async def _existing(admin: "AsyncAdmin", options: ChosenOptions) -> list[str]:
    """The topics that are meant; none is an error unless `--if-exists` says otherwise."""
    found = await _topics(admin, options)
    wanted = options.text("topic")
    if not found and wanted and not options.has("if-exists"):
        raise ToolError(f"Topic '{wanted}' does not exist as expected")
    return found


async def _create(admin: "AsyncAdmin", options: ChosenOptions) -> None:
    from ottla.client.admin.value.topic import NewTopic
    from ottla.protocol.errors import TopicAlreadyExistsError

    name = options.required_text("topic")
    partitions, factor = options.integer("partitions"), options.integer("replication-factor")
    assignment = replica_assignment(options.text("replica-assignment"))
    configs = _configs(options.texts("config"))
    if not name:
        raise ToolError("The given topic name '' cannot be represented in a request.")
    if "." in name or "_" in name:
        print(_COLLISION)
    if factor is not None and not 1 <= factor <= _FACTOR_MAX:
        raise ToolError(f"The replication factor must be between 1 and {_FACTOR_MAX} inclusive")
    if partitions is not None and partitions < 1:
        raise ToolError("The partitions must be greater than 0")
    try:
        await admin.create_topics([NewTopic(name, partitions, factor, assignment or None, configs)])
    except TopicAlreadyExistsError:
        if not options.has("if-not-exists"):
            raise
    else:
        print(f"Created topic {name}.")


async def _alter(admin: "AsyncAdmin", options: ChosenOptions) -> None:
    from ottla.client.admin.value.topic import NewPartitions

    total = options.integer("partitions")
    assert total is not None
    assignment = replica_assignment(options.text("replica-assignment"))
    names = await _existing(admin, options)
    if not names:
        return
    wishes: dict[str, NewPartitions | int] = dict.fromkeys(names, total)
    if assignment:
        placed = list(assignment.values())
        described = await admin.describe_topics(names)
        wishes = {name: NewPartitions(total, placed[len(described[name].partitions) :]) for name in names}
    await admin.create_partitions(wishes)


def _configs(given: Sequence[str]) -> dict[str, str]:
    pairs = [(name.strip(), value.strip()) for name, _, value in (text.partition("=") for text in given)]
    if not all(value and "=" not in value for _, value in pairs):
        raise ToolError(
            'requirement failed: Invalid topic config: all configs to be added must be in the format "key=val".'
        )
    return dict(pairs)


def replica_assignment(text: str | None) -> dict[int, list[int]]:
    """The brokers of each partition.

    >>> replica_assignment("1:2,2:1")
    {0: [1, 2], 1: [2, 1]}
    """
    assignment: dict[int, list[int]] = {}
    for number, part in enumerate(text.split(",") if text else ()):
        try:
            brokers = [int(broker) for broker in part.split(":")]
        except ValueError:
            wrong = next(broker for broker in part.split(":") if not broker.strip().lstrip("-").isdecimal())
            raise ToolError(f'For input string: "{wrong.strip()}"') from None
        twice = sorted({broker for broker in brokers if brokers.count(broker) > 1})
        if twice:
            listed = ",".join(map(str, twice))
            raise ToolError(f"Partition replica lists may not contain duplicate entries: {listed}")
        assignment[number] = brokers
        if len(brokers) != len(assignment[0]):
            raise ToolError(f"Partition {number} has different replication factor: {brokers}")
    return assignment


if __name__ == "__main__":
    sys.exit(main())
