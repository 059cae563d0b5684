"""The frames by which a record names its schema.

Before the payload: a zero byte and the id in four bytes. Or, before a bare payload, in a header: a one byte, the GUID.
Protobuf adds the place of its message: the count of indexes and each of them, as zigzag varints; (0,), which nearly all
have, is a single zero byte. Readers look for the header first.
"""

import struct
import uuid
from collections.abc import Sequence
from typing import Final

from ottla.base.frozen import frozen
from ottla.client.errors import SerializationError
from ottla.client.record import Header

KEY_HEADER: Final = "__key_schema_id"
VALUE_HEADER: Final = "__value_schema_id"

_ID: Final = struct.Struct(">bI")
_BY_ID: Final = 0
_BY_GUID: Final = 1
_GUID_END: Final = 17
_INDEX_COUNT_MAX: Final = 64


@frozen
class SchemaReference:
    """The content of a frame: an id or a GUID, and the start of the payload."""

    schema_id: int | None
    guid: uuid.UUID | None
    payload: memoryview

    @property
    def label(self) -> str:
        """The schema's id or GUID as error messages name it."""
        return f"schema {self.schema_id if self.guid is None else self.guid}"


def id_frame(schema_id: int, indexes: Sequence[int] | None = None) -> bytes:
    """The prefix of a payload.

    >>> id_frame(7).hex(), id_frame(7, (0,)).hex(), id_frame(7, (1, 0)).hex()
    ('0000000007', '000000000700', '0000000007040200')
    """
    return _ID.pack(_BY_ID, schema_id) + (b"" if indexes is None else write_indexes(indexes))


def guid_frame(guid: uuid.UUID, indexes: Sequence[int] | None = None) -> bytes:
    """The value of the header."""
    return bytes([_BY_GUID]) + guid.bytes + (b"" if indexes is None else write_indexes(indexes))


def read_frame(data: bytes, headers: Sequence[Header], header: str) -> SchemaReference:
    """The frame of a record, from its header or else from its first bytes."""
    found = next((value for name, value in headers if name == header and value is not None), None)
    view = memoryview(data)
    if found is None:
        return _parse(view, "the data")
    reference = _parse(memoryview(found), f"the header {header}")
    # Protobuf's indexes follow the GUID in the header: they are read as if they stood before the payload.
    return SchemaReference(reference.schema_id, reference.guid, memoryview(bytes(reference.payload) + data))


def _parse(view: memoryview, what: str) -> SchemaReference:
    if len(view) >= _ID.size and view[0] == _BY_ID:
        return SchemaReference(_ID.unpack_from(view)[1], None, view[_ID.size :])
    if len(view) >= _GUID_END and view[0] == _BY_GUID:
        return SchemaReference(None, uuid.UUID(bytes=bytes(view[1:_GUID_END])), view[_GUID_END:])
    start = bytes(view[:6]).hex(" ")
    raise SerializationError(f"{what} ({len(view)} bytes: {start}) names no schema: no registry's serializer wrote it")


def write_indexes(indexes: Sequence[int]) -> bytes:
    """The place of a message.

    >>> write_indexes((0,)), write_indexes((2, 1))
    (b'\\x00', b'\\x04\\x04\\x02')
    """
    if tuple(indexes) == (0,):
        return b"\x00"
    return b"".join(_zigzag(number) for number in (len(indexes), *indexes))


def read_indexes(payload: memoryview) -> tuple[tuple[int, ...], memoryview]:
    """The place of a message, and the payload after it."""
    count, at = _unzigzag(payload, 0)
    if count == 0:
        return (0,), payload[at:]
    if not 0 < count <= _INDEX_COUNT_MAX:
        raise SerializationError(f"the message's place has {count} indexes")
    indexes: list[int] = []
    for _ in range(count):
        index, at = _unzigzag(payload, at)
        indexes.append(index)
    return tuple(indexes), payload[at:]


def _zigzag(number: int) -> bytes:
    value = number << 1 if number >= 0 else (-number << 1) - 1
    encoded = bytearray()
    while value > 0x7F:
        encoded.append(value & 0x7F | 0x80)
        value >>= 7
    encoded.append(value)
    return bytes(encoded)


def _unzigzag(view: memoryview, at: int) -> tuple[int, int]:
    value = 0
    for shift in range(0, 35, 7):
        if at >= len(view):
            raise SerializationError("the message's place is cut off")
        byte = view[at]
        at += 1
        value |= (byte & 0x7F) << shift
        if byte < 0x80:
            return (value >> 1) ^ -(value & 1), at
    raise SerializationError("the message's place has a number of more than 32 bits")
