"""From text to files: those of a schema, written in either way, and those that it imports.

A Protobuf schema is .proto text, or a FileDescriptorProto in base64. Imports are what references resolve, or built in.
"""

import base64
import binascii
from collections.abc import Mapping
from functools import cache

from google.protobuf.descriptor import FieldDescriptor
from google.protobuf.descriptor_pb2 import FileDescriptorProto
from google.protobuf.message import DecodeError, Message

from ottla.schema.error import InvalidSchemaError
from ottla.schema.parse import form_of
from ottla.schema.protobuf.descriptor import builtin
from ottla.schema.protobuf.descriptor import reader as descriptor_reader
from ottla.schema.protobuf.element import File
from ottla.schema.protobuf.text.parser import parse_file
from ottla.schema.protobuf.text.writer import write
from ottla.schema.schema_type import SchemaType


def parse_source(text: str) -> File:
    """The file that the text describes."""
    if not form_of(SchemaType.PROTOBUF, text):
        return parse_file(text)
    try:
        descriptor = FileDescriptorProto.FromString(base64.b64decode("".join(text.split()), validate=True))
    except (binascii.Error, DecodeError):
        raise InvalidSchemaError("neither .proto text nor a FileDescriptorProto in base64") from None
    _check_text(descriptor)
    # Through the text that a registry keeps: a descriptor may hold names that no .proto file can, or nest too deeply.
    return parse_file(write(descriptor_reader.read(descriptor)))


def _check_text(message: Message) -> None:
    """Refuses strings that are not UTF-8, which proto2's messages let through."""
    for field, value in message.ListFields():
        for item in value if field.is_repeated else (value,):
            if isinstance(item, Message):
                _check_text(item)
            elif field.type == FieldDescriptor.TYPE_STRING and not isinstance(item, str):
                raise InvalidSchemaError(f"{field.full_name} is not UTF-8")


def dependencies(file: File, resolved: Mapping[str, str]) -> dict[str, File]:
    """The files by import path, each after those that it imports. An import that is found nowhere is left out."""
    found: dict[str, File] = {}
    entered: set[str] = set()
    # A stack instead of recursion: a chain of imports may be long.
    stack: list[tuple[str, File | None]] = [(path, None) for path in reversed(_imports(file))]
    while stack:
        path, finished = stack.pop()
        if finished is not None:
            found[path] = finished
        elif path not in entered:
            entered.add(path)
            imported = parse_source(resolved[path]) if path in resolved else built_in(path)
            if imported is not None:
                stack.append((path, imported))
                stack.extend((inner, None) for inner in reversed(_imports(imported)))
    return found


@cache
def built_in(path: str) -> File | None:
    """The built-in file of that path."""
    descriptor = builtin.descriptor(path)
    return None if descriptor is None else descriptor_reader.read(descriptor)


def _imports(file: File) -> tuple[str, ...]:
    return (*file.imports, *file.public_imports)
