"""Values as text and back, as SimpleHeaderConverter and InsertHeader have them.

Reading guesses: `42` is an int8, `1.5` a float, `2023-11-14` a day, `[1, 2]` a list, and everything that makes no sense
is the text itself. Writing prints what reading understands.
"""

import base64
from collections.abc import Iterable
from decimal import Decimal
from typing import Final

from ottla.connect.data.date_format import DateFormat
from ottla.connect.data.java_text import java_text
from ottla.connect.data.literal_parser import LiteralParser
from ottla.connect.data.logical import MS_PER_DAY, instant_of
from ottla.connect.data.schema import NULL, STRING, Schema, SchemaAndValue
from ottla.connect.data.struct import Struct, java_class
from ottla.connect.errors import DataError

_TIME: Final = DateFormat("HH:mm:ss.SSS'Z'")
_DATE: Final = DateFormat("yyyy-MM-dd")
_TIMESTAMP: Final = DateFormat("yyyy-MM-dd'T'HH:mm:ss.SSS'Z'")


def parse_literal(text: str | None) -> SchemaAndValue:
    """The value that a text stands for.

    >>> parse_literal("42"), parse_literal("[1, 300]").value, parse_literal("no {idea").value
    (SchemaAndValue(schema=Schema{INT8}, value=42), [1, 300], 'no {idea')
    """
    if text is None:
        return NULL
    if not text:
        return SchemaAndValue(STRING, text)
    return LiteralParser(text).parse() or NULL


def date_text(ms: int) -> str:
    """A moment as a time, a date or both, by what its number looks like."""
    if ms < MS_PER_DAY:
        return _TIME.format(ms)
    return (_TIMESTAMP if ms % MS_PER_DAY else _DATE).format(ms)


def literal(value: object, schema: Schema | None = None, *, embedded: bool = False) -> str:
    """The text of a value.

    >>> literal({"a": [1, "b"]}), literal("plain")
    ('{"a":[1,"b"]}', 'plain')
    """
    if value is None:
        return "null"
    if isinstance(value, str):
        return _quoted(value) if embedded else value
    if isinstance(value, (bytes, bytearray, memoryview)):
        text = base64.b64encode(value).decode()
        return f'"{text}"' if embedded else text
    if isinstance(value, (bool, int, float, Decimal)):
        return java_text(value, schema)
    return _composed(value, schema)


def _composed(value: object, schema: Schema | None) -> str:
    items = schema.value_schema if schema is not None else None
    if isinstance(value, (list, tuple)):
        return f"[{','.join(literal(item, items, embedded=True) for item in value)}]"
    if isinstance(value, dict):
        keys = schema.key_schema if schema is not None else None
        return _braced(
            (literal(key, keys, embedded=True), literal(item, items, embedded=True)) for key, item in value.items()
        )
    if isinstance(value, Struct):
        fields = value.schema.fields
        return _braced(
            (_quoted(field.name), literal(value.get(field.name), field.schema, embedded=True)) for field in fields
        )
    moment = instant_of(value)
    if moment is None:
        name = java_class(value)
        raise DataError(f"Failed to serialize unexpected value type {name}: {value}")
    return date_text(moment.ms)


def _braced(pairs: Iterable[tuple[str, str]]) -> str:
    return f"{{{','.join(f'{key}:{value}' for key, value in pairs)}}}"


def _quoted(text: str) -> str:
    escaped = text.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'
