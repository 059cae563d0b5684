"""`kafka-log-dirs`: prints what brokers keep in their log directories, as JSON. Flags and output are Kafka's."""

import sys
from collections.abc import Mapping, Sequence
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
    from ottla.client.admin.value.replica import LogDirDescription

OPTIONS: Final = OptionTable(
    "This tool helps to query log directory usage on the specified brokers.",
    (
        BOOTSTRAP_SERVER,
        COMMAND_CONFIG,
        Option("describe", "Show the log directories."),
        Option("topic-list", "Only these topics, separated by commas.", "Topic list", default=""),
        Option("broker-list", "Only these brokers, separated by commas.", "Broker list", default=""),
    ),
)


@tool_main()
def main(arguments: list[str]) -> None:
    """Runs the tool."""
    options = OPTIONS.parse(arguments)
    options.require("bootstrap-server", "describe")
    brokers = [_broker(text) for text in (options.text("broker-list") or "").split(",") if text]
    from ottla.cli.kafka.session.admin_session import run_work

    run_work(options, lambda admin: _print(admin, options, brokers))


def _broker(text: str) -> int:
    try:
        return int(text)
    except ValueError:
        raise ToolError(f'For input string: "{text}"') from None


async def _print(admin: "AsyncAdmin", options: ChosenOptions, brokers: Sequence[int]) -> None:
    import json

    topics = {topic for topic in (options.text("topic-list") or "").split(",") if topic}
    present = sorted(node.id for node in (await admin.describe_cluster()).nodes)
    unknown = [broker for broker in brokers if broker not in present]
    if unknown:
        raise ToolError(
            f"ERROR: The given brokers do not exist from --broker-list: {_listed(unknown)}. "
            f"Current existent brokers: {_listed(present)}"
        )
    asked = sorted(set(brokers)) or present
    print("Querying brokers for log directories information")
    found = await admin.describe_log_dirs(asked)
    print(f"Received log directory information from brokers {_listed(asked)}")
    shown = [{"broker": broker, "logDirs": _directories(found[broker], topics)} for broker in asked]
    print(json.dumps({"brokers": shown, "version": 1}, separators=(",", ":")))


def _listed(brokers: Sequence[int]) -> str:
    return ",".join(map(str, brokers))


def _directories(found: Mapping[str, "LogDirDescription"], topics: set[str]) -> list[dict[str, object]]:
    from ottla.cli.kafka.output.java_error import java_name

    return [
        {
            "partitions": [
                {
                    "partition": str(partition),
                    "size": info.size_bytes,
                    "offsetLag": info.offset_lag,
                    "isFuture": info.is_future,
                }
                for partition, info in sorted(directory.replicas.items())
                if not topics or partition.topic in topics
            ],
            "error": None if directory.error is None else java_name(directory.error),
            "logDir": path,
        }
        for path, directory in sorted(found.items())
    ]


if __name__ == "__main__":
    sys.exit(main())
