"""JsonConverter: JSON with the schema in an envelope, or plain.

With `schemas.enable` messages are `{"schema":…,"payload":…}` and nothing else, unless `schema.content` gives one schema
for all of them. Functions that read and write are made once for each schema and kept.
"""

import json
import re
from collections.abc import Mapping, Sequence
from decimal import Decimal
from itertools import repeat
from operator import is_
from typing import ClassVar, Final, NoReturn, TypeVar

from ottla.base.config_type import ConfigType
from ottla.connect.config.definition import ConfigDef, ConfigKey, Importance, Width
from ottla.connect.config.validator import AnyOfIgnoringCase
from ottla.connect.converter.converter import CONVERTER_TYPE, Converter, ReadValues
from ottla.connect.converter.json_column import ColumnWrite, column_writer
from ottla.connect.converter.json_column_reader import BLANKS, ColumnRead, column_reader, payloads_of
from ottla.connect.converter.json_reader import Read, read_bare, reader
from ottla.connect.converter.json_schema_text import schema_from_json, schema_members
from ottla.connect.converter.json_writer import Write, WriteOption, quoted, writer
from ottla.connect.data.column import Column, RowsNeededError, StructColumn
from ottla.connect.data.schema import NULL, Schema, SchemaAndValue
from ottla.connect.errors import DataError

_DECIMAL: Final = b"connect.data.Decimal"
_PAYLOAD: Final = b'"payload":'
_BLANKS: Final = " \t\r\n"
_ZEROS: Final = re.compile(r"""("(?:[^"\\]|\\.)*"|-?[1-9][\d.eE+-]*|-?0(?!\d)[\d.eE+-]*)|(-?)0+(?=\d)""")
"""Strings and numbers; the second group is before zeros that a number may begin with in Kafka, and not in Python."""
_Known = tuple[Schema | None, Read]
"""A schema, and what reads its values."""


class JsonConverter(Converter):
    """`schemas.enable=true`, `decimal.format=BASE64|NUMERIC`, `schema.content`, `replace.null.with.default=true`.

    >>> from ottla.connect.data.schema import INT32
    >>> json = JsonConverter()
    >>> json.configure({}, is_key=False)
    >>> json.from_connect("t", INT32, 5)
    b'{"schema":{"type":"int32","optional":false},"payload":5}'
    >>> json.to_connect("t", _)
    SchemaAndValue(schema=Schema{INT32}, value=5)
    """

    java_name = "org.apache.kafka.connect.json.JsonConverter"
    config_def: ClassVar[ConfigDef] = ConfigDef(
        CONVERTER_TYPE,
        ConfigKey("schemas.enable", ConfigType.BOOLEAN, True, "Whether messages carry their schema.",
                  importance=Importance.HIGH, group="Schemas", order=0, width=Width.MEDIUM, display="Enable Schemas"),
        ConfigKey("schemas.cache.size", ConfigType.INT, 1000, "How many schemas are remembered.",
                  importance=Importance.HIGH, group="Schemas", order=1, width=Width.MEDIUM,
                  display="Schema Cache Size"),
        ConfigKey("schema.content", ConfigType.STRING, None, "One schema for all messages, which are bare payloads.",
                  importance=Importance.HIGH, group="Schemas", order=2, width=Width.MEDIUM, display="Schema Content"),
        ConfigKey("decimal.format", ConfigType.STRING, "BASE64", "How decimals are written: BASE64 or NUMERIC.",
                  importance=Importance.LOW, validator=AnyOfIgnoringCase("NUMERIC", "BASE64"), group="Serialization",
                  order=0, width=Width.MEDIUM, display="Decimal Format"),
        ConfigKey("replace.null.with.default", ConfigType.BOOLEAN, True,
                  "Whether a null that has a default is written and read as the default.", importance=Importance.LOW,
                  group="Serialization", order=1, width=Width.MEDIUM, display="Replace null with default"),
    )  # fmt: skip

    def __init__(self) -> None:
        self._enveloped = True
        self._limit = 1000
        self._replace_null = True
        self._option = WriteOption()
        self._fixed: Schema | None = None
        self._writers: Final[dict[Schema | None, tuple[str, Write]]] = {}
        self._column_writers: Final[dict[Schema | None, tuple[str, ColumnWrite]]] = {}
        self._column_readers: Final[dict[Schema | None, ColumnRead]] = {}
        self._readers: Final[dict[str, _Known]] = {}
        self._heads: Final[dict[bytes, _Known]] = {}

    def configure(self, given: Mapping[str, str], *, is_key: bool) -> None:
        """Reads the settings."""
        settings = self.config_def.parse({**given, "converter.type": "key" if is_key else "value"})
        self._enveloped = settings["schemas.enable"] is True
        self._limit = max(1, int(str(settings["schemas.cache.size"])))
        self._replace_null = settings["replace.null.with.default"] is True
        numeric = str(settings["decimal.format"]).upper() == "NUMERIC"
        self._option = WriteOption(numeric_decimals=numeric, replace_null=self._replace_null)
        if settings["schema.content"]:
            content = str(settings["schema.content"]).encode()
            try:
                self._fixed = self._schema(_parsed(content))
            except ValueError as error:
                raise DataError("Failed to parse schema in converter config due to serialization error: ") from error

    def from_connect(self, topic: str, schema: Schema | None, value: object) -> bytes | None:
        """The message; no value without a schema is a tombstone, null with a schema is the text `null`."""
        if value is None and schema is None:
            return None
        head, write = self._writers.get(schema) or self._remember_writer(schema)
        text = f'{{"schema":{head},"payload":{write(value)}}}' if self._enveloped else write(value)
        return text.encode("utf-8", "replace")

    is_columnar = True

    def from_connect_all(self, topic: str, column: Column) -> Sequence[bytes | None]:
        """The messages; none of them may need a replacement for a text that is no Unicode."""
        schema = column.schema
        if schema is None and any(map(is_, column.rows(), repeat(None))):
            return [self.from_connect(topic, None, value) for value in column.rows()]
        head, write = self._column_writers.get(schema) or self._remember_column_writer(schema)
        texts = write(column)
        if self._enveloped:
            texts = [f'{{"schema":{head},"payload":{text}}}' for text in texts]
        return list(map(str.encode, texts))

    def to_connect_all(self, topic: str, data: Sequence[bytes | None]) -> Sequence[ReadValues]:
        """The values."""
        if self._fixed is not None:
            return super().to_connect_all(topic, data)
        if self._enveloped:
            return self._enveloped_columns(data)
        scan = _PLAIN.scan_once  # type: ignore[attr-defined]
        # Fast path: objects, which nearly all messages are. What is none after all raises, and rows are read.
        nodes = [scan(str(each, "utf-8"), 0)[0] if each and each[:1] == b"{" else _bare(each) for each in data]
        return [(None, nodes)]

    def _enveloped_columns(self, data: Sequence[bytes | None]) -> Sequence[ReadValues]:
        """The values of messages, those behind one another with the very same bytes before their payloads together."""
        found: list[ReadValues] = []
        at = 0
        while at < len(data):
            first = data[at]
            if first is None:
                count = next((index for index, each in enumerate(data[at:]) if each is not None), len(data) - at)
                found.append((None, data[at : at + count]))
            else:
                (schema, _), head = self._known_head(first)
                payloads = payloads_of(data, at, head, _PLAIN if _DECIMAL not in head else _EXACT)
                count = len(payloads)
                read = self._column_readers.get(schema) or self._remember_column_reader(schema)
                column = read(payloads)
                found.append(column if isinstance(column, StructColumn) else (schema, column.values))
            at += count
        return found

    def _known_head(self, data: bytes) -> tuple[_Known, bytes]:
        """The reader of a message, and its bytes before the payload; `RowsNeededError` for an unusual envelope."""
        head = data[: data.find(_PAYLOAD) + len(_PAYLOAD)]
        if head not in self._heads:
            self.to_connect("", data)
        known = self._heads.get(head)
        if known is None:
            raise RowsNeededError
        start = len(data) - len(data[len(head) :].lstrip(BLANKS.encode()))
        return known, data[:start]

    def to_connect(self, topic: str, data: bytes | None) -> SchemaAndValue:
        """The value of a message; no bytes are null."""
        if data is None:
            return NULL
        try:
            if not self._enveloped:
                return SchemaAndValue(None, _bare(data))
            known = None if self._fixed is not None else self._payload(data)
            if known is not None:
                (schema, read), payload = known
                return SchemaAndValue(schema, read(payload))
            node = _parsed(data)
        except (ValueError, RecursionError) as error:
            raise DataError("Converting byte[] to Kafka Connect data failed due to serialization error: ") from error
        if self._fixed is not None:
            _, read = self._readers.get("") or self._remember_reader("", self._fixed)
            return SchemaAndValue(self._fixed, read(None if node is _MISSING else node))
        if not isinstance(node, dict) or len(node) != 2 or "schema" not in node or "payload" not in node:
            raise DataError(
                'JsonConverter with schemas.enable requires "schema" and "payload" fields and may not contain '
                "additional fields. If you are trying to deserialize plain JSON data, set schemas.enable=false in your "
                "converter configuration."
            )
        key = json.dumps(node["schema"], default=str)
        found = self._readers.get(key)
        schema, read = found or self._remember_reader(key, self._schema(node["schema"]))
        self._remember_head(data, node["schema"], (schema, read))
        return SchemaAndValue(schema, read(node["payload"]))

    def _payload(self, data: bytes) -> tuple[_Known, object] | None:
        """The reader for the payload of a message whose first bytes are known, and the payload."""
        end = data.find(_PAYLOAD) + len(_PAYLOAD)
        known = self._heads.get(data[:end])
        if known is None:
            return None
        text = data[end:].decode().lstrip(_BLANKS)
        decoder = _EXACT if _DECIMAL in data else _PLAIN
        payload, behind = decoder.raw_decode(text)
        return (known, payload) if text[behind:].strip(_BLANKS) == "}" else None

    def _remember_head(self, data: bytes, schema: object, known: _Known) -> None:
        """Remembers the bytes before the payload, where a payload and a brace are all that is missing behind them."""
        head = data[: data.find(_PAYLOAD) + len(_PAYLOAD)]
        try:
            is_head = _EXACT.decode(f"{head.decode()}null}}") == {"schema": schema, "payload": None}
        except ValueError:
            return
        if is_head:
            _forget_oldest(self._heads, self._limit)
            self._heads[head] = known

    def _schema(self, node: object) -> Schema | None:
        if node is None:
            return None
        return schema_from_json(node, lambda schema, default: reader(schema, replace_null=self._replace_null)(default))

    def _remember_reader(self, key: str, schema: Schema | None) -> _Known:
        made = (schema, reader(schema, replace_null=self._replace_null))
        _forget_oldest(self._readers, self._limit)
        self._readers[key] = made
        return made

    def _remember_writer(self, schema: Schema | None) -> tuple[str, Write]:
        made = (self._head(schema), writer(schema, self._option))
        _forget_oldest(self._writers, self._limit)
        self._writers[schema] = made
        return made

    def _remember_column_writer(self, schema: Schema | None) -> tuple[str, ColumnWrite]:
        made = (self._head(schema), column_writer(schema, self._option))
        _forget_oldest(self._column_writers, self._limit)
        self._column_writers[schema] = made
        return made

    def _remember_column_reader(self, schema: Schema | None) -> ColumnRead:
        made = column_reader(schema, replace_null=self._replace_null)
        _forget_oldest(self._column_readers, self._limit)
        self._column_readers[schema] = made
        return made

    def _head(self, schema: Schema | None) -> str:
        """The schema as JSON, where messages carry it."""
        if schema is None or not self._enveloped:
            return "null"
        members = schema_members(schema, quoted, lambda each, value: writer(each, self._option)(value))
        return f"{{{members}}}"


K = TypeVar("K")
V = TypeVar("V")
_MISSING: Final = object()


def _forget_oldest(kept: dict[K, V], limit: int) -> None:
    if len(kept) >= limit:
        del kept[next(iter(kept))]


def _no_number(text: str) -> NoReturn:
    raise ValueError(f"{text} is not JSON")


_PLAIN: Final = json.JSONDecoder(parse_constant=_no_number)
_EXACT: Final = json.JSONDecoder(parse_constant=_no_number, parse_float=Decimal)
"""Where a schema of decimals may be: their digits must not pass through a float."""


def _encoding(data: bytes) -> str:
    # Fast path: two characters of ASCII begin nearly every message.
    return "utf-8" if len(data) > 1 and 0 < data[0] < 0x80 and data[1] else json.detect_encoding(data)


def _bare(data: bytes | None) -> object:
    """A value without schema."""
    if data is None:
        return None
    node = _parsed(data)
    if node is _MISSING:
        return None
    return read_bare(node) if _DECIMAL in data else node


def _parsed(data: bytes) -> object:
    """The first document in the bytes; `_MISSING` if there is none."""
    text = data.decode(_encoding(data)).lstrip(_BLANKS)
    if not text:
        if data.strip(b" \t\r\n"):
            raise ValueError("there is only a byte order mark")
        return _MISSING
    decoder = _EXACT if _DECIMAL in data else _PLAIN
    try:
        return _first(decoder, text)
    except ValueError:
        shorter = _ZEROS.sub(r"\1\2", text)
        if shorter == text:
            raise
        return _first(decoder, shorter)


def _first(decoder: json.JSONDecoder, text: str) -> object:
    """The first document of a text. Behind a number there has to be an end: `0012` is not the number 0."""
    node, end = decoder.raw_decode(text)
    if isinstance(node, (int, float, Decimal)) or node is None:
        behind = text[end : end + 1]
        is_word = node is None or isinstance(node, bool)
        if behind and (behind.isalnum() or behind in "_$" if is_word else behind not in _BLANKS):
            raise ValueError(f"{behind} follows a value")
    return node
