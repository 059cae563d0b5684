"""`kafka-leader-election`: elects the preferred replicas, or any that live, with Kafka's flags and output."""

import sys
from collections.abc import Mapping, Sequence
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
from ottla.cli.kafka.session.tool_main import tool_main

if TYPE_CHECKING:
    from ottla.client.admin.async_admin import AsyncAdmin
    from ottla.client.record import TopicPartition

_SCOPES: Final = ("topic", "all-topic-partitions", "path-to-json-file")
_TYPES: Final = ("PREFERRED", "UNCLEAN")
_PATIENCE: Final = {"default.api.timeout.ms": 30_000, "request.timeout.ms": 15_000}

OPTIONS: Final = OptionTable(
    "This tool attempts to elect a new leader for a set of topic partitions. The type of elections supported are "
    "preferred replicas and unclean replicas.",
    (
        BOOTSTRAP_SERVER,
        COMMAND_CONFIG,
        Option("admin.config", "The same as --command-config.", "config file"),
        Option(
            "path-to-json-file",
            'A file with the partitions: {"partitions": [{"topic": "foo", "partition": 1}]}',
            "Path to JSON file",
        ),
        Option("topic", "The topic.", "topic name"),
        Option("partition", "Its partition.", "partition id", "Integer"),
        Option("all-topic-partitions", "All partitions that need it."),
        Option(
            "election-type",
            "REQUIRED: preferred moves leadership back to the first replica, unclean gives partitions without a leader "
            "one, at the price of lost records.",
            "election type",
        ),
    ),
)


@tool_main()
def main(arguments: list[str]) -> None:
    """Runs the tool."""
    options = OPTIONS.parse(arguments)
    kind = _election_type(options)
    partitions = _partitions(options)
    from ottla.cli.kafka.argument.client_setting import properties_in
    from ottla.cli.kafka.session.admin_session import run_with

    path = options.text("admin.config")
    if path is not None:
        print(
            "Option --admin.config has been deprecated and will be removed in a future version. "
            "Use --command-config instead."
        )
    given = {**_PATIENCE, **properties_in(path or options.text("command-config"))}
    given["bootstrap.servers"] = options.required_text("bootstrap-server")
    run_with(given, lambda admin: _elect(admin, kind, partitions))


def _election_type(options: ChosenOptions) -> str:
    missing = [name for name in ("bootstrap-server", "election-type") if not options.has(name)]
    if missing:
        raise ToolError(f"Missing required option(s): {', '.join(missing)}")
    options.forbid("admin.config", "command-config")
    if sum(options.has(scope) for scope in _SCOPES) != 1:
        raise ToolError(f"One and only one of the following options is required: {', '.join(_SCOPES)}")
    if options.has("topic") and not options.has("partition"):
        raise ToolError("Missing required option(s): partition")
    if options.has("partition") and not options.has("topic"):
        raise ToolError("Option partition is only allowed if topic is used")
    kind = options.required_text("election-type")
    if kind.upper() not in _TYPES:
        raise ToolError(f"Cannot parse argument '{kind}' of option election-type")
    return kind.upper()


def _partitions(options: ChosenOptions) -> list["TopicPartition"] | None:
    """Those that are named; None for all."""
    from ottla.client.record import TopicPartition

    path, topic, partition = options.text("path-to-json-file"), options.text("topic"), options.integer("partition")
    if path is not None:
        from ottla.cli.kafka.argument.partition_file import read_text

        try:
            text = read_text(path)
        except ToolError as error:
            raise ToolError(f"java.io.IOException: {error}") from error
        return parse_partitions(text)
    return None if topic is None or partition is None else [TopicPartition(topic, partition)]


def parse_partitions(text: str) -> list["TopicPartition"]:
    """The partitions in a file."""
    from ottla.cli.kafka.argument.partition_file import entries, field, parse_json, shown_json
    from ottla.client.record import TopicPartition

    value = parse_json(text)
    if value is None:
        raise ToolError("Replica election data is empty")
    if not isinstance(value, Mapping):
        raise ToolError(
            "com.fasterxml.jackson.databind.JsonMappingException: Expected JSON object, received " + shown_json(value)
        )
    if "partitions" not in value:
        raise ToolError('Replica election data is missing "partitions" field')
    found = [
        TopicPartition(field(entry, "topic", str), field(entry, "partition", int))
        for entry in entries(value["partitions"])
    ]
    twice = [str(partition) for partition in dict.fromkeys(found) if found.count(partition) > 1]
    if twice:
        raise ToolError(f"Replica election data contains duplicate partitions: [{', '.join(twice)}]")
    return found


async def _elect(admin: "AsyncAdmin", kind: str, partitions: Sequence["TopicPartition"] | None) -> None:
    from ottla.client.admin.value.replica import ElectionType
    from ottla.protocol.errors import ClusterAuthorizationFailedError, ElectionNotNeededError, RequestTimedOutError

    failed: dict[TopicPartition, OttlaError] = {}
    try:
        elected = await admin.elect_leaders(ElectionType[kind], partitions, errors=failed)
    except RequestTimedOutError as error:
        print("Timeout waiting for election results")
        raise ToolError("Timeout waiting for election results") from error
    except ClusterAuthorizationFailedError as error:
        print("Not authorized to perform leader election")
        raise ToolError("Not authorized to perform leader election") from error
    if elected:
        print(f"Successfully completed leader election ({kind}) for partitions {_listed(elected)}")
    needless = [partition for partition, error in failed.items() if isinstance(error, ElectionNotNeededError)]
    if needless:
        print(f"Valid replica already elected for partitions {_listed(needless)}")
    _report({part: error for part, error in failed.items() if part not in needless}, kind)


def _listed(partitions: Sequence["TopicPartition"]) -> str:
    return ", ".join(map(str, partitions))


def _report(failed: Mapping["TopicPartition", OttlaError], kind: str) -> None:
    from ottla.cli.kafka.output.java_error import java_text

    for partition, error in failed.items():
        print(f"Error completing leader election ({kind}) for partition: {partition}: {java_text(error)}")
    if failed:
        raise ToolError(f"{len(failed)} replica(s) could not be elected")


if __name__ == "__main__":
    sys.exit(main())
