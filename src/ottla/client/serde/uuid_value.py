"""UUIDs as the text that Kafka's Java serializer writes."""

import uuid
from collections.abc import Sequence

from ottla.client.errors import SerializationError
from ottla.client.record import Header


class UuidSerde:
    """A `uuid.UUID` as 36 characters.

    >>> UuidSerde().serialize("topic", (), uuid.UUID(int=7))
    b'00000000-0000-0000-0000-000000000007'
    """

    def serialize(self, topic: str, headers: Sequence[Header], value: uuid.UUID | None) -> bytes | None:
        """The text; None stays None."""
        if value is None:
            return None
        if not isinstance(value, uuid.UUID):
            raise SerializationError(f"{type(value).__name__} is no uuid.UUID")
        return str(value).encode()

    def deserialize(self, topic: str, headers: Sequence[Header], data: bytes | None) -> uuid.UUID | None:
        """The UUID; None stays None."""
        if data is None:
            return None
        try:
            return uuid.UUID(bytes(data).decode())
        except ValueError as error:
            raise SerializationError(f"no uuid: {error}") from None
