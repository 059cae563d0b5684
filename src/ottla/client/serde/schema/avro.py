"""Avro with a registry, over fastavro.

A schema that is plain `bytes` has its payload bare, without a length, as Confluent's serializers write it.
"""

import io
import json
from collections.abc import Callable, Hashable, Mapping, Sequence
from typing import Any, Final

import fastavro
from fastavro.schema import SchemaParseException, UnknownType
from fastavro.types import Schema

from ottla.client.errors import SerializationError
from ottla.client.record import Header
from ottla.client.registry.cache import Cache
from ottla.client.registry.registry import SchemaRegistry
from ottla.client.registry.value import SchemaText
from ottla.client.serde.schema.plain_value import builder, to_plain
from ottla.client.serde.schema.reader import SchemaReader
from ottla.client.serde.schema.setting import deserializer_settings, schema_text, serializer_settings, written_text
from ottla.client.serde.schema.writer import NamedSchema, SchemaWriter, framed
from ottla.schema.error import InvalidSchemaError
from ottla.schema.parse import parse
from ottla.schema.reference import Reference
from ottla.schema.schema_type import SchemaType

_UNREADABLE: Final = (
    *(ValueError, TypeError, KeyError, IndexError, EOFError, OverflowError, StopIteration, AttributeError),
    *(ArithmeticError, RecursionError, MemoryError, fastavro.schema.SchemaParseException),
)
"""fastavro's exceptions for values and bytes that don't fit."""


class AvroSerializer:
    """Writes dicts, dataclasses and other objects with fields as Avro records.

    `schema` is Avro's JSON, as text or decoded; `references` name the schemas that it needs; `to_dict` makes a dict of
    a value where its class can't. Without a schema, `use_latest_version=True` takes the subject's.
    """

    def __init__(
        self,
        registry: SchemaRegistry,
        schema: str | Mapping[str, Any] | Sequence[Any] | None = None,
        config: Mapping[str, object] | None = None,
        /,
        *,
        references: Sequence[Reference] = (),
        to_dict: Callable[[Any], object] = to_plain,
        is_key: bool = False,
        **settings: object,
    ) -> None:
        given = serializer_settings(config, settings)
        text = written_text(schema, given)
        self._writer: Final = SchemaWriter(registry, given, is_key=is_key)
        self._schema: Final = SchemaText(_completed(text), SchemaType.AVRO, tuple(references))
        self._name: Final = _record_name(self._schema.text)
        self._to_dict: Final = to_dict
        self._parsed: Final = ParsedSchemas(registry)
        self._ready: tuple[SchemaText | None, Any] = (None, None)
        """The schema of the record before, which nearly all records have as well."""

    @property
    def schema(self) -> SchemaText:
        """The schema as it is registered."""
        return self._schema

    def is_ready(self, topic: str, value: object = None) -> bool:
        """Whether a record of the topic can be written without asking the registry."""
        return self._writer.is_known(topic, self._name)

    def serialize(self, topic: str, headers: Sequence[Header], value: Any) -> bytes | None:
        """The framed record; None stays None."""
        if value is None:
            return None
        frame = self._writer.frame(topic, self._name, lambda: NamedSchema(self._schema, self._name))
        known, schema = self._ready
        if known is not frame.schema:
            schema = self._parsed.get(frame.schema)
            self._ready = (frame.schema, schema)
        try:
            plain = self._to_dict(value)
            return framed(frame, headers, _encoded(schema, plain))
        except _UNREADABLE as error:
            raise SerializationError(f"the value does not fit the schema: {_reason(error)}") from error


class AvroDeserializer:
    """Reads Avro records as dicts, or as objects that `into` makes: a dataclass, a pydantic class, a callable.

    `schema` is the reader's: fields that the writer lacks take their defaults, aliases are followed. Without one, a
    record is read by its writer's schema, or by the subject's latest with `use_latest_version=True`.
    """

    def __init__(
        self,
        registry: SchemaRegistry,
        schema: str | Mapping[str, Any] | Sequence[Any] | None = None,
        config: Mapping[str, object] | None = None,
        /,
        *,
        references: Sequence[Reference] = (),
        into: Callable[[Any], Any] | type | None = None,
        is_key: bool = False,
        return_record_name: bool = False,
        **settings: object,
    ) -> None:
        given = deserializer_settings(config, settings)
        self._reader: Final = SchemaReader(registry, given, SchemaType.AVRO, is_key=is_key)
        text = schema_text(schema)
        self._own: Final = None if text is None else SchemaText(_completed(text), SchemaType.AVRO, tuple(references))
        self._into: Final = None if into is None else builder(into)
        self._return_record_name: Final = return_record_name
        self._parsed: Final = ParsedSchemas(registry)

    def frame(self, headers: Sequence[Header], data: bytes) -> Hashable:
        """The key of the record's schema."""
        return self._reader.frame(headers, data)

    def deserialize(self, topic: str, headers: Sequence[Header], data: bytes | None) -> Any:
        """The record; None stays None."""
        if data is None:
            return None
        written = self._reader.written(topic, headers, data)
        writer = self._parsed.get(written.schema)
        reader = writer
        if self._reader.uses_latest:
            reader = self._parsed.get(self._reader.latest(topic, _record_name(written.schema.text)))
        elif self._own is not None:
            reader = self._parsed.get(self._own)
        try:
            value = self._decoded(written.payload, writer, None if reader is writer else reader)
        except _UNREADABLE as error:
            raise SerializationError(f"the record does not follow {written.label}: {_reason(error)}") from error
        return value if self._into is None else self._into(value)

    def _decoded(self, payload: memoryview, writer: Schema, reader: Schema | None) -> Any:
        if _is_bytes(writer):
            return bytes(payload)
        return fastavro.schemaless_reader(
            io.BytesIO(payload), writer, reader, return_record_name=self._return_record_name
        )


class ParsedSchemas:
    """fastavro's form of schemas, with what they reference."""

    def __init__(self, registry: SchemaRegistry) -> None:
        self._registry: Final = registry
        self._cache: Final = Cache[SchemaText, Any](registry.settings.integer("cache.capacity"))

    def get(self, schema: SchemaText) -> Any:
        """The parsed schema."""
        return self._cache.get(schema, lambda: self._parse(schema))

    def _parse(self, schema: SchemaText) -> Any:
        try:
            text = schema.text
            if schema.references:
                # With each referenced schema where it is first named: fastavro forgets names outside of records.
                resolved = self._registry.resolved(schema)
                text = parse(schema.schema_type, text, schema.references, resolved, strict=False).formatted("resolved")
            return fastavro.parse_schema(json.loads(text))
        except (
            InvalidSchemaError,
            SchemaParseException,
            UnknownType,
            ValueError,
            TypeError,
            KeyError,
            AttributeError,
        ) as error:
            raise SerializationError(f"no Avro schema: {_reason(error)}") from error


def _encoded(schema: Any, value: Any) -> bytes:
    if _is_bytes(schema):
        return value.encode() if isinstance(value, str) else bytes(value)
    buffer = io.BytesIO()
    fastavro.schemaless_writer(buffer, schema, value)
    return buffer.getvalue()


def _is_bytes(schema: Any) -> bool:
    return schema == "bytes" or (isinstance(schema, dict) and schema.get("type") == "bytes")


def _completed(text: str) -> str:
    """A primitive may be given by its bare name, which is no JSON.

    >>> _completed("string"), _completed('"string"')
    ('"string"', '"string"')
    """
    stripped = text.strip()
    return json.dumps(stripped) if stripped.isalpha() else text


def _record_name(text: str) -> str | None:
    """The full name of a record, enum or fixed; a primitive's type; None for unions."""
    try:
        schema = json.loads(text) if text else None
    except ValueError as error:
        raise SerializationError(f"no Avro schema: {error}") from None
    if isinstance(schema, str):
        return schema
    if not isinstance(schema, dict):
        return None
    name, namespace = schema.get("name"), schema.get("namespace")
    if name is None:
        found = schema.get("type")
        return found if isinstance(found, str) else None
    return f"{namespace}.{name}" if namespace and "." not in name else str(name)


def _reason(error: BaseException) -> str:
    return f"{type(error).__name__}: {error}" if str(error) else type(error).__name__
