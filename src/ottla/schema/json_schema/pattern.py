"""Regular expressions in schemas: which are accepted, and how names of properties are matched with them.

Schemas come from clients, so nothing here backtracks: matching takes time linear to the name.
"""

import re
import warnings
from typing import Final

from ottla.base.regex.linear_regex import LinearRegex
from ottla.base.regex.syntax import RegexError
from ottla.schema.error import InvalidSchemaError

_FOREIGN_SYNTAX: Final = re.compile(r"\\[pPhHRXQEGzZckx]|\(\?<[a-zA-Z]|&&|\\u\{|[*+?}]\+|\[\^?\]")
"""What Java's or JavaScript's regular expressions have and Python's have not, or read in another way."""

_PATTERN_LENGTH_MAX: Final = 2000
"""Longer patterns are taken as they are, and match nothing."""

_NAME_LENGTH_MAX: Final = 1000
_MATCH_WORK_MAX: Final = 1_000_000


def check_pattern(pattern: str, path: str) -> None:
    """Raises InvalidSchemaError for what is a regular expression in no language we know."""
    if len(pattern) > _PATTERN_LENGTH_MAX or _FOREIGN_SYNTAX.search(pattern):
        return
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", FutureWarning)
            re.compile(pattern)
    except (re.error, OverflowError, RecursionError) as error:
        raise InvalidSchemaError(f"{path}: invalid regular expression: {error}", path) from None


class Patterns:
    """Matches names with patterns, each of which is compiled once."""

    def __init__(self) -> None:
        self._compiled: dict[str, LinearRegex | None] = {}

    def matches(self, pattern: str, name: str) -> bool:
        """Whether the pattern matches anywhere in the name.

        A pattern beyond RE2's syntax (a look-ahead, a back-reference), or one that takes too long, matches nothing.

        >>> Patterns().matches("^x-", "x-rate"), Patterns().matches("(a+)+$", "a" * 500 + "!")
        (True, False)
        """
        if pattern not in self._compiled:
            self._compiled[pattern] = _compile(pattern)
        compiled = self._compiled[pattern]
        if compiled is None or len(name) > _NAME_LENGTH_MAX:
            return False
        compiled.allow(_MATCH_WORK_MAX)
        try:
            return compiled.matches(name)
        except RegexError:
            return False


def _compile(pattern: str) -> LinearRegex | None:
    if len(pattern) > _PATTERN_LENGTH_MAX:
        return None
    try:
        return LinearRegex(f"(?s:.*)(?:{pattern})(?s:.*)")
    except RegexError:
        return None
