"""Command-line parsing as Kafka's tools do it: a wrong call costs 1, not 2, and says so in their words."""

import argparse
import re
import sys
from collections.abc import Sequence
from typing import Final, NoReturn

KAFKA_VERSION: Final = "4.3.1"
"""The release of Apache Kafka whose behaviour the tools have."""

_REQUIRED: Final = re.compile(r"the following arguments are required: ([^,]+).*")

SUBCOMMANDS: Final = re.compile(r"^argument \{[^}]*\}: ")
"""How argparse names the sub-command: all of them, which its message lists again."""


class ToolParser(argparse.ArgumentParser):
    """A parser whose errors read like those of Kafka's tools.

    >>> parser = ToolParser(prog="kafka-storage")
    >>> _ = parser.add_argument("--config", "-c", required=True)
    >>> parser.parse_args([])
    Traceback (most recent call last):
    SystemExit: 1
    """

    def error(self, message: str) -> NoReturn:
        """Prints usage and reason on the error output, and ends with 1."""
        self.print_usage(sys.stderr)
        required = _REQUIRED.fullmatch(message)
        if required is not None:
            message = "too few arguments" if required[1].startswith("{") else f"argument {required[1]} is required"
        self.exit(1, f"{self.prog.split()[0]}: error: {SUBCOMMANDS.sub('', message)}\n")


def add_commands(parser: ToolParser, names: Sequence[tuple[str, str]]) -> dict[str, ToolParser]:
    """Sub-commands with a line of help each; their parsers by name."""
    commands = parser.add_subparsers(
        dest="command", required=True, metavar=f"{{{','.join(name for name, _ in names)}}}"
    )
    return {name: commands.add_parser(name, help=summary, description=summary) for name, summary in names}
