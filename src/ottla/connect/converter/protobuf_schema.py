"""Connect's schemas as .proto files, as Confluent's Protobuf converter writes them. Pure.

A struct is a message, structs inside are nested messages; a map is a repeated message of entries, a union a oneof, and
values that are no structs are Google's wrapper messages. A field keeps the number that it was read with, all others
get the first that are free. Defaults are not written: proto3 has none, and values have them already.
"""

from collections.abc import Callable
from typing import Final

from ottla.base.frozen import frozen
from ottla.connect.converter.protobuf_option import (
    ENUM,
    GENERAL_ENUM,
    GENERAL_UNION,
    PRECISION,
    TAG,
    TYPE,
    UNION,
    WRAPPER,
    ProtobufOption,
)  # fmt: skip
from ottla.connect.data.logical import DATE, DECIMAL, MOMENTS, TIME, TIMESTAMP
from ottla.connect.data.schema import Field, Schema
from ottla.connect.data.type import Type
from ottla.connect.errors import DataError
from ottla.schema.protobuf import element as e
from ottla.schema.protobuf.schema import ProtobufSchema
from ottla.schema.protobuf.source import built_in, dependencies

_WRAPPERS: Final = "google/protobuf/wrappers.proto"
_META: Final = "confluent/meta.proto"
_LOGICAL: Final = {
    DECIMAL: ("confluent.type.Decimal", "confluent/type/decimal.proto"),
    DATE: ("google.type.Date", "google/type/date.proto"),
    TIME: ("google.type.TimeOfDay", "google/type/timeofday.proto"),
    TIMESTAMP: ("google.protobuf.Timestamp", "google/protobuf/timestamp.proto"),
}
_TYPES: Final = {
    Type.INT8: "int32", Type.INT16: "int32", Type.INT32: "int32", Type.INT64: "int64", Type.FLOAT32: "float",
    Type.FLOAT64: "double", Type.BOOLEAN: "bool", Type.STRING: "string", Type.BYTES: "bytes",
}  # fmt: skip
_WRAPPER_OF: Final = {
    "int32": "Int32Value", "sint32": "Int32Value", "sfixed32": "Int32Value", "uint32": "UInt32Value",
    "fixed32": "UInt32Value", "uint64": "UInt64Value", "fixed64": "UInt64Value", "int64": "Int64Value",
    "sint64": "Int64Value", "sfixed64": "Int64Value", "float": "FloatValue", "double": "DoubleValue",
    "bool": "BoolValue", "string": "StringValue", "bytes": "BytesValue",
}  # fmt: skip


@frozen
class MessageSchema:
    """A file, and the full name of the message that values are."""

    schema: ProtobufSchema
    name: str


def to_protobuf(schema: Schema, option: ProtobufOption) -> MessageSchema:
    """The file for values of that schema.

    >>> from ottla.connect.data.builder import struct
    >>> from ottla.connect.data.schema import INT32
    >>> made = to_protobuf(struct({"id": INT32}, name="shop.User"), ProtobufOption())
    >>> made.name, made.schema.canonical_text.split("message")[1].split()
    ('shop.User', ['User', '{', 'int32', 'id', '=', '1;', '}'])
    """
    if schema.type is not Type.STRUCT:
        return _wrapper(schema)
    return _Writer(option).file(schema)


def is_union(schema: Schema) -> bool:
    """Whether a struct is a union: one of its fields is set."""
    return (schema.name or "").startswith(UNION) or GENERAL_UNION in (schema.parameters or {})


def enum_name(schema: Schema) -> str | None:
    """The name of the enum that a text or number is one of."""
    parameters = schema.parameters or {}
    return parameters.get(GENERAL_ENUM) or parameters.get(ENUM)


def is_wrapped(schema: Schema, option: ProtobufOption, *, in_union: bool) -> bool:
    """Whether a field is a wrapper message. What is in a union may be unset anyhow, unless it was read as one."""
    if not option.wraps_nullables or not schema.optional:
        return False
    return not in_union or (schema.parameters or {}).get(WRAPPER) == "true"


def _wrapper(schema: Schema) -> MessageSchema:
    found = None if schema.name == DECIMAL or schema.name in MOMENTS else _TYPES.get(schema.type)
    file = built_in(_WRAPPERS)
    if found is None or file is None:
        raise DataError(f"Unsupported root schema of type {schema.name or schema.type}: put it into a struct")
    return MessageSchema(ProtobufSchema(file, (), {}), f"google.protobuf.{_WRAPPER_OF[found]}")


class _Writer:
    """One file."""

    def __init__(self, option: ProtobufOption) -> None:
        self.option: Final = option
        self._imports: list[str] = []
        self._nameless = 0

    def file(self, schema: Schema) -> MessageSchema:
        parts = [self.option.name(part) for part in self.named(schema.name).split(".")]
        package, name = ".".join(parts[:-1]), parts[-1]
        message = self.message(name, schema)
        file = e.File(
            syntax="proto3", package=package or None, imports=tuple(sorted(self._imports)), messages=(message,)
        )
        return MessageSchema(ProtobufSchema(file, (), dependencies(file, {})), f"{package}.{name}".lstrip("."))

    def message(self, name: str, schema: Schema) -> e.Message:
        made = _Message(self, schema)
        return made.written(name)

    def named(self, name: str | None) -> str:
        """A name; those that have none are counted."""
        if name:
            return name
        self._nameless += 1
        return f"ConnectDefault{self._nameless}"

    def unqualified(self, name: str | None) -> str:
        return self.option.name(self.named(name).rpartition(".")[2])

    def uses(self, path: str) -> None:
        if path not in self._imports:
            self._imports.append(path)


class _Message:
    """One message: its fields, and what is nested in it."""

    def __init__(self, writer: _Writer, schema: Schema) -> None:
        self._writer: Final = writer
        self._schema: Final = schema
        self._nested: Final[dict[str, tuple[Schema, e.Message]]] = {}
        self._enums: Final[dict[str, e.EnumType]] = {}
        self._number: Final = _numbers(schema)

    def written(self, name: str) -> e.Message:
        fields: list[e.Field] = []
        oneofs: list[e.OneOf] = []
        for each in self._schema.fields:
            if each.schema.type is Type.STRUCT and is_union(each.schema):
                oneofs.append(self._oneof(each.schema))
            else:
                fields.append(self._field(each, in_union=False))
        nested = tuple(message for _, message in self._nested.values())
        return e.Message(name, tuple(fields), tuple(oneofs), messages=nested, enums=tuple(self._enums.values()))

    def _oneof(self, union: Schema) -> e.OneOf:
        given = (union.parameters or {}).get(GENERAL_UNION) or (union.name or "").removeprefix(f"{UNION}.")
        name = self._writer.unqualified(given)
        return e.OneOf(name, tuple(self._field(each, in_union=True) for each in union.fields))

    def _field(self, field: Field, *, in_union: bool) -> e.Field:
        option, schema = self._writer.option, field.schema
        name = option.name(field.name)
        label = None
        if schema.type in (Type.ARRAY, Type.MAP):
            label = "repeated"
        elif option.labels_nullables and schema.optional and not in_union:
            label = "optional"
        number = self._number(field)
        if schema.type is Type.ARRAY:
            if schema.value_schema is None or schema.value_schema.type is Type.ARRAY:
                raise DataError("Array cannot be nested")
            schema = schema.value_schema
        kind, parameters = self._type(schema, name, in_union=in_union)
        return e.Field(name, number, kind, label, _meta(parameters, self._writer.uses))

    def _type(self, schema: Schema, field: str, *, in_union: bool) -> tuple[str, dict[str, str]]:
        """The type's name, and what only the field's options tell of it."""
        known = _LOGICAL.get(schema.name or "")
        if known is not None:
            self._writer.uses(known[1])
            return known[0], _decimal_parameters(schema)
        if schema.type is Type.STRUCT:
            name = self._writer.unqualified(schema.name)
            return self._nest(f"{name}Message" if name == field else name, schema), {}
        if schema.type is Type.MAP:
            return self._nest(_entry_name(self._writer.unqualified(schema.name)), _entry(schema)), {}
        enum = enum_name(schema)
        if enum is not None:
            return self._enum(enum, schema), {}
        plain = (schema.parameters or {}).get(TYPE) or _TYPES[schema.type]
        if plain not in _WRAPPER_OF:
            raise DataError(f"{plain} is no type of Protobuf's")
        narrow = {"connect.type": schema.type.value} if schema.type in (Type.INT8, Type.INT16) else {}
        if not is_wrapped(schema, self._writer.option, in_union=in_union):
            return plain, narrow
        self._writer.uses(_WRAPPERS)
        return f"google.protobuf.{_WRAPPER_OF[plain]}", narrow

    def _nest(self, name: str, schema: Schema) -> str:
        known = self._nested.get(name)
        if known is None:
            self._nested[name] = (schema, self._writer.message(name, schema))
        elif known[0].fields != schema.fields:
            raise DataError(f"two different structs have the name {name}")
        return name

    def _enum(self, name: str, schema: Schema) -> str:
        parameter = GENERAL_ENUM if GENERAL_ENUM in (schema.parameters or {}) else ENUM
        name = self._writer.unqualified(name)
        if name not in self._enums:
            symbols = {
                key.removeprefix(f"{parameter}."): value
                for key, value in (schema.parameters or {}).items()
                if key.startswith(f"{parameter}.")
            }
            if not symbols or not all(value.lstrip("-").isdigit() for value in symbols.values()):
                raise DataError(f"the enum {name} has no numbers of its symbols")
            constants = tuple(e.EnumConstant(symbol, int(value)) for symbol, value in symbols.items())
            self._enums[name] = e.EnumType(name, constants)
        return name


def _numbers(schema: Schema) -> Callable[[Field], int]:
    """The numbers of a message's fields: those that they were read with, and for all others what is left."""
    members = [
        member
        for field in schema.fields
        for member in (field.schema.fields if field.schema.type is Type.STRUCT and is_union(field.schema) else (field,))
    ]
    given = {id(member): _tag(member.schema) for member in members}
    taken = {number for number in given.values() if number is not None}
    free = (number for number in range(1, e.NUMBER_MAX) if number not in taken and not 19_000 <= number < 20_000)
    numbers = {key: next(free) if number is None else number for key, number in given.items()}
    return lambda field: numbers[id(field)]


def _tag(schema: Schema) -> int | None:
    text = (schema.parameters or {}).get(TAG, "")
    return int(text) if text.isdecimal() and text.isascii() else None


def _decimal_parameters(schema: Schema) -> dict[str, str]:
    parameters = schema.parameters or {}
    found = {"precision": parameters.get(PRECISION), "scale": parameters.get("scale")}
    return {name: value for name, value in found.items() if value is not None} if schema.name == DECIMAL else {}


def _meta(parameters: dict[str, str], uses: Callable[[str], None]) -> tuple[e.Option, ...]:
    if not parameters:
        return ()
    uses(_META)

    def text(value: str) -> e.Literal:
        return e.Literal(e.LiteralKind.STRING, value)

    pairs = tuple(e.OptionMap((("key", text(key)), ("value", text(value)))) for key, value in parameters.items())
    return (e.Option("confluent.field_meta", e.OptionMap((("params", e.OptionList(pairs)),)), is_extension=True),)


def _entry(schema: Schema) -> Schema:
    """A map's entries as structs."""
    assert schema.key_schema is not None
    assert schema.value_schema is not None
    # Numbers are those of every entry, whatever key and value were read with.
    parts = [("key", _with_tag(schema.key_schema, 1)), ("value", _with_tag(schema.value_schema, 2))]
    return Schema(Type.STRUCT, fields=tuple(Field(name, index, part) for index, (name, part) in enumerate(parts)))


def _with_tag(schema: Schema, number: int) -> Schema:
    return schema.replace(parameters={**(schema.parameters or {}), TAG: str(number)})


def _entry_name(name: str) -> str:
    """The message's name of the entries of a map.

    >>> _entry_name("by_name"), _entry_name("ConnectDefault2")
    ('ByNameEntry', 'ConnectDefault2Entry')
    """
    if "_" in name:
        name = "".join(part.capitalize() for part in name.split("_"))
    return f"{name}Entry"
