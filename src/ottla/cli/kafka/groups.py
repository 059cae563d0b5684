"""`kafka-groups`: lists groups of all types. Flags, output and exit codes are Kafka's."""

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
    from ottla.client.admin.value.group import GroupListing

_TYPES: Final = ("classic", "consumer", "share", "streams")

_NO_SERVER: Final = "Missing required option(s) [bootstrap-server]"

OPTIONS: Final = OptionTable(
    "This tool helps to list groups of all types.",
    (
        BOOTSTRAP_SERVER,
        COMMAND_CONFIG,
        Option("list", "List the groups."),
        Option("group-type", f"Only groups of this type: {', '.join(_TYPES)}.", "type"),
        Option("protocol", "Only groups whose members speak this protocol.", "protocol"),
        Option("consumer", "Only groups of consumers, of whatever type."),
        Option("share", "Only share groups."),
        Option("streams", "Only streams groups."),
    ),
    bare=_NO_SERVER,
)


@tool_main()
def main(arguments: list[str]) -> int:
    """Runs the tool; the exit code."""
    with OPTIONS.shown_for_errors():
        options = OPTIONS.parse(arguments)
    _check(options)
    from ottla.cli.kafka.session.admin_session import run_reported

    return run_reported(options, lambda admin: _list(admin, options), "Error while executing groups command")


def _check(options: ChosenOptions) -> None:
    if not options.has("bootstrap-server"):
        options.fail(_NO_SERVER)
    if not options.has("list"):
        options.fail("Command must include exactly one action: --list.")
    kind = options.text("group-type")
    if kind is not None and kind.lower() not in _TYPES:
        raise ToolError("--group-type must be a valid group type.")
    options.forbid("consumer", "group-type", "protocol", "share", "streams")
    options.forbid("share", "consumer", "group-type", "protocol", "streams")
    options.forbid("streams", "consumer", "group-type", "protocol", "share")


async def _list(admin: "AsyncAdmin", options: ChosenOptions) -> None:
    rows = [
        (group.group_id, group.type, group.protocol)
        for group in await admin.list_groups()
        if _is_wanted(group, options)
    ]
    width = max([20, *(len(cell) for row in rows for cell in row)])
    print(f"{'GROUP':<{width}} {'TYPE':<{width}} {'PROTOCOL':<{width}}")
    for row in rows:
        print("".join(f"{cell:<{width}} " for cell in row))


def _is_wanted(group: "GroupListing", options: ChosenOptions) -> bool:
    kind, protocol = options.text("group-type"), options.text("protocol")
    if kind is not None or protocol is not None:
        return (kind is None or group.type.lower() == kind.lower()) and protocol in (None, group.protocol)
    if options.has("consumer"):
        return group.protocol in ("consumer", "") or group.type == "Consumer"
    if options.has("share"):
        return group.type == "Share"
    return not options.has("streams") or group.type == "Streams"


if __name__ == "__main__":
    sys.exit(main())
