"""`connect-distributed`: runs a worker of a Connect cluster; `-daemon` behind it."""

import sys
from typing import Final

from ottla.cli.kafka.connect_script import ConnectScript, start
from ottla.cli.kafka.session.tool_main import tool_main

SCRIPT: Final = ConnectScript(
    "connect-distributed",
    "ottla.cli.kafka.connect_distributed",
    "Run a worker of a Connect cluster.",
    takes_connectors=False,
)


@tool_main()
def main(arguments: list[str]) -> int:
    """Runs the tool; the exit code."""
    from ottla.cli.connect.serve import serve_distributed

    return start(SCRIPT, serve_distributed, arguments)


if __name__ == "__main__":
    sys.exit(main())
