"""Converters with a schema registry, by Confluent's class names: Avro and JSON Schema, and what Protobuf shares.

A schema of Connect's is translated once and registered once; then a record costs its encoding. Settings without a
prefix of their own are the registry client's (`schema.registry.url`) or the serializer's (`auto.register.schemas`).
"""

import io
import json
from collections.abc import Callable, Mapping
from typing import Any, ClassVar, Final, TypeVar

import fastavro

from ottla.base.config import REQUIRED
from ottla.base.config_type import ConfigType
from ottla.client.config.settings import ClientSettings
from ottla.client.errors import SerializationError
from ottla.client.registry.error import RegistryError, RegistryUnavailableError
from ottla.client.registry.registry import SchemaRegistry
from ottla.client.registry.setting import REGISTRY_KEYS
from ottla.client.registry.value import SchemaText
from ottla.client.serde.schema.reader import SchemaReader, Written
from ottla.client.serde.schema.setting import DESERIALIZER_KEYS, SERIALIZER_KEYS
from ottla.client.serde.schema.writer import NamedSchema, SchemaWriter, framed
from ottla.connect.config.definition import ConfigDef, ConfigKey, Importance
from ottla.connect.converter import avro_value, json_reader, json_writer
from ottla.connect.converter.avro_schema import from_avro, to_avro
from ottla.connect.converter.converter import CONVERTER_TYPE, Converter
from ottla.connect.converter.json_schema_document import from_document, to_document
from ottla.connect.data.schema import NULL, Schema, SchemaAndValue
from ottla.connect.data.struct import inferred_type
from ottla.connect.data.type import Type
from ottla.connect.error import DataError, InvalidConfigError, RetriableError
from ottla.schema.parse import parse
from ottla.schema.schema_type import SchemaType

_T = TypeVar("_T")
_CACHE_MAX: Final = 1_000
_UNREADABLE: Final = (
    *(ValueError, TypeError, KeyError, IndexError, EOFError, OverflowError, AttributeError, ArithmeticError),
    *(RecursionError, StopIteration),
)
"""What fastavro and json raise for values and bytes that don't fit."""


class RegistryConverter(Converter):
    """What all have in common."""

    schema_type: ClassVar[SchemaType]
    config_def: ClassVar[ConfigDef] = ConfigDef(
        CONVERTER_TYPE,
        ConfigKey("schema.registry.url", ConfigType.LIST, REQUIRED, "Addresses of the registry.",
                  importance=Importance.HIGH),
        ConfigKey("auto.register.schemas", ConfigType.BOOLEAN, True, "Whether schemas are registered.",
                  importance=Importance.MEDIUM),
    )  # fmt: skip

    def __init__(self) -> None:
        self._writer: SchemaWriter
        self._reader: SchemaReader
        self._writers: Final[dict[Schema, tuple[str, NamedSchema, Any]]] = {}
        self._readers: Final[dict[SchemaText, tuple[Schema, Any]]] = {}

    def configure(self, given: Mapping[str, str], *, is_key: bool) -> None:
        """Reads the settings; connects when the first schema is needed."""
        registry = SchemaRegistry({name: value for name, value in given.items() if name in REGISTRY_KEYS})
        part = "key" if is_key else "value"
        names = {f"{part}.subject.name.strategy": "subject.name.strategy"}
        renamed = {names.get(name, name): value for name, value in given.items()}
        written, read = (
            ClientSettings.of(keys, {name: value for name, value in renamed.items() if name in keys})
            for keys in (SERIALIZER_KEYS, DESERIALIZER_KEYS)
        )
        for name in ("use.latest.version", "use.schema.id"):
            if written.is_given(name) and written.get(name) != SERIALIZER_KEYS[name].default:
                # What is written follows the record's schema, so nothing else can be named as its writer's.
                raise InvalidConfigError.of(name, written.get(name), "Connect writes each record with its own schema")
        self._writer = SchemaWriter(registry, written, is_key=is_key)
        self._reader = SchemaReader(registry, read, self.schema_type, is_key=is_key)

    def close(self) -> None:
        """Ends the connection."""
        self._reader.registry.close()

    def from_connect(self, topic: str, schema: Schema | None, value: object) -> bytes | None:
        """The framed record."""
        if value is None and (schema is None or schema.optional):
            return None
        described = schema if schema is not None else _inferred(value)
        name, named, encode = remembered(self._writers, described, lambda: self._described(described))
        try:
            frame = self._writer.frame(topic, name, lambda: named)
            return framed(frame, (), encode(value))
        except DataError:
            raise
        except RegistryUnavailableError as error:
            raise RetriableError(str(error)) from error
        except (SerializationError, RegistryError, *_UNREADABLE) as error:
            raise DataError(f"Failed to serialize {self.schema_type} data from topic {topic} :") from error

    def to_connect(self, topic: str, data: bytes | None) -> SchemaAndValue:
        """The value, by the schema that it was written with."""
        if data is None:
            return NULL
        try:
            return self._decoded(self._reader.written(topic, (), data))
        except DataError:
            raise
        except RegistryUnavailableError as error:
            raise RetriableError(str(error)) from error
        except (SerializationError, RegistryError, *_UNREADABLE) as error:
            raise DataError(f"Failed to deserialize data for topic {topic} to {self.schema_type}: ") from error

    def _decoded(self, written: Written) -> SchemaAndValue:
        schema, decode = remembered(self._readers, written.schema, lambda: self._known(written))
        return SchemaAndValue(schema, decode(written.payload))

    def _described(self, schema: Schema) -> tuple[str, NamedSchema, Any]:
        document, encode = self._encoder(schema)
        text = json.dumps(document, ensure_ascii=False, separators=(",", ":"))
        # Frames are kept by topic and text, so that each schema has its own.
        return text, NamedSchema(SchemaText(text, self.schema_type, ()), schema.name), encode

    def _known(self, written: Written) -> tuple[Schema, Any]:
        found, text = written.schema, written.schema.text
        if found.references:
            resolved = self._reader.registry.resolved(found)
            text = parse(found.schema_type, text, found.references, resolved, strict=False).formatted("resolved")
        return self._decoder(_document(text))

    def _encoder(self, schema: Schema) -> tuple[Any, Callable[[Any], bytes]]:
        raise AssertionError

    def _decoder(self, document: Any) -> tuple[Schema, Callable[[memoryview], Any]]:
        raise AssertionError


class AvroConverter(RegistryConverter):
    """Avro."""

    java_name = "io.confluent.connect.avro.AvroConverter"
    is_columnar = True
    schema_type = SchemaType.AVRO

    def _encoder(self, schema: Schema) -> tuple[Any, Callable[[Any], bytes]]:
        document, convert = to_avro(schema), avro_value.writer(schema)
        if _is_bytes(document):
            # Written bare, without a length, as Confluent's serializers do.
            return document, lambda value: bytes(convert(value))
        parsed = fastavro.parse_schema(_without_logical(document))

        def encode(value: Any) -> bytes:
            buffer = io.BytesIO()
            fastavro.schemaless_writer(buffer, parsed, convert(value))
            return buffer.getvalue()

        return document, encode

    def _decoder(self, document: Any) -> tuple[Schema, Callable[[memoryview], Any]]:
        schema = from_avro(document)
        convert = avro_value.reader(schema)
        if _is_bytes(document):
            return schema, lambda payload: convert(bytes(payload))
        parsed = fastavro.parse_schema(_without_logical(document))
        return schema, lambda payload: convert(fastavro.schemaless_reader(io.BytesIO(payload), parsed, None))


class JsonSchemaConverter(RegistryConverter):
    """JSON with a JSON Schema."""

    java_name = "io.confluent.connect.json.JsonSchemaConverter"
    is_columnar = True
    schema_type = SchemaType.JSON

    def _encoder(self, schema: Schema) -> tuple[Any, Callable[[Any], bytes]]:
        write = json_writer.writer(schema, json_writer.WriteOption())
        return to_document(schema), lambda value: write(value).encode()

    def _decoder(self, document: Any) -> tuple[Schema, Callable[[memoryview], Any]]:
        schema = from_document(document)
        read = json_reader.reader(schema, replace_null=True)
        return schema, lambda payload: read(json.loads(bytes(payload)))


def remembered(kept: dict[Any, _T], key: Any, make: Callable[[], _T]) -> _T:
    """What is kept under a key; made if it is not there, and the oldest then goes."""
    found = kept.get(key)
    if found is None:
        if len(kept) >= _CACHE_MAX:
            del kept[next(iter(kept))]
        found = kept[key] = make()
    return found


def _document(text: str) -> Any:
    stripped = text.strip()
    return stripped if stripped.isalpha() else json.loads(stripped)


def _inferred(value: object) -> Schema:
    kind = inferred_type(value)
    if kind is None or kind in (Type.STRUCT, Type.MAP, Type.ARRAY):
        raise DataError(
            "values without a schema cannot be written with a registry: a source or a transform has to give one"
        )
    return Schema(kind, optional=True)


def _is_bytes(document: Any) -> bool:
    return document == "bytes" or (isinstance(document, dict) and document.get("type") == "bytes")


def _without_logical(document: Any) -> Any:
    """The schema of the numbers and bytes that stand for logical types."""
    if isinstance(document, dict):
        return {name: _without_logical(each) for name, each in document.items() if name != "logicalType"}
    return [_without_logical(each) for each in document] if isinstance(document, list) else document
