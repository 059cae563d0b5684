"""`connect-distributed`: runs a worker of a Connect cluster; `-daemon` behind it."""

import sys
from collections.abc import Sequence
from typing import Final

from ottla.cli.ending import ends_quietly
from ottla.cli.kafka.connect_script import ConnectScript, start

SCRIPT: Final = ConnectScript(
    "connect-distributed",
    "ottla.cli.kafka.connect_distributed",
    "Run a worker of a Connect cluster.",
    takes_connectors=False,
)


@ends_quietly
def main(arguments: Sequence[str] | None = None) -> int:
    """Runs the tool; the exit code."""
    from ottla.cli.connect.serve import serve_distributed

    return start(SCRIPT, serve_distributed, arguments)


if __name__ == "__main__":
    sys.exit(main())
