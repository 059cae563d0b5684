"""Cuts a stream of bytes into the JSON objects that follow each other in it.

Only brackets and strings are looked at: whether an object is JSON is for its reader to say. No byte is looked at more
than twice, however small the pieces are in which an object comes.
"""

import re
from collections.abc import Iterator
from typing import Final

from ottla.base.errors import OttlaError

_TOKEN: Final = re.compile(rb'"(?:[^"\\]++|\\.)*+"|[{}\[\]"]', re.DOTALL)
_STRING_END: Final = re.compile(rb'(?:[^"\\]++|\\.)*+"', re.DOTALL)
_BETWEEN: Final = re.compile(rb"[\s,]*+")
_QUOTE, _OPEN = 0x22, b"{["
_SHOWN_MAX: Final = 40


class JsonStreamError(OttlaError):
    """The stream can't be cut any further: between two objects is something else, or an object is too large."""


class JsonStream:
    """One stream.

    >>> stream = JsonStream(1000)
    >>> list(stream.feed(b'{"a": "}"} {"b')), list(stream.feed(b'": []}'))
    ([b'{"a": "}"}'], [b'{"b": []}'])
    >>> stream.is_between
    True
    """

    def __init__(self, object_bytes_max: int) -> None:
        self._object_bytes_max: Final = object_bytes_max
        self._data = bytearray()
        self._at = 0
        """What stands before it was looked at."""
        self._depth = 0
        self._in_string = False

    @property
    def is_between(self) -> bool:
        """Whether no object is begun and not ended."""
        return not self._depth and not self._data

    def feed(self, piece: bytes) -> Iterator[bytes]:
        """The objects that end in this piece. Raises `JsonStreamError`, after the objects before the trouble."""
        self._data += piece
        while True:
            if not self._depth and not self._begin():
                return
            end = self._find_end()
            if end < 0:
                if len(self._data) > self._object_bytes_max:
                    raise JsonStreamError(f"a record is larger than {self._object_bytes_max} bytes")
                return
            found = bytes(self._data[:end])
            del self._data[:end]
            self._at = 0
            if len(found) > self._object_bytes_max:
                raise JsonStreamError(f"a record is larger than {self._object_bytes_max} bytes")
            yield found

    def _begin(self) -> bool:
        """Goes to the next object; whether it has begun."""
        del self._data[: _gap(self._data)]
        self._at = 0
        if not self._data:
            return False
        if self._data[0] not in _OPEN:
            shown = bytes(self._data[:_SHOWN_MAX]).decode("utf-8", "replace")
            raise JsonStreamError(f"Unrecognized token: expected a JSON object, got {shown}")
        return True

    def _find_end(self) -> int:
        """The end of the object that begins the data, -1 if it has not come yet."""
        data = self._data
        if self._in_string:
            end = _STRING_END.match(data, self._at)
            if end is None:
                self._at = self._last_whole(self._at)
                return -1
            self._at, self._in_string = end.end(), False
        for token in _TOKEN.finditer(data, self._at):
            first = data[token.start()]
            if first == _QUOTE:
                if token.end() - token.start() == 1:
                    self._in_string, self._at = True, self._last_whole(token.end())
                    return -1
                continue
            self._depth += 1 if first in _OPEN else -1
            if self._depth <= 0:
                self._depth = 0
                return token.end()
        self._at = len(data)
        return -1

    def _last_whole(self, start: int) -> int:
        """The place to continue in a string that has not ended: before a backslash whose character has not come yet."""
        end = len(self._data)
        backslashes = 0
        while end - backslashes > start and self._data[end - backslashes - 1] == 0x5C:
            backslashes += 1
        return end - backslashes % 2


def _gap(data: bytearray) -> int:
    """The number of blanks and commas at the beginning."""
    found = _BETWEEN.match(data)
    return 0 if found is None else found.end()
