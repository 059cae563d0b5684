"""Messages as Connect's values: a schema and a function for each type of message, as Confluent's converter has them.

Fields that can't tell whether they are set have a value always, all others are null until they are set. What Connect
has no word for stays in parameters: the number of a field, its type where several are one of Connect's, an enum's
symbols. Pure.
"""

import datetime as dt
import re
from collections.abc import Callable, Mapping
from decimal import Decimal
from typing import Any, Final

from google.protobuf.descriptor import Descriptor, EnumDescriptor, FieldDescriptor, OneofDescriptor
from google.protobuf.descriptor_pb2 import DescriptorProto, FieldDescriptorProto, FileDescriptorProto
from google.protobuf.descriptor_pool import DescriptorPool
from google.protobuf.message_factory import GetMessageClass

from ottla.connect.converter.protobuf_option import (
    GENERAL_UNION,
    PRECISION,
    TAG,
    TYPE,
    UNION,
    WRAPPER,
    ProtobufOption,
)  # fmt: skip
from ottla.connect.data.builder import struct
from ottla.connect.data.logical import (
    DATE_SCHEMA,
    MS_PER_DAY,
    TIME_SCHEMA,
    TIMESTAMP_SCHEMA,
    Instant,
    decimal_schema,
)  # fmt: skip
from ottla.connect.data.schema import Schema
from ottla.connect.data.struct import Struct
from ottla.connect.data.type import Type
from ottla.connect.errors import DataError

Read = Callable[[Any], Any]
Reading = tuple[Schema, Read]
Bind = Callable[[Schema], Read]
"""What makes values of a schema once that is complete: structs carry it."""
_KIND: Final = FieldDescriptor
_PLAIN: Final = {
    _KIND.TYPE_INT32: Type.INT32, _KIND.TYPE_SINT32: Type.INT32, _KIND.TYPE_SFIXED32: Type.INT32,
    _KIND.TYPE_UINT32: Type.INT64, _KIND.TYPE_FIXED32: Type.INT64, _KIND.TYPE_INT64: Type.INT64,
    _KIND.TYPE_UINT64: Type.INT64, _KIND.TYPE_SINT64: Type.INT64, _KIND.TYPE_FIXED64: Type.INT64,
    _KIND.TYPE_SFIXED64: Type.INT64, _KIND.TYPE_FLOAT: Type.FLOAT32, _KIND.TYPE_DOUBLE: Type.FLOAT64,
    _KIND.TYPE_BOOL: Type.BOOLEAN, _KIND.TYPE_STRING: Type.STRING, _KIND.TYPE_BYTES: Type.BYTES,
}  # fmt: skip
_USUAL: Final = {
    _KIND.TYPE_INT32, _KIND.TYPE_INT64, _KIND.TYPE_FLOAT, _KIND.TYPE_DOUBLE, _KIND.TYPE_BOOL, _KIND.TYPE_STRING,
    _KIND.TYPE_BYTES,
}  # fmt: skip
_NAMES: Final[dict[int, str]] = {
    number: name.removeprefix("TYPE_").lower() for name, number in FieldDescriptorProto.Type.items()
}
_NARROW: Final = {"int8": Type.INT8, "int16": Type.INT16}
_WRAPPERS: Final = {
    f"google.protobuf.{name}Value"
    for name in ("Double", "Float", "Int64", "UInt64", "Int32", "UInt32", "Bool", "String", "Bytes")
}


def reading(descriptor: Descriptor, pool: DescriptorPool, option: ProtobufOption) -> Reading:
    """The schema of such messages, and what makes values of them."""
    schema, bind = _Reader(pool, option).message(descriptor)
    return schema, bind(schema)


class _Reader:
    """One message and those inside of it."""

    def __init__(self, pool: DescriptorPool, option: ProtobufOption) -> None:
        self._pool: Final = pool
        self._option: Final = option
        self._open: Final[set[str]] = set()
        self._known: Final[dict[str, tuple[Schema, Bind]]] = {}

    def message(self, descriptor: Descriptor) -> tuple[Schema, Bind]:
        name = descriptor.full_name
        if name in _WRAPPERS and (self._option.unwraps or self._option.wraps_nullables):
            schema, read = _wrapper(descriptor)
            return schema, lambda _: read
        if name in self._open:
            raise DataError(f"the message {name} contains itself, which a schema of Connect's can't tell")
        if name not in self._known:
            self._open.add(name)
            self._known[name] = self._struct(descriptor)
            self._open.discard(name)
        return self._known[name]

    def _struct(self, descriptor: Descriptor) -> tuple[Schema, Bind]:
        optional = _optional_fields(descriptor)
        fields: list[tuple[str, Schema]] = []
        reads: list[Read] = []
        for union in descriptor.oneofs:
            if union.fields[0].name in optional:
                continue
            for name, (schema, read) in self._union(union):
                fields.append((name, schema))
                reads.append(read)
        for field in descriptor.fields:
            if field.containing_oneof is None or field.name in optional:
                schema, read = self._field(field, has_label=field.name in optional)
                fields.append((field.name, schema))
                reads.append(self._of_field(field, read, may_be_null=self._may_be_null(field, optional)))
        name = descriptor.full_name if self._option.keeps_packages else descriptor.name
        return struct(fields, name=name), lambda schema: _struct_reader(schema, reads)

    def _may_be_null(self, field: FieldDescriptor, optional: Mapping[str, bool]) -> bool:
        if field.message_type is not None and not field.is_repeated:
            return not self._option.fills_nulls
        if field.name not in optional or self._option.fills_nulls:
            return False
        return optional[field.name] or self._option.knows_proto2_optional

    @staticmethod
    def _of_field(field: FieldDescriptor, read: Read, *, may_be_null: bool) -> Read:
        name = field.name
        if may_be_null:
            return lambda message: read(getattr(message, name)) if message.HasField(name) else None
        return lambda message: read(getattr(message, name))

    def _union(self, union: OneofDescriptor) -> list[tuple[str, Reading]]:
        option = self._option
        members = {each.name: self._field(each, has_label=False, in_union=True) for each in union.fields}
        if option.flattens_unions:
            return [
                (name, (schema, self._of_field(field, read, may_be_null=True)))
                for field, (name, (schema, read)) in zip(union.fields, members.items(), strict=True)
            ]
        shown = union.full_name if option.keeps_packages else union.name
        name, parameters = f"{UNION}.{shown}", None
        if option.generalizes:
            name, parameters = union.name, {GENERAL_UNION: union.name}
        made = struct([(name, schema) for name, (schema, _) in members.items()], name=name, optional=True)
        made = made.replace(parameters=parameters)
        places = {name: (index, read) for index, (name, (_, read)) in enumerate(members.items())}

        def read_union(message: Any) -> Struct | None:
            chosen = message.WhichOneof(union.name)
            if chosen is None:
                return None
            index, read = places[chosen]
            found = Struct(made)
            found.values[index] = read(getattr(message, chosen))
            return found

        label = f"{union.name}_{union.index}" if option.numbers_unions else union.name
        return [(label, (made, read_union))]

    def _field(self, field: FieldDescriptor, *, has_label: bool, in_union: bool = False) -> Reading:
        option = self._option
        schema, bind = self._single(field)
        if field.is_repeated and schema.type is not Type.MAP:
            item = schema.replace(optional=True)
            schema, bind = Schema(Type.ARRAY, optional=True, value_schema=item), _list_binding(bind(item))
        parameters = dict(schema.parameters or {})
        is_optional = schema.optional
        if in_union:
            is_optional = True
            if option.wraps_nullables and field.message_type and field.message_type.full_name in _WRAPPERS:
                parameters[WRAPPER] = "true"
        elif option.labels_nullables:
            is_optional = is_optional or has_label
        elif not option.wraps_nullables:
            is_optional = True
        schema = schema.replace(optional=is_optional, parameters={**parameters, TAG: str(field.number)})
        return schema, bind(schema)

    def _single(self, field: FieldDescriptor) -> tuple[Schema, Bind]:
        if field.message_type is not None:
            schema, bind = self._message_field(field)
            return schema.replace(optional=True), bind
        schema, read = self._enum(field.enum_type) if field.enum_type is not None else self._plain(field)
        return schema, lambda _: read

    def _plain(self, field: FieldDescriptor) -> Reading:
        kind = _PLAIN[field.type]
        if field.type in (_KIND.TYPE_INT32, _KIND.TYPE_SINT32, _KIND.TYPE_SFIXED32):
            kind = _NARROW.get(self._parameters(field).get("connect.type", ""), kind)
        parameters = None
        if field.type not in _USUAL and kind not in (Type.INT8, Type.INT16):
            parameters = {TYPE: _NAMES[field.type]}
        return Schema(kind, parameters=parameters), _plain_reader(field, kind)

    def _enum(self, enum: EnumDescriptor) -> Reading:
        option = self._option
        parameter = option.enum_parameter
        symbols = {f"{parameter}.{each.name}": str(each.number) for each in enum.values}
        schema = Schema(
            Type.INT32 if option.enums_are_ints else Type.STRING, optional=True,
            name=enum.full_name if option.keeps_packages else enum.name, parameters={parameter: enum.name, **symbols},
        )  # fmt: skip
        if option.enums_are_ints:
            return schema, int
        names = {number: each.name for number, each in enum.values_by_number.items()}
        return schema, lambda number: names.get(number) or f"UNKNOWN_ENUM_VALUE_{enum.name}_{number}"

    def _message_field(self, field: FieldDescriptor) -> tuple[Schema, Bind]:
        message = _type_of(field)
        name = message.full_name
        if name in _LOGICAL:
            schema, read = _LOGICAL[name]
        elif name == "confluent.type.Decimal":
            schema, read = self._decimal(field), _decimal
        elif _is_map(field):
            schema, read = self._map(message)
        else:
            return self.message(message)
        return schema, lambda _: read

    def _decimal(self, field: FieldDescriptor) -> Schema:
        parameters = self._parameters(field)
        scale, precision = parameters.get("scale", ""), parameters.get("precision", "")
        schema = decimal_schema(int(scale) if re.fullmatch(r"-?[0-9]+", scale) else 0)
        if not precision.isdecimal():
            return schema
        return schema.replace(parameters={**(schema.parameters or {}), PRECISION: precision})

    def _map(self, entry: Descriptor) -> Reading:
        (key, read_key), (value, read_value) = (self._field(each, has_label=False) for each in entry.fields)
        shown = (entry.full_name if self._option.keeps_packages else entry.name).removesuffix("Entry")
        package, dot, last = shown.rpartition(".")
        made = Schema(Type.MAP, key_schema=key, value_schema=value, name=f"{package}{dot}{_underscored(last)}")
        if entry.GetOptions().map_entry:
            return made, lambda found: {read_key(name): read_value(found[name]) for name in found}
        return made, lambda found: {read_key(each.key): read_value(each.value) for each in found}

    def _parameters(self, field: FieldDescriptor) -> dict[str, str]:
        """The schema parameters that Confluent's options of a field stand for."""
        options = field.GetOptions().SerializeToString()
        if not options:
            return {}
        try:
            meta = self._pool.FindExtensionByName("confluent.field_meta")
        except KeyError:
            return {}
        # Options are parsed without the extensions of the schema's own pool.
        own: Any = GetMessageClass(self._pool.FindMessageTypeByName("google.protobuf.FieldOptions"))
        return dict(own.FromString(options).Extensions[meta].params)


def _optional_fields(descriptor: Descriptor) -> dict[str, bool]:
    """The fields labelled `optional`; whether that is proto3's."""
    message, file = DescriptorProto(), FileDescriptorProto()
    descriptor.CopyToProto(message)
    descriptor.file.CopyToProto(file)
    found = {field.name: True for field in message.field if field.proto3_optional}
    if file.syntax in ("", "proto2"):
        found |= {
            field.name: False
            for field in message.field
            if field.label == FieldDescriptorProto.LABEL_OPTIONAL and not field.HasField("oneof_index")
        }
    return found


def _struct_reader(schema: Schema, reads: list[Read]) -> Read:
    def read_struct(message: Any) -> Struct:
        found = Struct(schema)
        found.values[:] = [read(message) for read in reads]
        return found

    return read_struct


def _list_binding(read: Read) -> Bind:
    return lambda _: lambda values: [read(each) for each in values]


def _wrapper(descriptor: Descriptor) -> Reading:
    field = descriptor.fields_by_name["value"]
    kind = _PLAIN[field.type]
    read = _plain_reader(field, kind)
    return Schema(kind), lambda message: read(message.value)


def _plain_reader(field: FieldDescriptor, kind: Type) -> Read:
    if field.type in (_KIND.TYPE_UINT64, _KIND.TYPE_FIXED64):
        return lambda value: value if value < 1 << 63 else value - (1 << 64)
    if kind is Type.INT8:
        return lambda value: (value + 128) % 256 - 128
    if kind is Type.INT16:
        return lambda value: (value + 32_768) % 65_536 - 32_768
    return lambda value: value


def _is_map(field: FieldDescriptor) -> bool:
    message = _type_of(field)
    if not field.is_repeated or not message.name.endswith("Entry"):
        return False
    names = [each.name for each in message.fields]
    return names == ["key", "value"] and not any(each.is_repeated for each in message.fields)


def _type_of(field: FieldDescriptor) -> Descriptor:
    assert field.message_type is not None
    return field.message_type


def _underscored(name: str) -> str:
    """`FooBar` as `foo_bar`."""
    return re.sub(r"(?<!^)(?=[A-Z])", "_", name).lower()


def _decimal(message: Any) -> Decimal:
    number = int.from_bytes(message.value, "big", signed=True)
    return Decimal((int(number < 0), tuple(int(digit) for digit in str(abs(number))), -message.scale))


def _date(message: Any) -> Instant:
    return Instant((dt.date(message.year, message.month, message.day) - dt.date(1970, 1, 1)).days * MS_PER_DAY)


def _time(message: Any) -> Instant:
    seconds = (message.hours * 60 + message.minutes) * 60 + message.seconds
    return Instant(seconds * 1000 + message.nanos // 1_000_000)


def _timestamp(message: Any) -> Instant:
    return Instant(message.seconds * 1000 + message.nanos // 1_000_000)


_LOGICAL: Final[dict[str, Reading]] = {
    "google.type.Date": (DATE_SCHEMA, _date),
    "google.type.TimeOfDay": (TIME_SCHEMA, _time),
    "google.protobuf.Timestamp": (TIMESTAMP_SCHEMA, _timestamp),
}
