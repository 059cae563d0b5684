"""`/topics`, `/brokers` and `/`: what there is, in version 2."""

import asyncio
import re
from typing import Any, Final

from ottla.client.admin.value.config import ConfigResource, ConfigResourceType
from ottla.client.admin.value.offset import OffsetSpec
from ottla.client.admin.value.topic import PartitionDescription, TopicDescription
from ottla.client.record import TopicPartition
from ottla.web.http.answer import Answer, json_answer
from ottla.web.http.errors import NOT_FOUND, HttpError
from ottla.web.http.request import Request
from ottla.web.http.route import Route
from ottla.web.rest.content import METADATA
from ottla.web.rest.context import RestContext, Routes
from ottla.web.rest.errors import partition_not_found

_NUMBER: Final = re.compile(r"[0-9]{1,10}")


class TopicApi:
    """Handlers of what there is."""

    def __init__(self, context: RestContext) -> None:
        self._admin: Final = context.admin

    def routes(self) -> list[Route]:
        """Method, path, handler."""
        routes = Routes(METADATA)
        routes.add("GET", "/", self.root)
        routes.add("POST", "/", self.root)
        routes.add("GET", "/brokers", self.list_brokers)
        routes.add("GET", "/topics", self.list_topics)
        routes.add("GET", "/topics/{topic}", self.show_topic)
        routes.add("GET", "/topics/{topic}/partitions", self.list_partitions)
        routes.add("GET", "/topics/{topic}/partitions/{partition}", self.show_partition)
        routes.add("GET", "/topics/{topic}/partitions/{partition}/offsets", self.show_offsets)
        return routes.found

    async def root(self, _: Request) -> Answer:
        """An empty object: the proxy is there."""
        return json_answer({})

    async def list_brokers(self, _: Request) -> Answer:
        """The ids of the brokers."""
        found = await self._admin.describe_cluster()
        return json_answer({"brokers": sorted(node.id for node in found.nodes)})

    async def list_topics(self, _: Request) -> Answer:
        """The names of the topics that are not internal."""
        return json_answer(sorted(await self._admin.list_topics()))

    async def show_topic(self, request: Request) -> Answer:
        """A topic with its settings and partitions."""
        name = request.parameters["topic"]
        resource = ConfigResource(ConfigResourceType.TOPIC, name)
        topic, configs = await asyncio.gather(self._topic(request), self._admin.describe_configs([resource]))
        shown = {entry.name: entry.value for entry in configs[resource].values()}
        return json_answer({"name": name, "configs": shown, "partitions": [_shown(each) for each in topic.partitions]})

    async def list_partitions(self, request: Request) -> Answer:
        """The partitions of a topic, with their replicas."""
        return json_answer([_shown(each) for each in (await self._topic(request)).partitions])

    async def show_partition(self, request: Request) -> Answer:
        """One partition with its replicas."""
        return json_answer(_shown(await self._partition(request)))

    async def show_offsets(self, request: Request) -> Answer:
        """The first offset of a partition, and the one behind its last record."""
        partition = TopicPartition(request.parameters["topic"], (await self._partition(request)).partition)
        first, end = await asyncio.gather(
            self._admin.list_offsets({partition: OffsetSpec.EARLIEST}),
            self._admin.list_offsets({partition: OffsetSpec.LATEST}),
        )
        return json_answer({"beginning_offset": first[partition].offset, "end_offset": end[partition].offset})

    async def _topic(self, request: Request) -> TopicDescription:
        name = request.parameters["topic"]
        return (await self._admin.describe_topics([name]))[name]

    async def _partition(self, request: Request) -> PartitionDescription:
        number = partition_number(request.parameters["partition"])
        for found in (await self._topic(request)).partitions:
            if found.partition == number:
                return found
        raise partition_not_found()


def partition_number(text: str) -> int:
    """The partition in a path; what is no number is no path."""
    if not _NUMBER.fullmatch(text) or int(text) >= 1 << 31:
        raise HttpError(404, NOT_FOUND)
    return int(text)


def _shown(found: PartitionDescription) -> dict[str, Any]:
    return {
        "partition": found.partition,
        "leader": -1 if found.leader is None else found.leader,
        "replicas": [
            {"broker": broker, "leader": broker == found.leader, "in_sync": broker in found.isr}
            for broker in found.replicas
        ],
    }
