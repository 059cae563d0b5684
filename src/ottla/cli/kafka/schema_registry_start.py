"""`schema-registry-start`: runs a schema registry as a `schema-registry.properties` file says; `-daemon` behind it."""

import sys
from typing import Final

from ottla.cli.kafka.service_script import ServiceScript, start
from ottla.cli.kafka.session.tool_main import tool_main

SCRIPT: Final = ServiceScript(
    "schema-registry", "a schema registry", "ottla.cli.kafka.schema_registry_start", "registry"
)


@tool_main()
def main(arguments: list[str]) -> int:
    """Runs the tool; the exit code."""
    from ottla.cli.commands.services.registry import serve

    return start(SCRIPT, serve, arguments)


if __name__ == "__main__":
    sys.exit(main())
