"""Colours, on a terminal only.

Owns who gets colours: a stream that is a terminal, unless `NO_COLOR` is set (no-color.org) or the terminal is dumb.
Widths are counted without them, so a `Toned` text keeps its tone apart until it is printed.
"""

import os
import sys
import unicodedata
from collections.abc import Mapping
from enum import Enum
from typing import Final, NamedTuple, TextIO, TypeAlias

_RESET: Final = "\x1b[0m"


class Tone(Enum):
    """What a text means to its reader; the value is the terminal's code for it."""

    STRONG = "1"
    FAINT = "2"
    BAD = "31"
    GOOD = "32"
    WARN = "33"
    NAME = "36"


class Toned(NamedTuple):
    """A text with its tone."""

    text: str
    tone: Tone


Text: TypeAlias = str | Toned


class Style:
    """How texts look on one stream."""

    def __init__(self, *, is_coloured: bool, is_terminal: bool | None = None) -> None:
        self.is_coloured: Final = is_coloured
        self.is_terminal: Final = is_coloured if is_terminal is None else is_terminal

    @classmethod
    def of(cls, stream: TextIO | None = None, environment: Mapping[str, str] | None = None) -> "Style":
        """The style of a stream, by default the standard output."""
        stream = sys.stdout if stream is None else stream
        environment = os.environ if environment is None else environment
        is_terminal = stream.isatty()
        is_plain = bool(environment.get("NO_COLOR")) or environment.get("TERM") == "dumb"
        return cls(is_coloured=is_terminal and not is_plain, is_terminal=is_terminal)

    def paint(self, text: Text, tone: Tone | None = None) -> str:
        """The text as the stream shows it.

        >>> Style(is_coloured=False).paint(Toned("offline", Tone.BAD))
        'offline'
        >>> Style(is_coloured=True).paint("orders", Tone.NAME)
        '\\x1b[36morders\\x1b[0m'
        """
        if isinstance(text, Toned):
            text, tone = text
        if tone is None or not self.is_coloured or not text:
            return text
        return f"\x1b[{tone.value}m{text}{_RESET}"


def plain(text: Text) -> str:
    """The text without its tone."""
    return text.text if isinstance(text, Toned) else text


def width(text: str) -> int:
    """How many columns a terminal needs for it.

    >>> width("café"), width("注文")
    (4, 4)
    """
    if text.isascii():
        return len(text)
    return sum(
        0 if unicodedata.combining(char) else 2 if unicodedata.east_asian_width(char) in "WF" else 1 for char in text
    )


def printable(text: str) -> str:
    r"""The text with control characters made visible, so that a record can't drive the reader's terminal.

    >>> printable("a\tb\x1b[2J")
    'a\\tb\\x1b[2J'
    >>> printable("two\nlines"), printable("no text\n\0")
    ('two\nlines', 'no text\\n\\x00')
    """
    if text.isprintable():
        return text
    # Tabs and line ends belong to a text; beside other control characters they are bytes like these.
    kept = "\t\n" if all(char.isprintable() or char in "\t\n" for char in text) else ""
    return "".join(char if char.isprintable() or char in kept else _escaped(char) for char in text)


def _escaped(char: str) -> str:
    return char.encode("unicode_escape").decode("ascii")
