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
from ottla.client.registry.errors import RegistryError, RegistryUnavailableError
from ottla.client.registry.registry import SchemaRegistry
from ottla.client.registry.setting import REGISTRY_KEYS
from ottla.client.registry.value import SchemaText
from ottla.client.serde.schema.reader import SchemaReader, Written
from ottla.client.serde.schema.setting import DESERIALIZER_KEYS, SERIALIZER_KEYS
from ottla.client.serde.schema.writer import NamedSchema, SchemaWriter, framed
from ottla.connect.config.definition import ConfigDef, ConfigKey, Importance
from ottla.connect.converter import avro_value, json_reader, json_writer
from ottla.connect.converter.avro_option import AVRO_OPTION_KEYS, AvroOption
from ottla.connect.converter.avro_reading import from_avro
from ottla.connect.converter.avro_schema import to_avro
from ottla.connect.converter.converter import CONVERTER_TYPE, Converter
from ottla.connect.converter.json_schema_document import from_document, to_document
from ottla.connect.converter.json_schema_option import JSON_OPTION_KEYS, JsonSchemaOption
from ottla.connect.data.schema import NULL, Schema, SchemaAndValue
from ottla.connect.data.struct import inferred_type
from ottla.connect.data.type import Type
from ottla.connect.errors import DataError, InvalidConfigError, RetriableError
from ottla.schema.parse import parse
from ottla.schema.schema_type import SchemaType

_T = TypeVar("_T")
Encode = Callable[[Any, SchemaText | None], bytes]
"""The payload of a value, written with its own schema, or with another one."""
_PREFIX: Final = "schema.registry."
_CACHE_MAX: Final = 1_000
_UNREADABLE: Final = (
    *(ValueError, TypeError, KeyError, IndexError, EOFError, OverflowError, AttributeError, ArithmeticError),
    *(RecursionError, StopIteration),
)
"""What fastavro and json raise for values and bytes that don't fit."""


class RegistryConverter(Converter):
    """The base class of the three converters with a schema registry."""

    schema_type: ClassVar[SchemaType]
    word: ClassVar[str]
    """What Confluent calls the format in messages."""
    follows_others: ClassVar[bool] = False
    """Whether a record can be written with a schema that is not its own, such as a subject's latest."""
    config_def: ClassVar[ConfigDef] = ConfigDef(
        CONVERTER_TYPE,
        ConfigKey("schema.registry.url", ConfigType.LIST, REQUIRED, "Addresses of the registry.",
                  importance=Importance.HIGH),
        ConfigKey("auto.register.schemas", ConfigType.BOOLEAN, True, "Whether schemas are registered.",
                  importance=Importance.MEDIUM),
        ConfigKey("schemas.cache.config", ConfigType.INT, 1000, "How many schemas are remembered.",
                  importance=Importance.LOW),
    )  # fmt: skip

    def __init__(self) -> None:
        self._names_frames = False
        self._writer: SchemaWriter
        self._reader: SchemaReader
        self._writers: Final[dict[Schema, tuple[str, NamedSchema, Any]]] = {}
        self._readers: Final[dict[SchemaText, tuple[Schema, Any]]] = {}

    def configure(self, given: Mapping[str, str], *, is_key: bool) -> None:
        """Reads the settings; connects when the first schema is needed."""
        registry = SchemaRegistry(_registry_settings(given))
        part = "key" if is_key else "value"
        names = {f"{part}.subject.name.strategy": "subject.name.strategy"}
        renamed = {names.get(name, name): value for name, value in given.items()}
        written, read = (
            ClientSettings.of(keys, {name: value for name, value in renamed.items() if name in keys})
            for keys in (SERIALIZER_KEYS, DESERIALIZER_KEYS)
        )
        for name in ("use.latest.version", "use.schema.id"):
            is_other = written.is_given(name) and written.get(name) != SERIALIZER_KEYS[name].default
            if is_other and not self.follows_others:
                # Numbers of fields may differ: what was written with one schema says something else in another.
                sentence = f"Connect writes each {self.word} record with its own schema"
                raise InvalidConfigError.of(name, written.get(name), sentence)
            self._names_frames = self._names_frames or is_other
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
            # Where the registry says the schema, all schemas of one name have one frame; otherwise each has its own.
            frame = self._writer.frame(topic, named.name if self._names_frames else name, lambda: named)
            other = None if frame.schema is named.text else frame.schema
            return framed(frame, (), encode(value, other))
        except DataError:
            raise
        except RegistryUnavailableError as error:
            raise RetriableError(str(error)) from error
        except (SerializationError, RegistryError, *_UNREADABLE) as error:
            raise DataError(f"Failed to serialize {self.word} data from topic {topic} :") from error

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
            raise DataError(f"Failed to deserialize data for topic {topic} to {self.word}: ") from error

    def _decoded(self, written: Written) -> SchemaAndValue:
        schema, decode = remembered(self._readers, written.schema, lambda: self._known(written))
        return SchemaAndValue(schema, decode(written.payload))

    def _described(self, schema: Schema) -> tuple[str, NamedSchema, Any]:
        document, encode = self._encoder(schema)
        text = json.dumps(document, ensure_ascii=False, separators=(",", ":"))
        # Frames are kept by topic and text, so that each schema has its own.
        return text, NamedSchema(SchemaText(text, self.schema_type, ()), schema.name), encode

    def _known(self, written: Written) -> tuple[Schema, Any]:
        return self._decoder(self._document(written.schema))

    def _document(self, found: SchemaText) -> Any:
        """A registered schema with all that it refers to."""
        text = found.text
        if found.references:
            resolved = self._reader.registry.resolved(found)
            text = parse(found.schema_type, text, found.references, resolved, strict=False).formatted("resolved")
        return _document(text)

    def _encoder(self, schema: Schema) -> tuple[Any, Encode]:
        raise AssertionError

    def _decoder(self, document: Any) -> tuple[Schema, Callable[[memoryview], Any]]:
        raise AssertionError


class AvroConverter(RegistryConverter):
    """Avro."""

    java_name = "io.confluent.connect.avro.AvroConverter"
    is_columnar = True
    schema_type = SchemaType.AVRO
    word = "Avro"
    follows_others = True
    config_def: ClassVar[ConfigDef] = ConfigDef(*RegistryConverter.config_def.keys.values(), *AVRO_OPTION_KEYS)

    def __init__(self) -> None:
        super().__init__()
        self._option = AvroOption()
        self._others: Final[dict[SchemaText, tuple[Any, bool]]] = {}

    def configure(self, given: Mapping[str, str], *, is_key: bool) -> None:
        """Reads the settings."""
        super().configure(given, is_key=is_key)
        self._option = AvroOption.of(
            {key.name: key.parse(given[key.name]) for key in AVRO_OPTION_KEYS if key.name in given}
        )

    def _encoder(self, schema: Schema) -> tuple[Any, Encode]:
        document, convert = to_avro(schema, self._option), avro_value.writer(schema, self._option)
        own = _parsed(document)

        def encode(value: Any, other: SchemaText | None) -> bytes:
            parsed, is_bytes = own if other is None else self._other(other)
            if is_bytes:
                # Written bare, without a length, as Confluent's serializers do.
                return bytes(convert(value))
            buffer = io.BytesIO()
            fastavro.schemaless_writer(buffer, parsed, convert(value))
            return buffer.getvalue()

        return document, encode

    def _other(self, schema: SchemaText) -> tuple[Any, bool]:
        return remembered(self._others, schema, lambda: _parsed(self._document(schema)))

    def _decoder(self, document: Any) -> tuple[Schema, Callable[[memoryview], Any]]:
        schema = from_avro(document, self._option)
        convert = avro_value.reader(schema)
        parsed, is_bytes = _parsed(document)
        if is_bytes:
            return schema, lambda payload: convert(bytes(payload))

        def decode(payload: memoryview) -> Any:
            source = io.BytesIO(payload)
            # Types with names say which one they are, where a union has several.
            return convert(
                fastavro.schemaless_reader(
                    source, parsed, None, return_named_type=True, return_named_type_override=True
                )
            )

        return schema, decode


class JsonSchemaConverter(RegistryConverter):
    """JSON with a JSON Schema."""

    java_name = "io.confluent.connect.json.JsonSchemaConverter"
    is_columnar = True
    schema_type = SchemaType.JSON
    word = "JSON"
    follows_others = True
    config_def: ClassVar[ConfigDef] = ConfigDef(*RegistryConverter.config_def.keys.values(), *JSON_OPTION_KEYS)

    def __init__(self) -> None:
        super().__init__()
        self._option = JsonSchemaOption()

    def configure(self, given: Mapping[str, str], *, is_key: bool) -> None:
        """Reads the settings."""
        super().configure(given, is_key=is_key)
        self._option = JsonSchemaOption.of(ConfigDef(*JSON_OPTION_KEYS).parse(given))

    def _encoder(self, schema: Schema) -> tuple[Any, Encode]:
        option = json_writer.WriteOption(
            numeric_decimals=self._option.numeric_decimals, replace_null=not self._option.ignores_defaults
        )
        write = json_writer.writer(schema, option)
        return to_document(schema, option=self._option), lambda value, other: write(value).encode()

    def _decoder(self, document: Any) -> tuple[Schema, Callable[[memoryview], Any]]:
        schema = from_document(document)
        read = json_reader.reader(schema, replace_null=not self._option.ignores_defaults)
        return schema, lambda payload: read(json.loads(bytes(payload)))


def remembered(kept: dict[Any, _T], key: Any, make: Callable[[], _T]) -> _T:
    """The cached value of a key. A missing one is made, and replaces the oldest if the cache is full."""
    found = kept.get(key)
    if found is None:
        if len(kept) >= _CACHE_MAX:
            del kept[next(iter(kept))]
        found = kept[key] = make()
    return found


def _registry_settings(given: Mapping[str, str]) -> dict[str, str]:
    """The settings of the registry's client, which may have its prefix: `schema.registry.ssl.truststore.location`."""
    found = {name: value for name, value in given.items() if name in REGISTRY_KEYS}
    short = {name.removeprefix(_PREFIX): value for name, value in given.items() if name.startswith(_PREFIX)}
    return {name: value for name, value in short.items() if name in REGISTRY_KEYS and name != "url"} | found


def _parsed(document: Any) -> tuple[Any, bool]:
    """A schema for fastavro, and whether it is plain bytes."""
    is_bytes = document == "bytes" or (isinstance(document, dict) and document.get("type") == "bytes")
    return (None if is_bytes else fastavro.parse_schema(_without_logical(document))), is_bytes


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


def _without_logical(document: Any) -> Any:
    """The schema of the numbers and bytes that stand for logical types."""
    if isinstance(document, dict):
        return {name: _without_logical(each) for name, each in document.items() if name != "logicalType"}
    return [_without_logical(each) for each in document] if isinstance(document, list) else document
