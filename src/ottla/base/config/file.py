r"""Java's properties files, as Kafka writes and reads them: `key=value` lines, comments, escapes.

Owns the grammar only. Lines end in `\n`, `\r` or `\r\n`; `#` and `!` open comments; `=`, `:` or white space part key
and value; a backslash escapes the next character, `\uXXXX` a code unit, and joins a line with the next at its end.
"""

import re
from collections.abc import Iterator, Mapping
from typing import Final, NamedTuple

from ottla.base.errors import OttlaError

_ESCAPES: Final = {"t": "\t", "n": "\n", "r": "\r", "f": "\f"}
_BREAK: Final = re.compile(r"\r\n|\n|\r")
_SEPARATOR: Final = re.compile(r"(?<!\\)((?:\\\\)*)[ \t\f]*([=:]|[ \t\f])[ \t\f]*")


class PropertiesError(OttlaError):
    """A line that is no property; the message says which."""


class Property(NamedTuple):
    """A value and the line it stands on, so that a bad one can be found."""

    value: str
    line: int


def parse_properties(text: str) -> dict[str, str]:
    r"""The properties in a file's text; the last of several values for a key counts.

    >>> parse_properties("# who\nnode.id=1\npath = a\\\n   b\n")
    {'node.id': '1', 'path': 'ab'}
    """
    return {key: found.value for key, found in parse_property_lines(text).items()}


def parse_property_lines(text: str) -> dict[str, Property]:
    """The properties of a text, each with the number of the line where it begins."""
    properties: dict[str, Property] = {}
    for number, line in _logical_lines(text):
        key, value = _split(line)
        properties[_unescape(key, number)] = Property(_unescape(value, number), number)
    return properties


def render_properties(properties: Mapping[str, str]) -> str:
    r"""The text of a file with these properties, sorted by key.

    >>> render_properties({"a": "x=y z"})
    '#\na=x\\=y z\n'
    """
    lines = [f"{_escape(key, in_key=True)}={_escape(value, in_key=False)}" for key, value in sorted(properties.items())]
    return "\n".join(["#", *lines, ""])


def _logical_lines(text: str) -> Iterator[tuple[int, str]]:
    """The lines that say something, continued ones joined, each with the number of its first."""
    pending, pending_line = "", 0
    for number, raw in enumerate(_BREAK.split(text), start=1):
        line = raw.lstrip(" \t\f")
        if not pending_line and (not line or line[0] in "#!"):
            continue
        first = pending_line or number
        if (len(line) - len(line.rstrip("\\"))) % 2:
            pending, pending_line = pending + line[:-1], first
            continue
        yield first, pending + line
        pending, pending_line = "", 0
    if pending_line:
        yield pending_line, pending


def _split(line: str) -> tuple[str, str]:
    found = _SEPARATOR.search(line)
    if found is None:
        return line, ""
    return line[: found.start()] + found[1], line[found.end() :]


def _unescape(text: str, line: int) -> str:
    def replace(found: re.Match[str]) -> str:
        code = found[1]
        if code[0] != "u":
            return _ESCAPES.get(code, code)
        if len(code) != 5:
            raise PropertiesError(f"line {line}: malformed \\u escape")
        return chr(int(code[1:], 16))

    return re.sub(r"\\(u[0-9a-fA-F]{4}|.)", replace, text)


def _escape(text: str, *, in_key: bool) -> str:
    out = []
    for index, character in enumerate(text):
        if character in "=:#!\\" or (character == " " and (in_key or index == 0)):
            out.append("\\" + character)
        elif character in "\t\n\r\f":
            out.append("\\" + {"\t": "t", "\n": "n", "\r": "r", "\f": "f"}[character])
        elif " " <= character <= "~":
            out.append(character)
        else:
            out.append(f"\\u{ord(character):04X}")
    return "".join(out)
