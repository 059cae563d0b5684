"""Connect's values as messages: setters for each schema, made once. Pure.

A null, an empty list and an empty map set nothing. What does not fit its schema raises `DataError`, or what `protobuf`
raises for it.
"""

from collections.abc import Callable
from decimal import Decimal
from typing import Any, Final

from google.protobuf.descriptor import Descriptor, FieldDescriptor
from google.protobuf.message import Message

from ottla.connect.converter.protobuf_option import ProtobufOption
from ottla.connect.converter.protobuf_schema import enum_name, is_union, is_wrapped
from ottla.connect.data.logical import (
    DATE,
    DECIMAL,
    MS_PER_DAY,
    TIME,
    TIMESTAMP,
    decimal_scale,
    instant_of,
    integer_to_bytes,
    to_number,
)  # fmt: skip
from ottla.connect.data.schema import Schema
from ottla.connect.data.struct import Struct
from ottla.connect.data.type import Type
from ottla.connect.errors import DataError

Fill = Callable[[Any, Any], None]
"""Sets a message from a value."""
Convert = Callable[[Any], Any]
_LOGICAL: Final[dict[str, Callable[[Schema], Fill]]] = {
    DECIMAL: lambda schema: _fill_decimal,
    DATE: lambda schema: lambda message, value: _fill_date(message, _number(schema, value)),
    TIME: lambda schema: lambda message, value: _fill_time(message, _number(schema, value)),
    TIMESTAMP: lambda schema: lambda message, value: _fill_timestamp(message, _number(schema, value)),
}
_UNSIGNED: Final = {
    FieldDescriptor.TYPE_UINT32: 0xFFFFFFFF,
    FieldDescriptor.TYPE_FIXED32: 0xFFFFFFFF,
    FieldDescriptor.TYPE_UINT64: 0xFFFFFFFFFFFFFFFF,
    FieldDescriptor.TYPE_FIXED64: 0xFFFFFFFFFFFFFFFF,
}


def filler(schema: Schema, descriptor: Descriptor, option: ProtobufOption) -> Fill:
    """A function that fills a message of that type from a value of that schema."""
    if schema.type is not Type.STRUCT:
        return _fill_wrapper
    members = [(each.index, each.name, each.schema, _member(each, descriptor, option)) for each in schema.fields]

    def fill(message: Message, value: Any) -> None:
        if not isinstance(value, Struct) or value.schema != schema:
            raise DataError("Mismatching struct schema")
        values = value.values
        for index, name, part, set_field in members:
            found = values[index]
            if found is None and not option.ignores_defaults:
                found = part.default
            if found is not None:
                set_field(message, found)
            elif not part.optional:
                raise DataError(f'Invalid value: null used for required field: "{name}", schema type: {part.type}')

    return fill


def _member(field: Any, descriptor: Descriptor, option: ProtobufOption) -> Fill:
    if field.schema.type is Type.STRUCT and is_union(field.schema):
        return _union(field.schema, descriptor, option)
    return _setter(field.schema, _found(descriptor, option.name(field.name)), option, in_union=False)


def _union(schema: Schema, descriptor: Descriptor, option: ProtobufOption) -> Fill:
    setters = [
        (each.index, _setter(each.schema, _found(descriptor, option.name(each.name)), option, in_union=True))
        for each in schema.fields
    ]

    def fill(message: Message, value: Struct) -> None:
        for index, set_field in setters:
            if value.values[index] is not None:
                set_field(message, value.values[index])
                return
        raise DataError("Cannot find non-null field")

    return fill


def _found(descriptor: Descriptor, name: str) -> FieldDescriptor:
    found: FieldDescriptor | None = descriptor.fields_by_name.get(name)
    if found is None:
        raise DataError(f"Cannot find field with name {name}")
    return found


def _setter(schema: Schema, field: FieldDescriptor, option: ProtobufOption, *, in_union: bool) -> Fill:
    name = field.name
    if schema.type is Type.MAP:
        return _map_setter(schema, field, option)
    if schema.type is Type.ARRAY and schema.value_schema is not None:
        return _list_setter(schema.value_schema, field, option)
    fill = _part_filler(schema, field, option, in_union=in_union)
    if fill is None:
        convert = _converter(schema, field)

        def set_plain(message: Message, value: Any) -> None:
            setattr(message, name, convert(value))

        return set_plain

    def set_message(message: Message, value: Any) -> None:
        part = getattr(message, name)
        # A message without a field that is set is there, too.
        part.SetInParent()
        fill(part, value)

    return set_message


def _list_setter(item: Schema, field: FieldDescriptor, option: ProtobufOption) -> Fill:
    name, fill = field.name, _part_filler(item, field, option, in_union=False)
    convert = _converter(item, field)

    def set_list(message: Message, value: Any) -> None:
        if any(each is None for each in value):
            raise DataError(f"the list {name} has a null, which Protobuf can't hold")
        found = getattr(message, name)
        if fill is None:
            found.extend(map(convert, value))
            return
        for each in value:
            fill(found.add(), each)

    return set_list


def _map_setter(schema: Schema, field: FieldDescriptor, option: ProtobufOption) -> Fill:
    name, entry = field.name, field.message_type
    assert entry is not None
    assert schema.key_schema is not None
    assert schema.value_schema is not None
    set_key, set_value = (
        _setter(part, _found(entry, part_name), option, in_union=False)
        for part_name, part in (("key", schema.key_schema), ("value", schema.value_schema))
    )

    def set_map(message: Message, value: Any) -> None:
        entries = getattr(message, name)
        for key, each in value.items():
            made = entries.add()
            if key is not None:
                set_key(made, key)
            if each is not None:
                set_value(made, each)

    return set_map


def _part_filler(schema: Schema, field: FieldDescriptor, option: ProtobufOption, *, in_union: bool) -> Fill | None:
    """A function that fills a message inside of another; None for a field that is no message."""
    logical = _LOGICAL.get(schema.name or "")
    if logical is not None:
        return logical(schema)
    if schema.type is Type.STRUCT and field.message_type is not None:
        return filler(schema, field.message_type, option)
    if enum_name(schema) is None and is_wrapped(schema, option, in_union=in_union):
        return _fill_wrapper
    return None


def _converter(schema: Schema, field: FieldDescriptor) -> Convert:
    """A value as the field takes it."""
    name = enum_name(schema)
    if name is not None and schema.type is Type.STRING and field.enum_type is not None:
        numbers = {each.name: each.number for each in field.enum_type.values}

        def symbol(value: Any) -> int:
            found = numbers.get(value)
            if found is None:
                raise DataError(f"{value} is none of the enum {name}: {', '.join(numbers)}")
            return found

        return symbol
    mask = _UNSIGNED.get(field.type)
    return (lambda value: value) if mask is None else (lambda value: value & mask)


def _fill_wrapper(message: Any, value: Any) -> None:
    mask = _UNSIGNED.get(message.DESCRIPTOR.fields_by_name["value"].type)
    message.value = value if mask is None else value & mask


def _number(schema: Schema, value: Any) -> int:
    moment = instant_of(value)
    if moment is None:
        raise DataError(f"Invalid type for {schema.name}, expected Date but was {type(value).__name__}")
    return to_number(schema, moment)


def _fill_decimal(message: Any, value: Any) -> None:
    if not isinstance(value, Decimal):
        raise DataError(f"Invalid type for Decimal, expected BigDecimal but was {type(value).__name__}")
    scale = decimal_scale(value)
    sign, digits, _ = value.as_tuple()
    number = int("".join(map(str, digits)) or "0") * (-1 if sign else 1)
    message.value, message.precision, message.scale = integer_to_bytes(number), len(str(abs(number))), scale


def _fill_date(message: Any, days: int) -> None:
    import datetime as dt

    date = dt.date(1970, 1, 1) + dt.timedelta(days=days)
    message.year, message.month, message.day = date.year, date.month, date.day


def _fill_time(message: Any, ms: int) -> None:
    seconds, rest = divmod(ms % MS_PER_DAY, 1000)
    message.hours, message.minutes, message.seconds = seconds // 3600, seconds // 60 % 60, seconds % 60
    message.nanos = rest * 1_000_000


def _fill_timestamp(message: Any, ms: int) -> None:
    message.seconds, message.nanos = ms // 1000, ms % 1000 * 1_000_000
