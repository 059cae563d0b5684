"""`kafka-delete-records`: deletes the records before offsets that a JSON file lists. Flags and output are Kafka's."""

import sys
from collections.abc import Mapping
from typing import TYPE_CHECKING, Final

from ottla.base.errors import OttlaError
from ottla.cli.kafka.argument.option import BOOTSTRAP_SERVER, COMMAND_CONFIG, Option, OptionTable, ToolError
from ottla.cli.kafka.session.tool_main import tool_main

if TYPE_CHECKING:
    from ottla.client.admin.async_admin import AsyncAdmin
    from ottla.client.record import TopicPartition

OPTIONS: Final = OptionTable(
    "This tool helps to delete records of the given partitions down to the specified offset.",
    (
        BOOTSTRAP_SERVER,
        COMMAND_CONFIG,
        Option(
            "offset-json-file",
            "REQUIRED: the file with the offsets, -1 for all records: "
            '{"partitions": [{"topic": "foo", "partition": 1, "offset": 1}], "version": 1}',
            "Offset json file path",
        ),
    ),
)


@tool_main()
def main(arguments: list[str]) -> None:
    """Runs the tool."""
    options = OPTIONS.parse(arguments)
    options.require("bootstrap-server", "offset-json-file")
    from ottla.cli.kafka.argument.partition_file import read_text
    from ottla.cli.kafka.session.admin_session import run_work

    offsets = parse_offsets(read_text(options.required_text("offset-json-file")))
    run_work(options, lambda admin: _delete(admin, offsets))


def parse_offsets(text: str) -> dict["TopicPartition", int]:
    """The offsets in a file."""
    from ottla.cli.kafka.argument.partition_file import entries, field, parse_json
    from ottla.client.record import TopicPartition

    value = parse_json(text)
    if value is None:
        raise ToolError("The input string is not a valid JSON")
    if not isinstance(value, Mapping):
        raise ToolError(f"Expected JSON object, received {value}")
    if value.get("version", 1) != 1:
        raise ToolError(f"Not supported version field value {value['version']}")
    if "partitions" not in value:
        raise ToolError("Missing partitions field")
    offsets: dict[TopicPartition, int] = {}
    twice: list[str] = []
    for entry in entries(value["partitions"]):
        partition = TopicPartition(field(entry, "topic", str), field(entry, "partition", int))
        if partition in offsets:
            twice.append(str(partition))
        offsets[partition] = field(entry, "offset", int)
    if twice:
        raise ToolError(f"Offset json file contains duplicate topic partitions: {','.join(dict.fromkeys(twice))}")
    return offsets


async def _delete(admin: "AsyncAdmin", offsets: Mapping["TopicPartition", int]) -> None:
    from ottla.cli.kafka.output.java_error import java_text

    print("Executing records delete operation")
    failed: dict[TopicPartition, OttlaError] = {}
    watermarks = await admin.delete_records(offsets, errors=failed)
    print("Records delete operation completed:")
    for partition in offsets:
        if partition in watermarks:
            print(f"partition: {partition}\tlow_watermark: {watermarks[partition]}")
        else:
            print(f"partition: {partition}\terror: {java_text(failed[partition])}")


if __name__ == "__main__":
    sys.exit(main())
