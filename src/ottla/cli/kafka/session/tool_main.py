"""The frame around each Kafka tool: arguments in, exit code out, and one place where an error becomes words.

A tool parses, does its work, and lets errors go. Which words its errors get is its own, because Kafka's tools differ
there: `tool_main` takes a function that tells an error. Imports nothing that `--help` would have to wait for.
"""

import functools
import sys
from collections.abc import Callable, Sequence

from ottla.base.errors import OttlaError
from ottla.cli.ending import ends_quietly
from ottla.cli.kafka.argument.option import ToolError

ToolWork = Callable[[list[str]], int | None]
"""Does what the arguments say; None is the exit code 0."""

Tell = Callable[[OttlaError], object]
"""Prints why a tool failed."""


def plainly(error: OttlaError) -> None:
    """The message alone, on the error output."""
    print(error, file=sys.stderr)


def with_java_class(error: OttlaError) -> None:
    """Refusals of the tool by their message, all other errors with the class that Java has for them."""
    if isinstance(error, ToolError):
        plainly(error)
    else:
        with_any_java_class(error)


def with_any_java_class(error: OttlaError, before: str = "") -> None:
    """Class and message of every error, on the error output."""
    from ottla.cli.kafka.output.java_error import java_text

    print(f"{before}{java_text(error)}", file=sys.stderr)


def behind(label: str) -> Tell:
    """Tells the message behind a label, on the error output."""
    return lambda error: print(f"{label}{error}", file=sys.stderr)


def tool_main(tell: Tell = plainly) -> Callable[[ToolWork], Callable[..., int]]:
    """Makes the `main` of a tool from its work: takes the arguments of the process if it gets none.

    An error costs 1 and is told by `tell`; Ctrl-C and a closed output end it as `ends_quietly` says.
    """

    def made(work: ToolWork) -> Callable[..., int]:
        @ends_quietly
        @functools.wraps(work)
        def main(arguments: Sequence[str] | None = None) -> int:
            try:
                return work(list(sys.argv[1:] if arguments is None else arguments)) or 0
            except OttlaError as error:
                tell(error)
                return 1

        return main

    return made
