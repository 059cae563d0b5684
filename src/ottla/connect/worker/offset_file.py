"""The file of a standalone worker's offsets, as Kafka Connect writes it: a Java `HashMap` of byte arrays. Pure.

Keys and values are those of the offsets topic. What Java's serialization can say beyond such a map is refused.
"""

import struct
from collections.abc import Mapping
from typing import Final

from ottla.connect.errors import ConnectError

_HEAD: Final = b"\xac\xed\x00\x05"
_OBJECT, _ARRAY, _CLASS, _REFERENCE, _BLOCK, _END, _NULL = b"s", b"u", b"r", b"q", b"w", b"x", b"p"
_MAP_CLASS: Final = (
    _CLASS + b"\x00\x11java.util.HashMap\x05\x07\xda\xc1\xc3\x16\x60\xd1\x03\x00\x02"
    b"F\x00\x0aloadFactorI\x00\x09threshold" + _END + _NULL
)
_BYTES_CLASS: Final = _CLASS + b"\x00\x02[B\xac\xf3\x17\xf8\x06\x08\x54\xe0\x02\x00\x00" + _END + _NULL
_FIRST_HANDLE: Final = 0x7E0000
_BYTES_HANDLE: Final = _FIRST_HANDLE + 2
"""Behind those of the map's class and of the map."""
_LOAD_FACTOR: Final = 0.75


def encode_offsets(offsets: Mapping[bytes, bytes | None]) -> bytes:
    """The file.

    >>> decode_offsets(encode_offsets({b"a": b"1", b"b": None}))
    {b'a': b'1', b'b': None}
    """
    capacity = 16
    while capacity * _LOAD_FACTOR < len(offsets):
        capacity *= 2
    parts = [_HEAD, _OBJECT, _MAP_CLASS, struct.pack(">fi", _LOAD_FACTOR, int(capacity * _LOAD_FACTOR))]
    parts.append(_BLOCK + b"\x08" + struct.pack(">ii", capacity, len(offsets)))
    described = _BYTES_CLASS
    for data in (each for pair in offsets.items() for each in pair):
        if data is None:
            parts.append(_NULL)
            continue
        parts += [_ARRAY, described, struct.pack(">i", len(data)), data]
        described = _REFERENCE + struct.pack(">i", _BYTES_HANDLE)
    return b"".join([*parts, _END])


def decode_offsets(data: bytes) -> dict[bytes, bytes | None]:
    """The offsets in a file. Raises `ConnectError` for another file."""
    reader = _Reader(data)
    try:
        return reader.map()
    except (struct.error, IndexError) as error:
        raise ConnectError("The file of offsets is cut off") from error


class _Reader:
    def __init__(self, data: bytes) -> None:
        self._data: Final = data
        self._at = 0
        self._arrays: Final[dict[int, bytes]] = {}
        """By their handles: Java writes what it has written before as a reference."""
        self._handle = _BYTES_HANDLE

    def map(self) -> dict[bytes, bytes | None]:
        self._expect(_HEAD + _OBJECT + _MAP_CLASS)
        self._at += 8
        self._expect(_BLOCK + b"\x08")
        _, count = struct.unpack(">ii", self._take(8))
        found: dict[bytes, bytes | None] = {}
        for _ in range(count):
            key = self._bytes()
            if key is None:
                raise ConnectError("The file of offsets has one without a key")
            found[key] = self._bytes()
        self._expect(_END)
        return found

    def _bytes(self) -> bytes | None:
        kind = self._take(1)
        if kind == _NULL:
            return None
        if kind == _REFERENCE:
            return self._known()
        if kind != _ARRAY:
            raise ConnectError("The file of offsets has something else than byte arrays")
        if self._data[self._at : self._at + 1] == _REFERENCE:
            self._expect(_REFERENCE + struct.pack(">i", _BYTES_HANDLE))
        else:
            self._expect(_BYTES_CLASS)
            self._handle += 1
        (size,) = struct.unpack(">i", self._take(4))
        found = self._arrays[self._handle] = self._take(size)
        self._handle += 1
        return found

    def _known(self) -> bytes:
        (handle,) = struct.unpack(">i", self._take(4))
        if handle not in self._arrays:
            raise ConnectError("The file of offsets refers to what is not in it")
        return self._arrays[handle]

    def _expect(self, wanted: bytes) -> None:
        found = self._data[self._at : self._at + len(wanted)]
        if not wanted.startswith(found):
            raise ConnectError("The file of offsets is not one that Kafka Connect writes: move it away to begin anew")
        self._take(len(wanted))

    def _take(self, count: int) -> bytes:
        found = self._data[self._at : self._at + count]
        if count < 0 or len(found) < count:
            raise IndexError
        self._at += count
        return found
