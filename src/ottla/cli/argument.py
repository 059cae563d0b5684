"""Command-line parsing as Kafka's tools do it: a wrong call costs 1, not 2, and says so in their words."""

import argparse
import re
import sys
from collections.abc import Sequence
from typing import Any, Final, NoReturn

KAFKA_VERSION: Final = "4.3.1"
"""The release of Apache Kafka whose behaviour the tools have."""
KAFKA_COMMIT: Final = "26b251a451ce941d"
"""What that release was made of; one tool tells it."""

_REQUIRED: Final = re.compile(r"the following arguments are required: ([^,]+).*")
_UNKNOWN: Final = re.compile(r"unrecognized arguments: (\S+).*")

SUBCOMMANDS: Final = re.compile(r"^argument \{[^}]*\}: ")
"""How argparse names the sub-command: all of them, which its message lists again."""


class _Help(argparse.Action):
    def __init__(self, option_strings: Sequence[str], dest: str, help: str) -> None:  # noqa: A002 - argparse's name
        super().__init__(option_strings, argparse.SUPPRESS, nargs=0, default=argparse.SUPPRESS, help=help)

    def __call__(self, parser: argparse.ArgumentParser, *_: object) -> NoReturn:
        assert isinstance(parser, ToolParser)
        parser.print_help()
        parser.exit(parser.help_code)


class ToolParser(argparse.ArgumentParser):
    """A parser whose errors read like those of Kafka's tools.

    >>> parser = ToolParser(prog="kafka-storage")
    >>> _ = parser.add_argument("--config", "-c", required=True)
    >>> parser.parse_args([])
    Traceback (most recent call last):
    SystemExit: 1
    """

    def __init__(self, *, help_code: int = 0, **options: Any) -> None:
        """`help_code` is what `--help` costs: in Kafka that differs from tool to tool."""
        super().__init__(add_help=False, **options)
        self.help_code = help_code
        self.add_argument("-h", "--help", action=_Help, help="show this help message and exit")

    def parse_known_args(  # type: ignore[override]
        self, args: Sequence[str] | None = None, namespace: argparse.Namespace | None = None
    ) -> tuple[argparse.Namespace, list[str]]:
        """Refuses the first option that there is not, before anything is found to be missing."""
        given = sys.argv[1:] if args is None else list(args)
        unknown = self._first_unknown(given)
        if unknown is not None:
            self.error(f"unrecognized arguments: {unknown}")
        return super().parse_known_args(given, namespace)

    def error(self, message: str) -> NoReturn:
        """Prints usage and reason on the error output, and ends with 1."""
        self.print_usage(sys.stderr)
        self.exit(1, f"{self.prog.split()[0]}: error: {self.reason(message)}\n{self._hint(message)}")

    def _hint(self, message: str) -> str:
        """A line for an option of older releases."""
        unknown = _UNKNOWN.fullmatch(message)
        if unknown is None:
            return ""
        from ottla.cli.kafka.removed import option_hint

        known = {name.lstrip("-") for name in self._option_string_actions}
        hint = option_hint(unknown[1].lstrip("-").partition("=")[0], known)
        return "" if hint is None else f"{hint}\n"

    def reason(self, message: str) -> str:
        """What argparse found, in Kafka's words."""
        required, unknown = _REQUIRED.fullmatch(message), _UNKNOWN.fullmatch(message)
        if required is not None:
            return "too few arguments" if required[1].startswith("{") else f"argument {required[1]} is required"
        return f"unrecognized arguments: '{unknown[1]}'" if unknown is not None else SUBCOMMANDS.sub("", message)

    def _first_unknown(self, given: Sequence[str]) -> str | None:
        """The first option that there is not; those of a sub-command are its own parser's to see."""
        tokens = iter(given)
        for token in tokens:
            if not token.startswith("-") or token == "-":
                if self._subparsers is not None:
                    return None
                continue
            name, equals, _ = token.partition("=")
            action = self._option_string_actions.get(name)
            if action is None:
                return None if self._is_short_for(name) else token
            if action.nargs == 0 and action.default is argparse.SUPPRESS:
                return None  # the help, or the version
            if action.nargs is None and not equals:
                next(tokens, None)
        return None

    def _is_short_for(self, name: str) -> bool:
        """Whether argparse may know what is meant: an abbreviation, a value behind its letter, a negative number."""
        if not name.startswith("--"):
            return name[:2] in self._option_string_actions or name[1:2].isdigit()
        known = self._option_string_actions
        return name == "--" or (self.allow_abbrev and any(option.startswith(name) for option in known))


def add_commands(parser: ToolParser, names: Sequence[tuple[str, str]]) -> dict[str, ToolParser]:
    """Sub-commands with a line of help each; their parsers by name."""
    commands = parser.add_subparsers(
        dest="command", required=True, metavar=f"{{{','.join(name for name, _ in names)}}}"
    )
    parsers = {name: commands.add_parser(name, help=summary, description=summary) for name, summary in names}
    for command in parsers.values():
        command.help_code = parser.help_code
    return parsers
