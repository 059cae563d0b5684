"""Which schema a key or value is written with, and which one it was written with: answers of the registry, kept.

What the registry is not asked for again never waits; the rest is asked on a worker thread.
"""

import asyncio
import uuid
from typing import Any, Final

from ottla.base.errors import OttlaError
from ottla.base.frozen import frozen
from ottla.client.errors import ClientError, SerializationError
from ottla.client.record import Header
from ottla.client.registry.cache import Cache
from ottla.client.registry.errors import RegistryError
from ottla.client.registry.registry import SchemaRegistry
from ottla.client.registry.value import RegisteredSchema, SchemaText
from ottla.client.serde.schema import framing
from ottla.client.serde.schema.json_codec import Codec, Codecs
from ottla.client.serde.schema.subject import SubjectContext, needs_record_name, strategy_of
from ottla.schema.error import InvalidSchemaError
from ottla.schema.parse import parse
from ottla.schema.schema_type import SchemaType
from ottla.web.rest.errors import bad_request, not_serializable
from ottla.web.rest.record.format import EmbeddedFormat, format_of

_CAPACITY: Final = 1_000


@frozen
class SchemaChoice:
    """The fields of a request that choose the schema of its keys or values."""

    topic: str
    is_key: bool
    kind: EmbeddedFormat | None = None
    subject: str | None = None
    strategy: str | None = None
    schema_id: int | None = None
    version: int | None = None
    text: str | None = None

    @property
    def is_latest(self) -> bool:
        """Whether it is the subject's latest version, which may be another one next time."""
        return self.schema_id is None and self.version is None and self.text is None


@frozen
class ChosenSchema:
    """A schema to write with."""

    kind: EmbeddedFormat
    schema_id: int
    subject: str | None
    version: int | None
    codec: Codec

    def encode(self, value: Any) -> bytes | None:
        """The framed bytes; null is no bytes. Raises `HttpError` 400 for a value that does not fit."""
        if value is None:
            return None
        try:
            return framing.id_frame(self.schema_id) + self.codec.encode(value)
        except SerializationError as error:
            raise bad_request(f"Failed to convert JSON to {self.kind.value}: {error}") from None


class SchemaBook:
    """The schemas of one registry."""

    def __init__(self, registry: SchemaRegistry) -> None:
        self._registry: Final = registry
        self._codecs: Final = Codecs(registry)
        self._codec_of: Final = Cache[SchemaText, Codec](_CAPACITY)
        self._chosen: Final = Cache[SchemaChoice, ChosenSchema](_CAPACITY)
        self._written: Final = Cache[int | uuid.UUID, tuple[SchemaType, Codec]](_CAPACITY)

    async def choose(self, choice: SchemaChoice) -> ChosenSchema:
        """The schema that a request means. Raises `HttpError` 400 or 422."""
        found = None if choice.is_latest else self._chosen.peek(choice)
        if found is None:
            found = await asyncio.to_thread(self._choose, choice)
            if not choice.is_latest:
                self._chosen.put(choice, found)
        return found

    async def decode(self, data: bytes, headers: list[Header], kind: EmbeddedFormat, *, is_key: bool) -> Any:
        """A framed key or value as JSON. Raises `SerializationError`."""
        header = framing.KEY_HEADER if is_key else framing.VALUE_HEADER
        reference = framing.read_frame(data, headers, header)
        name: int | uuid.UUID | None = reference.schema_id if reference.guid is None else reference.guid
        assert name is not None
        found = self._written.peek(name)
        if found is None:
            found = await asyncio.to_thread(self._find_written, name)
        schema_type, codec = found
        if schema_type is not kind.schema_type:
            raise SerializationError(f"{reference.label} is {schema_type.value}, not {kind.value}")
        return codec.decode(bytes(reference.payload))

    def _find_written(self, name: int | uuid.UUID) -> tuple[SchemaType, Codec]:
        try:
            schema = self._registry.schema(name) if isinstance(name, int) else self._registry.schema_by_guid(name)
            found = (schema.schema_type, self._codec(schema))
        except RegistryError as error:
            raise SerializationError(f"the schema {name} can't be had: {error}") from None
        self._written.put(name, found)
        return found

    def _choose(self, choice: SchemaChoice) -> ChosenSchema:
        try:
            registered = self._registered(choice)
            codec = self._codec(registered.schema)
        except ClientError as error:
            raise not_serializable(str(error)) from None
        kind = format_of(registered.schema.schema_type)
        return ChosenSchema(kind, registered.id, registered.subject, registered.version, codec)

    def _registered(self, choice: SchemaChoice) -> RegisteredSchema:
        if choice.schema_id is not None:
            return self._by_id(choice, choice.schema_id)
        if choice.text is not None:
            return self._by_text(choice, choice.text)
        subject = choice.subject or self._subject(choice, None)
        if choice.version is None:
            return self._registry.latest(subject)
        try:
            return self._registry.version(subject, choice.version)
        except RegistryError:
            detail = f"Schema does not exist for subject: {subject}, version: {choice.version}"
            raise bad_request(detail) from None

    def _by_id(self, choice: SchemaChoice, schema_id: int) -> RegisteredSchema:
        schema = self._registry.schema(schema_id)
        subject = choice.subject or self._subject(choice, schema)
        try:
            version = self._registry.lookup(subject, schema).version
        except RegistryError as error:
            message = f"Error when fetching schema version. subject = {subject}, schema = {schema.text}"
            raise not_serializable(f"{message}\n{error}") from None
        return RegisteredSchema(schema_id, schema, subject=subject, version=version)

    def _by_text(self, choice: SchemaChoice, text: str) -> RegisteredSchema:
        kind = choice.kind
        assert kind is not None
        if kind.schema_type is None:
            raise bad_request(f"{kind.value} does not support schemas.")
        schema = SchemaText(text, kind.schema_type)
        try:
            parse(schema.schema_type, text, strict=True)
        except (InvalidSchemaError, OttlaError) as error:
            raise bad_request(f"Error parsing schema with format = {kind.value}: {error}") from None
        subject = choice.subject or self._subject(choice, schema)
        try:
            registered = self._registry.register(subject, schema)
            found = registered if registered.version is not None else self._registry.lookup(subject, schema)
        except RegistryError as error:
            message = f"Error when registering schema. format = {kind.value}, subject = {subject}, schema = {text}"
            raise not_serializable(f"{message}\n{error}") from None
        return RegisteredSchema(registered.id, schema, subject=subject, version=found.version)

    def _subject(self, choice: SchemaChoice, schema: SchemaText | None) -> str:
        strategy = strategy_of(choice.strategy or "TOPIC")
        name = None
        if needs_record_name(strategy):
            if schema is None:
                given = f"schema_subject_strategy={choice.strategy} without schema_id or schema."
                raise bad_request(f"Cannot use {given}")
            name = parse(
                schema.schema_type, schema.text, schema.references, self._registry.resolved(schema), strict=False
            ).name
        try:
            return strategy(SubjectContext(choice.topic, choice.is_key, name))
        except SerializationError as error:
            raise bad_request(str(error)) from None

    def _codec(self, schema: SchemaText) -> Codec:
        return self._codec_of.get(schema, lambda: self._codecs.make(schema))
