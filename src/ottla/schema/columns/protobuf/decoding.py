"""Columns of Protobuf records, of one message in any versions of its schema, as Arrow arrays of the reader's."""

from typing import Any, Final

import pyarrow as pa

from ottla.schema.columns.arrow import decoded
from ottla.schema.columns.default import number
from ottla.schema.columns.protobuf.decoder import MessageDecoder
from ottla.schema.columns.protobuf.layout import MessageProgram
from ottla.schema.columns.protobuf.shape import MessageShapes
from ottla.schema.error import InvalidSchemaError
from ottla.schema.protobuf.descriptor.pool import descriptor_pool
from ottla.schema.protobuf.message_index import indexes_of
from ottla.schema.protobuf.schema import ProtobufSchema


class ProtobufColumns:
    """Reads records into columns of one message, by default the schema's first.

    >>> from ottla.schema.protobuf.parse import parse
    >>> columns = ProtobufColumns(parse('syntax = "proto3"; message M { int32 a = 1; }', (), {}, strict=True))
    >>> records, program = pa.array([b"\\0\\x08\\x07", b"\\0\\x08"]), columns.add(columns.schema)
    >>> array, flaws = columns.decode(records, pa.array([program] * 2))
    >>> array.to_pylist(), flaws
    ([{'a': 7}, None], {1: 'the record ends in the middle of a value, at byte 2'})
    """

    def __init__(self, schema: ProtobufSchema, message: str | None = None) -> None:
        self.schema: Final = schema
        self.descriptor: Final = message_descriptor(schema, message)
        self._shapes: Final = MessageShapes(self.descriptor)
        self._decoder: Final = MessageDecoder(self._shapes.slots, self._shapes.layout)
        self._programs: Final[list[MessageProgram]] = []

    @property
    def type(self) -> Any:
        """The Arrow type of what is decoded."""
        return self._shapes.root.type

    def add(self, writer: ProtobufSchema) -> int:
        """The number of the program for a writer's schema, in which the message has the same name."""
        name = self.descriptor.full_name
        try:
            place, reason = place_of(indexes_of(writer.file, name)), f"the record is no {name} but another message"
        except InvalidSchemaError as error:
            place, reason = b"", error.message
        program = MessageProgram(place, (reason, *self._shapes.layout.reasons[1:]))
        self._programs.append(program)
        return self._decoder.add(program)

    def decode(self, records: Any, programs: Any, skip: int = 0) -> tuple[Any, dict[int, str]]:
        """The array, and why rows could not be read, which are null in it; as `AvroColumns.decode`.

        A record begins with the place of its message.
        """
        return decoded(self._decoder, self._shapes, self._programs, (records, programs.cast(pa.int32()), skip))


def message_descriptor(schema: ProtobufSchema, message: str | None) -> Any:
    """`protobuf`'s descriptor of a message, or of the schema's first one."""
    name = message or schema.name or ""
    try:
        return descriptor_pool(schema).FindMessageTypeByName(name)
    except KeyError:
        raise InvalidSchemaError(f"the schema has no message {name}") from None


def place_of(indexes: tuple[int, ...]) -> bytes:
    """The place of a message as it stands before records.

    >>> place_of((0,)).hex(), place_of((2, 1)).hex()
    ('00', '040402')
    """
    return b"\0" if indexes == (0,) else b"".join(map(number, (len(indexes), *indexes)))
