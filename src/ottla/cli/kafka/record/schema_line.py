"""Lines of JSON as records with a schema registry: `key<separator>value`, or values alone.

Schemas are `value.schema`, `value.schema.file` or `value.schema.id`, and the same for keys; a key with `key.serializer`
is text. Avro's unions say their branch, `{"string": "a"}`.
"""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Final

from ottla.base.errors import OttlaError
from ottla.cli.kafka.argument.option import ToolError
from ottla.cli.kafka.record.console_line import LineReader, LineRecord
from ottla.cli.kafka.record.schema_text import registry_of
from ottla.client.registry.registry import SchemaRegistry
from ottla.client.registry.value import SchemaText
from ottla.client.serde.schema.json_codec import Codec, Codecs
from ottla.client.serde.schema.setting import serializer_settings
from ottla.client.serde.schema.writer import NamedSchema, SchemaWriter
from ottla.schema.parse import parse
from ottla.schema.reference import Reference
from ottla.schema.schema_type import SchemaType

_TITLES: Final = {"AVRO": "Avro", "JSON": "JSON", "PROTOBUF": "Protobuf"}
_SETTINGS: Final = ("normalize.schemas", "use.latest.version", "latest.compatibility.strict", "subject.name.strategy")


class SchemaLineReader(LineReader):
    """Takes lines apart, and encodes what they say."""

    def __init__(self, kind: str, settings: Mapping[str, str], topic: str) -> None:
        super().__init__(settings)
        registry = registry_of(settings)
        has_key = settings.get("parse.key", "").strip().lower() == "true"
        self._topic: Final = topic
        try:
            self._value: Final = _Part(registry, SchemaType(kind), settings, "value")
            plain_key = not has_key or "key.serializer" in settings
            self._key: Final = None if plain_key else _Part(registry, SchemaType(kind), settings, "key")
        except (OttlaError, OSError) as error:
            raise ToolError(str(error)) from error

    def read(self, line: str) -> LineRecord:
        """The record; `ToolError` for a line that does not fit the schema."""
        record = super().read(line)
        key = record.key if self._key is None else self._key.encoded(self._topic, record.key)
        return record._replace(key=key, value=self._value.encoded(self._topic, record.value))


class _Part:
    """Keys or values."""

    def __init__(self, registry: SchemaRegistry, kind: SchemaType, settings: Mapping[str, str], name: str) -> None:
        given = {each: settings[each] for each in _SETTINGS if each in settings}
        if "auto.register" in settings:
            given["auto.register.schemas"] = settings["auto.register"]
        number = settings.get(f"{name}.schema.id")
        if number is not None:
            given["use.schema.id"] = number
            self._schema = registry.schema(int(number))
        else:
            self._schema = SchemaText(_text(settings, name, kind), kind, _references(settings, name))
        resolved = registry.resolved(self._schema)
        parsed = parse(self._schema.schema_type, self._schema.text, self._schema.references, resolved, strict=False)
        self._name: Final = parsed.name
        self._label: Final = name
        self._writer: Final = SchemaWriter(registry, serializer_settings(given, {}), is_key=name == "key")
        self._codec: Final[Codec] = Codecs(registry).make(self._schema)

    def encoded(self, topic: str, text: bytes | None) -> bytes | None:
        """The framed record of a text; None stays None."""
        if text is None:
            return None
        try:
            value = json.loads(text)
        except (ValueError, RecursionError) as error:
            raise ToolError(f"Error deserializing json {text.decode(errors='replace')}: {error}") from None
        try:
            payload = self._codec.encode(value)
            frame = self._writer.frame(topic, self._name, lambda: NamedSchema(self._schema, self._name))
        except OttlaError as error:
            raise ToolError(f"The {self._label} {text.decode(errors='replace')} can't be written: {error}") from error
        return frame.prefix + payload


def _text(settings: Mapping[str, str], name: str, kind: SchemaType) -> str:
    text = settings.get(f"{name}.schema")
    path = settings.get(f"{name}.schema.file")
    if text is None and path is not None:
        text = Path(path).read_text(encoding="utf-8")
    if text is None:
        raise ToolError(
            f"Must provide the {_TITLES[kind.value]} schema string in {name}.schema, or its {name}.schema.file or "
            f"{name}.schema.id"
        )
    # A primitive may be given by its bare name, which is no JSON.
    return json.dumps(text.strip()) if kind is SchemaType.AVRO and text.strip().isalpha() else text


def _references(settings: Mapping[str, str], name: str) -> tuple[Reference, ...]:
    """`value.refs=[{"name": …, "subject": …, "version": …}]`."""
    given = settings.get(f"{name}.refs")
    if given is None:
        return ()
    try:
        return tuple(Reference(str(one["name"]), str(one["subject"]), int(one["version"])) for one in json.loads(given))
    except (ValueError, TypeError, KeyError) as error:
        raise ToolError(f"{name}.refs has to be a list of name, subject and version: {error!r}") from None
