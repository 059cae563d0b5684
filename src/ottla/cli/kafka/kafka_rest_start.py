"""`kafka-rest-start`: runs a REST proxy as a `kafka-rest.properties` file says; `-daemon` behind it."""

import sys
from typing import Final

from ottla.cli.kafka.service_script import ServiceScript, start
from ottla.cli.kafka.session.tool_main import tool_main

SCRIPT: Final = ServiceScript("kafka-rest", "a REST proxy", "ottla.cli.kafka.kafka_rest_start", "rest")


@tool_main()
def main(arguments: list[str]) -> int:
    """Runs the tool; the exit code."""
    from ottla.cli.commands.services.rest import serve

    return start(SCRIPT, serve, arguments)


if __name__ == "__main__":
    sys.exit(main())
