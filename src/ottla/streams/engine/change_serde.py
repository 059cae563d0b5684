"""A table's change on its way to another group: both sides in Kafka Streams' format.

new and old: length of new (varint) │ new │ old │ 2          new: new │ 1          old: old │ 0
"""

from typing import Any

from ottla.streams.errors import RecordDecodeError, RecordEncodeError
from ottla.streams.record import Change, Headers
from ottla.streams.serde import Serde

_OLD, _NEW, _BOTH = 0, 1, 2


class ChangeSerde:
    """Encodes changes with the serde of their values."""

    def __init__(self, inner: Serde[Any]) -> None:
        self._inner = inner

    def serialize(self, topic: str, headers: Headers, value: Change | None) -> bytes | None:
        """The change's bytes; a change without both sides says nothing."""
        if value is None:
            return None
        new = self._inner.serialize(topic, headers, value[0])
        old = self._inner.serialize(topic, headers, value[1])
        if new is not None and old is not None:
            return _zigzag(len(new)) + new + old + bytes((_BOTH,))
        if new is not None:
            return new + bytes((_NEW,))
        if old is not None:
            return old + bytes((_OLD,))
        raise RecordEncodeError("both the old and the new side of a change are None")

    def deserialize(self, topic: str, headers: Headers, data: bytes | None) -> Change | None:
        """The change."""
        if not data:
            return None
        flag, body = data[-1], data[:-1]
        if flag == _NEW:
            return Change(self._inner.deserialize(topic, headers, body))
        if flag == _OLD:
            return Change(None, self._inner.deserialize(topic, headers, body))
        if flag != _BOTH:
            raise RecordDecodeError(f"a change with the unknown flag {flag}: was it written by an older Kafka Streams?")
        length, at = _unzigzag(body)
        new = self._inner.deserialize(topic, headers, body[at : at + length])
        return Change(new, self._inner.deserialize(topic, headers, body[at + length :]))


def _zigzag(number: int) -> bytes:
    number <<= 1
    parts = bytearray()
    while number > 0x7F:
        parts.append(number & 0x7F | 0x80)
        number >>= 7
    parts.append(number)
    return bytes(parts)


def _unzigzag(data: bytes) -> tuple[int, int]:
    number = shift = at = 0
    while True:
        byte = data[at]
        number |= (byte & 0x7F) << shift
        at, shift = at + 1, shift + 7
        if not byte & 0x80:
            return number >> 1, at
