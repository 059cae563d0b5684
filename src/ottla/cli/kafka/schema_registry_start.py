"""`schema-registry-start`: runs a schema registry as a `schema-registry.properties` file says; `-daemon` behind it."""

import sys
from collections.abc import Sequence
from typing import Final

from ottla.cli.ending import ends_quietly
from ottla.cli.kafka.service_script import ServiceScript, start

SCRIPT: Final = ServiceScript(
    "schema-registry", "a schema registry", "ottla.cli.kafka.schema_registry_start", "registry"
)


@ends_quietly
def main(arguments: Sequence[str] | None = None) -> int:
    """Runs the tool; the exit code."""
    from ottla.cli.commands.services.registry import serve

    return start(SCRIPT, serve, arguments)


if __name__ == "__main__":
    sys.exit(main())
