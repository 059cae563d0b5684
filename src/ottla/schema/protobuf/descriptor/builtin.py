"""The files that every schema may import without a reference: Google's own types and Confluent's.

They come as descriptors: Google's from the packages that ship them, Confluent's three written down here.
"""

import importlib
from collections.abc import Iterable
from functools import cache
from typing import Final

from google.protobuf.descriptor_pb2 import DescriptorProto, FieldDescriptorProto, FileDescriptorProto

DESCRIPTOR_PATH: Final = "google/protobuf/descriptor.proto"
META_PATH: Final = "confluent/meta.proto"

_GOOGLE: Final = {
    "google/protobuf": "any api descriptor duration empty field_mask source_context struct timestamp type wrappers",
    "google/type": "calendar_period color date datetime dayofweek decimal expr fraction interval latlng money month "
    "phone_number postal_address quaternion timeofday",
}
_GOOGLE_PATHS: Final = frozenset(
    f"{folder}/{name}.proto" for folder, names in _GOOGLE.items() for name in names.split()
)
_META_EXTENSIONS: Final = {
    "file_meta": "FileOptions",
    "message_meta": "MessageOptions",
    "field_meta": "FieldOptions",
    "enum_meta": "EnumOptions",
    "enum_value_meta": "EnumValueOptions",
}
_OPTIONAL: Final = FieldDescriptorProto.LABEL_OPTIONAL
_REPEATED: Final = FieldDescriptorProto.LABEL_REPEATED
_STRING: Final = FieldDescriptorProto.TYPE_STRING
_BYTES: Final = FieldDescriptorProto.TYPE_BYTES


@cache
def descriptor(path: str) -> FileDescriptorProto | None:
    """The built-in file of that path, or None."""
    if path in _GOOGLE_PATHS:
        module = importlib.import_module(path.removesuffix(".proto").replace("/", ".") + "_pb2")
        file = FileDescriptorProto()
        module.DESCRIPTOR.CopyToProto(file)
        return file
    match path:
        case "confluent/meta.proto":
            return _meta()
        case "confluent/type/decimal.proto":
            return _decimal()
        case "confluent/type/variant.proto":
            return _variant()
    return None


def _file(path: str, package: str, java_package: str, outer_class: str) -> FileDescriptorProto:
    file = FileDescriptorProto(name=path, package=package, syntax="proto3")
    file.options.java_package = java_package
    file.options.java_outer_classname = outer_class
    return file


def _message(name: str, fields: Iterable[tuple[str, "FieldDescriptorProto.Type.ValueType"]]) -> DescriptorProto:
    message = DescriptorProto(name=name)
    for number, (field, kind) in enumerate(fields, 1):
        message.field.add(name=field, number=number, type=kind, label=_OPTIONAL)
    return message


def _meta() -> FileDescriptorProto:
    file = _file(META_PATH, "confluent", "io.confluent.protobuf", "MetaProto")
    file.dependency.append(DESCRIPTOR_PATH)
    meta = file.message_type.add(name="Meta")
    meta.field.add(name="doc", number=1, type=_STRING, label=_OPTIONAL)
    params = meta.field.add(name="params", number=2, type=FieldDescriptorProto.TYPE_MESSAGE, label=_REPEATED)
    params.type_name = ".confluent.Meta.ParamsEntry"
    meta.field.add(name="tags", number=3, type=_STRING, label=_REPEATED)
    rules = meta.field.add(name="rules", number=4, type=FieldDescriptorProto.TYPE_MESSAGE, label=_REPEATED)
    rules.type_name = ".confluent.Rule"
    entry = meta.nested_type.add()
    entry.CopyFrom(_message("ParamsEntry", [("key", _STRING), ("value", _STRING)]))
    entry.options.map_entry = True
    file.message_type.append(_message("Rule", [(name, _STRING) for name in ("name", "doc", "expr", "sql")]))
    for name, extendee in _META_EXTENSIONS.items():
        extension = file.extension.add(name=name, number=1088, type=FieldDescriptorProto.TYPE_MESSAGE, label=_OPTIONAL)
        extension.type_name = ".confluent.Meta"
        extension.extendee = f".google.protobuf.{extendee}"
    return file


def _decimal() -> FileDescriptorProto:
    file = _file("confluent/type/decimal.proto", "confluent.type", "io.confluent.protobuf.type", "DecimalProto")
    file.options.java_multiple_files = True
    fields = [
        ("value", _BYTES),
        ("precision", FieldDescriptorProto.TYPE_UINT32),
        ("scale", FieldDescriptorProto.TYPE_INT32),
    ]
    file.message_type.append(_message("Decimal", fields))
    return file


def _variant() -> FileDescriptorProto:
    file = _file("confluent/type/variant.proto", "confluent.type", "io.confluent.protobuf.type", "VariantProto")
    file.options.java_multiple_files = True
    file.message_type.append(_message("Variant", [("metadata", _BYTES), ("value", _BYTES)]))
    return file
