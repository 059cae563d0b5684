"""`kafka-broker-api-versions`: which versions of which APIs each broker serves, and which of them Kafka 4.3 can use."""

import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

from ottla.base.errors import OttlaError
from ottla.cli.kafka.argument.option import BOOTSTRAP_SERVER, COMMAND_CONFIG, OptionTable
from ottla.cli.kafka.session.tool_main import tool_main

if TYPE_CHECKING:
    from ottla.client.admin.async_admin import AsyncAdmin
    from ottla.client.admin.value.cluster import ApiVersionRange

OPTIONS: Final = OptionTable(
    "This tool helps to retrieve broker version information.", (BOOTSTRAP_SERVER, COMMAND_CONFIG)
)


def _tell(error: OttlaError) -> None:
    from ottla.cli.kafka.argument.server_address import UnusableServersError

    print(error.reason if isinstance(error, UnusableServersError) else error, file=sys.stderr)


@tool_main(_tell)
def main(arguments: list[str]) -> None:
    """Runs the tool."""
    options = OPTIONS.parse(arguments)
    options.require("bootstrap-server")
    from ottla.cli.kafka.session.admin_session import run_work

    run_work(options, _print)


async def _print(admin: "AsyncAdmin") -> None:
    for node in (await admin.describe_cluster()).nodes:
        rack = "null" if node.rack is None else node.rack
        shown = f"{node.host}:{node.port} (id: {node.id} rack: {rack} isFenced: {str(node.is_fenced).lower()})"
        try:
            served = await admin.describe_api_versions(node.id)
        except OttlaError as error:
            print(f"{shown} -> ERROR: {error}")
        else:
            print(f"{shown} -> (\n\t{api_lines(served)}\n)")


def api_lines(served: Sequence["ApiVersionRange"]) -> str:
    """A line per API, in the order of their keys; those of Kafka's that are not served among them."""
    from ottla.protocol.api_key import ApiKey

    lines = {found.api_key: _line(found) for found in served}
    for key in ApiKey:
        if key not in lines and key not in _FOR_CONTROLLERS:
            lines[key] = f"{api_name(key)}({int(key)}): UNSUPPORTED"
    return ",\n\t".join(lines[key] for key in sorted(lines))


def _line(found: "ApiVersionRange") -> str:
    from ottla.protocol.api_key import ApiKey
    from ottla.protocol.catalog import request_type

    versions = str(found.lowest) if found.lowest == found.highest else f"{found.lowest} to {found.highest}"
    if found.api_key not in ApiKey.__members__.values():
        return f"UNKNOWN({found.api_key}): {versions}"
    ours = request_type(ApiKey(found.api_key)).valid_versions
    if ours.highest < found.lowest:
        usable = "unusable: node too new"
    elif found.highest < ours.lowest:
        usable = "unusable: node too old"
    else:
        usable = f"usable: {min(ours.highest, found.highest)}"
    return f"{api_name(ApiKey(found.api_key))}({found.api_key}): {versions} [{usable}]"


_FOR_CONTROLLERS: Final = frozenset((52, 53, 54, 56, 58, 59, 62, 63, 67, 70, 73, 82))
"""APIs that brokers don't serve to clients and that are not shown as missing."""


def api_name(key: "int") -> str:
    """As Kafka writes it.

    >>> api_name(55), api_name(26)
    ('DescribeQuorum', 'EndTxn')
    """
    from ottla.protocol.api_key import ApiKey

    return ApiKey(key).name.title().replace("_", "")


if __name__ == "__main__":
    sys.exit(main())
