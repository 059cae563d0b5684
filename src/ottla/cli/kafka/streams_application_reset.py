"""`kafka-streams-application-reset`: has an application process its inputs anew. Flags and output are Kafka's."""

import time
from pathlib import Path
from typing import TYPE_CHECKING, Final

from ottla.cli.kafka.argument.option import BOOTSTRAP_SERVER, ChosenOptions, Option, OptionTable, ToolError
from ottla.cli.kafka.session.tool_main import behind, tool_main

if TYPE_CHECKING:
    from ottla.cli.streams.application import ApplicationView
    from ottla.client.admin.async_admin import AsyncAdmin
    from ottla.client.record import TopicPartition

_POINTS: Final = ("to-offset", "to-datetime", "by-duration", "to-earliest", "to-latest", "from-file", "shift-by")

OPTIONS: Final = OptionTable(
    "This tool helps to quickly reset an application in order to reprocess its data from scratch.\n"
    "* This tool resets offsets of input topics to the earliest available offset (by default), or to a specific "
    "defined position and it deletes all internal topics that are created by Kafka Streams.\n"
    "* You need to call KafkaStreams#cleanUp() in your application or manually delete local state in your application "
    "instances afterwards.",
    (
        Option("application-id", "REQUIRED: The Kafka Streams application ID (application.id).", "id"),
        BOOTSTRAP_SERVER,
        Option("by-duration", "Reset offsets to offset by duration from current timestamp. Format: 'PnDTnHnMnS'", ""),
        Option("config-file", "Property file containing configs to be passed to admin clients.", "file name"),
        Option("dry-run", "Display the actions that would be performed without executing the reset commands."),
        Option("force", "Force the removal of members of the consumer group."),
        Option("from-file", "Reset offsets to values defined in CSV file.", ""),
        Option("input-topics", "Comma-separated list of user input topics.", "list"),
        Option("internal-topics", "Comma-separated list of internal topics to delete.", "list"),
        Option("shift-by", "Reset offsets shifting current offset by 'n', positive or negative", "", "Long"),
        Option("to-datetime", "Reset offsets to offset from datetime. Format: 'YYYY-MM-DDTHH:mm:SS.sss'", ""),
        Option("to-earliest", "Reset offsets to earliest offset."),
        Option("to-latest", "Reset offsets to latest offset."),
        Option("to-offset", "Reset offsets to a specific offset.", "", "Long"),
    ),
)  # fmt: skip


@tool_main(behind("ERROR: "))
def main(arguments: list[str]) -> int:
    """Runs the tool; the exit code."""
    options = OPTIONS.parse(arguments)
    options.require("application-id")
    chosen = [name for name in _POINTS if options.has(name)]
    for name in chosen:
        options.forbid(name, *(other for other in _POINTS if other != name))
    from ottla.cli.kafka.argument.client_setting import properties_in
    from ottla.cli.kafka.session.admin_session import run_with

    given: dict[str, object] = dict(properties_in(options.text("config-file")))
    given.setdefault("bootstrap.servers", options.text("bootstrap-server") or "localhost:9092")
    if options.text("bootstrap-server"):
        given["bootstrap.servers"] = options.text("bootstrap-server")
    return run_with(given, lambda admin: _reset(admin, options))


async def _reset(admin: "AsyncAdmin", options: ChosenOptions) -> int:
    from ottla.cli.streams.application import view_of
    from ottla.cli.streams.reset import carry_out

    application_id = options.required_text("application-id")
    is_dry = options.has("dry-run")
    view = await view_of(admin, application_id)
    if is_dry:
        print("----Dry run displays the actions which will be performed when running Streams Reset Tool----")
    if view.members and not options.has("force"):
        names = ", ".join(member.member_id for member in view.group.members) if view.group is not None else ""
        raise ToolError(
            f"Consumer group '{application_id}' is still active and has following members: [{names}]. Make sure to "
            "stop all running application instances before running the reset tool. You can use option '--force' to "
            "remove active members from the group."
        )
    if view.members:
        print(f"Force deleting all active members in the group: {application_id}")
    inputs = _listed(options, "input-topics")
    offsets = await _offsets(admin, options, view, inputs) if inputs else {}
    if inputs:
        print(f"Reset-offsets for input topics [{', '.join(inputs)}]")
        print(f"Following input topics offsets will be reset to (for consumer group {application_id})")
        for (topic, partition), offset in sorted(offsets.items()):
            print(f"Topic: {topic} Partition: {partition} Offset: {offset}")
        print("Done.")
    else:
        print("No input or intermediate topics specified. Skipping seek.")
    internal = _internal(options, view)
    which = "specified" if options.has("internal-topics") else "inferred"
    if internal:
        print(f"Deleting {which} internal topics [{', '.join(internal)}]")
    if not is_dry:
        await carry_out(admin, view, offsets, internal)
    if internal:
        print("Done.")
    return 0


def _internal(options: ChosenOptions, view: "ApplicationView") -> list[str]:
    wanted = _listed(options, "internal-topics")
    unknown = [name for name in wanted if name not in view.internal_topics]
    if unknown:
        raise ToolError(
            f"Invalid topic specified for --internal-topics: {', '.join(unknown)}. Ensure that the topics specified "
            "are all internal topics. Do a dry run without this option to see the list of all internal topics"
        )
    return wanted or list(view.internal_topics)


async def _offsets(
    admin: "AsyncAdmin", options: ChosenOptions, view: "ApplicationView", topics: list[str]
) -> "dict[TopicPartition, int]":
    from ottla.cli.commands.records.position import Point, PointKind, offsets_at, resolve
    from ottla.cli.kafka.argument.moment import parse_duration_ms, parse_moment_ms
    from ottla.cli.kafka.subcommand.consumer_groups_reset import read_plan
    from ottla.cli.streams.reset import partitions_of
    from ottla.client.admin.value.offset import OffsetSpec

    known = await admin.list_topics()
    missing = [topic for topic in topics if topic not in known]
    if missing:
        raise ToolError(f"Following topics are not found, skipping them: {', '.join(missing)}")
    places = await partitions_of(admin, topics)
    if options.has("to-latest"):
        return await resolve(admin, places, Point(PointKind.END))
    if options.has("to-datetime"):
        return await resolve(
            admin, places, Point(PointKind.TIME, parse_moment_ms(options.required_text("to-datetime")))
        )
    if options.has("by-duration"):
        before = round(time.time() * 1000) - parse_duration_ms(options.required_text("by-duration"))
        return await resolve(admin, places, Point(PointKind.TIME, before))
    first = await offsets_at(admin, places, OffsetSpec.EARLIEST)
    end = await offsets_at(admin, places, OffsetSpec.LATEST)
    wanted = dict(first)
    if options.has("to-offset"):
        wanted = dict.fromkeys(places, options.integer("to-offset") or 0)
    elif options.has("shift-by"):
        by = options.integer("shift-by") or 0
        wanted = {place: view.committed.get(place, first[place]) + by for place in places}
    elif options.has("from-file"):
        text = Path(options.required_text("from-file")).read_text()
        wanted = first | read_plan(text, [view.application_id]).get(view.application_id, {})
    return {place: min(max(offset, first[place]), end[place]) for place, offset in wanted.items()}


def _listed(options: ChosenOptions, name: str) -> list[str]:
    return [one.strip() for text in options.texts(name) for one in text.split(",") if one.strip()]
