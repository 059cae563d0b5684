"""The two ways in which a Protobuf schema is written down: .proto text, or a FileDescriptorProto in base64."""

import base64
import binascii

from google.protobuf.descriptor import FieldDescriptor
from google.protobuf.descriptor_pb2 import FileDescriptorProto
from google.protobuf.message import DecodeError, Message

from ottla.schema.error import InvalidSchemaError
from ottla.schema.parse import form_of
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
