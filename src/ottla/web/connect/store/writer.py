"""Writes records of the worker's topics, and returns once this worker has read them back."""

import asyncio
from collections.abc import Mapping, Sequence
from typing import Final

from ottla.client.producer.async_producer import AsyncProducer
from ottla.client.record import TopicPartition
from ottla.web.connect.store.reader import TopicReader

Record = tuple[bytes, bytes | None]


class TopicWriter:
    """The one writer of a worker."""

    def __init__(self, client: Mapping[str, object], reader: TopicReader, timeout_ms: int) -> None:
        self._client: Final = client
        self._reader: Final = reader
        self._timeout_ms: Final = timeout_ms
        self._producer: AsyncProducer | None = None

    async def write(self, topic: str, records: Sequence[Record]) -> None:
        """Writes records in their order; those of one key stay in one partition. Raises `OttlaError`."""
        if not records:
            return
        producer = await self._started()
        try:
            async with asyncio.timeout(self._timeout_ms / 1000):
                futures = [await producer.enqueue(topic, value, key) for key, value in records]
                written = await asyncio.gather(*futures)
        except BaseException:
            # What it still holds is given up: a record must not appear after its write was refused.
            await self.close()
            raise
        reached: dict[TopicPartition, int] = {}
        for each in written:
            place = TopicPartition(topic, each.partition)
            reached[place] = max(reached.get(place, 0), each.offset + 1)
        await self._reader.reach(reached)

    async def close(self) -> None:
        """Ends the producer."""
        producer, self._producer = self._producer, None
        if producer is not None:
            await producer.close(0)

    async def _started(self) -> AsyncProducer:
        if self._producer is None:
            limits = dict.fromkeys(("delivery.timeout.ms", "request.timeout.ms", "max.block.ms"), self._timeout_ms)
            producer = AsyncProducer(
                {**self._client, "acks": "all", "enable.idempotence": True, "linger.ms": 0, **limits}
            )
            await producer.start()
            self._producer = producer
        return self._producer
