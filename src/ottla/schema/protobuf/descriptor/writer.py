"""From the tree of a .proto file to a FileDescriptorProto, as protoc makes it.

Every name is a full name, maps have their entry messages, proto3's `optional` its oneof of one. Nested messages keep
their positions: what a compiler adds (entries, groups) comes after them.
"""

from collections.abc import Iterable, Sequence
from typing import Final, Protocol

from google.protobuf.descriptor_pb2 import (
    DescriptorProto,
    Edition,
    EnumDescriptorProto,
    FieldDescriptorProto,
    FileDescriptorProto,
    ServiceDescriptorProto,
)

from ottla.schema.error import InvalidSchemaError
from ottla.schema.protobuf.descriptor import option as descriptor_option
from ottla.schema.protobuf.element import (
    SCALARS,
    EnumType,
    Extend,
    Field,
    Group,
    MapType,
    Message,
    OneOf,
    Reserved,
    Service,
    Span,
)
from ottla.schema.protobuf.scope import Scope

DEFAULT_PATH: Final = "default"
"""The path of a file that has none, as in Confluent's registry."""


class Fields(Protocol):
    """A descriptor's repeated field of fields."""

    def add(self) -> FieldDescriptorProto:
        """A new field at the end."""


_TYPES: Final = {name: FieldDescriptorProto.Type.Value(f"TYPE_{name.upper()}") for name in SCALARS}
_LABELS: Final = {
    None: FieldDescriptorProto.LABEL_OPTIONAL,
    "optional": FieldDescriptorProto.LABEL_OPTIONAL,
    "required": FieldDescriptorProto.LABEL_REQUIRED,
    "repeated": FieldDescriptorProto.LABEL_REPEATED,
}


def write(scope: Scope, known_imports: Iterable[str], path: str = DEFAULT_PATH) -> FileDescriptorProto:
    """The descriptor of the scope's file. Imports that are not among the known ones are left out: nothing uses them."""
    file = scope.file
    known = set(known_imports)
    descriptor = FileDescriptorProto(name=path)
    if file.package is not None:
        descriptor.package = file.package
    if file.edition is not None:
        descriptor.syntax = "editions"
        descriptor.edition = Edition.Value(f"EDITION_{file.edition}")
    elif file.is_proto3:
        descriptor.syntax = "proto3"
    for one in dict.fromkeys((*file.imports, *file.public_imports)):
        if one in known:
            if one in file.public_imports:
                descriptor.public_dependency.append(len(descriptor.dependency))
            descriptor.dependency.append(one)
    _FileWriter(scope, descriptor).write()
    return descriptor


class _FileWriter:
    """Fills one descriptor; `inside` is the scope in which names are looked for."""

    def __init__(self, scope: Scope, descriptor: FileDescriptorProto) -> None:
        self._scope: Final = scope
        self._descriptor: Final = descriptor

    def write(self) -> None:
        file, inside = self._scope.file, self._scope.root()
        descriptor_option.write(file.options, self._descriptor.options)
        for message in file.messages:
            self._message(message, self._descriptor.message_type.add(), inside)
        for enum in file.enums:
            _enum(enum, self._descriptor.enum_type.add())
        self._extends(file.extends, self._descriptor.extension, inside)
        for service in file.services:
            self._service(service, self._descriptor.service.add(), inside)

    def _message(self, message: Message, target: DescriptorProto, inside: tuple[str, ...]) -> None:
        inside = (*inside, message.name)
        target.name = message.name
        descriptor_option.write(message.options, target.options)
        for nested in message.messages:
            self._message(nested, target.nested_type.add(), inside)
        for enum in message.enums:
            _enum(enum, target.enum_type.add())
        for field in message.fields:
            self._member(field, target, inside)
        for group in message.groups:
            self._group(group, target, inside)
        for oneof in message.oneofs:
            if oneof.fields or oneof.groups:
                self._oneof(oneof, target, inside)
        self._optional_oneofs(message, target)
        self._extends(message.extends, target.extension, inside)
        for extensions in message.extensions:
            for number in extensions.numbers:
                extension_range = target.extension_range.add()
                extension_range.start, extension_range.end = _first(number), _last(number) + 1
                descriptor_option.write(extensions.options, extension_range.options)
        _reserve_fields(message.reserved, target)

    def _oneof(self, oneof: OneOf, target: DescriptorProto, inside: tuple[str, ...]) -> None:
        index = len(target.oneof_decl)
        declaration = target.oneof_decl.add(name=oneof.name)
        descriptor_option.write(oneof.options, declaration.options)
        for field in oneof.fields:
            self._member(field, target, inside).oneof_index = index
        for group in oneof.groups:
            self._group(group, target, inside).oneof_index = index

    def _optional_oneofs(self, message: Message, target: DescriptorProto) -> None:
        """proto3's `optional` is a oneof of one field; such come after all others."""
        if not self._scope.file.is_proto3:
            return
        optional = {field.name for field in message.fields if field.label == "optional"}
        taken = {one.name for one in target.oneof_decl} | {one.name for one in target.field}
        for field in target.field:
            if field.name in optional and not field.HasField("oneof_index"):
                name = f"_{field.name}"
                while name in taken:
                    name = f"X{name}"
                taken.add(name)
                field.proto3_optional = True
                field.oneof_index = len(target.oneof_decl)
                target.oneof_decl.add(name=name)

    def _member(self, field: Field, target: DescriptorProto, inside: tuple[str, ...]) -> FieldDescriptorProto:
        descriptor = target.field.add()
        if isinstance(field.type, MapType):
            entry = target.nested_type.add(name=_entry_name(field.name))
            entry.options.map_entry = True
            for number, (name, type_) in enumerate((("key", field.type.key), ("value", field.type.value)), 1):
                self._field(Field(name, number, type_), entry.field.add(), inside)
            self._field(Field(field.name, field.number, "bytes", "repeated", field.options), descriptor, inside)
            descriptor.type = FieldDescriptorProto.TYPE_MESSAGE
            descriptor.type_name = f".{'.'.join(inside)}.{entry.name}"
        else:
            self._field(field, descriptor, inside)
        return descriptor

    def _field(self, field: Field, target: FieldDescriptorProto, inside: tuple[str, ...]) -> None:
        target.name, target.number, target.label = field.name, field.number, _LABELS[field.label]
        name = str(field.type)
        scalar = _TYPES.get(name)
        if scalar is not None:
            target.type = scalar
        else:
            target.type_name = self._type(name, inside)
            found = self._scope.types[target.type_name[1:]].element
            is_enum = isinstance(found, EnumType)
            target.type = FieldDescriptorProto.TYPE_ENUM if is_enum else FieldDescriptorProto.TYPE_MESSAGE
        if field.default is not None:
            is_bytes = target.type == FieldDescriptorProto.TYPE_BYTES
            target.default_value = _escaped(field.default.text) if is_bytes else field.default.text
        if field.json_name is not None:
            target.json_name = field.json_name
        descriptor_option.write(field.options, target.options)

    def _group(self, group: Group, target: DescriptorProto, inside: tuple[str, ...]) -> FieldDescriptorProto:
        inside = (*inside, group.name)
        nested = target.nested_type.add(name=group.name)
        for field in group.fields:
            self._member(field, nested, inside)
        return target.field.add(
            name=group.name.lower(),
            number=group.number,
            label=_LABELS[group.label],
            type=FieldDescriptorProto.TYPE_GROUP,
            type_name=f".{'.'.join(inside)}",
        )

    def _extends(
        self,
        extends: Sequence[Extend],
        target: Fields,
        inside: tuple[str, ...],
    ) -> None:
        for extend in extends:
            for field in extend.fields:
                descriptor = target.add()
                self._field(field, descriptor, inside)
                descriptor.extendee = self._type(extend.name, inside)

    def _service(self, service: Service, target: ServiceDescriptorProto, inside: tuple[str, ...]) -> None:
        target.name = service.name
        descriptor_option.write(service.options, target.options)
        for rpc in service.rpcs:
            method = target.method.add(name=rpc.name)
            method.input_type, method.output_type = self._type(rpc.request, inside), self._type(rpc.response, inside)
            if rpc.is_request_streamed:
                method.client_streaming = True
            if rpc.is_response_streamed:
                method.server_streaming = True
            descriptor_option.write(rpc.options, method.options)

    def _type(self, name: str, inside: tuple[str, ...]) -> str:
        full_name = self._scope.resolve(name, inside)
        if full_name is None:
            raise InvalidSchemaError(f"Could not resolve type: {name}", ".".join(inside))
        return f".{full_name}"


def _enum(enum: EnumType, target: EnumDescriptorProto) -> None:
    target.name = enum.name
    descriptor_option.write(enum.options, target.options)
    for constant in enum.constants:
        value = target.value.add(name=constant.name, number=constant.number)
        descriptor_option.write(constant.options, value.options)
    for reserved in (value for statement in enum.reserved for value in statement):
        if isinstance(reserved, str):
            target.reserved_name.append(reserved)
        else:
            target.reserved_range.add(start=_first(reserved), end=_last(reserved))


def _reserve_fields(reserved: Sequence[Reserved], target: DescriptorProto) -> None:
    for value in (value for statement in reserved for value in statement):
        if isinstance(value, str):
            target.reserved_name.append(value)
        else:
            target.reserved_range.add(start=_first(value), end=_last(value) + 1)


def _first(value: int | Span) -> int:
    return value if isinstance(value, int) else value.first


def _last(value: int | Span) -> int:
    return value if isinstance(value, int) else value.last


def _entry_name(field: str) -> str:
    """The name that compilers give a map's entry message.

    >>> _entry_name("phone_numbers")
    'PhoneNumbersEntry'
    """
    return "".join(part[:1].upper() + part[1:] for part in field.split("_")) + "Entry"


def _escaped(text: str) -> str:
    """A default of `bytes`, with everything but printable ASCII as C escapes."""
    escapes = {0x0A: "\\n", 0x0D: "\\r", 0x09: "\\t", 0x22: '\\"', 0x27: "\\'", 0x5C: "\\\\"}
    data = text.encode("utf-8", "surrogateescape")
    return "".join(escapes.get(byte) or (chr(byte) if 32 <= byte < 127 else f"\\{byte:03o}") for byte in data)
