"""Unsigned varints outside of messages: in the frames of stored records."""

from ottla.base.buffer import Buffer
from ottla.protocol.errors import DecodeError


def uvarint(value: int) -> bytes:
    """The varint of a number from 0 to 2³¹ - 1.

    >>> uvarint(1).hex(), uvarint(300).hex()
    ('01', 'ac02')
    """
    if not 0 <= value <= 0x7FFFFFFF:
        raise ValueError(f"{value} is not within 0 … 2147483647")
    out = bytearray()
    while value > 0x7F:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    out.append(value)
    return bytes(out)


def read_uvarint(buffer: Buffer, position: int) -> tuple[int, int]:
    """The number at `position` and the position behind it."""
    value = 0
    for index in range(5):
        if position + index >= len(buffer):
            raise DecodeError("a varint cut short", position=position)
        byte = buffer[position + index]
        value |= (byte & 0x7F) << (7 * index)
        if byte < 0x80:
            if value > 0x7FFFFFFF:
                break
            return value, position + index + 1
    raise DecodeError("a varint past 2147483647", position=position)
