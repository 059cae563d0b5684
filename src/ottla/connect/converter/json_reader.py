"""Parsed JSON as values of a schema: a function for each schema, made once.

Stricter than Kafka on purpose: a value that does not fit its schema is refused, where JsonConverter wraps numbers that
are too large, cuts decimals, and makes 0, false or null of what has another type.
"""

import base64
import binascii
from collections.abc import Callable
from decimal import Decimal
from typing import Final

from ottla.connect.data.logical import DATE, DECIMAL, MOMENTS, TIME, TIMESTAMP, decimal_from_bytes, from_number
from ottla.connect.data.schema import Schema
from ottla.connect.data.struct import Struct
from ottla.connect.data.type import BITS, Type, fits
from ottla.connect.errors import DataError

Read = Callable[[object], object]
_WORDS: Final = {DATE: "Date", TIME: "Time", TIMESTAMP: "Timestamp"}
_NODES: Final[tuple[tuple[type, str], ...]] = (
    (bool, "BOOLEAN"),
    (int, "NUMBER"),
    (float, "NUMBER"),
    (Decimal, "NUMBER"),
    (str, "STRING"),
    (list, "ARRAY"),
    (dict, "OBJECT"),
)


def node_type(node: object) -> str:
    """Jackson's word for a kind of node."""
    return next((word for cls, word in _NODES if isinstance(node, cls)), "NULL")


def reader(schema: Schema | None, *, replace_null: bool) -> Read:
    """The function that reads the values of a schema."""
    if schema is None:
        return read_bare
    plain = _reader(schema, replace_null=replace_null)

    def read(node: object) -> object:
        if node is not None:
            return plain(node)
        if schema.default is not None and replace_null:
            return schema.default
        if schema.optional:
            return None
        raise DataError(f"Invalid null value for required {schema.type} field")

    return read


def read_bare(node: object) -> object:
    """A value without schema: decimals are doubles."""
    if isinstance(node, Decimal):
        return float(node)
    if isinstance(node, list):
        return [read_bare(item) for item in node]
    return {key: read_bare(item) for key, item in node.items()} if isinstance(node, dict) else node


def _reader(schema: Schema, *, replace_null: bool) -> Read:
    if schema.name == DECIMAL:
        return lambda node: _decimal(schema, node)
    if schema.name in MOMENTS:
        return lambda node: _moment(schema, node)
    kind = schema.type
    if kind is Type.STRUCT:
        return _struct_reader(schema, replace_null=replace_null)
    if kind is Type.MAP:
        return _map_reader(schema, replace_null=replace_null)
    if kind is Type.ARRAY:
        item = reader(schema.value_schema, replace_null=replace_null)
        return lambda node: [item(each) for each in _is_list(node, schema)]
    if kind in BITS:
        return lambda node: _integer(schema, node)
    return lambda node: _SCALARS[kind](schema, node)


def _struct_reader(schema: Schema, *, replace_null: bool) -> Read:
    fields = [(field.name, reader(field.schema, replace_null=replace_null)) for field in schema.fields]

    def read(node: object) -> object:
        if not isinstance(node, dict):
            raise DataError(f"Structs should be encoded as JSON objects, but found {node_type(node)}")
        made = Struct(schema)
        # What the readers return fits: there is nothing to check again.
        made.values[:] = [each(node.get(name)) for name, each in fields]
        return made

    return read


def _map_reader(schema: Schema, *, replace_null: bool) -> Read:
    keys = reader(schema.key_schema, replace_null=replace_null)
    items = reader(schema.value_schema, replace_null=replace_null)
    textual = schema.key_schema is not None and schema.key_schema.type is Type.STRING

    def read(node: object) -> object:
        if textual:
            if not isinstance(node, dict):
                raise DataError(
                    f"Maps with string fields should be encoded as JSON objects, but found {node_type(node)}"
                )
            return {key: items(item) for key, item in node.items()}
        if not isinstance(node, list):
            raise DataError(
                f"Maps with non-string fields should be encoded as JSON array of tuples, but found {node_type(node)}"
            )
        return dict(_entry(entry, keys, items) for entry in node)

    return read


def _entry(entry: object, keys: Read, items: Read) -> tuple[object, object]:
    if not isinstance(entry, list):
        raise DataError(f"Found invalid map entry instead of array tuple: {node_type(entry)}")
    if len(entry) != 2:
        raise DataError(f"Found invalid map entry, expected length 2 but found :{len(entry)}")
    key = keys(entry[0])
    if isinstance(key, (list, dict)):
        raise DataError("lists and maps are no keys of a map")
    return key, items(entry[1])


def _integer(schema: Schema, node: object) -> int:
    whole = node
    if isinstance(node, (float, Decimal)) and node == node // 1:
        whole = int(node)
    if not isinstance(whole, int) or isinstance(whole, bool) or not fits(schema.type, whole):
        raise _unfit(schema, node)
    return whole


def _number(schema: Schema, node: object) -> float:
    if isinstance(node, bool) or not isinstance(node, (int, float, Decimal)):
        if isinstance(node, str) and node in ("NaN", "Infinity", "-Infinity"):
            return float(node)
        raise _unfit(schema, node)
    return float(node)


def _boolean(schema: Schema, node: object) -> bool:
    if not isinstance(node, bool):
        raise _unfit(schema, node)
    return node


def _string(schema: Schema, node: object) -> str:
    if not isinstance(node, str):
        raise _unfit(schema, node)
    return node


def _bytes(schema: Schema, node: object) -> bytes:
    if not isinstance(node, str):
        raise _unfit(schema, node)
    try:
        return base64.b64decode(node, validate=True)
    except binascii.Error as error:
        raise DataError("Invalid bytes field") from error


_SCALARS: Final[dict[Type, Callable[[Schema, object], object]]] = {
    Type.FLOAT32: _number,
    Type.FLOAT64: _number,
    Type.BOOLEAN: _boolean,
    Type.STRING: _string,
    Type.BYTES: _bytes,
}


def _is_list(node: object, schema: Schema) -> list[object]:
    if not isinstance(node, list):
        raise _unfit(schema, node)
    return node


def _decimal(schema: Schema, node: object) -> Decimal:
    if isinstance(node, (int, float, Decimal)) and not isinstance(node, bool):
        return node if isinstance(node, Decimal) else Decimal(repr(node))
    if not isinstance(node, str):
        raise DataError(
            f"Invalid type for Decimal, underlying representation should be numeric or bytes but was {node_type(node)}"
        )
    if not node:
        raise DataError("Invalid bytes for Decimal field")
    try:
        return decimal_from_bytes(schema, base64.b64decode(node, validate=True))
    except (binascii.Error, DataError) as error:
        raise DataError("Invalid bytes for Decimal field") from error


def _moment(schema: Schema, node: object) -> object:
    word = _WORDS[str(schema.name)]
    narrow = schema.name != TIMESTAMP
    if not isinstance(node, int) or isinstance(node, bool) or (narrow and not fits(Type.INT32, node)):
        wanted = "integer" if narrow else "integral"
        raise DataError(
            f"Invalid type for {word}, underlying representation should be {wanted} but was {node_type(node)}"
        )
    if not fits(Type.INT64, node):
        raise _unfit(schema, node)
    return from_number(schema, node)


def _unfit(schema: Schema, node: object) -> DataError:
    return DataError(f"Invalid value {node!r} for {schema.type} field")
