"""`kafka-rest-stop`: asks the REST proxies that run on this machine to stop."""

import sys

from ottla.cli.kafka.kafka_rest_start import SCRIPT
from ottla.cli.kafka.service_script import stop
from ottla.cli.kafka.session.tool_main import tool_main


@tool_main()
def main(arguments: list[str]) -> int:
    """Runs the tool; the exit code."""
    return stop(SCRIPT, (__doc__ or "").partition(": ")[2], arguments)


if __name__ == "__main__":
    sys.exit(main())
