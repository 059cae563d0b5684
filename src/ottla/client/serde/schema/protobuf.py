"""Protobuf with a registry: generated classes, or none.

Without a class, messages are dicts and dynamic messages of the registry's schema. What is registered for a class is its
file's descriptor in base64, and its imports as references: the same as Confluent's Python client registers.
"""

import base64
from collections.abc import Hashable, Mapping, Sequence
from typing import Any, Final

from google.protobuf import json_format
from google.protobuf.descriptor import FileDescriptor
from google.protobuf.message import DecodeError, EncodeError, Message

from ottla.client.errors import SerializationError
from ottla.client.record import Header
from ottla.client.registry.registry import SchemaRegistry
from ottla.client.registry.value import SchemaText
from ottla.client.serde.schema import framing
from ottla.client.serde.schema.protobuf_class import MessageClasses
from ottla.client.serde.schema.reader import SchemaReader, Written
from ottla.client.serde.schema.setting import deserializer_settings, serializer_settings
from ottla.client.serde.schema.writer import NamedSchema, SchemaWriter, framed
from ottla.schema.reference import Reference
from ottla.schema.schema_type import SchemaType

_FRAME_BYTES: Final = 8
"""An id and a place, in nearly all messages."""

_BUILT_IN: Final = ("google/protobuf/", "google/type/", "confluent/")


class ProtobufSerializer:
    """Writes messages of generated classes; dicts as well, with `schema` (.proto text) and the name of its `message`.

    The name may be left out for the schema's first message.
    """

    def __init__(
        self,
        registry: SchemaRegistry,
        schema: str | None = None,
        config: Mapping[str, object] | None = None,
        /,
        *,
        message: str | None = None,
        references: Sequence[Reference] = (),
        is_key: bool = False,
        **settings: object,
    ) -> None:
        given = serializer_settings(config, settings)
        self._registry: Final = registry
        self._writer: Final = SchemaWriter(registry, given, is_key=is_key)
        self._classes: Final = MessageClasses(registry)
        self._schema: Final = None if schema is None else SchemaText(schema, SchemaType.PROTOBUF, tuple(references))
        self._message: Final = message

    def is_ready(self, topic: str, value: object = None) -> bool:
        """Whether such a value can be written without asking the registry."""
        return isinstance(value, Message) and self._writer.is_known(topic, value.DESCRIPTOR.full_name)

    def serialize(self, topic: str, headers: Sequence[Header], value: Any) -> bytes | None:
        """The framed message; None stays None."""
        if value is None:
            return None
        message = value if isinstance(value, Message) else self._from_dict(value)
        descriptor = message.DESCRIPTOR
        frame = self._writer.frame(topic, descriptor.full_name, lambda: self._named(descriptor))
        try:
            return framed(frame, headers, message.SerializeToString())
        except (EncodeError, ValueError) as error:
            raise SerializationError(f"the message can't be written: {error}") from error

    def _from_dict(self, value: Any) -> Message:
        if self._schema is None or not isinstance(value, Mapping):
            raise SerializationError(f"{type(value).__name__} is no Protobuf message; dicts need a schema")
        message = self._classes.named(self._schema, self._message)()
        try:
            return json_format.ParseDict(dict(value), message)
        except (json_format.ParseError, ValueError, TypeError, AttributeError) as error:
            raise SerializationError(f"the value does not fit {message.DESCRIPTOR.full_name}: {error}") from error

    def _named(self, descriptor: Any) -> NamedSchema:
        indexes = message_indexes(descriptor)
        if self._schema is not None:
            return NamedSchema(self._schema, descriptor.full_name, indexes)
        return NamedSchema(self._registered_file(descriptor.file), descriptor.full_name, indexes)

    def _registered_file(self, file: FileDescriptor) -> SchemaText:
        """The file with references to its imports, which are registered under their own paths if they have to be."""
        references: list[Reference] = []
        for imported in file.dependencies:
            if not imported.name.startswith(_BUILT_IN):
                schema = self._registered_file(imported)
                references.append(Reference(imported.name, imported.name, self._version(imported.name, schema)))
        text = base64.b64encode(file.serialized_pb).decode()
        return SchemaText(text, SchemaType.PROTOBUF, tuple(references))

    def _version(self, subject: str, schema: SchemaText) -> int:
        if self._writer.registers:
            self._registry.register(subject, schema, normalize=self._writer.normalizes)
        found = self._registry.lookup(subject, schema, normalize=self._writer.normalizes, deleted=True)
        if found.version is None:
            raise SerializationError(f"the registry does not say which version of {subject} a schema is")
        return found.version


class ProtobufDeserializer:
    """Reads messages: as `message_class`, or without one as messages of the registry's schema.

    `as_dict=True` gives dicts, with the names of the .proto file.
    """

    def __init__(
        self,
        registry: SchemaRegistry,
        message_class: type[Message] | None = None,
        config: Mapping[str, object] | None = None,
        /,
        *,
        as_dict: bool = False,
        is_key: bool = False,
        **settings: object,
    ) -> None:
        given = deserializer_settings(config, settings)
        self._reader: Final = SchemaReader(registry, given, SchemaType.PROTOBUF, is_key=is_key)
        self._classes: Final = MessageClasses(registry)
        self._class: Final = message_class
        self._as_dict: Final = as_dict

    def frame(self, headers: Sequence[Header], data: bytes) -> Hashable:
        """The key of the record's schema, and its message."""
        return self._reader.frame(headers, data), bytes(data[:_FRAME_BYTES])

    def deserialize(self, topic: str, headers: Sequence[Header], data: bytes | None) -> Any:
        """The message; None stays None."""
        if data is None:
            return None
        written = self._reader.written(topic, headers, data)
        indexes, payload = framing.read_indexes(written.payload)
        message = (self._class or self._dynamic(topic, written, indexes))()
        try:
            message.ParseFromString(bytes(payload))
        except DecodeError as error:
            raise SerializationError(f"the record does not follow {written.label}: {error}") from error
        if not self._as_dict:
            return message
        return json_format.MessageToDict(message, preserving_proto_field_name=True)

    def _dynamic(self, topic: str, written: Written, indexes: tuple[int, ...]) -> type[Message]:
        writer = self._classes.at(written.schema, indexes)
        if not self._reader.uses_latest:
            return writer
        name = writer.DESCRIPTOR.full_name
        return self._classes.named(self._reader.latest(topic, name), name)


def message_indexes(descriptor: Any) -> tuple[int, ...]:
    """The indexes of a message in its file, entries of maps counted."""
    indexes: list[int] = []
    while descriptor.containing_type is not None:
        siblings = [one.full_name for one in descriptor.containing_type.nested_types]
        indexes.append(siblings.index(descriptor.full_name))
        descriptor = descriptor.containing_type
    indexes.append(list(descriptor.file.message_types_by_name).index(descriptor.name))
    return tuple(reversed(indexes))
