"""Numbers in the form that Kafka's Java serializers give them: big-endian, of fixed size."""

import struct
from collections.abc import Sequence
from typing import ClassVar

from ottla.client.errors import SerializationError
from ottla.client.record import Header


class _NumberSerde:
    """The common base of numbers: a `struct` format decides size and range."""

    layout: ClassVar[struct.Struct]
    name: ClassVar[str]

    def serialize(self, topic: str, headers: Sequence[Header], value: float | None) -> bytes | None:
        """Big-endian; None stays None."""
        if value is None:
            return None
        try:
            return self.layout.pack(value)
        except (struct.error, OverflowError) as error:
            raise SerializationError(f"{value!r} is no {self.name}: {error}") from None

    def deserialize(self, topic: str, headers: Sequence[Header], data: bytes | None) -> float | None:
        """The number; None stays None."""
        if data is None:
            return None
        if len(data) != self.layout.size:
            raise SerializationError(f"{self.name} has {self.layout.size} bytes, not {len(data)}")
        value: float = self.layout.unpack(data)[0]
        return value


class ShortSerde(_NumberSerde):
    """16 bits."""

    layout = struct.Struct(">h")
    name = "short"


class IntegerSerde(_NumberSerde):
    """32 bits.

    >>> IntegerSerde().serialize("topic", (), -2).hex()
    'fffffffe'
    """

    layout = struct.Struct(">i")
    name = "integer"


class LongSerde(_NumberSerde):
    """64 bits."""

    layout = struct.Struct(">q")
    name = "long"


class FloatSerde(_NumberSerde):
    """32 bits of IEEE 754."""

    layout = struct.Struct(">f")
    name = "float"


class DoubleSerde(_NumberSerde):
    """64 bits of IEEE 754."""

    layout = struct.Struct(">d")
    name = "double"


class BooleanSerde:
    """One byte, 0 or 1."""

    def serialize(self, topic: str, headers: Sequence[Header], value: bool | None) -> bytes | None:
        """One byte; None stays None."""
        if value is None:
            return None
        if not isinstance(value, bool):
            raise SerializationError(f"{value!r} is neither True nor False")
        return b"\x01" if value else b"\x00"

    def deserialize(self, topic: str, headers: Sequence[Header], data: bytes | None) -> bool | None:
        """True or False; None stays None."""
        if data is None:
            return None
        if data not in (b"\x00", b"\x01"):
            raise SerializationError(f"{data!r} is neither 0 nor 1")
        return data == b"\x01"
