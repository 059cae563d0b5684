"""Asks before something is gone for good. A script can't answer, so it has to say `--yes`."""

import sys
from argparse import ArgumentParser

from ottla.cli.output.advice import CommandError
from ottla.cli.output.style import Style, Tone


def add_yes(parser: ArgumentParser) -> None:
    """The option that answers beforehand."""
    parser.add_argument("--yes", "-y", action="store_true", help="don't ask")


def confirm(question: str, *, is_answered: bool) -> None:
    """Returns if the user wants it. Raises `CommandError` if not, and without a terminal to ask at."""
    if is_answered:
        return
    if not sys.stdin.isatty():
        raise CommandError(f"{question} there is no terminal to ask at: add --yes to go on")
    print(f"{Style.of(sys.stderr).paint(question, Tone.WARN)} [y/N] ", end="", file=sys.stderr, flush=True)
    if sys.stdin.readline().strip().lower() not in ("y", "yes"):
        raise CommandError("nothing was done")
