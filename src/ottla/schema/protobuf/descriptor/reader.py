"""From a FileDescriptorProto to the tree of a .proto file, as Confluent's registry reads it.

Names of types come as full names with a leading dot. Map fields stay what compilers made of them, a repeated message
and an entry message, because messages are addressed by their position and the entries count.
"""

from collections.abc import Iterable
from typing import Final

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
    EnumConstant,
    EnumType,
    Extend,
    Extensions,
    Field,
    File,
    Literal,
    LiteralKind,
    Message,
    OneOf,
    Rpc,
    Service,
    Span,
)
from ottla.schema.protobuf.text.lexer import unescaped
from ottla.schema.protobuf.text.option_parser import literal

_LABELS: Final = {
    FieldDescriptorProto.LABEL_OPTIONAL: "optional",
    FieldDescriptorProto.LABEL_REQUIRED: "required",
    FieldDescriptorProto.LABEL_REPEATED: "repeated",
}


def read(descriptor: FileDescriptorProto) -> File:
    """The file that a descriptor describes."""
    is_editions = descriptor.syntax == "editions"
    public = set(descriptor.public_dependency)
    weak = set(descriptor.weak_dependency)
    return File(
        syntax=descriptor.syntax if descriptor.syntax in ("proto2", "proto3") else None,
        edition=_edition(descriptor) if is_editions else None,
        package=descriptor.package or None,
        imports=tuple(path for at, path in enumerate(descriptor.dependency) if at not in public and at not in weak),
        public_imports=tuple(path for at, path in enumerate(descriptor.dependency) if at in public),
        options=descriptor_option.read(descriptor.options),
        messages=tuple(_message(descriptor, one) for one in descriptor.message_type),
        enums=tuple(map(_enum, descriptor.enum_type)),
        extends=_extends(descriptor, descriptor.extension),
        services=tuple(map(_service, descriptor.service)),
    )


def _edition(descriptor: FileDescriptorProto) -> str:
    name = Edition.Name(descriptor.edition) if descriptor.edition in Edition.values() else str(descriptor.edition)
    edition = name.removeprefix("EDITION_")
    if not edition.isdigit():
        raise InvalidSchemaError(f"edition {edition} is not known")
    return edition


def _message(file: FileDescriptorProto, message: DescriptorProto) -> Message:
    members: list[list[Field]] = [[] for _ in message.oneof_decl]
    fields: list[Field] = []
    for one in message.field:
        if one.HasField("oneof_index") and not one.proto3_optional:
            if one.oneof_index >= len(members):
                raise InvalidSchemaError(f"field {one.name} is in a oneof that does not exist", message.name)
            members[one.oneof_index].append(_field(file, one, is_in_oneof=True))
        else:
            fields.append(_field(file, one, is_in_oneof=False))
    oneofs = zip(message.oneof_decl, members, strict=True)
    reserved = [(_span(one.start, one.end - 1),) for one in message.reserved_range]
    extensions = (
        Extensions((_span(one.start, one.end - 1),), descriptor_option.read(one.options))
        for one in message.extension_range
    )
    return Message(
        name=message.name,
        fields=tuple(fields),
        oneofs=tuple(
            OneOf(one.name, tuple(inner), options=descriptor_option.read(one.options)) for one, inner in oneofs if inner
        ),
        messages=tuple(_message(file, one) for one in message.nested_type),
        enums=tuple(map(_enum, message.enum_type)),
        extends=_extends(file, message.extension),
        extensions=tuple(extensions),
        reserved=(*reserved, *((name,) for name in message.reserved_name)),
        options=descriptor_option.read(message.options),
    )


def _field(file: FileDescriptorProto, field: FieldDescriptorProto, *, is_in_oneof: bool) -> Field:
    default = None
    if file.syntax != "proto3" and field.HasField("default_value"):
        default = _default(field)
    scalar = FieldDescriptorProto.Type.Name(field.type).removeprefix("TYPE_").lower()
    return Field(
        name=field.name,
        number=field.number,
        type=field.type_name or scalar,
        label=None if is_in_oneof else _label(file, field),
        options=descriptor_option.read(field.options),
        default=default,
        json_name=field.json_name if field.HasField("json_name") else None,
    )


def _default(field: FieldDescriptorProto) -> Literal:
    match field.type:
        case FieldDescriptorProto.TYPE_STRING:
            return Literal(LiteralKind.STRING, field.default_value)
        case FieldDescriptorProto.TYPE_BYTES:
            return Literal(LiteralKind.STRING, unescaped(field.default_value))
    return literal(field.default_value)


def _label(file: FileDescriptorProto, field: FieldDescriptorProto) -> str | None:
    if field.proto3_optional:
        return "optional"
    label = _LABELS[field.label]
    return label if file.syntax not in ("proto3", "editions") or label == "repeated" else None


def _extends(file: FileDescriptorProto, extensions: Iterable[FieldDescriptorProto]) -> tuple[Extend, ...]:
    by_extendee: dict[str, list[Field]] = {}
    for one in extensions:
        by_extendee.setdefault(one.extendee, []).append(_field(file, one, is_in_oneof=False))
    return tuple(Extend(name, tuple(fields)) for name, fields in by_extendee.items())


def _enum(enum: EnumDescriptorProto) -> EnumType:
    constants = (EnumConstant(one.name, one.number, descriptor_option.read(one.options)) for one in enum.value)
    reserved = [(_span(one.start, one.end),) for one in enum.reserved_range]
    return EnumType(
        name=enum.name,
        constants=tuple(constants),
        options=descriptor_option.read(enum.options),
        reserved=(*reserved, *((name,) for name in enum.reserved_name)),
    )


def _span(first: int, last: int) -> int | Span:
    return first if first == last else Span(first, last)


def _service(service: ServiceDescriptorProto) -> Service:
    rpcs = (
        Rpc(
            one.name,
            one.input_type,
            one.output_type,
            one.client_streaming,
            one.server_streaming,
            descriptor_option.read(one.options),
        )
        for one in service.method
    )
    return Service(service.name, tuple(rpcs), descriptor_option.read(service.options))
