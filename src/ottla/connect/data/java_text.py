"""Values as Java's `toString` prints them: what StringConverter writes and FileStreamSink appends.

Two prints differ from Java's on purpose. Bytes are base64: Java prints the address of the array. A map keeps the order
in which it was filled: Java prints the order of its hash table.
"""

import base64
from decimal import Decimal
from typing import Final

from ottla.base.java.number import java_double, java_float
from ottla.connect.data.calendar import day_of, weekday
from ottla.connect.data.logical import Instant, instant_of
from ottla.connect.data.schema import Schema
from ottla.connect.data.struct import Struct
from ottla.connect.data.type import Float32, Type

_DAYS: Final = ("Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun")
_MONTHS: Final = ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec")

_PRINTED: Final = frozenset((str, int))
"""Fast path: Python's text of these is Java's."""
_COMPOSED: Final = frozenset((dict, Struct))


def java_text(value: object, schema: Schema | None = None) -> str:
    """`String.valueOf(value)`.

    >>> java_text(1e20), java_text({"a": [1, None, True]}), java_text(None)
    ('1.0E20', '{a=[1, null, true]}', 'null')
    """
    if isinstance(value, str):
        return value
    if type(value) in _COMPOSED:
        return _composed(value, schema)
    if isinstance(value, float):
        narrow = isinstance(value, Float32) or (schema is not None and schema.type is Type.FLOAT32)
        return java_float(value) if narrow else java_double(value)
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, (int, Decimal)):
        return str(value)
    return "null" if value is None else _composed(value, schema)


def _composed(value: object, schema: Schema | None) -> str:
    if isinstance(value, Struct):
        pairs = zip(value.schema.fields, value.values, strict=True)
        shown = [
            f"{field.name}={item if type(item) in _PRINTED else java_text(item, field.schema)}"
            for field, item in pairs
            if item is not None
        ]
        return f"Struct{{{','.join(shown)}}}"
    items = schema.value_schema if schema is not None else None
    if isinstance(value, dict):
        keys = schema.key_schema if schema is not None else None
        entries = [
            f"{key if type(key) in _PRINTED else java_text(key, keys)}="
            f"{item if type(item) in _PRINTED else java_text(item, items)}"
            for key, item in value.items()
        ]
        return f"{{{', '.join(entries)}}}"
    if isinstance(value, (list, tuple)):
        return f"[{', '.join(java_text(item, items) for item in value)}]"
    if isinstance(value, (bytes, bytearray, memoryview)):
        return base64.b64encode(value).decode()
    moment = instant_of(value)
    return str(value) if moment is None else _java_date(moment)


def _java_date(moment: Instant) -> str:
    """`java.util.Date.toString` in UTC; it has years of more than four digits."""
    days, of_day = divmod(moment.ms // 1000, 86_400)
    day = day_of(days)
    time = f"{of_day // 3600:02}:{of_day // 60 % 60:02}:{of_day % 60:02}"
    year = day.year if day.year > 0 else 1 - day.year
    return f"{_DAYS[weekday(days) - 1]} {_MONTHS[day.month - 1]} {day.day:02} {time} UTC {year}"
