"""The converters that need no format: strings, bytes, numbers, and the guessing one for headers."""

import struct
from collections.abc import Mapping, Sequence
from typing import ClassVar, Final, cast

from ottla.base.config_type import ConfigType
from ottla.connect.config.definition import ConfigDef, ConfigKey, Importance, Width
from ottla.connect.converter.converter import CONVERTER_TYPE, Converter, Values
from ottla.connect.data.column import Column
from ottla.connect.data.java_text import java_text
from ottla.connect.data.literal import literal, parse_literal
from ottla.connect.data.schema import NULL, OPTIONAL_BYTES, OPTIONAL_STRING, Schema, SchemaAndValue
from ottla.connect.data.struct import java_class
from ottla.connect.data.type import BITS, Float32, Int16, Int32, Type, fits
from ottla.connect.errors import DataError, InvalidConfigError

_PACKAGE: Final = "org.apache.kafka.connect"


class StringConverter(Converter):
    """Text: what `toString` prints of any value, and strings back. Bytes that are no text become U+FFFD."""

    java_name = f"{_PACKAGE}.storage.StringConverter"
    config_def: ClassVar[ConfigDef] = ConfigDef(
        CONVERTER_TYPE,
        ConfigKey("converter.encoding", ConfigType.STRING, "UTF-8", "The encoding of the text.",
                  importance=Importance.HIGH, width=Width.MEDIUM, display="Encoding"),
    )  # fmt: skip

    def __init__(self) -> None:
        self._encoding = "utf-8"

    def configure(self, given: Mapping[str, str], *, is_key: bool) -> None:
        """Reads the encoding."""
        self._encoding = given.get("converter.encoding", "UTF-8").strip()
        try:
            "".encode(self._encoding)
        except LookupError as error:
            raise InvalidConfigError.of("converter.encoding", self._encoding, "there is no such encoding") from error

    @property
    def is_utf8(self) -> bool:
        """Whether its bytes are UTF-8."""
        return self._encoding.lower() in ("utf-8", "utf8")

    def from_connect(self, topic: str, schema: Schema | None, value: object) -> bytes | None:
        """The value as text."""
        if value is None:
            return None
        text = value if isinstance(value, str) else java_text(value, schema)
        return text.encode(self._encoding, "replace")

    is_columnar = True

    def from_connect_all(self, topic: str, column: Column) -> Sequence[bytes | None]:
        """The values as texts."""
        values = column.rows()
        if self.is_utf8 and set(map(type, values)) == {str}:
            return list(map(str.encode, cast(Sequence[str], values)))
        return super().from_connect_all(topic, column)

    def to_connect_all(self, topic: str, data: Sequence[bytes | None]) -> Sequence[Values]:
        """The texts."""
        encoding = self._encoding
        return [(OPTIONAL_STRING, [None if each is None else each.decode(encoding, "replace") for each in data])]

    def to_connect(self, topic: str, data: bytes | None) -> SchemaAndValue:
        """The text; no bytes are null."""
        return SchemaAndValue(OPTIONAL_STRING, None if data is None else data.decode(self._encoding, "replace"))


class ByteArrayConverter(Converter):
    """Bytes as they are."""

    java_name = f"{_PACKAGE}.converters.ByteArrayConverter"
    is_columnar = True

    def to_connect_all(self, topic: str, data: Sequence[bytes | None]) -> Sequence[Values]:
        """The bytes."""
        return [(OPTIONAL_BYTES, data)]

    def from_connect(self, topic: str, schema: Schema | None, value: object) -> bytes | None:
        """The bytes."""
        if schema is not None and schema.type is not Type.BYTES:
            raise DataError(f"Invalid schema type for ByteArrayConverter: {schema.type}")
        if value is None:
            return None
        if not isinstance(value, (bytes, bytearray, memoryview)):
            raise DataError(f"ByteArrayConverter is not compatible with objects of type class {java_class(value)}")
        return bytes(value)

    def to_connect(self, topic: str, data: bytes | None) -> SchemaAndValue:
        """The bytes."""
        return SchemaAndValue(OPTIONAL_BYTES, data)


class NumberConverter(Converter):
    """A number of fixed width, big-endian."""

    kind: ClassVar[Type]
    format: ClassVar[struct.Struct]
    word: ClassVar[str]
    marked: ClassVar[type]

    def __init__(self) -> None:
        self._schema: Final = Schema(self.kind, optional=True)
        self.java_name = f"{_PACKAGE}.converters.{type(self).__name__}"

    def from_connect(self, topic: str, schema: Schema | None, value: object) -> bytes | None:
        """The number's bytes; a number of another width is refused."""
        if value is None:
            return None
        if not self._accepts(value, schema):
            raise DataError(f"Failed to serialize to {self.word} (was class {java_class(value, schema)}): ")
        return self.format.pack(value)

    def _accepts(self, value: object, schema: Schema | None) -> bool:
        if isinstance(value, bool) or not isinstance(value, (int, float)):
            return False
        if schema is not None and schema.type is self.kind:
            return self.kind not in BITS or (isinstance(value, int) and fits(self.kind, value))
        # Kafka looks at the class of the value alone: without its own schema, the width must be marked.
        return type(value) is self.marked and (schema is None or schema.type not in BITS)

    def to_connect(self, topic: str, data: bytes | None) -> SchemaAndValue:
        """The number; `DataError` if there are too few or too many bytes."""
        if data is None:
            return SchemaAndValue(self._schema, None)
        if len(data) != self.format.size:
            raise DataError(f"Failed to deserialize {self.word}: ") from DataError(
                f"Size of data received by {self.word.capitalize()}Deserializer is not {self.format.size}"
            )
        return SchemaAndValue(self._schema, self.format.unpack(data)[0])


class ShortConverter(NumberConverter):
    """16 bits."""

    kind, format, word, marked = Type.INT16, struct.Struct(">h"), "short", Int16


class IntegerConverter(NumberConverter):
    """32 bits."""

    kind, format, word, marked = Type.INT32, struct.Struct(">i"), "integer", Int32


class LongConverter(NumberConverter):
    """64 bits."""

    kind, format, word, marked = Type.INT64, struct.Struct(">q"), "long", int


class FloatConverter(NumberConverter):
    """A decimal number of 32 bits."""

    kind, format, word, marked = Type.FLOAT32, struct.Struct(">f"), "float", Float32


class DoubleConverter(NumberConverter):
    """A decimal number of 64 bits."""

    kind, format, word, marked = Type.FLOAT64, struct.Struct(">d"), "double", float


class BooleanConverter(NumberConverter):
    """One byte, 0 or 1.

    >>> BooleanConverter().from_connect("t", None, True)
    b'\\x01'
    """

    kind, format, word, marked = Type.BOOLEAN, struct.Struct(">?"), "boolean", bool

    def from_connect(self, topic: str, schema: Schema | None, value: object) -> bytes | None:
        """The byte; another schema or value is refused."""
        if schema is not None and schema.type is not Type.BOOLEAN:
            raise DataError(f"Invalid schema type for BooleanConverter: {schema.type}")
        if value is not None and not isinstance(value, bool):
            raise DataError(f"BooleanConverter is not compatible with objects of type class {java_class(value)}")
        return None if value is None else self.format.pack(value)

    def to_connect(self, topic: str, data: bytes | None) -> SchemaAndValue:
        """The boolean; `DataError` for another byte."""
        if data not in (None, b"\0", b"\1") and len(data or b"") == 1:
            raise DataError("Failed to deserialize boolean: ") from DataError(
                f"Unexpected byte received by BooleanDeserializer: {(data or b'')[0]}"
            )
        return super().to_connect(topic, data)


class SimpleHeaderConverter(Converter):
    """Text whose type is guessed: the default for headers."""

    java_name = f"{_PACKAGE}.storage.SimpleHeaderConverter"
    config_def: ClassVar[ConfigDef] = ConfigDef()

    def from_connect(self, topic: str, schema: Schema | None, value: object) -> bytes | None:
        """The value as text."""
        return None if value is None else literal(value, schema).encode("utf-8", "replace")

    def to_connect(self, topic: str, data: bytes | None) -> SchemaAndValue:
        """What the text stands for."""
        return NULL if data is None else parse_literal(data.decode("utf-8", "replace"))
