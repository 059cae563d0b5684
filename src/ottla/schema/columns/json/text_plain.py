"""JSON's text in plain Python: what is skipped, and where strings, numbers and values end; `_text` does it in C.

What is not JSON raises `BadRecordError`, with the place of the value or character that is wrong.
"""

import re
from typing import Final

from ottla.schema.columns.layout import DEPTH_MAX, Code
from ottla.schema.columns.slot_plain import BadRecordError

_SPACE: Final = re.compile(rb"[ \n\r\t]*")
_STRING: Final = re.compile(rb'"(?:[^"\\\x00-\x1f]|\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4}))*"')
_NUMBER: Final = re.compile(rb"-?(?:0|[1-9][0-9]*)(\.[0-9]+)?([eE][+-]?[0-9]+)?")
_WORD: Final = re.compile(rb"true|false|null")


class Text:
    """A text, and how far it is read."""

    def __init__(self, data: bytes) -> None:
        self.data: Final = data
        self.at = 0

    def bad(self, code: int = Code.NOT_JSON) -> BadRecordError:
        """That it can't be read on."""
        return BadRecordError(code, self.at)

    def peek(self) -> bytes:
        """The first character of the next value."""
        self.skip_space()
        if self.at >= len(self.data):
            raise self.bad()
        return self.data[self.at : self.at + 1]

    def skip_space(self) -> None:
        """Past spaces."""
        found = _SPACE.match(self.data, self.at)
        assert found is not None
        self.at = found.end()

    def string(self) -> bytes:
        """Past a string; as it is written, with its quotes."""
        return self._token(_STRING)

    def number(self) -> tuple[bytes, bool]:
        """Past a number; as it is written, and whether it is an integer's digits."""
        found = _NUMBER.match(self.data, self.at)
        if found is None:
            raise self.bad()
        self.at = found.end()
        return found.group(), found.group(1) is None and found.group(2) is None

    def word(self) -> bytes:
        """Past `true`, `false` or `null`."""
        return self._token(_WORD)

    def colon(self) -> None:
        """Past the colon behind a name."""
        self.skip_space()
        if self.data[self.at : self.at + 1] != b":":
            raise self.bad()
        self.at += 1

    def is_closed(self, close: bytes) -> bool:
        """Past the end of an object or list, or past a comma."""
        self.skip_space()
        found = self.data[self.at : self.at + 1]
        if found not in (close, b",") or not found:
            raise self.bad()
        self.at += 1
        return found == close

    def is_empty(self, close: bytes) -> bool:
        """Past the opening bracket, and the closing one if it follows."""
        self.at += 1
        self.skip_space()
        if self.data[self.at : self.at + 1] != close:
            return False
        self.at += 1
        return True

    def skip_value(self, depth: int) -> None:
        """Past any value."""
        first = self.peek()
        if first == b'"':
            self.string()
        elif first in (b"{", b"["):
            self._items(first, depth)
        elif first in (b"t", b"f", b"n"):
            self.word()
        else:
            self.number()

    def _items(self, first: bytes, depth: int) -> None:
        if depth >= DEPTH_MAX:
            raise self.bad(Code.TOO_DEEP)
        close = b"}" if first == b"{" else b"]"
        if self.is_empty(close):
            return
        while True:
            if first == b"{":
                self.skip_space()
                self.string()
                self.colon()
            self.skip_value(depth + 1)
            if self.is_closed(close):
                return

    def _token(self, pattern: re.Pattern[bytes]) -> bytes:
        found = pattern.match(self.data, self.at)
        if found is None:
            raise self.bad()
        self.at = found.end()
        return found.group()


def is_json(data: bytes) -> bool:
    """Whether the text is exactly one JSON value.

    >>> is_json(b' {"a": [1, true]} '), is_json(b"[1,]"), is_json(b"1 2")
    (True, False, False)
    """
    text = Text(data)
    try:
        str(data, "utf-8")
        text.skip_value(0)
        text.skip_space()
    except (BadRecordError, UnicodeDecodeError):
        return False
    return text.at == len(data)
