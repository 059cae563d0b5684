"""The specs and statuses of all pipelines, for tools outside of control processes."""

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any, Final

from ottla.base.errors import OttlaError
from ottla.base.frozen import frozen
from ottla.client.admin.async_admin import AsyncAdmin
from ottla.client.consumer.async_consumer import AsyncConsumer
from ottla.client.producer.async_producer import AsyncProducer
from ottla.client.record import TopicPartition
from ottla.pipelines.runner.control.option import ControlOptions
from ottla.pipelines.runner.control.topic import ensure_topics
from ottla.pipelines.runner.spec import InvalidSpecError, PipelineSpec
from ottla.pipelines.runner.status import PipelineStatus

_POLL_S: Final = 0.2


@frozen
class Entry:
    """One pipeline."""

    spec: PipelineSpec
    status: PipelineStatus | None = None


class PipelineCatalog:
    """Reads and writes the topics, with settings of Kafka clients."""

    def __init__(self, options: ControlOptions) -> None:
        self._options: Final = options

    async def entries(self) -> dict[str, Entry]:
        """All pipelines by name."""
        options = self._options
        settings = {**options.client, "enable.auto.commit": False, "auto.offset.reset": "earliest"}
        async with AsyncConsumer(settings) as consumer:
            specs = await _values(consumer, options.specs_topic)
            statuses = await _values(consumer, options.status_topic)
        found = {}
        for name, value in sorted(specs.items()):
            try:
                spec = PipelineSpec.from_json(name, value)
            except InvalidSpecError:
                continue
            status = statuses.get(name)
            found[name] = Entry(spec, None if status is None else PipelineStatus.from_json(status))
        return found

    async def entry(self, name: str) -> Entry:
        """One of them; `OttlaError` if there is none."""
        found = (await self.entries()).get(name)
        if found is None:
            raise OttlaError(f"there is no pipeline {name!r}; ottla pipelines list shows those that there are")
        return found

    async def write(self, spec: PipelineSpec) -> None:
        """Writes what is wanted of a pipeline; its control process hears of it."""
        # What can't be read again must not be written.
        await self._send(spec.name, PipelineSpec.from_json(spec.name, spec.to_json()).to_json())

    async def change(self, name: str, change: Callable[[PipelineSpec], PipelineSpec]) -> PipelineSpec:
        """Changes one; what it is now."""
        spec = change((await self.entry(name)).spec)
        await self.write(spec)
        return spec

    async def define(self, spec: PipelineSpec) -> PipelineSpec:
        """A new pipeline, or a new version of one: its position stays, and so do its restarts.

        Makes the topics if need be, so that the first pipeline may be defined before a control process is up.
        """
        async with AsyncAdmin(self._options.client) as admin:
            await ensure_topics(admin, self._options)
        known = (await self.entries()).get(spec.name)
        if known is not None:
            old = known.spec
            spec = replace(spec, version=old.version + 1, checkpoint=old.checkpoint, restart=old.restart)
        await self.write(spec)
        return spec

    async def delete(self, name: str) -> None:
        """Its control process stops it and removes its checkpoint."""
        await self.entry(name)
        await self._send(name, None)

    async def _send(self, name: str, value: bytes | None) -> None:
        async with AsyncProducer({**self._options.client, "acks": "all"}) as producer:
            await producer.send(self._options.specs_topic, value, name.encode())


async def _values(consumer: AsyncConsumer, topic: str) -> Mapping[str, Any]:
    """The last value of each key."""
    topics = await consumer.list_topics()
    if topic not in topics:
        raise OttlaError(
            f"there are no pipelines yet: the topic {topic} is missing; ottla pipelines create makes the first one"
        )
    places = [TopicPartition(topic, number) for number in topics[topic].partitions]
    consumer.assign(places)
    consumer.seek_to_beginning(places)
    found: dict[str, bytes] = {}
    for place, end in (await consumer.end_offsets(places)).items():
        while await consumer.position(place) < end:
            for record in await consumer.poll(_POLL_S):
                name = bytes(record.key or b"").decode(errors="replace")
                found.pop(name, None)
                if record.value is not None:
                    found[name] = bytes(record.value)
    return found
