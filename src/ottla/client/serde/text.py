"""Text, in UTF-8 or what `key.serializer.encoding` and its like say in Kafka; here: an argument."""

import codecs
from collections.abc import Sequence
from typing import Final

from ottla.client.errors import SerializationError
from ottla.client.record import Header


class StringSerde:
    """Text as bytes.

    >>> StringSerde().serialize("topic", (), "grüß")
    b'gr\\xc3\\xbc\\xc3\\x9f'
    """

    def __init__(self, encoding: str = "utf-8") -> None:
        self.encoding: Final = codecs.lookup(encoding).name
        """By Python's name."""

    def serialize(self, topic: str, headers: Sequence[Header], value: str | None) -> bytes | None:
        """The encoded text; None stays None."""
        if value is None:
            return None
        if not isinstance(value, str):
            raise SerializationError(f"{type(value).__name__} is no text")
        try:
            return value.encode(self.encoding)
        except UnicodeEncodeError as error:
            raise SerializationError(f"{error.reason}, in {self.encoding}") from None

    def deserialize(self, topic: str, headers: Sequence[Header], data: bytes | None) -> str | None:
        """The decoded text; None stays None."""
        if data is None:
            return None
        try:
            return bytes(data).decode(self.encoding)
        except UnicodeDecodeError as error:
            raise SerializationError(f"{error.reason} at byte {error.start}, in {self.encoding}") from None
