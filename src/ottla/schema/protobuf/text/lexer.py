"""Cuts .proto text into words, strings and signs, each with its place. Comments and blanks go.

A word is everything that names and numbers are made of, dots and signs of numbers included: `a.b.C`, `-1.5e3`.
"""

import re
from collections.abc import Iterator
from typing import Final

from ottla.base.frozen import frozen
from ottla.schema.error import InvalidSchemaError

_TOKEN: Final = re.compile(
    r"""
    (?P<blank>\s+ | //[^\n]* | /\*.*?\*/)
  | (?P<word>[A-Za-z0-9_.+\-]+)
  | (?P<string>"(?:[^"\\\n]|\\.)*" | '(?:[^'\\\n]|\\.)*')
  | (?P<sign>[{}()\[\]<>=;:,])
    """,
    re.VERBOSE | re.DOTALL,
)
_ESCAPE: Final = re.compile(
    r"\\(?:([0-7]{1,3})|[xX]([0-9A-Fa-f]{1,2})|u([0-9A-Fa-f]{4})|U([0-9A-Fa-f]{8})|(.))", re.DOTALL
)
_PLAIN_ESCAPES: Final = {"a": "\a", "b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t", "v": "\v"}


@frozen
class Token:
    """A piece of text; `kind` is `word`, `string` (with its quotes), `sign` or `end`."""

    kind: str
    text: str
    offset: int


def tokens(text: str) -> Iterator[Token]:
    """The text's tokens, then one of kind `end`."""
    offset = 1 if text.startswith("\ufeff") else 0
    while offset < len(text):
        found = _TOKEN.match(text, offset)
        if found is None:
            reason = "unterminated comment" if text.startswith("/*", offset) else f"unexpected {text[offset]!r}"
            raise syntax_error(text, offset, reason)
        if found.lastgroup != "blank":
            assert found.lastgroup is not None
            yield Token(found.lastgroup, found[0], offset)
        offset = found.end()
    yield Token("end", "", len(text))


def syntax_error(text: str, offset: int, reason: str) -> InvalidSchemaError:
    """An error that names line and column.

    >>> str(syntax_error("a\\nbc", 3, "unexpected 'c'"))
    "Syntax error in line 2, column 2: unexpected 'c'"
    """
    line = text.count("\n", 0, offset) + 1
    column = offset - (text.rfind("\n", 0, offset) + 1) + 1
    return InvalidSchemaError(f"Syntax error in line {line}, column {column}: {reason}")


def unquoted(literal: str) -> str:
    r"""The value of a string literal. Bytes that are not UTF-8 become surrogates, so a default of `bytes` survives.

    >>> unquoted(r"'a\n\x41'")
    'a\nA'
    """
    return unescaped(literal[1:-1])


def unescaped(text: str) -> str:
    """The text with its escapes replaced by what they stand for."""
    if "\\" not in text:
        return text
    return _ESCAPE.sub(_escaped, text).encode("utf-8", "surrogateescape").decode("utf-8", "surrogateescape")


def _escaped(found: re.Match[str]) -> str:
    octal, hexadecimal, short, long, plain = found.groups()
    if plain is not None:
        return _PLAIN_ESCAPES.get(plain, plain)
    if octal is not None or hexadecimal is not None:
        byte = int(octal, 8) & 0xFF if octal is not None else int(hexadecimal, 16)
        return bytes([byte]).decode("utf-8", "surrogateescape")
    code = int(short or long, 16)
    if code > 0x10FFFF or 0xD800 <= code < 0xE000:
        raise InvalidSchemaError(f"{found[0]} is no character")
    return chr(code)
