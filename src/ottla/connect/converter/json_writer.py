"""Values as JSON text, byte for byte what JsonConverter writes: a function for each schema, made once."""

import base64
import json.encoder
import re
from collections.abc import Callable
from decimal import Decimal
from typing import Final, TypeVar

from ottla.base.frozen import frozen
from ottla.base.java.number import java_double, java_float
from ottla.connect.data.logical import DATE, DECIMAL, MOMENTS, TIME, TIMESTAMP, decimal_to_bytes, instant_of, to_number
from ottla.connect.data.schema import Schema
from ottla.connect.data.struct import Struct, inferred_type, java_class
from ottla.connect.data.type import BITS, Float32, Type
from ottla.connect.errors import DataError

Write = Callable[[object], str]
_WORDS: Final = {DATE: "Date", TIME: "Time", TIMESTAMP: "Timestamp"}
_ESCAPE: Final = re.compile(r"\\u00[0-9a-f]{2}")
_ASTRAL: Final = re.compile("[\U00010000-\U0010ffff]")


@frozen
class WriteOption:
    """The options for writing values."""

    numeric_decimals: bool = False
    replace_null: bool = True


def quoted(text: str) -> str:
    """A string as Jackson writes it: quotes, backslashes, control characters and emoji are escaped."""
    made: str = json.encoder.encode_basestring(text)
    if "\\u00" in made:
        made = _ESCAPE.sub(lambda found: "\\u" + found[0][2:].upper(), made)
    return made if made.isascii() else _ASTRAL.sub(_surrogates, made)


def has_escapes(texts: str) -> bool:
    """Whether texts of Python's own encoder may not be Jackson's."""
    return "\\u00" in texts or (not texts.isascii() and _ASTRAL.search(texts) is not None)


def _surrogates(found: re.Match[str]) -> str:
    units = found[0].encode("utf-16-be")
    return f"\\u{units[:2].hex().upper()}\\u{units[2:].hex().upper()}"


def writer(schema: Schema | None, option: WriteOption) -> Write:
    """The function that writes the values of a schema; without one, each value says itself what it is."""
    if schema is None:
        return lambda value: _write_bare(value, option)
    plain = _writer(schema, option)
    default = plain(schema.default) if schema.default is not None and option.replace_null else None

    def write(value: object) -> str:
        if value is not None:
            return plain(value)
        if default is not None:
            return default
        if schema.optional:
            return "null"
        raise DataError("Conversion error: null value for field that is required and has no default value")

    return write


def _writer(schema: Schema, option: WriteOption) -> Write:
    if schema.name == DECIMAL:
        return lambda value: _decimal(schema, value, option)
    if schema.name in MOMENTS:
        return lambda value: _moment(schema, value)
    kind = schema.type
    if kind is Type.STRUCT:
        return _struct_writer(schema, option)
    if kind is Type.ARRAY:
        item = writer(schema.value_schema, option)
        return lambda value: f"[{','.join(map(item, _is(list, value, schema)))}]"
    if kind is Type.MAP:
        return _map_writer(schema, option)
    if kind is Type.BYTES:
        return lambda value: _bytes(value, schema)
    return _SCALARS[kind] if kind in _SCALARS else lambda value: _integer(value, schema)


def _struct_writer(schema: Schema, option: WriteOption) -> Write:
    fields = [(quoted(field.name) + ":", writer(field.schema, option)) for field in schema.fields]

    def write(value: object) -> str:
        struct = _is(Struct, value, schema)
        if struct.schema is not schema and struct.schema != schema:
            raise DataError("Mismatching schema.")
        return f"{{{','.join([head + each(item) for (head, each), item in zip(fields, struct.values, strict=True)])}}}"

    return write


def _map_writer(schema: Schema, option: WriteOption) -> Write:
    keys, items = writer(schema.key_schema, option), writer(schema.value_schema, option)
    textual = schema.key_schema is not None and schema.key_schema.type is Type.STRING

    def write(value: object) -> str:
        entries = _is(dict, value, schema).items()
        if textual:
            return f"{{{','.join(f'{_key(keys(key))}:{items(item)}' for key, item in entries)}}}"
        return f"[{','.join(f'[{keys(key)},{items(item)}]' for key, item in entries)}]"

    return write


def _key(text: str) -> str:
    """A key that is null is the text `null`."""
    return text if text.startswith('"') else f'"{text}"'


def _write_bare(value: object, option: WriteOption) -> str:
    # Fast path: what nearly every value without schema is made of.
    cls = type(value)
    if cls is str:
        return quoted(str(value))
    if cls is int:
        return str(value)
    if value is None:
        return "null"
    kind = inferred_type(value)
    if kind is None:
        raise DataError(f"Java class class {java_class(value)} does not have corresponding schema type.")
    if isinstance(value, dict):
        pairs = [(key, _write_bare(item, option)) for key, item in value.items()]
        if all(isinstance(key, str) for key in value):
            return f"{{{','.join(f'{quoted(str(key))}:{text}' for key, text in pairs)}}}"
        return f"[{','.join(f'[{_write_bare(key, option)},{text}]' for key, text in pairs)}]"
    if isinstance(value, list):
        return f"[{','.join(_write_bare(item, option) for item in value)}]"
    if kind is Type.STRUCT:
        raise DataError("Mismatching schema.")
    if kind is Type.BYTES:
        return _bytes(value, None)
    if isinstance(value, float):
        return _float(value) if isinstance(value, Float32) else _double(value)
    if isinstance(value, bool):
        return "true" if value else "false"
    return quoted(value) if isinstance(value, str) else str(value)


def _integer(value: object, schema: Schema) -> str:
    if not isinstance(value, int) or isinstance(value, bool) or schema.type not in BITS:
        raise _invalid(value, schema)
    return str(int(value))


def _double(value: object) -> str:
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        raise _invalid(value, Schema(Type.FLOAT64))
    text = java_double(float(value))
    return f'"{text}"' if text[-1] in "yN" else text


def _float(value: object) -> str:
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        raise _invalid(value, Schema(Type.FLOAT32))
    text = java_float(float(value))
    return f'"{text}"' if text[-1] in "yN" else text


def _boolean(value: object) -> str:
    if not isinstance(value, bool):
        raise _invalid(value, Schema(Type.BOOLEAN))
    return "true" if value else "false"


def _string(value: object) -> str:
    if not isinstance(value, str):
        raise _invalid(value, Schema(Type.STRING))
    return quoted(value)


_SCALARS: Final[dict[Type, Write]] = {
    Type.FLOAT64: _double,
    Type.FLOAT32: _float,
    Type.BOOLEAN: _boolean,
    Type.STRING: _string,
}


def _bytes(value: object, schema: Schema | None) -> str:
    if not isinstance(value, (bytes, bytearray, memoryview)):
        raise DataError(f"Invalid type for bytes type: class {java_class(value, schema)}")
    return f'"{base64.b64encode(value).decode()}"'


def _decimal(schema: Schema, value: object, option: WriteOption) -> str:
    if not isinstance(value, Decimal):
        raise DataError(f"Invalid type for Decimal, expected BigDecimal but was class {java_class(value)}")
    if option.numeric_decimals:
        return str(value)
    return f'"{base64.b64encode(decimal_to_bytes(schema, value)).decode()}"'


def _moment(schema: Schema, value: object) -> str:
    moment = instant_of(value)
    if moment is None:
        word = _WORDS[str(schema.name)]
        raise DataError(f"Invalid type for {word}, expected Date but was class {java_class(value, schema)}")
    return str(to_number(schema, moment))


T = TypeVar("T")


def _is(cls: type[T], value: object, schema: Schema) -> T:
    if not isinstance(value, cls):
        raise _invalid(value, schema)
    return value


def _invalid(value: object, schema: Schema) -> DataError:
    return DataError(f"Invalid type for {schema.type}: class {java_class(value)}")
