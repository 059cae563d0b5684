"""Finds the completions of a command line of `ottla`, in the very parsers that will read it.

So no list of options has to be kept in step with the commands. Only the command on the line is imported.
"""

import argparse
import importlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, Final

from ottla.base.errors import OttlaError
from ottla.cli.main import COMMANDS

Candidate = tuple[str, str]
Names = Callable[[str, argparse.Namespace], Iterable[str]]

_LOOK_MS: Final = "1500"
_ASKED: Final = {
    "topics": "topic", "topic": "topic", "TOPIC": "topic", "TOPIC[:PARTITIONS]": "topic", "groups": "group",
    "group": "group", "GROUP": "group",
}  # fmt: skip


def candidates(words: Sequence[str], names: Names | None = None) -> list[Candidate]:
    """The completions of the last word, each with a line of help; `names` finds topics and groups."""
    *before, last = words or [""]
    if not before:
        return [(name, command.summary) for name, command in COMMANDS.items() if name.startswith(last)]
    if before[0] not in COMMANDS:
        return []
    parser = argparse.ArgumentParser(prog="ottla")
    importlib.import_module(COMMANDS[before[0]].module).add_arguments(parser)
    rest = before[1:]
    for word in before[1:]:
        action = _choice(parser)
        if action is not None and word in action.choices:
            parser, rest = action.choices[word], rest[rest.index(word) + 1 :]
    return [found for found in _found(parser, rest, last, names or ask_cluster) if found[0].startswith(last)]


def _choice(parser: argparse.ArgumentParser) -> Any:
    """The action that chooses among sub-commands."""
    return next((action for action in parser._actions if isinstance(action, argparse._SubParsersAction)), None)


def _found(parser: argparse.ArgumentParser, rest: Sequence[str], last: str, names: Names) -> Iterator[Candidate]:
    previous = parser._option_string_actions.get(rest[-1]) if rest else None
    if previous is not None and previous.nargs != 0:
        yield from _values(previous, rest, names)
        return
    if last.startswith("-"):
        for option, action in parser._option_string_actions.items():
            if option.startswith("--") or option == last:
                yield option, _first_line(action.help)
        return
    chooser = _choice(parser)
    if chooser is not None:
        for pseudo in chooser._choices_actions:
            yield str(pseudo.dest), _first_line(pseudo.help)
        return
    positional = _positional(parser, rest)
    if positional is not None:
        yield from _values(positional, rest, names)


def _first_line(text: str | None) -> str:
    return (text or "").partition("\n")[0]


def _positional(parser: argparse.ArgumentParser, rest: Sequence[str]) -> argparse.Action | None:
    """The positional argument that the next word would be."""
    given = 0
    is_value = False
    for word in rest:
        if is_value:
            is_value = False
        elif word.startswith("-"):
            option = parser._option_string_actions.get(word)
            is_value = option is not None and option.nargs != 0
        else:
            given += 1
    for action in parser._get_positional_actions():
        if given == 0 or action.nargs in ("+", "*"):
            return action
        given -= 1
    return None


def _values(action: argparse.Action, rest: Sequence[str], names: Names) -> Iterator[Candidate]:
    if action.choices is not None:
        # What the help does not name is not for users.
        listed = str(action.metavar).strip("{}").split(",") if action.metavar else action.choices
        yield from ((str(choice), "") for choice in action.choices if choice in listed)
        return
    kind = _ASKED.get(str(action.metavar or action.dest))
    if kind is not None:
        yield from ((name, kind) for name in names(kind, _connection(rest)))


def _connection(rest: Sequence[str]) -> argparse.Namespace:
    from ottla.cli.connection import add_connection

    parser = argparse.ArgumentParser(add_help=False, exit_on_error=False)
    add_connection(parser)
    try:
        return parser.parse_known_args(list(rest))[0]
    except (argparse.ArgumentError, SystemExit):
        return parser.parse_args([])


def ask_cluster(kind: str, options: argparse.Namespace) -> list[str]:
    """The names of topics or groups; none if the cluster does not answer at once, since a user pressed Tab."""
    from ottla.cli.connection import run_admin

    options.settings = [
        *options.settings,
        f"request.timeout.ms={_LOOK_MS}",
        f"default.api.timeout.ms={_LOOK_MS}",
        f"socket.connection.setup.timeout.ms={_LOOK_MS}",
    ]
    options.wait = 0
    found: list[str] = []

    async def look(admin: Any, _: argparse.Namespace) -> int:
        if kind == "topic":
            found.extend(await admin.list_topics())
        else:
            found.extend(sorted(group.group_id for group in await admin.list_groups()))
        return 0

    try:
        run_admin(options, look)
    except OttlaError:
        return []
    return found
