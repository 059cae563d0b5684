"""Serializers and deserializers for asyncio: what has to ask the registry waits in a thread, the rest never does."""

import asyncio
from collections.abc import Hashable, Sequence
from typing import Any, Final, Protocol

from ottla.client.record import Header
from ottla.client.serde.serializer import Deserializer, Serializer


class PreparedSerializer(Serializer, Protocol):
    """A serializer that can tell whether it would have to ask."""

    def is_ready(self, topic: str, value: object = None) -> bool:
        """Whether a value can be written without asking the registry."""
        ...


class AsyncSerializer:
    """`await serializer.serialize(topic, headers, value)`, over any serializer with a registry."""

    def __init__(self, serializer: PreparedSerializer) -> None:
        self._serializer: Final = serializer

    async def serialize(self, topic: str, headers: Sequence[Header], value: Any) -> bytes | None:
        """The framed bytes."""
        if self._serializer.is_ready(topic, value):
            return self._serializer.serialize(topic, headers, value)
        return await asyncio.to_thread(self._serializer.serialize, topic, headers, value)


class PreparedDeserializer(Deserializer, Protocol):
    """A deserializer that can tell which schema a record names."""

    def frame(self, headers: Sequence[Header], data: bytes) -> Hashable:
        """The key of the record's schema; equal for records that need the same answers of the registry."""
        ...


class AsyncDeserializer:
    """`await deserializer.deserialize(topic, headers, data)`, over any deserializer with a registry."""

    def __init__(self, deserializer: PreparedDeserializer) -> None:
        self._deserializer: Final = deserializer
        self._seen: Final[set[tuple[str, Hashable]]] = set()

    async def deserialize(self, topic: str, headers: Sequence[Header], data: bytes | None) -> Any:
        """Like the blocking deserializer; an unknown schema is fetched without blocking the loop."""
        if data is None:
            return self._deserializer.deserialize(topic, headers, data)
        frame = (topic, self._deserializer.frame(headers, data))
        if frame in self._seen:
            return self._deserializer.deserialize(topic, headers, data)
        value = await asyncio.to_thread(self._deserializer.deserialize, topic, headers, data)
        self._seen.add(frame)
        return value
