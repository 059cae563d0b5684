"""Keys and values with a schema, between JSON as people write it and the payload of records.

Avro has Avro's JSON encoding, with tagged unions. Protobuf has the JSON mapping of its specification, fields without a
value included. A codec is made once for a schema and sends no request.
"""

import json
from collections.abc import Callable
from typing import Any, Final

from google.protobuf import json_format
from google.protobuf.message import DecodeError, EncodeError

from ottla.base.frozen import frozen
from ottla.client.errors import SerializationError
from ottla.client.registry.registry import SchemaRegistry
from ottla.client.registry.value import SchemaText
from ottla.client.serde.schema.framing import read_indexes, write_indexes
from ottla.client.serde.schema.json_schema import Validators
from ottla.client.serde.schema.protobuf import message_indexes
from ottla.client.serde.schema.protobuf_class import MessageClasses
from ottla.schema.avro.json_reader import JsonReader
from ottla.schema.avro.json_writer import JsonWriter
from ottla.schema.avro.model import Primitive
from ottla.schema.avro.schema import AvroSchema
from ottla.schema.error import InvalidSchemaError, InvalidValueError
from ottla.schema.parse import parse
from ottla.schema.schema_type import SchemaType


@frozen
class Codec:
    """Both ways for one schema. Both raise `SerializationError` for what does not follow it."""

    encode: Callable[[Any], bytes]
    decode: Callable[[bytes], Any]


class Codecs:
    """Makes codecs. What a schema references is asked of the registry, so making one may block."""

    def __init__(self, registry: SchemaRegistry) -> None:
        self._registry: Final = registry
        self._validators: Final = Validators(registry)
        self._classes: Final = MessageClasses(registry)

    def make(self, schema: SchemaText) -> Codec:
        """The codec of a schema. Raises `SerializationError`."""
        if schema.schema_type is SchemaType.AVRO:
            return self._avro(schema)
        if schema.schema_type is SchemaType.JSON:
            return self._json(schema)
        return self._protobuf(schema)

    def _avro(self, schema: SchemaText) -> Codec:
        try:
            resolved = self._registry.resolved(schema)
            parsed = parse(schema.schema_type, schema.text, schema.references, resolved, strict=False)
        except InvalidSchemaError as error:
            raise SerializationError(f"no Avro schema: {error}") from error
        assert isinstance(parsed, AvroSchema)
        reader, writer = JsonReader(parsed.root), JsonWriter(parsed.root)
        # Confluent's serializers write a schema that is plain bytes without a length.
        is_bare = isinstance(parsed.root, Primitive) and parsed.root.kind == "bytes"

        def encode(value: Any) -> bytes:
            try:
                data = writer.write(value)
            except InvalidValueError as error:
                raise SerializationError(str(error)) from None
            return value.encode("latin-1") if is_bare else data

        def decode(data: bytes) -> Any:
            try:
                return data.decode("latin-1") if is_bare else reader.read(data)
            except InvalidValueError as error:
                raise SerializationError(str(error)) from None

        return Codec(encode, decode)

    def _json(self, schema: SchemaText) -> Codec:
        def encode(value: Any) -> bytes:
            self._validators.check(schema, value)
            return json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode("utf-8", "replace")

        def decode(data: bytes) -> Any:
            try:
                value = json.loads(data)
            except (ValueError, RecursionError) as error:
                raise SerializationError(f"not JSON: {error}") from None
            self._validators.check(schema, value)
            return value

        return Codec(encode, decode)

    def _protobuf(self, schema: SchemaText) -> Codec:
        first = self._classes.named(schema, None)
        place = write_indexes(message_indexes(first.DESCRIPTOR))

        def encode(value: Any) -> bytes:
            message = first()
            try:
                json_format.ParseDict(value, message)
                return place + message.SerializeToString()
            except (
                json_format.ParseError,
                EncodeError,
                ValueError,
                TypeError,
                AttributeError,
                RecursionError,
            ) as error:
                raise SerializationError(str(error) or "the value does not fit the message") from None

        def decode(data: bytes) -> Any:
            indexes, payload = read_indexes(memoryview(data))
            message = self._classes.at(schema, indexes)()
            try:
                message.ParseFromString(bytes(payload))
                return json_format.MessageToDict(message, always_print_fields_with_no_presence=True)
            except (DecodeError, ValueError, TypeError, RecursionError) as error:
                raise SerializationError(f"the record does not follow its schema: {error}") from None

        return Codec(encode, decode)
