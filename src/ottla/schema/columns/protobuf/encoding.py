"""Arrow columns as Protobuf records of one message."""

from typing import Any, Final

from ottla.schema.columns.encoding import encoded, one_array
from ottla.schema.columns.protobuf.decoding import message_descriptor, place_of
from ottla.schema.columns.protobuf.shape import MessageShapes
from ottla.schema.columns.protobuf.writing import MessagePlan
from ottla.schema.protobuf.message_index import indexes_of
from ottla.schema.protobuf.schema import ProtobufSchema


class ProtobufRecords:
    """Writes rows as records, each after the place of its message; a null row stays null.

    >>> import pyarrow as pa
    >>> from ottla.schema.protobuf.parse import parse
    >>> records = ProtobufRecords(parse('syntax = "proto3"; message M { int32 a = 1; }', (), {}, strict=True))
    >>> records.encode(pa.array([{"a": 7}, {"a": 0}, None]))[0].to_pylist()
    [b'\\x00\\x08\\x07', b'\\x00', None]
    """

    def __init__(self, schema: ProtobufSchema, message: str | None = None) -> None:
        self.schema: Final = schema
        self._descriptor: Final = message_descriptor(schema, message)
        self.indexes: Final = indexes_of(schema.file, self._descriptor.full_name)
        MessageShapes(self._descriptor)  # refuses what has no columns

    @property
    def name(self) -> str:
        """The message's full name."""
        return str(self._descriptor.full_name)

    def encode(self, rows: Any, prefix: bytes = b"") -> tuple[Any, dict[int, str]]:
        """The records, each with the prefix before it, and why rows could not be written; as `AvroRecords.encode`."""
        return encoded(MessagePlan(self._descriptor, one_array(rows)), prefix + place_of(self.indexes))
