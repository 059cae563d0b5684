"""`kafka-consumer-groups`: lists, describes and deletes groups, and resets their offsets. Flags and output are Kafka's.

What goes wrong at the server is printed on the standard output and costs nothing: exit code 0, as in Kafka.
"""

import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

from ottla.base.errors import OttlaError
from ottla.cli.kafka.argument.consumer_groups_choice import check_choice
from ottla.cli.kafka.argument.option import (
    BOOTSTRAP_SERVER,
    COMMAND_CONFIG,
    ChosenOptions,
    Option,
    OptionTable,
    OptionValueError,
    ToolError,
)
from ottla.cli.kafka.session.tool_main import tool_main

if TYPE_CHECKING:
    from ottla.client.admin.async_admin import AsyncAdmin

_STATES: Final = ("Assigning", "PreparingRebalance", "Dead", "CompletingRebalance", "Empty", "Reconciling", "Stable")
_TYPES: Final = ("Consumer", "Classic")

OPTIONS: Final = OptionTable(
    "This tool helps to list all consumer groups, describe a consumer group, delete consumer group info, or reset "
    "consumer group offsets.",
    (
        BOOTSTRAP_SERVER,
        COMMAND_CONFIG,
        Option("group", "The group; may be repeated.", "group id"),
        Option("topic", "The topic whose offsets are meant: topic, or topic:0,1 for some partitions.", "topic"),
        Option("all-topics", "All topics that the group has offsets of."),
        Option("list", "List the groups."),
        Option("describe", "Show groups: their offsets and lag, members or state."),
        Option("all-groups", "All groups."),
        Option("delete", "Delete groups and their offsets."),
        Option("timeout", "How long to try.", "timeout (ms)", "Long", default="30000"),
        Option(
            "reset-offsets", "Move the offsets of groups without members; shows the plan unless --execute is given."
        ),
        Option("delete-offsets", "Delete a group's offsets of topics."),
        Option("dry-run", "Only show what would be done."),
        Option("execute", "Do it."),
        Option("export", "Print the plan as CSV."),
        Option("to-offset", "Reset to this offset.", "offset", "Long"),
        Option("from-file", "Reset to the offsets in a CSV file.", "path to CSV file"),
        Option("to-datetime", "Reset to the first offset from this time on: YYYY-MM-DDThh:mm:ss.sss", "datetime"),
        Option("by-duration", "Reset to the first offset since so long ago: PnDTnHnMnS", "duration"),
        Option("to-earliest", "Reset to the start."),
        Option("to-latest", "Reset to the end."),
        Option("to-current", "Reset to the present offset."),
        Option("shift-by", "Move by this many offsets, back if it is negative.", "number-of-offsets", "Long"),
        Option("members", "With --describe: show the members."),
        Option("verbose", "With --describe: show more."),
        Option("offsets", "With --describe: show offsets and lag, as without it."),
        Option(
            "state", "With --describe: show the state. With --list: show states, or only some.", "", is_optional=True
        ),
        Option("type", "With --list: show types, or only some.", "", is_optional=True),
        Option("validate-regex", "Check a regular expression for subscriptions.", "regex"),
    ),
)


@tool_main()
def main(arguments: list[str]) -> None:
    """Runs the tool."""
    options = OPTIONS.parse(arguments)
    check_choice(options)
    regex = options.text("validate-regex")
    if regex is not None:
        _validate(regex)
        return
    from ottla.cli.kafka.session.admin_session import run_work

    try:
        timeout = {"default.api.timeout.ms": options.integer("timeout")}
        run_work(options, lambda admin: _run(admin, options), timeout)
    except OttlaError as error:
        if isinstance(error, ToolError) and not isinstance(error, OptionValueError):
            options.fail(str(error))
        _tell_failure(error)


def _tell_failure(error: OttlaError) -> None:
    from ottla.cli.kafka.argument.client_setting import SettingFileError
    from ottla.cli.kafka.output.java_error import java_execution_text, java_text

    cause = error.__cause__
    reason, trace = str(error), java_execution_text(cause) if isinstance(cause, OttlaError) else java_text(error)
    if isinstance(error, SettingFileError):
        reason, trace = trace, f"java.lang.RuntimeException: {trace}"
    print(f"\nError: Executing consumer group command failed due to {reason}")
    print(trace, file=sys.stderr)


async def _run(admin: "AsyncAdmin", options: ChosenOptions) -> None:
    from ottla.cli.kafka.subcommand import consumer_groups_delete, consumer_groups_describe, consumer_groups_reset

    if options.has("list"):
        await _list(admin, options)
    elif options.has("describe"):
        await consumer_groups_describe.describe(admin, options, await group_ids(admin, options))
    elif options.has("delete"):
        await consumer_groups_delete.delete_groups(admin, await group_ids(admin, options))
    elif options.has("reset-offsets"):
        await consumer_groups_reset.reset(admin, options, await group_ids(admin, options))
    else:
        await consumer_groups_delete.delete_offsets(admin, options.required_text("group"), options.texts("topic"))


async def group_ids(admin: "AsyncAdmin", options: ChosenOptions) -> list[str]:
    """The groups that are meant."""
    if options.has("all-groups"):
        return [group.group_id for group in await admin.list_groups(protocols=("", "consumer"))]
    return options.texts("group")


async def _list(admin: "AsyncAdmin", options: ChosenOptions) -> None:
    with_type, with_state = options.has("type"), options.has("state")
    groups = await admin.list_groups(
        protocols=("", "consumer"),
        states=_filter("state", options.text("state"), _STATES),
        types=_filter("type", options.text("type"), _TYPES),
    )
    if not with_type and not with_state:
        for group in groups:
            print(group.group_id)
        return
    width = max([15, *(len(group.group_id) for group in groups)]) + 10
    for name, kind, state in [("GROUP", "TYPE", "STATE"), *((one.group_id, one.type, one.state) for one in groups)]:
        print(f"{name:<{width}}{f' {kind:<20}' if with_type else ''}{f' {state:<20}' if with_state else ''}")


def _filter(what: str, text: str | None, valid: Sequence[str]) -> list[str]:
    """The values of a filter, in Kafka's spelling."""
    if not text:
        return []
    spelling = {value.lower(): value for value in valid}
    wanted = [part.strip().lower() for part in text.split(",")]
    if any(part not in spelling for part in wanted):
        raise ToolError(
            f"Invalid {what}{'s' if what == 'type' else ''} list '{text}'. Valid {what}s are: {', '.join(valid)}"
        )
    return [spelling[part] for part in wanted]


def _validate(regex: str) -> None:
    from ottla.base.regex.linear_regex import LinearRegex
    from ottla.base.regex.syntax import RegexError

    try:
        LinearRegex(regex)
    except RegexError as error:
        print(f"The regular expression `{regex}` is invalid: {error}.")
    else:
        print(f"The regular expression `{regex}` is valid.")


if __name__ == "__main__":
    sys.exit(main())
