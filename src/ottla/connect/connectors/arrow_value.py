"""Arrow's types as Connect's schemas, and rows of Arrow tables as structs.

Unsigned numbers take the next larger type; times are kept to the millisecond, as Connect's types are.
"""

from typing import TYPE_CHECKING, Any

from ottla.connect.data.builder import array, struct
from ottla.connect.data.logical import DATE_SCHEMA, TIME_SCHEMA, TIMESTAMP_SCHEMA, decimal_schema
from ottla.connect.data.schema import (
    BOOLEAN,
    BYTES,
    FLOAT32,
    FLOAT64,
    INT8,
    INT16,
    INT32,
    INT64,
    STRING,
    Schema,
)
from ottla.connect.data.struct import Struct
from ottla.connect.data.type import Type
from ottla.connect.errors import DataError

if TYPE_CHECKING:
    import pyarrow as pa

_PLAIN = {
    "bool": BOOLEAN, "int8": INT8, "int16": INT16, "int32": INT32, "int64": INT64, "uint8": INT16, "uint16": INT32,
    "uint32": INT64, "halffloat": FLOAT32, "float": FLOAT32, "double": FLOAT64, "string": STRING,
    "large_string": STRING, "string_view": STRING, "binary": BYTES, "large_binary": BYTES, "date32[day]": DATE_SCHEMA,
    "date64[ms]": DATE_SCHEMA,
}  # fmt: skip


def arrow_schema(columns: "pa.Schema | pa.StructType") -> Schema:
    """The struct that a table's row is."""
    return struct([(field.name, _of(field.type, is_optional=field.nullable)) for field in columns])


def arrow_struct(schema: Schema, row: dict[str, Any]) -> Struct:
    """A row, as `to_pylist` gives it."""
    return Struct(schema, {field.name: _value(field.schema, row[field.name]) for field in schema.fields})


def _of(kind: Any, *, is_optional: bool) -> Schema:
    from pyarrow import types

    found = _PLAIN.get(str(kind))
    if found is None and types.is_timestamp(kind):
        found = TIMESTAMP_SCHEMA
    elif found is None and types.is_time(kind):
        found = TIME_SCHEMA
    elif found is None and types.is_decimal(kind):
        found = decimal_schema(kind.scale)
    elif found is None and types.is_fixed_size_binary(kind):
        found = BYTES
    elif found is None and types.is_dictionary(kind):
        return _of(kind.value_type, is_optional=is_optional)
    elif found is None and (types.is_list(kind) or types.is_large_list(kind)):
        found = array(_of(kind.value_type, is_optional=kind.value_field.nullable))
    elif found is None and types.is_struct(kind):
        found = arrow_schema(kind)
    if found is None:
        raise DataError(f"Arrow's type {kind} has none in Connect")
    return found.replace(optional=True) if is_optional else found


def _value(schema: Schema, value: Any) -> Any:
    if value is None:
        return None
    if schema.type is Type.STRUCT:
        return arrow_struct(schema, value)
    if schema.type is Type.ARRAY and schema.value_schema is not None:
        items = schema.value_schema
        return [_value(items, item) for item in value]
    return value
