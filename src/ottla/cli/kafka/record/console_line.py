"""Lines of text as records: `headers<delimiter>key<separator>value`, as Kafka's line reader takes them apart.

Invariant: positions count from the front of the line, so a separator may occur again in what follows it:
`a:1,b:2<TAB>key<TAB>x<TAB>y` has the value `x<TAB>y`.
"""

import re
from collections.abc import Mapping
from typing import Final, NamedTuple

from ottla.cli.kafka.argument.option import ToolError

_SEPARATORS: Final = (
    ("headers.delimiter", "headers.separator"),
    ("headers.delimiter", "headers.key.separator"),
    ("headers.separator", "headers.key.separator"),
    ("null.marker", "key.separator"),
    ("null.marker", "headers.separator"),
    ("null.marker", "headers.delimiter"),
    ("null.marker", "headers.key.separator"),
)
_DEFAULTS: Final = {
    "key.separator": "\t",
    "headers.delimiter": "\t",
    "headers.separator": ",",
    "headers.key.separator": ":",
}


class LineRecord(NamedTuple):
    """What a line says."""

    key: bytes | None
    value: bytes | None
    headers: list[tuple[str, bytes | None]]


class LineReader:
    """Takes lines apart; settings are the properties of `--reader-property`.

    >>> reader = LineReader({"parse.key": "true", "key.separator": "=", "null.marker": "NULL"})
    >>> reader.read("k=v"), reader.read("k=NULL")
    (LineRecord(key=b'k', value=b'v', headers=[]), LineRecord(key=b'k', value=None, headers=[]))
    """

    def __init__(self, settings: Mapping[str, str]) -> None:
        texts = {**_DEFAULTS, **settings}
        for one, other in _SEPARATORS:
            if one in texts and texts[one] == texts[other]:
                raise ToolError(f"{one} and {other} may not be equal")
        self._has_key: Final = _is_true(texts.get("parse.key"))
        self._has_headers: Final = _is_true(texts.get("parse.headers"))
        self._ignores_errors: Final = _is_true(texts.get("ignore.error"))
        self._key_separator: Final = texts["key.separator"]
        self._headers_delimiter: Final = texts["headers.delimiter"]
        self._headers_key_separator: Final = texts["headers.key.separator"]
        self._null: Final = texts.get("null.marker")
        try:
            self._headers_separator: Final = re.compile(texts["headers.separator"])
        except re.error as error:
            raise ToolError(f"headers.separator is no regular expression: {error}") from error
        self._line_number = 0

    def read(self, line: str) -> LineRecord:
        """The record; `ToolError` for a line that lacks a separator."""
        self._line_number += 1
        headers = self._part(line, 0, self._headers_delimiter, "headers delimiter") if self._has_headers else None
        start = 0 if headers is None else len(headers) + len(self._headers_delimiter)
        key = self._part(line, start, self._key_separator, "key separator") if self._has_key else None
        start += 0 if key is None else len(key) + len(self._key_separator)
        found = [] if headers is None or headers == self._null else self._headers(headers)
        return LineRecord(self._bytes(key), self._bytes(line[start:]), found)

    def _part(self, line: str, start: int, end: str, name: str) -> str | None:
        index = line.find(end, start)
        if index >= 0:
            return line[start:index]
        if self._ignores_errors:
            return None
        raise ToolError(f"No {name} found on line number {self._line_number}: '{line}'")

    def _headers(self, text: str) -> list[tuple[str, bytes | None]]:
        pairs = self._headers_separator.split(text)
        while len(pairs) > 1 and not pairs[-1]:
            pairs.pop()  # as Java splits: nothing behind the last separator is no header
        return [self._header(pair) for pair in pairs]

    def _header(self, pair: str) -> tuple[str, bytes | None]:
        name, separator, value = pair.partition(self._headers_key_separator)
        if not separator:
            if self._ignores_errors:
                return pair, None
            raise ToolError(f"No header key separator found in pair '{pair}' on line number {self._line_number}")
        if name == self._null:
            raise ToolError(f"Header keys should not be equal to the null marker '{self._null}' as they can't be null")
        return name, self._bytes(value)

    def _bytes(self, text: str | None) -> bytes | None:
        return None if text is None or text == self._null else text.encode()


def _is_true(text: str | None) -> bool:
    return text is not None and text.strip().lower() == "true"
