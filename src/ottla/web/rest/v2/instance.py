"""One consumer of version 2's: a consumer of ours behind a URL, used by one request at a time.

Records that an answer had no room for are read again with the next request. So a commit without offsets covers what was
handed out, and nothing else.
"""

import asyncio
import re
from collections.abc import Mapping
from typing import Any, Final, cast

from ottla.base.errors import OttlaError
from ottla.base.frozen import frozen
from ottla.base.regex.linear_regex import LinearRegex
from ottla.base.regex.syntax import RegexError
from ottla.client.consumer.async_consumer import AsyncConsumer
from ottla.client.consumer.fetch.record import Record
from ottla.client.errors import SerializationError
from ottla.client.record import OffsetAndMetadata, TopicPartition
from ottla.web.http.errors import HttpError
from ottla.web.rest.record.format import EmbeddedFormat, decode_plain
from ottla.web.rest.record.schema import SchemaBook

_SLICE_S: Final = 0.25
"""How long a poll holds the consumer: who closes it waits no longer."""
_CLOSE_S: Final = 10.0


@frozen
class ReadLimits:
    """The limits at which a read ends."""

    timeout_s: float
    bytes_min: int
    bytes_max: int


class ConsumerInstance:
    """A consumer with a format."""

    def __init__(self, settings: Mapping[str, object], kind: EmbeddedFormat, book: SchemaBook) -> None:
        """Raises `ConfigError` for settings that a consumer does not take."""
        self.kind: Final = kind
        self.lock: Final = asyncio.Lock()
        """Held by the request that uses the consumer."""
        self.consumer: Final = AsyncConsumer(settings)
        self.wait_ms = 1_000
        """How long a read waits that does not say it."""
        self.bytes_min = -1
        """The bytes that it waits for; -1 is any record."""
        self.used_at = 0.0
        """When a request used it last, on the event loop's clock."""
        self.is_closed = False
        self._book: Final = book

    async def read(self, limits: ReadLimits) -> list[dict[str, Any]]:
        """Records as JSON, as many as fit, as soon as there are enough; none after the time-out."""
        loop = asyncio.get_running_loop()
        deadline = loop.time() + limits.timeout_s
        taken: list[dict[str, Any]] = []
        size = 0
        while True:
            left = max(0.0, deadline - loop.time())
            records = list(await self.consumer.poll(min(left, _SLICE_S)))
            for index, record in enumerate(records):
                record_bytes = len(record.key or b"") + len(record.value or b"")
                if taken and size + record_bytes > limits.bytes_max:
                    self._give_back(records[index:])
                    return taken
                try:
                    taken.append(await self._shown(record))
                except OttlaError:
                    # What was read before it is handed out; the one that can't be shown is met again, first.
                    self._give_back(records[index:])
                    if taken:
                        return taken
                    raise
                size += record_bytes
            if deadline <= loop.time() or (taken and (size >= limits.bytes_min or not records)):
                return taken

    def subscribe(self, topics: list[str], pattern: str | None) -> None:
        """Shares topics with the group."""
        if pattern is None:
            self.consumer.subscribe(topics)
            return
        try:
            self.consumer.subscribe(pattern=cast("re.Pattern[str]", _TopicPattern(pattern)))
        except RegexError as error:
            raise HttpError(422, f"topic_pattern is no regular expression: {error}") from None

    async def seek(
        self, offsets: Mapping[TopicPartition, OffsetAndMetadata], times: Mapping[TopicPartition, int]
    ) -> None:
        """Goes on at offsets, or at the first records of times."""
        for partition, offset in offsets.items():
            self.consumer.seek(partition, offset)
        if times:
            found = await self.consumer.offsets_for_times(times)
            for partition, place in found.items():
                if place is None:
                    self.consumer.seek_to_end([partition])
                else:
                    self.consumer.seek(partition, place.offset)

    async def close(self) -> None:
        """Leaves the group."""
        async with self.lock:
            self.is_closed = True
            await self.consumer.close(_CLOSE_S)

    def _give_back(self, records: list[Record]) -> None:
        """Has records read again."""
        first: dict[TopicPartition, int] = {}
        for record in records:
            first.setdefault(TopicPartition(record.topic, record.partition), record.offset)
        for partition, offset in first.items():
            self.consumer.seek(partition, offset)

    async def _shown(self, record: Record) -> dict[str, Any]:
        return {
            "topic": record.topic,
            "key": await self._decoded(record, record.key, is_key=True),
            "value": await self._decoded(record, record.value, is_key=False),
            "partition": record.partition,
            "offset": record.offset,
        }

    async def _decoded(self, record: Record, data: bytes | None, *, is_key: bool) -> Any:
        try:
            if data is None or self.kind.schema_type is None:
                return decode_plain(self.kind, data)
            return await self._book.decode(data, list(record.headers), self.kind, is_key=is_key)
        except SerializationError as error:
            # The place tells where to seek: without that every read meets this record again.
            raise SerializationError(f"{record.topic}-{record.partition}, offset {record.offset}: {error}") from error


class _TopicPattern:
    """A client's expression, matched in linear time: a backtracking matcher could be kept busy for years."""

    def __init__(self, text: str) -> None:
        self.pattern: Final = text
        self._regex: Final = LinearRegex(text)

    def fullmatch(self, name: str) -> bool:
        """Whether a topic's whole name matches."""
        return self._regex.matches(name)
