"""Options as Kafka's tools take them: `--name value`, `--name=value`, also with one dash; no abbreviations.

Owns the grammar, the table that `--help` prints, and the words of usage errors. A usage error goes to the error
output, followed by the table, and costs 1; so does `--help`, as in Kafka. Values are converted when they are asked
for, so that a bad number is reported where it is needed.
"""

import re
import sys
import textwrap
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Final, NamedTuple, NoReturn

from ottla.base.errors import OttlaError
from ottla.cli.argument import KAFKA_VERSION

_WIDTH: Final = 80
_LEFT_MAX: Final = 38
_GAP: Final = 3
_NUMBER: Final = re.compile(r"[+-]?[0-9]{1,20}")
_BITS: Final = {"Integer": 32, "Long": 64}


class ToolError(OttlaError):
    """Why a tool can't do what it was asked to; Kafka's words."""

    java_class = "java.lang.IllegalArgumentException"
    """What Kafka's tool throws there."""


class OptionValueError(ToolError):
    """The value of an option can't be used: it is no number, names no file or server, or there are several."""

    java_class = "joptsimple.OptionArgumentConversionException"


class MultipleValuesError(OptionValueError):
    """An option that may be given once was given more often."""

    java_class = "joptsimple.MultipleArgumentsForOptionException"


class Option(NamedTuple):
    """One option; without `argument` it is a flag."""

    name: str
    help: str
    argument: str | None = None
    kind: str = "String"
    is_optional: bool = False
    """Whether the option may stand without its value."""
    default: str | None = None

    @property
    def shown(self) -> str:
        """The left column of the table."""
        if self.argument is None:
            return f"--{self.name}"
        value = f"{self.kind}: {self.argument}" if self.argument else self.kind
        return f"--{self.name} [{value}]" if self.is_optional else f"--{self.name} <{value}>"


HELP: Final = Option("help", "Print this.")
VERSION: Final = Option("version", "Print the version of Kafka whose behaviour this tool has.")


class OptionTable:
    """The options of a tool."""

    def __init__(self, summary: str, options: Iterable[Option], *, bare: str | None = None) -> None:
        """`bare` is what a call without any argument is told, if not the summary."""
        self.summary: Final = summary
        self._bare: Final = summary if bare is None else bare
        self._options: Final[Mapping[str, Option]] = {option.name: option for option in (*options, HELP, VERSION)}

    def parse(self, arguments: Sequence[str]) -> "ChosenOptions":
        """What was chosen. Ends the process after `--help`, `--version`, or without any argument.

        Raises `ToolError` for an option that is none or lacks its value.
        """
        chosen = ChosenOptions(self, self._options, self._read(arguments))
        if not arguments:
            self.fail(self._bare)
        if chosen.has("help"):
            self.fail(self.summary)
        if chosen.has("version"):
            print(KAFKA_VERSION)
            raise SystemExit(0)
        return chosen

    def fail(self, message: str) -> NoReturn:
        """Says what is wrong with the call, shows the options and ends the process.

        A second line of the message comes last, where it is not scrolled away.
        """
        said, _, hint = message.partition("\n")
        print(said, self.text(), *filter(None, [hint]), sep="\n", file=sys.stderr)
        raise SystemExit(1)

    @contextmanager
    def shown_for_errors(self, but: type[ToolError] | tuple[()] = ()) -> Iterator[None]:
        """Shows the options to the user whose call is refused inside of the block, except by errors of `but`."""
        try:
            yield
        except but:
            raise
        except ToolError as error:
            self.fail(str(error))

    def text(self) -> str:
        """The table, sorted by name."""
        rows = sorted(self._options.values())
        left = min(_LEFT_MAX, max(len(option.shown) for option in rows))
        lines = [_row("Option", "Description", left), _row("------", "-----------", left)]
        for option in rows:
            note = "" if option.default is None else f" (default: {option.default})"
            names = textwrap.wrap(option.shown, left, subsequent_indent="  ")
            words = textwrap.wrap(option.help + note, _WIDTH - left - _GAP, subsequent_indent="  ")
            for index in range(max(len(names), len(words))):
                lines.append(_row(_at(names, index), _at(words, index), left))
        return "\n".join(lines)

    def _read(self, arguments: Sequence[str]) -> Iterator[tuple[str, str | None]]:
        rest = list(arguments)
        while rest:
            token = rest.pop(0)
            if not token.startswith("-") or token == "-":
                continue  # Kafka's tools ignore what is no option
            if token == "--":
                return
            name, equals, value = token.lstrip("-").partition("=")
            option = self._options.get(name)
            if option is None:
                raise ToolError(f"{name} is not a recognized option{self._hint(name)}")
            if option.argument is None or equals:
                yield name, value if equals else None
            elif option.is_optional:
                yield name, rest.pop(0) if rest and not self._is_option(rest[0]) else None
            elif rest:
                yield name, rest.pop(0)
            else:
                raise ToolError(f"Option {name} requires an argument")

    def _hint(self, name: str) -> str:
        """A second line for an option of older releases."""
        from ottla.cli.kafka.removed import option_hint

        hint = option_hint(name, self._options)
        return "" if hint is None else f"\n{hint}"

    def _is_option(self, token: str) -> bool:
        return token.startswith("-") and token.lstrip("-").partition("=")[0] in self._options


def _row(left: str, right: str, width: int) -> str:
    return f"{left:<{width}}{' ' * _GAP}{right}".rstrip()


def _at(lines: Sequence[str], index: int) -> str:
    return lines[index] if index < len(lines) else ""


class ChosenOptions:
    """The options of one call."""

    def __init__(
        self, table: OptionTable, options: Mapping[str, Option], found: Iterable[tuple[str, str | None]]
    ) -> None:
        self._table: Final = table
        self._options: Final = options
        self._found: Final[dict[str, list[str]]] = {}
        self.order: Final = tuple(found)
        """Names and values as they stand on the command line."""
        for name, value in self.order:
            values = self._found.setdefault(name, [])
            if value is not None:
                values.append(value)

    def knows(self, name: str) -> bool:
        """Whether the tool has such an option."""
        return name in self._options

    def has(self, name: str) -> bool:
        """Whether it was given."""
        return name in self._found

    def texts(self, name: str) -> list[str]:
        """All its values."""
        return self._found.get(name, [])

    def text(self, name: str) -> str | None:
        """Its value, or its default; `ToolError` if there are several."""
        values = self.texts(name)
        if len(values) > 1:
            raise MultipleValuesError(f"Found multiple arguments for option {name}, but you asked for only one")
        return values[0] if values else self._options[name].default

    def required_text(self, name: str) -> str:
        """The value of an option that is known to be there."""
        value = self.text(name)
        if value is None:
            self.fail(f'Missing required argument "[{name}]"')
        return value

    def integer(self, name: str) -> int | None:
        """Its value as a number that Java's type of that name holds."""
        value = self.text(name)
        if value is None:
            return None
        bits = _BITS.get(self._options[name].kind, _BITS["Long"])
        if _NUMBER.fullmatch(value) and -(1 << bits - 1) <= int(value) < 1 << bits - 1:
            return int(value)
        raise OptionValueError(f"Cannot parse argument '{value}' of option {name}")

    def fail(self, message: str) -> NoReturn:
        """Says what is wrong with the call, shows the options and ends the process."""
        self._table.fail(message)

    def require(self, *names: str) -> None:
        """Fails if one of them is missing."""
        for name in names:
            if not self.has(name):
                self.fail(f'Missing required argument "[{name}]"')

    def forbid(self, used: str, *others: str) -> None:
        """Fails if `used` was given together with one of the others."""
        for other in others:
            if self.has(used) and self.has(other):
                self.fail(f'Option "[{used}]" can\'t be used with option "[{other}]"')

    def one_of(self, *names: str) -> str:
        """The one that was given; fails if there are none or several."""
        given = [name for name in names if self.has(name)]
        if len(given) != 1:
            listed = ", ".join(f"[{name}]" for name in names)
            self.fail(f"Exactly one of the following arguments is required: {listed}")
        return given[0]


BOOTSTRAP_SERVER: Final = Option(
    "bootstrap-server", "REQUIRED: the brokers to connect to, host:port, separated by commas.", "server to connect to"
)
COMMAND_CONFIG: Final = Option(
    "command-config", "A properties file with settings of the admin client.", "command config property file"
)
BOOTSTRAP_CONTROLLER: Final = Option(
    "bootstrap-controller", "The controllers to connect to instead of brokers.", "controller to connect to"
)
