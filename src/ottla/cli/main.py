"""`ottla`: picks the command and imports only that.

`ottla --help` must not wait for the imports of commands that nobody called: what is listed there stands in `COMMANDS`.
"""

import argparse
import importlib
import sys
from collections.abc import Sequence
from typing import Final, NamedTuple

from ottla.base.errors import OttlaError

INTERRUPTED: Final = 130
"""What shells expect of a program that ended by Ctrl-C."""


class Command(NamedTuple):
    """A command: the module that knows how, and a line that says what."""

    module: str
    summary: str


COMMANDS: Final = {
    "broker": Command("ottla.cli.commands.broker", "run a node that every Kafka client can use"),
    "config": Command("ottla.cli.commands.config", "print the reference of all settings"),
}


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs `ottla` with these arguments, by default those of the process; the exit code."""
    given = list(sys.argv[1:] if arguments is None else arguments)
    try:
        if given and given[0] in COMMANDS:
            return _run(given[0], given[1:])
        return _without_command(given)
    except OttlaError as error:
        print(f"ottla: {error}", file=sys.stderr)
        return 1
    except BrokenPipeError:
        # Whoever read the output has enough of it: `ottla config docs | head`.
        sys.stderr.close()
        return 0
    except KeyboardInterrupt:
        return INTERRUPTED


def _run(name: str, arguments: Sequence[str]) -> int:
    module = importlib.import_module(COMMANDS[name].module)
    parser = argparse.ArgumentParser(
        prog=f"ottla {name}", description=module.__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    module.add_arguments(parser)
    code: int = module.run(parser.parse_args(arguments))
    return code


def _without_command(given: Sequence[str]) -> int:
    parser = argparse.ArgumentParser(
        prog="ottla",
        usage="ottla COMMAND [...]",
        description="Apache Kafka and its universe, in Python.",
        epilog=_commands_text(),
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--version", action="store_true", help="print the version and exit")
    parser.add_argument("command", nargs="?", metavar="COMMAND", help=argparse.SUPPRESS)
    options, _ = parser.parse_known_args(given)
    if options.version:
        print(f"ottla {version()}")
        return 0
    if options.command is None:
        parser.print_help()
        return 0
    parser.print_usage(sys.stderr)
    print(f"ottla: there is no command {options.command}{_nearest(options.command)}", file=sys.stderr)
    return 2


def _commands_text() -> str:
    lines = [f"  {name:<10} {command.summary}" for name, command in COMMANDS.items()]
    return "\n".join(["commands:", *lines, "", "`ottla COMMAND --help` tells more about one."])


def _nearest(name: str) -> str:
    import difflib

    found = difflib.get_close_matches(name, COMMANDS, n=1)
    return f", did you mean {found[0]}?" if found else f" ({', '.join(COMMANDS)})"


def version() -> str:
    """The version that is installed."""
    from importlib import metadata

    return metadata.version("ottla")


if __name__ == "__main__":
    sys.exit(main())
