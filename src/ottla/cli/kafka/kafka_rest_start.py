"""`kafka-rest-start`: runs a REST proxy as a `kafka-rest.properties` file says; `-daemon` behind it."""

import sys
from collections.abc import Sequence
from typing import Final

from ottla.cli.ending import ends_quietly
from ottla.cli.kafka.service_script import ServiceScript, start

SCRIPT: Final = ServiceScript("kafka-rest", "a REST proxy", "ottla.cli.kafka.kafka_rest_start", "rest")


@ends_quietly
def main(arguments: Sequence[str] | None = None) -> int:
    """Runs the tool; the exit code."""
    from ottla.cli.commands.services.rest import serve

    return start(SCRIPT, serve, arguments)


if __name__ == "__main__":
    sys.exit(main())
