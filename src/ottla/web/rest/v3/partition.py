"""`…/partitions`: partitions, their replicas and offsets, and moves that are under way."""

import asyncio
from typing import Any, Final

from ottla.client.admin.value.offset import OffsetSpec
from ottla.client.admin.value.replica import PartitionReassignment
from ottla.client.admin.value.topic import PartitionDescription, TopicDescription
from ottla.client.record import TopicPartition
from ottla.web.http.answer import Answer, json_answer
from ottla.web.http.errors import HttpError
from ottla.web.http.request import Request
from ottla.web.http.route import Route
from ottla.web.rest.content import V3
from ottla.web.rest.context import RestContext, Routes
from ottla.web.rest.errors import bad_request, partition_not_found
from ottla.web.rest.v3.link import Links, links_of, not_found, number_of

_BOTH_OFFSETS: Final = "earliest_and_latest"


class PartitionApi:
    """Handlers of partitions."""

    def __init__(self, context: RestContext) -> None:
        self._context: Final = context
        self._admin: Final = context.admin

    def routes(self) -> list[Route]:
        """Method, path, handler."""
        routes = Routes(V3)
        topics = "/v3/clusters/{cluster_id}/topics"
        partitions = f"{topics}/{{topic_name}}/partitions"
        partition = f"{partitions}/{{partition_id}}"
        routes.add("GET", partitions, self.list_partitions)
        routes.add("GET", partition, self.show_partition)
        routes.add("GET", f"{partition}/offset", self.show_offsets)
        routes.add("GET", f"{partition}/replicas", self.list_replicas)
        routes.add("GET", f"{partition}/replicas/{{broker_id}}", self.show_replica)
        routes.add("GET", f"{partition}/reassignment", self.show_reassignment)
        routes.add("GET", f"{partitions}/-/reassignment", self.list_reassignments_of_topic)
        routes.add("GET", f"{topics}/-/partitions/-/reassignment", self.list_reassignments)
        return routes.found

    async def list_partitions(self, request: Request) -> Answer:
        """The partitions of a topic."""
        links = links_of(self._context, request)
        topic = await self._topic(request)
        shown = [_shown_partition(links, topic.name, each) for each in topic.partitions]
        return json_answer(links.listing("KafkaPartition", ("topics", topic.name, "partitions"), shown))

    async def show_partition(self, request: Request) -> Answer:
        """One partition."""
        links = links_of(self._context, request)
        return json_answer(_shown_partition(links, request.parameters["topic_name"], await self._partition(request)))

    async def show_offsets(self, request: Request) -> Answer:
        """The first offset, and the one behind the last record."""
        links = links_of(self._context, request)
        kind = request.query.get("offset_type") or _BOTH_OFFSETS
        if kind != _BOTH_OFFSETS:
            raise bad_request(f"offset_type:{kind} is invalid")
        topic = request.parameters["topic_name"]
        number = (await self._partition(request, partition_not_found())).partition
        place = TopicPartition(topic, number)
        first, end = await asyncio.gather(
            self._admin.list_offsets({place: OffsetSpec.EARLIEST}), self._admin.list_offsets({place: OffsetSpec.LATEST})
        )
        shown = links.resource(
            "KafkaPartitionWithOffsets",
            ("topics", topic, "partitions", number, "offset"),
            ("topic", topic, "partition", number, "offset_type", kind),
            {
                "topic_name": topic,
                "partition_id": number,
                "earliest_offset": first[place].offset,
                "latest_offset": end[place].offset,
            },
        )
        return json_answer(shown)

    async def list_replicas(self, request: Request) -> Answer:
        """The replicas of a partition."""
        links = links_of(self._context, request)
        topic, partition = request.parameters["topic_name"], await self._partition(request)
        shown = [shown_replica(links, topic, partition, broker) for broker in partition.replicas]
        path = ("topics", topic, "partitions", partition.partition, "replicas")
        return json_answer(links.listing("KafkaReplica", path, shown))

    async def show_replica(self, request: Request) -> Answer:
        """One replica."""
        links = links_of(self._context, request)
        broker, partition = number_of(request, "broker_id"), await self._partition(request)
        if broker not in partition.replicas:
            raise not_found()
        return json_answer(shown_replica(links, request.parameters["topic_name"], partition, broker))

    async def list_reassignments(self, request: Request) -> Answer:
        """All moves that are under way."""
        links = links_of(self._context, request)
        found = sorted((await self._admin.list_partition_reassignments()).items())
        shown = [_shown_reassignment(links, place, move) for place, move in found]
        path = ("topics", "-", "partitions", "-", "reassignment")
        return json_answer(links.listing("KafkaReassignment", path, shown))

    async def list_reassignments_of_topic(self, request: Request) -> Answer:
        """The moves of a topic's partitions."""
        links = links_of(self._context, request)
        topic = await self._topic(request)
        wanted = [TopicPartition(topic.name, each.partition) for each in topic.partitions]
        found = sorted((await self._admin.list_partition_reassignments(wanted)).items())
        shown = [_shown_reassignment(links, place, move) for place, move in found]
        path = ("topics", topic.name, "partitions", "-", "reassignment")
        return json_answer(links.listing("KafkaReassignment", path, shown))

    async def show_reassignment(self, request: Request) -> Answer:
        """The move of one partition."""
        links = links_of(self._context, request)
        place = TopicPartition(request.parameters["topic_name"], (await self._partition(request)).partition)
        found = (await self._admin.list_partition_reassignments([place])).get(place)
        if found is None:
            raise not_found()
        return json_answer(_shown_reassignment(links, place, found))

    async def _topic(self, request: Request) -> TopicDescription:
        name = request.parameters["topic_name"]
        return (await self._admin.describe_topics([name]))[name]

    async def _partition(self, request: Request, missing: HttpError | None = None) -> PartitionDescription:
        number = number_of(request, "partition_id")
        for found in (await self._topic(request)).partitions:
            if found.partition == number:
                return found
        raise missing or not_found()


def _shown_partition(links: Links, topic: str, found: PartitionDescription) -> dict[str, Any]:
    path = ("topics", topic, "partitions", found.partition)
    leader = {} if found.leader is None else {"leader": links.related(*path, "replicas", found.leader)}
    return links.resource(
        "KafkaPartition",
        path,
        ("topic", topic, "partition", found.partition),
        {
            "topic_name": topic,
            "partition_id": found.partition,
            **leader,
            "replicas": links.related(*path, "replicas"),
            "reassignment": links.related(*path, "reassignment"),
        },
    )


def shown_replica(links: Links, topic: str, found: PartitionDescription, broker: int) -> dict[str, Any]:
    """A replica of a partition."""
    return links.resource(
        "KafkaReplica",
        ("topics", topic, "partitions", found.partition, "replicas", broker),
        ("topic", topic, "partition", found.partition, "replica", broker),
        {
            "topic_name": topic,
            "partition_id": found.partition,
            "broker_id": broker,
            "is_leader": broker == found.leader,
            "is_in_sync": broker in found.isr,
            "broker": links.related("brokers", broker),
        },
    )


def _shown_reassignment(links: Links, place: TopicPartition, move: PartitionReassignment) -> dict[str, Any]:
    path = ("topics", place.topic, "partitions", place.partition)
    return links.resource(
        "KafkaReassignment",
        (*path, "reassignment"),
        ("topic", place.topic, "partition", place.partition, "reassignment"),
        {
            "topic_name": place.topic,
            "partition_id": place.partition,
            "adding_replicas": list(move.adding_replicas),
            "removing_replicas": list(move.removing_replicas),
            "replicas": links.related(*path, "replicas"),
        },
    )
