"""Connect's values in the form that Avro's have, and back. Pure.

Logical types are their numbers and bytes here: Connect's moments reach further than Python's calendar. A value of a
union is a pair of its type's name and the value, as fastavro writes it, and reads it where several types have names.
"""

from collections.abc import Callable
from decimal import Decimal
from typing import Any, Final

from ottla.connect.converter.avro_option import AvroOption, fixed_size, is_union
from ottla.connect.data.logical import DECIMAL, MOMENTS, from_number, instant_of, scale_of, to_number
from ottla.connect.data.schema import Schema
from ottla.connect.data.struct import Struct, checked
from ottla.connect.data.type import Type
from ottla.connect.errors import DataError

Convert = Callable[[Any], Any]
_TYPES: Final = {
    Type.INT8: "int", Type.INT16: "int", Type.INT32: "int", Type.INT64: "long", Type.FLOAT32: "float",
    Type.FLOAT64: "double", Type.BOOLEAN: "boolean", Type.STRING: "string", Type.BYTES: "bytes", Type.ARRAY: "array",
    Type.MAP: "map",
}  # fmt: skip


def writer(schema: Schema, option: AvroOption | None = None) -> Convert:
    """A function from Connect's values of this schema to Avro's."""
    settings = option or AvroOption()
    inner = _writer(schema, settings)
    keeps_null = settings.ignores_defaults and schema.optional

    def write(value: Any) -> Any:
        if value is not None:
            return inner(value)
        if schema.default is not None and not keeps_null:
            return inner(schema.default)
        if not schema.optional:
            raise DataError(f"Invalid value: null used for required field: null, schema type: {schema.type}")
        return None

    return write


def reader(schema: Schema) -> Convert:
    """A function from Avro's values of this schema to Connect's."""
    inner = _reader(schema)
    return lambda value: None if value is None else inner(value)


def plain_default(schema: Schema, option: AvroOption | None = None) -> Any:
    """A default as JSON in an Avro schema: bytes are the letters of Latin 1."""
    return _as_json(writer(schema, option)(schema.default)) if schema.default is not None else None


def read_default(schema: Schema, default: Any) -> Any:
    """A default of an Avro schema as Connect's value."""
    if schema.type is Type.BYTES and isinstance(default, str):
        default = default.encode("latin-1", "replace")
    return checked(schema, reader(schema)(default))


def unscaled(number: Decimal, scale: int) -> bytes:
    """A decimal's bytes; `DataError` if it has another scale.

    >>> unscaled(Decimal("1.50"), 2), unscaled(Decimal("-1"), 0)
    (b'\\x00\\x96', b'\\xff')
    """
    if not number.is_finite() or -int(number.as_tuple().exponent) != scale:
        raise DataError(
            f"Decimal value has mismatching scale for given Decimal schema: {number} instead of scale {scale}"
        )
    whole = int(number.scaleb(scale))
    return whole.to_bytes((whole.bit_length() if whole >= 0 else (whole + 1).bit_length()) // 8 + 1, signed=True)


def scaled(data: bytes, scale: int) -> Decimal:
    """The decimal of such bytes."""
    whole = int.from_bytes(data, signed=True)
    return Decimal((int(whole < 0), tuple(map(int, str(abs(whole)))), -scale))


def _writer(schema: Schema, option: AvroOption) -> Convert:
    if schema.name in MOMENTS:
        return lambda value: _number_of(schema, value)
    if schema.name == DECIMAL:
        return _decimal_writer(schema)
    if schema.type is Type.STRUCT:
        return _union_writer(schema, option) if is_union(schema) else _struct_writer(schema, option)
    if schema.type is Type.ARRAY and schema.value_schema is not None:
        item = writer(schema.value_schema, option)
        return lambda value: [item(each) for each in value]
    if schema.type is Type.MAP and schema.key_schema is not None and schema.value_schema is not None:
        key, item = writer(schema.key_schema, option), writer(schema.value_schema, option)
        if option.is_avro_map(schema):
            return lambda value: {name: item(each) for name, each in value.items()}
        return lambda value: [{"key": key(name), "value": item(each)} for name, each in value.items()]
    return lambda value: value


def _decimal_writer(schema: Schema) -> Convert:
    scale, size = scale_of(schema), fixed_size(schema)
    if size is None:
        return lambda value: unscaled(value, scale)

    def write(value: Any) -> bytes:
        found = unscaled(value, scale)
        if len(found) > size:
            raise DataError(f"Unscaled value byte array length {len(found)} is greater than fixed size {size}")
        return int.from_bytes(found, signed=True).to_bytes(size, signed=True)

    return write


def _struct_writer(schema: Schema, option: AvroOption) -> Convert:
    fields = [(option.name(each.name), each.index, writer(each.schema, option)) for each in schema.fields]

    def write(value: Any) -> dict[str, Any]:
        if not isinstance(value, Struct):
            raise DataError(f"Invalid type for STRUCT: class {type(value).__name__}")
        held = value.values
        return {name: convert(held[index]) for name, index, convert in fields}

    return write


def _union_writer(schema: Schema, option: AvroOption) -> Convert:
    """The first field of the struct that is there, with the name of its type."""
    fields = [(each.index, _branch(each.schema, option), writer(each.schema, option)) for each in schema.fields]

    def write(value: Any) -> Any:
        if not isinstance(value, Struct):
            raise DataError(f"Invalid type for STRUCT: class {type(value).__name__}")
        for index, name, convert in fields:
            if value.values[index] is not None:
                found = convert(value.values[index])
                return found if name is None else (name, found)
        if not schema.optional:
            raise DataError("a union that can't be null has no value")
        return None

    return write


def _branch(schema: Schema, option: AvroOption) -> str | None:
    """The name of a type in a union; None where only its values tell it."""
    if option.is_enum(schema):
        return (schema.parameters or {})[option.enum_parameter]
    if schema.type is Type.STRUCT or fixed_size(schema) is not None:
        return None if schema.name is None else option.full_name(schema.name)
    if schema.type is Type.MAP and not option.is_avro_map(schema):
        return "array"
    return _TYPES[schema.type]


def _number_of(schema: Schema, value: Any) -> int:
    moment = instant_of(value)
    if moment is None:
        raise DataError(f"Invalid value for {schema.name}: {type(value).__name__}")
    return to_number(schema, moment)


def _reader(schema: Schema) -> Convert:
    if schema.name in MOMENTS:
        return lambda value: from_number(schema, value)
    if schema.name == DECIMAL:
        scale = scale_of(schema)
        return lambda value: scaled(value, scale)
    if schema.type is Type.STRUCT:
        return _union_reader(schema) if is_union(schema) else _struct_reader(schema)
    if schema.type is Type.ARRAY and schema.value_schema is not None:
        item = reader(schema.value_schema)
        return lambda value: [item(each) for each in value]
    if schema.type is Type.MAP and schema.key_schema is not None and schema.value_schema is not None:
        key, item = reader(schema.key_schema), reader(schema.value_schema)
        if AvroOption().is_avro_map(schema):
            return lambda value: {name: item(each) for name, each in value.items()}
        return lambda value: {key(each["key"]): item(each["value"]) for each in value}
    return lambda value: value


def _struct_reader(schema: Schema) -> Convert:
    fields = [(each.name, each.index, reader(each.schema)) for each in schema.fields]

    def read(value: Any) -> Struct:
        made = Struct(schema)
        for name, index, convert in fields:
            made.values[index] = convert(value[name])
        return made

    return read


def _union_reader(schema: Schema) -> Convert:
    """The field of the struct whose type the value names, or has; the first one that takes it."""
    fields = [(each.name, each.schema.name, reader(each.schema)) for each in schema.fields]

    def read(value: Any) -> Struct:
        named, inner = value if isinstance(value, tuple) else (None, value)
        for name, type_name, convert in fields:
            if named is not None and type_name != named:
                continue
            try:
                return Struct(schema, {name: convert(inner)})
            except (DataError, KeyError, TypeError, AttributeError):
                continue
        raise DataError("Did not find matching union field for data")

    return read


def _as_json(value: Any) -> Any:
    if isinstance(value, bytes):
        return value.decode("latin-1")
    if isinstance(value, tuple):
        return _as_json(value[1])
    if isinstance(value, dict):
        return {name: _as_json(each) for name, each in value.items()}
    return [_as_json(each) for each in value] if isinstance(value, list) else value
