"""Arguments of the tools that Kafka wrote with argparse: performance of producers, and the verifiable clients.

Without any argument they show their help and end with 0; what is wrong is said on the error output and costs 1.
"""

import argparse
import sys
from collections.abc import Callable, Sequence
from typing import Final

from ottla.cli.argument import ToolParser


class PerfParser(ToolParser):
    """A parser whose errors read as argparse4j's do."""

    def __init__(self, prog: str, description: str) -> None:
        super().__init__(prog=prog, description=description, allow_abbrev=False, help_code=1)

    def parsed(self, arguments: Sequence[str] | None) -> argparse.Namespace:
        """The arguments; ends the process with the help if there are none."""
        given = sys.argv[1:] if arguments is None else list(arguments)
        if not given:
            self.print_help()
            raise SystemExit(0)
        return self.parse_args(given)

    def settings_file(self, args: argparse.Namespace, old: str) -> str | None:
        """The file that `--command-config` names, or the option's old name, which is told of on the output."""
        path: str | None = getattr(args, old)
        new: str | None = args.command_config
        if path is None:
            return new
        if new is not None:
            self.error(f"Options --{old} and --command-config are mutually exclusive.")
        print(
            f"Option --{old} has been deprecated and will be removed in a future version. Use --command-config instead."
        )
        return path


def _number(kind: str, convert: Callable[[str], float]) -> Callable[[str], float]:
    def read(text: str) -> float:
        try:
            return convert(text)
        except ValueError:
            reason = f"could not convert '{text}' to {kind} (For input string: \"{text}\")"
            raise argparse.ArgumentTypeError(reason) from None

    return read


integer: Final = _number("Integer", int)
long: Final = _number("Long", int)
double: Final = _number("Double", float)
