"""The parser of `ottla` commands: answers a mistyped word with the nearest one, and fits its help to the terminal."""

import argparse
import re
import textwrap
from collections.abc import Iterable, Sequence
from typing import Final, NoReturn

_CHOICE: Final = re.compile(r"invalid choice: '(.*?)' \(choose from (.*)\)")
_EXAMPLE: Final = (" ", "ottla ", "kafka-")


class CommandHelp(argparse.HelpFormatter):
    """Fits prose to the width of the terminal, and leaves paragraphs of examples as they are."""

    def _fill_text(self, text: str, width: int, indent: str) -> str:
        return "\n\n".join(
            textwrap.fill(paragraph, width, break_long_words=False, break_on_hyphens=False)
            if not any(line.startswith(_EXAMPLE) for line in paragraph.splitlines())
            else paragraph
            for paragraph in text.strip().split("\n\n")
        )

    def _format_action(self, action: argparse.Action) -> str:
        """The actions of a command without the line `ACTION` above them."""
        shown = super()._format_action(action)
        return shown.partition("\n")[2] if isinstance(action, argparse._SubParsersAction) else shown


class CommandParser(argparse.ArgumentParser):
    """An `ArgumentParser` that suggests; actions below it get parsers of the same kind."""

    def parse_known_args(  # type: ignore[override]
        self, args: Sequence[str] | None = None, namespace: argparse.Namespace | None = None
    ) -> tuple[argparse.Namespace, list[str]]:
        """Refuses unknown options here, where those of the action are known, and not in the parser above."""
        parsed, unknown = super().parse_known_args(args, namespace)
        for word in unknown:
            if word.startswith("-"):
                name = word.partition("=")[0]
                self.error(f"there is no option {name}{_suggestion(name, self._option_string_actions)}")
        return parsed, unknown

    def error(self, message: str) -> NoReturn:
        """Ends the process with the usage and a sentence."""
        found = _CHOICE.search(message)
        if found is not None:
            choices = [choice.strip("'") for choice in found[2].split(", ")]
            message = f"{message[: found.start()]}there is no {found[1]}{_suggestion(found[1], choices)}"
        elif message.endswith(" ACTION"):
            message = f"an action is missing: {', '.join(self._actions_below())}"
        super().error(message)

    def _actions_below(self) -> Iterable[str]:
        below = (action.choices for action in self._actions if isinstance(action, argparse._SubParsersAction))
        return next(below, {})


def _suggestion(word: str, known: Iterable[str]) -> str:
    import difflib

    names = list(known)
    near = difflib.get_close_matches(word, names, n=1)
    if near:
        return f", did you mean {near[0]}?"
    return f"; there are {', '.join(names)}" if names and not names[0].startswith("-") else "; --help lists them"
