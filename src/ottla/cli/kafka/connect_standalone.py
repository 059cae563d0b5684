"""`connect-standalone`: runs a Connect worker of its own, with connectors from files; `-daemon` behind it."""

import sys
from typing import Final

from ottla.cli.kafka.connect_script import ConnectScript, start
from ottla.cli.kafka.session.tool_main import tool_main

SCRIPT: Final = ConnectScript(
    "connect-standalone",
    "ottla.cli.kafka.connect_standalone",
    "Run a Connect worker of its own, with connectors from files.",
    takes_connectors=True,
)


@tool_main()
def main(arguments: list[str]) -> int:
    """Runs the tool; the exit code."""
    from ottla.cli.connect.serve import serve_standalone

    return start(SCRIPT, serve_standalone, arguments)


if __name__ == "__main__":
    sys.exit(main())
