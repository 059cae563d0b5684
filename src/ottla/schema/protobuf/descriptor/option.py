"""Options of descriptors as options of .proto text, and back.

Reading, the options that `descriptor.proto` defines come in the order in which Confluent prints them, then Confluent's
`meta` extensions. Other extensions are bytes that only their definition could explain: both directions leave them out,
as Confluent does.
"""

from collections.abc import Callable, Sequence
from contextlib import suppress
from functools import cache
from typing import Any, Final

from google.protobuf.descriptor import FieldDescriptor
from google.protobuf.descriptor_pb2 import FileDescriptorProto
from google.protobuf.descriptor_pool import DescriptorPool
from google.protobuf.message import Message as ProtobufMessage
from google.protobuf.message_factory import GetMessageClass

from ottla.base.errors import OttlaError
from ottla.schema.protobuf.descriptor import builtin
from ottla.schema.protobuf.element import Literal, LiteralKind, Option, OptionList, OptionMap, OptionValue

_ORDER: Final = {
    "FileOptions": "java_package java_outer_classname java_multiple_files java_generate_equals_and_hash "
    "java_string_check_utf8 optimize_for go_package cc_generic_services java_generic_services py_generic_services "
    "deprecated cc_enable_arenas objc_class_prefix csharp_namespace swift_prefix php_class_prefix php_namespace "
    "php_metadata_namespace ruby_package features",
    "MessageOptions": "no_standard_descriptor_accessor deprecated map_entry features",
    "FieldOptions": "ctype packed jstype deprecated debug_redact retention targets edition_defaults features "
    "feature_support",
    "OneofOptions": "features",
    "EnumOptions": "allow_alias deprecated features",
    "EnumValueOptions": "deprecated debug_redact features feature_support",
    "ServiceOptions": "deprecated features",
    "MethodOptions": "deprecated idempotency_level features",
    "ExtensionRangeOptions": "declaration features verification",
}


def read(options: ProtobufMessage) -> tuple[Option, ...]:
    """The options of an element of a descriptor."""
    if not options.ByteSize():
        return ()
    kind = options.DESCRIPTOR.name
    known = _options_class(kind).FromString(options.SerializeToString())
    found: list[Option] = []
    for name in _ORDER[kind].split():
        field = known.DESCRIPTOR.fields_by_name[name]
        if field.is_repeated:
            found.extend(Option(name, _value(field, item)) for item in getattr(known, name))
        elif known.HasField(name):
            found.append(Option(name, _value(field, getattr(known, name))))
    for field, value in known.ListFields():
        if field.is_extension and (meta := _meta(value)).entries:
            found.append(Option(field.full_name, meta, True))
    return tuple(found)


def write(options: Sequence[Option], target: ProtobufMessage) -> None:
    """Sets the options of an element of a descriptor."""
    if not options:
        return
    known = _options_class(target.DESCRIPTOR.name)()
    for option in options:
        with suppress(_MisfitError):
            _write(option, known)
    target.ParseFromString(known.SerializeToString())


def _write(option: Option, known: Any) -> None:
    if not option.is_extension:
        _assign(known, tuple(option.name.split(".")), option.value, option.name)
        return
    extension = _extension(option.name)
    if extension is not None and extension.containing_type is known.DESCRIPTOR:
        _assign(known.Extensions[extension], option.path, option.value, option.name)


class _MisfitError(OttlaError):
    """An option for which the descriptor has no place: a later protoc's, or a plug-in's. It is left out."""


@cache
def _pool() -> DescriptorPool:
    """The pool in which options know Confluent's extensions; apart from the process's own, which others fill too."""
    pool = DescriptorPool()
    for path in (builtin.DESCRIPTOR_PATH, builtin.META_PATH):
        known = builtin.descriptor(path)
        assert known is not None
        file = FileDescriptorProto.FromString(known.SerializeToString())
        for entry in (inner for message in file.message_type for inner in message.nested_type):
            # A list of entries has the bytes of a map, and keeps their order, which Confluent prints.
            entry.options.ClearField("map_entry")
        pool.AddSerializedFile(file.SerializeToString())
    return pool


@cache
def _options_class(kind: str) -> type[Any]:
    message: type[Any] = GetMessageClass(_pool().FindMessageTypeByName(f"google.protobuf.{kind}"))
    return message


def _extension(name: str) -> Any:
    try:
        return _pool().FindExtensionByName(name.removeprefix("."))
    except KeyError:
        return None


def _meta(meta: Any) -> OptionMap:
    """Confluent's `meta` as it prints it: what is empty goes, what may repeat is a list."""
    entries: list[tuple[str, OptionValue]] = []
    if meta.doc:
        entries.append(("doc", _text(meta.doc)))
    if meta.params:
        params = (_param(entry.key, entry.value) for entry in meta.params)
        entries.append(("params", OptionList(tuple(params))))
    if meta.tags:
        entries.append(("tags", OptionList(tuple(map(_text, meta.tags)))))
    rules = [OptionMap(tuple((field.name, _text(value)) for field, value in rule.ListFields())) for rule in meta.rules]
    if any(rule.entries for rule in rules):
        entries.append(("rules", OptionList(tuple(rule for rule in rules if rule.entries))))
    return OptionMap(tuple(entries))


def _param(key: str, value: str) -> OptionMap:
    entries = (("key", _text(key)), ("value", _text(value)))
    # Confluent prints these two the other way round, and the order is part of the canonical text.
    return OptionMap(entries[::-1] if key in ("precision", "scale") else entries)


def _text(text: str) -> Literal:
    return Literal(LiteralKind.STRING, text)


def _value(field: FieldDescriptor, value: Any) -> OptionValue:
    if field.message_type is not None:
        entries = [(inner.name, _field_value(inner, item)) for inner, item in value.ListFields()]
        # By number, but Confluent prints an edition before the value that it has as default.
        return OptionMap(tuple(entries[::-1] if field.name == "edition_defaults" else entries))
    if field.enum_type is not None:
        known = field.enum_type.values_by_number.get(value)
        return Literal(LiteralKind.NAME, known.name) if known else Literal(LiteralKind.NUMBER, str(value))
    if isinstance(value, bool):
        return Literal(LiteralKind.BOOLEAN, "true" if value else "false")
    if isinstance(value, str):
        return _text(value)
    return Literal(LiteralKind.NUMBER, str(value))


def _field_value(field: FieldDescriptor, value: Any) -> OptionValue:
    return OptionList(tuple(_value(field, item) for item in value)) if field.is_repeated else _value(field, value)


def _assign(message: Any, path: tuple[str, ...], value: OptionValue, name: str) -> None:
    """Sets the field that `path` leads to; an empty path is the message itself."""
    for part in path[:-1]:
        field = _field(message, part, name)
        if field.message_type is None or field.is_repeated:
            raise _MisfitError(f"option {name}: {part} is no message")
        message = getattr(message, part)
    if path:
        _set(message, _field(message, path[-1], name), value, name)
    elif isinstance(value, OptionMap):
        _merge(message, value, name)
    else:
        raise _MisfitError(f"option {name} is a message, in braces")


def _field(message: Any, part: str, name: str) -> Any:
    field = message.DESCRIPTOR.fields_by_name.get(part)
    if field is None:
        raise _MisfitError(f"option {name}: {message.DESCRIPTOR.full_name} has no field {part}")
    return field


def _merge(message: Any, value: OptionMap, name: str) -> None:
    message.SetInParent()
    for key, item in value.entries:
        if not key.startswith("["):
            _set(message, _field(message, key, name), item, name)


def _set(message: Any, field: Any, value: OptionValue, name: str) -> None:
    if isinstance(value, OptionList) and not field.is_repeated:
        raise _MisfitError(f"option {name}: {field.name} takes one value")
    for item in value.items if isinstance(value, OptionList) else (value,):
        if field.message_type is not None:
            if not isinstance(item, OptionMap):
                raise _MisfitError(f"option {name}: {field.name} is a message, in braces")
            target = getattr(message, field.name)
            _merge(target.add() if field.is_repeated else target, item, name)
        elif field.is_repeated:
            getattr(message, field.name).append(_scalar(field, item, name))
        else:
            setattr(message, field.name, _scalar(field, item, name))


_SCALARS: Final[dict[int, Callable[[Literal], object]]] = {
    FieldDescriptor.CPPTYPE_BOOL: lambda literal: {"true": True, "false": False}[literal.text],
    FieldDescriptor.CPPTYPE_STRING: lambda literal: literal.text,
    FieldDescriptor.CPPTYPE_INT32: lambda literal: int(literal.text, 0),
}


def _scalar(field: Any, value: OptionValue, name: str) -> object:
    convert = _SCALARS.get(field.cpp_type)
    try:
        if not isinstance(value, Literal):
            raise ValueError(value)
        if field.enum_type is not None:
            return field.enum_type.values_by_name[value.text].number
        if convert is None or (value.kind is LiteralKind.STRING) != (field.cpp_type == FieldDescriptor.CPPTYPE_STRING):
            raise ValueError(value)
        return convert(value)
    except (KeyError, ValueError):
        raise _MisfitError(f"option {name}: {field.name} takes another kind of value") from None
