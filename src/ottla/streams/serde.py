"""Serdes, which turn keys and values into bytes and back, by Kafka Streams' names.

Anything with `serialize(topic, headers, value)` and `deserialize(topic, headers, data)` is a serde: those of
`ottla.client.serde` are, the ones that ask a schema registry included. None stands for "no value" on both sides.
"""

import struct
from typing import Any, Final, Generic, Protocol, TypeVar, cast, runtime_checkable

from ottla.client.serde.json_value import JsonSerde
from ottla.client.serde.number import BooleanSerde, DoubleSerde, FloatSerde, IntegerSerde, LongSerde, ShortSerde
from ottla.client.serde.raw import BytesSerde
from ottla.client.serde.serializer import Deserializer, Serializer
from ottla.client.serde.text import StringSerde
from ottla.client.serde.uuid_value import UuidSerde
from ottla.streams.record import Headers, K, Window, Windowed

T = TypeVar("T")

_START: Final = struct.Struct(">q")
_SESSION: Final = struct.Struct(">qq")


@runtime_checkable
class Serde(Protocol[T]):
    """Converts values to bytes and back."""

    def serialize(self, topic: str, headers: Headers, value: T | None) -> bytes | None:
        """The value's bytes."""
        ...

    def deserialize(self, topic: str, headers: Headers, data: bytes | None) -> T | None:
        """The value that these bytes mean."""
        ...


class _PairSerde(Generic[T]):
    """A serializer and a deserializer that are two objects."""

    def __init__(self, serializer: Serializer, deserializer: Deserializer) -> None:
        self.serialize = serializer.serialize
        self.deserialize = deserializer.deserialize


class Serdes:
    """The serdes by name, as in `Serdes.string()`."""

    @staticmethod
    def string() -> Serde[str]:
        """Text in UTF-8."""
        return StringSerde()

    @staticmethod
    def bytes() -> "Serde[bytes]":
        """Bytes as they are."""
        return cast("Serde[Any]", BytesSerde())

    @staticmethod
    def short() -> Serde[int]:
        """16 bits, big-endian."""
        return cast("Serde[int]", ShortSerde())

    @staticmethod
    def integer() -> Serde[int]:
        """32 bits, big-endian."""
        return cast("Serde[int]", IntegerSerde())

    @staticmethod
    def long() -> Serde[int]:
        """64 bits, big-endian."""
        return cast("Serde[int]", LongSerde())

    @staticmethod
    def float() -> "Serde[float]":
        """32 bits of IEEE 754."""
        return cast("Serde[Any]", FloatSerde())

    @staticmethod
    def double() -> "Serde[Any]":
        """64 bits of IEEE 754."""
        return cast("Serde[Any]", DoubleSerde())

    @staticmethod
    def boolean() -> Serde[bool]:
        """One byte."""
        return BooleanSerde()

    @staticmethod
    def uuid() -> Serde[Any]:
        """A UUID as text."""
        return cast("Serde[Any]", UuidSerde())

    @staticmethod
    def json() -> Serde[Any]:
        """JSON without a schema, by the module `json`."""
        return JsonSerde()

    @staticmethod
    def serde_from(serializer: Serializer, deserializer: Deserializer) -> Serde[Any]:
        """A serde of two objects, such as an `AvroSerializer` and an `AvroDeserializer` with their registry."""
        return cast("Serde[Any]", _PairSerde[Any](serializer, deserializer))


class TimeWindowedSerde(Generic[K]):
    """Keys of time windows: the key, then the window's start. The size is not in the bytes: the reader must know it."""

    def __init__(self, inner: Serde[K], window_size_ms: int) -> None:
        self.inner: Final = inner
        self._size: Final = window_size_ms

    def serialize(self, topic: str, headers: Headers, value: Windowed[K] | None) -> bytes | None:
        """The key's bytes and eight of the start."""
        if value is None:
            return None
        return (self.inner.serialize(topic, headers, value.key) or b"") + _START.pack(value.window.start)

    def deserialize(self, topic: str, headers: Headers, data: bytes | None) -> Windowed[K] | None:
        """Key and window."""
        if not data:
            return None
        start: int = _START.unpack(data[-8:])[0]
        end = min(start + self._size, (1 << 63) - 1)
        return Windowed(cast("K", self.inner.deserialize(topic, headers, data[:-8])), Window(start, end))


class SessionWindowedSerde(Generic[K]):
    """Keys of sessions: the key, then the session's end, then its start."""

    def __init__(self, inner: Serde[K]) -> None:
        self.inner: Final = inner

    def serialize(self, topic: str, headers: Headers, value: Windowed[K] | None) -> bytes | None:
        """The key's bytes, eight of the end and eight of the start."""
        if value is None:
            return None
        bounds = _SESSION.pack(value.window.end, value.window.start)
        return (self.inner.serialize(topic, headers, value.key) or b"") + bounds

    def deserialize(self, topic: str, headers: Headers, data: bytes | None) -> Windowed[K] | None:
        """Key and session."""
        if not data:
            return None
        end, start = _SESSION.unpack(data[-16:])
        return Windowed(cast("K", self.inner.deserialize(topic, headers, data[:-16])), Window(start, end))


class WindowedSerdes:
    """Serdes of windowed keys, for topics that hold them."""

    @staticmethod
    def time_windowed_serde_from(inner: Serde[K], window_size_ms: int) -> Serde[Windowed[K]]:
        """For tumbling, hopping and sliding windows of this size."""
        return TimeWindowedSerde(inner, window_size_ms)

    @staticmethod
    def session_windowed_serde_from(inner: Serde[K]) -> Serde[Windowed[K]]:
        """For sessions."""
        return SessionWindowedSerde(inner)
