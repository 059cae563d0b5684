"""`kafka-client-metrics`: looks after subscriptions to clients' metrics (KIP-714). Flags and output are Kafka's."""

import sys
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
    from ottla.client.admin.value.config import ConfigEntry

_ACTIONS: Final = ("alter", "delete", "describe", "list")

OPTIONS: Final = OptionTable(
    "This tool helps to manipulate and describe client metrics configurations.",
    (
        BOOTSTRAP_SERVER,
        COMMAND_CONFIG,
        Option("alter", "Make or change a subscription."),
        Option("delete", "Delete a subscription."),
        Option("describe", "Show subscriptions."),
        Option("list", "List the names of subscriptions."),
        Option("name", "The name of the subscription.", "name"),
        Option("generate-name", "Make a name up."),
        Option("interval", "How often clients push, in milliseconds; empty for the default.", "push interval"),
        Option(
            "match",
            "Which clients: client_id, client_instance_id, client_software_name, client_software_version, "
            "client_source_address, client_source_port, each with a regular expression.",
            "k1=v1,k2=v2",
        ),
        Option("metrics", "Which metrics, by the beginnings of their names.", "m1,m2"),
    ),
)


@tool_main()
def main(arguments: list[str]) -> int:
    """Runs the tool; the exit code."""
    with OPTIONS.shown_for_errors():
        options = OPTIONS.parse(arguments)
    _check(options)
    from ottla.cli.kafka.session.admin_session import run_reported

    return run_reported(options, lambda admin: _run(admin, options), "Error while executing client metrics command")


def _check(options: ChosenOptions) -> None:
    if sum(options.has(action) for action in _ACTIONS) != 1:
        options.fail("Command must include exactly one action: --alter, --delete, --describe or --list.")
    if not options.has("bootstrap-server"):
        raise ToolError("--bootstrap-server must be specified.")
    details = ("generate-name", "interval", "match", "metrics")
    options.forbid("delete", *details)
    options.forbid("describe", *details)
    options.forbid("list", "name", *details)
    if options.has("alter"):
        if options.has("name") == options.has("generate-name"):
            raise ToolError("One of --name or --generate-name must be specified with --alter.")
        interval = options.text("interval")
        if interval and not interval.lstrip("+-").isdecimal():
            raise ToolError("Invalid interval value. Enter an integer, or leave empty to reset.")
    if options.has("delete") and not options.has("name"):
        raise ToolError("A client metrics resource name must be specified with --delete.")


async def _run(admin: "AsyncAdmin", options: ChosenOptions) -> None:
    if options.has("alter"):
        await _alter(admin, options)
    elif options.has("describe"):
        await _describe(admin, options.text("name"))
    elif options.has("delete"):
        await _delete(admin, options.required_text("name"))
    else:
        print("\n".join(await admin.list_client_metrics_resources()))


async def _alter(admin: "AsyncAdmin", options: ChosenOptions) -> None:
    from ottla.client.admin.value.config import AlterConfigOp, AlterConfigOpType, ConfigResource, ConfigResourceType

    name = _random_name() if options.has("generate-name") else options.required_text("name")
    values = {
        "interval.ms": options.text("interval"),
        "metrics": ",".join(options.texts("metrics")) if options.has("metrics") else None,
        "match": ",".join(options.texts("match")) if options.has("match") else None,
    }
    ops = [
        AlterConfigOp(key, value, AlterConfigOpType.SET if value else AlterConfigOpType.DELETE)
        for key, value in values.items()
        if value is not None
    ]
    await admin.incremental_alter_configs({ConfigResource(ConfigResourceType.CLIENT_METRICS, name): ops})
    print(f"Altered client metrics config for {name}.")


def _random_name() -> str:
    from ottla.cli.node.random_id import random_id

    return str(random_id())


async def _configs(admin: "AsyncAdmin", name: str) -> dict[str, "ConfigEntry"]:
    from ottla.client.admin.value.config import ConfigResource, ConfigResourceType

    resource = ConfigResource(ConfigResourceType.CLIENT_METRICS, name)
    return (await admin.describe_configs([resource]))[resource]


async def _delete(admin: "AsyncAdmin", name: str) -> None:
    from ottla.client.admin.value.config import AlterConfigOp, AlterConfigOpType, ConfigResource, ConfigResourceType

    ops = [AlterConfigOp(key, op_type=AlterConfigOpType.DELETE) for key in await _configs(admin, name)]
    await admin.incremental_alter_configs({ConfigResource(ConfigResourceType.CLIENT_METRICS, name): ops})
    print(f"Deleted client metrics config for {name}.")


async def _describe(admin: "AsyncAdmin", name: str | None) -> None:
    names = await admin.list_client_metrics_resources()
    if name is not None and name not in names:
        print(f"The client metric resource {name} doesn't exist and doesn't have dynamic config.")
        return
    for one in names if name is None else [name]:
        print(f"Client metrics configs for {one} are:")
        for entry in (await _configs(admin, one)).values():
            print(f"  {entry.name}={'null' if entry.value is None else entry.value}")


if __name__ == "__main__":
    sys.exit(main())
