"""Message classes for schemas that no code was generated for."""

from functools import partial
from typing import Any, Final

from google.protobuf.descriptor_pool import DescriptorPool
from google.protobuf.message import Message
from google.protobuf.message_factory import GetMessageClass

from ottla.client.errors import SerializationError
from ottla.client.registry.cache import Cache
from ottla.client.registry.registry import SchemaRegistry
from ottla.client.registry.value import SchemaText
from ottla.schema.error import InvalidSchemaError
from ottla.schema.protobuf.descriptor.pool import descriptor_pool
from ottla.schema.protobuf.message_index import full_name_at
from ottla.schema.protobuf.parse import parse
from ottla.schema.protobuf.schema import ProtobufSchema


class MessageClasses:
    """Classes by schema. Each schema has a pool of its own: two versions of one file can't share one."""

    def __init__(self, registry: SchemaRegistry) -> None:
        capacity = registry.settings.integer("cache.capacity")
        self._registry: Final = registry
        self._files: Final = Cache[SchemaText, tuple[ProtobufSchema, DescriptorPool]](capacity)
        self._by_place: Final = Cache[tuple[SchemaText, tuple[int, ...]], type[Message]](capacity)
        self._by_name: Final = Cache[tuple[SchemaText, str | None], type[Message]](capacity)

    def at(self, schema: SchemaText, indexes: tuple[int, ...]) -> type[Message]:
        """The class of the message at a place of the schema's file."""
        return self._by_place.get((schema, indexes), partial(self._at, schema, indexes))

    def named(self, schema: SchemaText, full_name: str | None) -> type[Message]:
        """The class of a message by its name, or of the schema's first message."""
        return self._by_name.get((schema, full_name), partial(self._named, schema, full_name))

    def _at(self, schema: SchemaText, indexes: tuple[int, ...]) -> type[Message]:
        parsed, pool = self._file(schema)
        try:
            return _class(pool, full_name_at(parsed.file, indexes))
        except InvalidSchemaError as error:
            raise SerializationError(f"the schema does not have the message: {error}") from None

    def _named(self, schema: SchemaText, full_name: str | None) -> type[Message]:
        parsed, pool = self._file(schema)
        name = full_name or parsed.name
        if name is None:
            raise SerializationError("the schema has no message")
        return _class(pool, name)

    def _file(self, schema: SchemaText) -> tuple[ProtobufSchema, DescriptorPool]:
        return self._files.get(schema, lambda: self._build(schema))

    def _build(self, schema: SchemaText) -> tuple[ProtobufSchema, DescriptorPool]:
        try:
            parsed = parse(schema.text, schema.references, self._registry.resolved(schema), strict=False)
            return parsed, descriptor_pool(parsed)
        except InvalidSchemaError as error:
            raise SerializationError(f"no messages can be made of the schema: {error}") from error


def _class(pool: DescriptorPool, full_name: str) -> type[Message]:
    try:
        found: Any = GetMessageClass(pool.FindMessageTypeByName(full_name))
    except KeyError:
        raise SerializationError(f"the schema has no message {full_name}") from None
    message_class: type[Message] = found
    return message_class
