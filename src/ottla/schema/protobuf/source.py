"""The two ways in which a Protobuf schema is written down: .proto text, or a FileDescriptorProto in base64."""

import base64
import binascii
import re
from typing import Final

from google.protobuf.descriptor import FieldDescriptor
from google.protobuf.descriptor_pb2 import FileDescriptorProto
from google.protobuf.message import DecodeError, Message

from ottla.schema.error import InvalidSchemaError
from ottla.schema.protobuf import descriptor_reader
from ottla.schema.protobuf.element import File
from ottla.schema.protobuf.parser import parse_file
from ottla.schema.protobuf.writer import write

_BASE64: Final = re.compile(r"[A-Za-z0-9+/]+={0,2}")
"""No .proto text looks like that: each of its statements has a sign that base64 lacks."""


def parse_source(text: str) -> File:
    """The file that the text describes."""
    # Blanks go first: a pattern that allows them everywhere takes quadratic time for a text that is nothing else.
    compact = "".join(text.split())
    if _BASE64.fullmatch(compact) is None:
        return parse_file(text)
    try:
        descriptor = FileDescriptorProto.FromString(base64.b64decode(compact, validate=True))
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
