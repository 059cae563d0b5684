"""JSON with a registry, checked against its JSON Schema by the package jsonschema."""

import json
from collections.abc import Callable, Hashable, Mapping, Sequence
from typing import Any, Final

from jsonschema import Draft7Validator
from jsonschema.exceptions import SchemaError, ValidationError
from jsonschema.protocols import Validator
from jsonschema.validators import validator_for
from referencing import Registry, Resource
from referencing.exceptions import Unresolvable
from referencing.jsonschema import DRAFT7

from ottla.client.errors import SerializationError
from ottla.client.record import Header
from ottla.client.registry.cache import Cache
from ottla.client.registry.registry import SchemaRegistry
from ottla.client.registry.value import SchemaText
from ottla.client.serde.schema.plain_value import builder, to_plain
from ottla.client.serde.schema.reader import SchemaReader
from ottla.client.serde.schema.setting import deserializer_settings, schema_text, serializer_settings, written_text
from ottla.client.serde.schema.writer import NamedSchema, SchemaWriter, framed
from ottla.schema.reference import Reference
from ottla.schema.schema_type import SchemaType


class JsonSchemaSerializer:
    """Writes dicts, dataclasses and other objects with fields as JSON.

    A value that the schema refuses is an error, unless `validate=False`.
    """

    def __init__(
        self,
        registry: SchemaRegistry,
        schema: str | Mapping[str, Any] | None = None,
        config: Mapping[str, object] | None = None,
        /,
        *,
        references: Sequence[Reference] = (),
        to_dict: Callable[[Any], object] = to_plain,
        validate: bool = True,
        is_key: bool = False,
        **settings: object,
    ) -> None:
        given = serializer_settings(config, settings)
        text = written_text(schema, given)
        self._writer: Final = SchemaWriter(registry, given, is_key=is_key)
        self._schema: Final = SchemaText(text, SchemaType.JSON, tuple(references))
        self._name: Final = _title(text) if text else None
        self._to_dict: Final = to_dict
        self._validators: Final = Validators(registry) if validate else None

    @property
    def schema(self) -> SchemaText:
        """The schema as it is registered."""
        return self._schema

    def is_ready(self, topic: str, value: object = None) -> bool:
        """Whether a record of the topic can be written without asking the registry."""
        return self._writer.is_known(topic, self._name)

    def serialize(self, topic: str, headers: Sequence[Header], value: Any) -> bytes | None:
        """The framed document; None stays None."""
        if value is None:
            return None
        frame = self._writer.frame(topic, self._name, lambda: NamedSchema(self._schema, self._name))
        plain = self._to_dict(value)
        if self._validators is not None:
            self._validators.check(frame.schema, plain)
        try:
            return framed(frame, headers, _compact(plain))
        except (TypeError, ValueError, RecursionError) as error:
            raise SerializationError(f"not JSON: {error}") from error


class JsonSchemaDeserializer:
    """Reads JSON as dicts, or as objects that `into` makes: a dataclass, a pydantic class, a callable.

    A document that the schema refuses is an error, unless `validate=False`. The schema is `schema`, else the subject's
    latest with `use_latest_version=True`, else the one that the document was written with.
    """

    def __init__(
        self,
        registry: SchemaRegistry,
        schema: str | Mapping[str, Any] | None = None,
        config: Mapping[str, object] | None = None,
        /,
        *,
        references: Sequence[Reference] = (),
        into: Callable[[Any], Any] | type | None = None,
        validate: bool = True,
        is_key: bool = False,
        **settings: object,
    ) -> None:
        given = deserializer_settings(config, settings)
        self._reader: Final = SchemaReader(registry, given, SchemaType.JSON, is_key=is_key)
        text = schema_text(schema)
        self._own: Final = None if text is None else SchemaText(text, SchemaType.JSON, tuple(references))
        self._into: Final = None if into is None else builder(into)
        self._validators: Final = Validators(registry) if validate else None

    def frame(self, headers: Sequence[Header], data: bytes) -> Hashable:
        """The key of the record's schema."""
        return self._reader.frame(headers, data)

    def deserialize(self, topic: str, headers: Sequence[Header], data: bytes | None) -> Any:
        """The document; None stays None."""
        if data is None:
            return None
        written = self._reader.written(topic, headers, data)
        schema = written.schema
        if self._reader.uses_latest:
            schema = self._reader.latest(topic, _title(written.schema.text))
        elif self._own is not None:
            schema = self._own
        try:
            value = json.loads(bytes(written.payload))
        except (ValueError, RecursionError) as error:
            raise SerializationError(f"not JSON: {error}") from None
        if self._validators is not None:
            self._validators.check(schema, value)
        return value if self._into is None else self._into(value)


class Validators:
    """jsonschema's validators by schema, with what the schemas reference. Nothing is fetched from elsewhere."""

    def __init__(self, registry: SchemaRegistry) -> None:
        self._registry: Final = registry
        self._cache: Final = Cache[SchemaText, Validator](registry.settings.integer("cache.capacity"))

    def check(self, schema: SchemaText, value: object) -> None:
        """Raises `SerializationError` for a value that the schema refuses."""
        validator = self._cache.get(schema, lambda: self._build(schema))
        try:
            validator.validate(value)
        except ValidationError as error:
            raise SerializationError(f"{error.json_path}: {error.message}") from None
        except (Unresolvable, RecursionError) as error:
            raise SerializationError(f"the schema can't be applied: {error}") from error

    def _build(self, schema: SchemaText) -> Validator:
        try:
            document = json.loads(schema.text)
            resources = [
                (name, Resource.from_contents(json.loads(text), default_specification=DRAFT7))
                for name, text in self._registry.resolved(schema).items()
            ]
            kind = validator_for(document, default=Draft7Validator)
            kind.check_schema(document)
        except (SchemaError, ValueError) as error:
            raise SerializationError(f"no JSON Schema: {error}") from error
        registry: Registry[Any] = Registry().with_resources(resources)
        return kind(document, registry=registry)


def _compact(value: object) -> bytes:
    return json.dumps(value, separators=(",", ":"), ensure_ascii=False, allow_nan=False).encode()


def _title(text: str) -> str | None:
    try:
        schema = json.loads(text)
    except ValueError as error:
        raise SerializationError(f"no JSON Schema: {error}") from None
    title = schema.get("title") if isinstance(schema, dict) else None
    return title if isinstance(title, str) else None
