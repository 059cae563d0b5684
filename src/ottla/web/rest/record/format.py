"""The formats of keys and values in requests, and the conversion of the three without a schema."""

import base64
import binascii
import enum
import json
from typing import Any, Final

from ottla.client.errors import SerializationError
from ottla.schema.schema_type import SchemaType
from ottla.web.http.answer import json_bytes
from ottla.web.rest.errors import bad_request

_SHOWN_MAX: Final = 80


class EmbeddedFormat(enum.Enum):
    """The kinds of keys and values."""

    BINARY = "BINARY"
    JSON = "JSON"
    STRING = "STRING"
    AVRO = "AVRO"
    JSONSCHEMA = "JSONSCHEMA"
    PROTOBUF = "PROTOBUF"

    @property
    def schema_type(self) -> SchemaType | None:
        """The type of its schemas, None for a format without."""
        return _SCHEMA_TYPES.get(self)


_SCHEMA_TYPES: Final = {
    EmbeddedFormat.AVRO: SchemaType.AVRO,
    EmbeddedFormat.JSONSCHEMA: SchemaType.JSON,
    EmbeddedFormat.PROTOBUF: SchemaType.PROTOBUF,
}
_FORMATS: Final = {kind: each for each, kind in _SCHEMA_TYPES.items()}


def format_of(schema_type: SchemaType) -> EmbeddedFormat:
    """The format whose schemas are of this type."""
    return _FORMATS[schema_type]


def encode_plain(kind: EmbeddedFormat, data: Any) -> bytes | None:
    """The bytes of a key or value without a schema; null is no bytes.

    >>> encode_plain(EmbeddedFormat.BINARY, "YQ=="), encode_plain(EmbeddedFormat.JSON, {"a": 1})
    (b'a', b'{"a":1}')
    """
    if data is None:
        return None
    if kind is EmbeddedFormat.JSON:
        return json_bytes(data)
    if kind is EmbeddedFormat.STRING:
        if not isinstance(data, str):
            raise bad_request(f"data={_shown(data)} is not a string.")
        return data.encode("utf-8", "replace")
    if not isinstance(data, str):
        raise bad_request(f"data={_shown(data)} is not a base64 string.")
    decoded = base64_bytes(data)
    if decoded is None:
        raise bad_request(f"data={_shown(data)} is not a valid base64 string.")
    return decoded


def base64_bytes(text: str) -> bytes | None:
    """The bytes that base64 stands for, its padding optional; None for invalid text.

    >>> base64_bytes("YQ"), base64_bytes("YQ=="), base64_bytes("!")
    (b'a', b'a', None)
    """
    try:
        return binascii.a2b_base64(text + "=" * (-len(text) % 4), strict_mode=True)
    except (binascii.Error, ValueError):
        return None


def decode_plain(kind: EmbeddedFormat, data: bytes | None) -> Any:
    """A key or value without a schema as JSON. Raises `SerializationError` for bytes that are no JSON."""
    if data is None:
        return None
    if kind is EmbeddedFormat.BINARY:
        return base64.b64encode(data).decode()
    if kind is EmbeddedFormat.STRING:
        return data.decode("utf-8", "replace")
    try:
        return json.loads(data)
    except (ValueError, RecursionError) as error:
        raise SerializationError(f"the record is not JSON: {error}") from None


def _shown(data: Any) -> str:
    text = json_bytes(data).decode("utf-8", "replace")
    return text if len(text) <= _SHOWN_MAX else f"{text[:_SHOWN_MAX]}…"
