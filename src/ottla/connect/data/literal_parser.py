"""The parser of `ottla.connect.data.literal`: tokens, then numbers, moments, lists and maps.

Lists and maps of numbers are given the narrowest type that holds all of them. A text that begins like a list or a map
and is none is a string.
"""

import re
from typing import Final

from ottla.base.java.number import to_float32, wrapped
from ottla.connect.data.conversion import as_long, big_decimal, is_number, to_number
from ottla.connect.data.date_format import DateFormat
from ottla.connect.data.logical import (
    DATE_SCHEMA,
    MOMENTS,
    TIME_SCHEMA,
    TIMESTAMP_SCHEMA,
    Instant,
    decimal_scale,
    decimal_schema,
    from_number,
)
from ottla.connect.data.schema import BOOLEAN, FLOAT32, FLOAT64, INT64, STRING, Schema, SchemaAndValue
from ottla.connect.data.type import BITS, NARROW, Float32, Type, fits
from ottla.connect.errors import DataError

_TOKEN: Final = re.compile(r'[:,{}\[\]"]|(?:[^:,{}\[\]"\\]|\\.?)+', re.DOTALL)
_BLANKS: Final = "".join(map(chr, range(33)))
"""What Java's `trim` takes away."""
_TEMPORAL: Final = {
    13: (TIME_SCHEMA, DateFormat("HH:mm:ss.SSS'Z'")),
    24: (TIMESTAMP_SCHEMA, DateFormat("yyyy-MM-dd'T'HH:mm:ss.SSS'Z'")),
    10: (DATE_SCHEMA, DateFormat("yyyy-MM-dd")),
}
"""By the length of the text."""
_WORDS: Final = {"null": None, "true": SchemaAndValue(BOOLEAN, True), "false": SchemaAndValue(BOOLEAN, False)}
_ORDER: Final = (Type.INT8, Type.INT16, Type.INT32, Type.INT64, Type.FLOAT32, Type.FLOAT64)


class LiteralParser:
    """One text and how far it was read."""

    def __init__(self, text: str) -> None:
        self._text: Final = text
        self._position = 0

    def parse(self, *, embedded: bool = False) -> SchemaAndValue | None:
        """The next value; None is null, or that there is nothing more."""
        if self._position >= len(self._text):
            return None
        start = self._position
        word, begin, end = self._peek()
        if word == '"' and embedded:
            self._position = end
            return self._quoted()
        if word in _WORDS and (embedded or end >= len(self._text)):
            # Outside of lists and maps nothing may follow.
            self._position = end
            return _WORDS[word]
        self._position = begin
        try:
            if word == "[":
                self._position = end
                return self._list()
            if word == "{":
                self._position = end
                return self._map()
        except DataError:
            self._position = start
        token = self._next()
        trimmed = token.strip(_BLANKS)
        return self._plain(trimmed, embedded=embedded) if trimmed else SchemaAndValue(STRING, token)

    def _plain(self, token: str, *, embedded: bool) -> SchemaAndValue:
        if token[0].isdecimal():
            moment = self._moment(token)
            if moment is not None:
                return moment
        number = _number(token) if token[0].isdecimal() or token[0] in "+-" else None
        if number is not None:
            return number
        if embedded:
            raise DataError("Failed to parse embedded value")
        self._position = len(self._text)
        return SchemaAndValue(STRING, self._text)

    def _moment(self, token: str) -> SchemaAndValue | None:
        """A moment of five tokens (its colons are delimiters) or of one."""
        start = self._position
        following = []
        for _ in range(4):
            if self._position >= len(self._text):
                break
            following.append(self._next())
        if len(following) == 4:
            moment = _temporal(token + "".join(following))
            if moment is not None:
                return moment
        self._position = start
        return _temporal(token)

    def _quoted(self) -> SchemaAndValue:
        parts = []
        while self._position < len(self._text) and not self._take('"'):
            parts.append(self._next())
        content = "".join(parts)
        return _temporal(content) or SchemaAndValue(STRING, content)

    def _list(self) -> SchemaAndValue:
        items: list[SchemaAndValue | None] = []
        while self._position < len(self._text):
            if self._take("]"):
                schema = _common(items)
                values = [_aligned(schema, item.value if item is not None else None) for item in items]
                return SchemaAndValue(Schema(Type.ARRAY, value_schema=schema), values)
            if self._take(","):
                raise DataError(f"Unable to parse an empty array element: {self._text}")
            items.append(self.parse(embedded=True))
            mark = self._position
            if self._take("]"):
                self._position = mark
            elif not self._take(","):
                raise DataError("Array elements missing ',' delimiter")
        raise DataError(f"Array is missing terminating ']': {self._text}")

    def _map(self) -> SchemaAndValue:
        entries: list[tuple[SchemaAndValue, SchemaAndValue | None]] = []
        while self._position < len(self._text):
            if self._take("}"):
                return _map_of(entries)
            if self._take(","):
                raise DataError(f"Unable to parse a map entry with no key or value: {self._text}")
            key = self.parse(embedded=True)
            if key is None or key.value is None:
                raise DataError(f"Map entry may not have a null key: {self._text}")
            if not self._take(":"):
                raise DataError(f"Map entry is missing ':' at {self._position} in {self._text}")
            entries.append((key, self.parse(embedded=True)))
            self._take(",")
        raise DataError(f"Map is missing terminating '}}': {self._text}")

    def _take(self, expected: str) -> bool:
        """Takes the next token if it is this one. Blanks before it are passed by, even if it is another one."""
        if self._position >= len(self._text):
            return False
        word, begin, end = self._peek()
        self._position = end if word == expected else begin
        return word == expected

    def _peek(self) -> tuple[str, int, int]:
        """The next token that is not blank, without blanks around it, and where it begins and ends."""
        text, begin = self._text, self._position
        found = _TOKEN.match(text, begin)
        while found is not None:
            word, end = found[0].strip(_BLANKS), found.end()
            if word or end >= len(text):
                return word, begin, end
            begin = end
            found = _TOKEN.match(text, begin)
        return "", begin, begin

    def _next(self) -> str:
        """The next token: a delimiter, or all up to the next one that no backslash precedes."""
        found = _TOKEN.match(self._text, self._position)
        if found is None:
            return ""
        self._position = found.end()
        return found[0]


def _map_of(entries: list[tuple[SchemaAndValue, SchemaAndValue | None]]) -> SchemaAndValue:
    """A map; without one schema for its keys it has none for its values, and all are left as they are."""
    keys = _common([key for key, _ in entries])
    values = None if keys is None else _common([value for _, value in entries])
    made = {
        _hashable(_aligned(keys, key.value)): _aligned(values, value.value if value is not None else None)
        for key, value in entries
    }
    return SchemaAndValue(Schema(Type.MAP, key_schema=keys, value_schema=values), made)


def _hashable(key: object) -> object:
    if isinstance(key, (list, dict)):
        raise DataError("lists and maps are no keys of a map")
    return key


def _temporal(token: str) -> SchemaAndValue | None:
    token = token.replace("\\:", ":")
    if len(token) not in _TEMPORAL:
        return None
    schema, pattern = _TEMPORAL[len(token)]
    ms = pattern.parse(token)
    return SchemaAndValue(schema, Instant(ms)) if ms is not None else None


def _number(token: str) -> SchemaAndValue | None:
    decimal = big_decimal(token)
    if decimal is None:
        return None
    # Looks at the digits alone: arithmetic with an exponent of nine digits would overflow, or take for ever.
    if not decimal or (0 <= decimal.adjusted() < 19 and decimal == decimal.to_integral_value()):
        whole = _whole(int(decimal) if decimal else 0)
        if whole is not None:
            return whole
    scale = decimal_scale(decimal)
    if scale != 0:
        narrow = to_float32(float(decimal))
        if abs(narrow) != float("inf"):
            return SchemaAndValue(FLOAT32, Float32(narrow))
        if abs(float(decimal)) != float("inf"):
            return SchemaAndValue(FLOAT64, float(decimal))
    return SchemaAndValue(decimal_schema(scale), decimal)


def _whole(number: int) -> SchemaAndValue | None:
    kind = next((kind for kind in BITS if fits(kind, number)), None)
    if kind is None:
        return None
    return SchemaAndValue(INT64 if kind is Type.INT64 else Schema(kind), NARROW.get(kind, int)(number))


def _common(items: list[SchemaAndValue | None]) -> Schema | None:
    """The schema that holds all of them; None if there is none."""
    common: Schema | None = None
    for item in items:
        if item is None or item.schema is None:
            continue
        if common is None:
            common = item.schema
            continue
        common = _merged(common, item.schema)
        if common is None:
            return None
    return common


def _merged(one: Schema, other: Schema) -> Schema | None:
    if one.type is other.type:
        return other
    if one.type in _ORDER and other.type in _ORDER:
        return max(one, other, key=lambda schema: _ORDER.index(schema.type))
    return None


def _aligned(schema: Schema | None, value: object) -> object:
    """A value in the type of the list or map that it is in."""
    if value is None and schema is not None and not schema.optional:
        raise DataError("Unable to convert a null value to a schema that requires a value")
    if schema is not None and schema.name in MOMENTS and isinstance(value, (int, float)):
        return from_number(schema, wrapped(as_long(value), BITS[schema.type]))
    return to_number(schema.type, value) if schema is not None and is_number(schema) and value is not None else value
