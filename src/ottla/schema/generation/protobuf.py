"""Modules for a Protobuf schema: classes that `protobuf` makes of the descriptor, and stubs that say their types.

A file that the schema imports from elsewhere than `google` gets modules of its own, which come first.
"""

import re
from typing import Final

from google.protobuf.descriptor_pb2 import (
    DescriptorProto,
    EnumDescriptorProto,
    FieldDescriptorProto,
    FileDescriptorProto,
)

from ottla.schema.protobuf.schema import ProtobufSchema

_BUILT_IN: Final = "google/protobuf/"
_TYPES: Final = FieldDescriptorProto
_SCALARS: Final = {
    _TYPES.TYPE_DOUBLE: "float",
    _TYPES.TYPE_FLOAT: "float",
    _TYPES.TYPE_BOOL: "bool",
    _TYPES.TYPE_STRING: "str",
    _TYPES.TYPE_BYTES: "bytes",
}


def protobuf_modules(schema: ProtobufSchema, name: str, package: str) -> dict[str, str]:
    """Texts by the names of the files, `NAME_pb2.py` and `NAME_pb2.pyi` last; `package` is where they will be."""
    path = f"{name}.proto"
    files = {file: each for file, each in schema.dependency_descriptors().items() if not file.startswith(_BUILT_IN)}
    files[path] = schema.descriptor(path)
    places = {file: module_name(file) for file in files}
    found: dict[str, str] = {}
    for file, each in files.items():
        found[f"{places[file]}.py"] = _module(each, places, package)
        found[f"{places[file]}.pyi"] = _Stub(each, files, places, package).text()
    return found


def module_name(path: str) -> str:
    """The module of a file.

    >>> module_name("shop/order.proto")
    'shop_order_pb2'
    """
    return re.sub(r"\W", "_", path.removesuffix(".proto"), flags=re.ASCII) + "_pb2"


def _module(file: FileDescriptorProto, places: dict[str, str], package: str) -> str:
    lines = [f'"""Generated from {file.name}."""', ""]
    lines += ["from google.protobuf import descriptor_pool, message_factory"]
    if file.enum_type:
        lines += ["from google.protobuf.internal import enum_type_wrapper"]
    lines += _imports(file, places, package)
    lines += ["", f"DESCRIPTOR = descriptor_pool.Default().AddSerializedFile({file.SerializeToString()!r})"]
    for message in file.message_type:
        lines.append(
            f"{message.name} = message_factory.GetMessageClass(DESCRIPTOR.message_types_by_name[{message.name!r}])"
        )
    for enum in file.enum_type:
        lines.append(f"{enum.name} = enum_type_wrapper.EnumTypeWrapper(DESCRIPTOR.enum_types_by_name[{enum.name!r}])")
        lines += [f"{value.name} = {value.number}" for value in enum.value]
    return "\n".join([*lines, ""])


def _imports(file: FileDescriptorProto, places: dict[str, str], package: str) -> list[str]:
    lines = []
    for path in file.dependency:
        if path in places:
            lines.append(f"import {package}.{places[path]}" if package else f"import {places[path]}")
        else:
            lines.append(f"import {path.removesuffix('.proto').replace('/', '.')}_pb2")
    return lines


class _Stub:
    """The stub of one file."""

    def __init__(
        self, file: FileDescriptorProto, files: dict[str, FileDescriptorProto], places: dict[str, str], package: str
    ) -> None:
        self._file: Final = file
        self._prefix: Final = f".{file.package}." if file.package else "."
        self._places: Final = places
        self._package: Final = f"{package}." if package else ""
        self._files: Final = files

    def text(self) -> str:
        """Its text."""
        lines = ["from collections.abc import Iterable, Mapping", "from typing import Any", ""]
        lines += ["from google.protobuf.descriptor import FileDescriptor"]
        lines += ["from google.protobuf.internal.containers import MessageMap, RepeatedCompositeFieldContainer"]
        lines += ["from google.protobuf.internal.containers import RepeatedScalarFieldContainer, ScalarMap"]
        lines += ["from google.protobuf.internal.enum_type_wrapper import EnumTypeWrapper"]
        lines += ["from google.protobuf.message import Message"]
        lines += _imports(self._file, self._places, self._package.rstrip("."))
        lines += ["", "DESCRIPTOR: FileDescriptor"]
        for enum in self._file.enum_type:
            lines += self._enum(enum, "")
        for message in self._file.message_type:
            lines += ["", *self._message(message, self._prefix, "")]
        return "\n".join([*lines, ""])

    def _enum(self, enum: EnumDescriptorProto, indent: str) -> list[str]:
        return [f"{indent}{enum.name}: EnumTypeWrapper", *(f"{indent}{each.name}: int" for each in enum.value)]

    def _message(self, message: DescriptorProto, prefix: str, indent: str) -> list[str]:
        inner, name = f"{indent}    ", f"{prefix}{message.name}"
        lines = [f"{indent}class {message.name}(Message):"]
        entries = {f"{name}.{each.name}": each for each in message.nested_type if each.options.map_entry}
        for enum in message.enum_type:
            lines += self._enum(enum, inner)
        for nested in message.nested_type:
            if not nested.options.map_entry:
                lines += self._message(nested, f"{name}.", inner)
        arguments = []
        for field in message.field:
            kind, given = self._field(field, entries)
            is_settable = field.type != _TYPES.TYPE_MESSAGE and field.label != _TYPES.LABEL_REPEATED
            if is_settable:
                lines += [f"{inner}{field.name}: {kind}"]
            else:
                lines += [f"{inner}@property", f"{inner}def {field.name}(self) -> {kind}: ..."]
            arguments.append(f"{field.name}: {given} | None = ...")
        star = ", *, " if arguments else ""
        lines += [f"{inner}def __init__(self{star}{', '.join(arguments)}) -> None: ..."]
        return lines

    def _field(self, field: FieldDescriptorProto, entries: dict[str, DescriptorProto]) -> tuple[str, str]:
        """The type of the attribute, and of the argument."""
        entry = entries.get(field.type_name)
        if entry is not None:
            key, value = (self._single(each) for each in entry.field)
            is_message = entry.field[1].type == _TYPES.TYPE_MESSAGE
            return f"{'MessageMap' if is_message else 'ScalarMap'}[{key}, {value}]", f"Mapping[{key}, {value}]"
        kind = self._single(field)
        if field.label != _TYPES.LABEL_REPEATED:
            return kind, kind
        is_message = field.type in (_TYPES.TYPE_MESSAGE, _TYPES.TYPE_GROUP)
        container = "RepeatedCompositeFieldContainer" if is_message else "RepeatedScalarFieldContainer"
        return f"{container}[{kind}]", f"Iterable[{kind}]"

    def _single(self, field: FieldDescriptorProto) -> str:
        if field.type in (_TYPES.TYPE_MESSAGE, _TYPES.TYPE_GROUP):
            return self._class(field.type_name)
        return _SCALARS.get(field.type, "int")

    def _class(self, full: str) -> str:
        """The expression by which this module names a class."""
        for path, file in self._files.items():
            prefix = f".{file.package}." if file.package else "."
            local = full.removeprefix(prefix)
            if full.startswith(prefix) and local.partition(".")[0] in {each.name for each in file.message_type}:
                return local if file is self._file else f"{self._package}{self._places[path]}.{local}"
        if full.startswith(".google.protobuf."):
            name = full.rpartition(".")[2]
            for path in self._file.dependency:
                if path.startswith(_BUILT_IN) and name.lower() in _well_known(path):
                    return f"{path.removesuffix('.proto').replace('/', '.')}_pb2.{name}"
        return "Any"


def _well_known(path: str) -> set[str]:
    """The names of the messages in one of Protobuf's own files, in lower case."""
    from importlib import import_module

    module = import_module(f"{path.removesuffix('.proto').replace('/', '.')}_pb2")
    return {name.lower() for name in module.DESCRIPTOR.message_types_by_name}
