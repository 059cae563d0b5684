"""Bytes as they are, and nothing at all."""

from collections.abc import Sequence

from ottla.base.buffer import Buffer
from ottla.client.errors import SerializationError
from ottla.client.record import Header


class BytesSerde:
    """Bytes, from anything that holds bytes."""

    def serialize(self, topic: str, headers: Sequence[Header], value: Buffer | None) -> bytes | None:
        """Copies the bytes; None stays None."""
        if value is None or type(value) is bytes:
            return value
        try:
            return memoryview(value).tobytes()
        except TypeError:
            raise SerializationError(f"{type(value).__name__} is not bytes") from None

    def deserialize(self, topic: str, headers: Sequence[Header], data: bytes | None) -> bytes | None:
        """Returns the bytes as they are."""
        return data


class VoidSerde:
    """For topics whose keys or values are always null."""

    def serialize(self, topic: str, headers: Sequence[Header], value: None) -> None:
        """None, of None."""
        if value is not None:
            raise SerializationError("only None is allowed here")

    def deserialize(self, topic: str, headers: Sequence[Header], data: bytes | None) -> None:
        """None, of None."""
        if data is not None:
            raise SerializationError(f"{len(data)} bytes where nothing may be")
