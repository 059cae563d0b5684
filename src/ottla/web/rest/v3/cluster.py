"""`/v3/clusters` and `…/brokers`."""

from typing import Any, Final

from ottla.client.admin.value.cluster import ClusterDescription, Node
from ottla.client.admin.value.topic import PartitionDescription
from ottla.web.http.answer import Answer, json_answer
from ottla.web.http.request import Request
from ottla.web.http.route import Route
from ottla.web.rest.content import V3
from ottla.web.rest.context import RestContext, Routes
from ottla.web.rest.v3.link import Links, links_of, links_to, not_found, number_of
from ottla.web.rest.v3.partition import shown_replica


class ClusterApi:
    """Handlers of the cluster and its brokers."""

    def __init__(self, context: RestContext) -> None:
        self._context: Final = context
        self._admin: Final = context.admin

    def routes(self) -> list[Route]:
        """Method, path, handler."""
        routes = Routes(V3)
        cluster = "/v3/clusters/{cluster_id}"
        routes.add("GET", "/v3/clusters", self.list_clusters)
        routes.add("GET", cluster, self.show_cluster)
        routes.add("GET", f"{cluster}/brokers", self.list_brokers)
        routes.add("GET", f"{cluster}/brokers/{{broker_id}}", self.show_broker)
        routes.add("GET", f"{cluster}/brokers/{{broker_id}}/partition-replicas", self.list_replicas)
        return routes.found

    async def list_clusters(self, request: Request) -> Answer:
        """The one cluster."""
        links = links_to(self._context, request)
        shown = _shown_cluster(links, await self._admin.describe_cluster())
        metadata = {"self": links.clusters, "next": None}
        return json_answer({"kind": "KafkaClusterList", "metadata": metadata, "data": [shown]})

    async def show_cluster(self, request: Request) -> Answer:
        """The cluster."""
        links = links_of(self._context, request)
        return json_answer(_shown_cluster(links, await self._admin.describe_cluster()))

    async def list_brokers(self, request: Request) -> Answer:
        """All brokers."""
        links = links_of(self._context, request)
        nodes = sorted((await self._admin.describe_cluster()).nodes)
        return json_answer(links.listing("KafkaBroker", ("brokers",), [_shown_broker(links, node) for node in nodes]))

    async def show_broker(self, request: Request) -> Answer:
        """One broker."""
        links = links_of(self._context, request)
        return json_answer(_shown_broker(links, await self._broker(request)))

    async def list_replicas(self, request: Request) -> Answer:
        """The replicas on one broker."""
        links = links_of(self._context, request)
        broker = (await self._broker(request)).id
        topics = await self._admin.describe_topics(await self._admin.list_topics(include_internal=True))
        held: list[tuple[str, PartitionDescription]] = [
            (name, partition)
            for name, topic in sorted(topics.items())
            for partition in topic.partitions
            if broker in partition.replicas
        ]
        shown = [shown_replica(links, name, partition, broker) for name, partition in held]
        return json_answer(links.listing("KafkaReplica", ("brokers", broker, "partition-replicas"), shown))

    async def _broker(self, request: Request) -> Node:
        number = number_of(request, "broker_id")
        for node in (await self._admin.describe_cluster()).nodes:
            if node.id == number:
                return node
        raise not_found()


def _shown_cluster(links: Links, found: ClusterDescription) -> dict[str, Any]:
    controller = {} if found.controller is None else {"controller": links.related("brokers", found.controller.id)}
    return links.resource(
        "KafkaCluster",
        (),
        (),
        {
            **controller,
            "acls": links.related("acls"),
            "brokers": links.related("brokers"),
            "broker_configs": links.related("broker-configs"),
            "consumer_groups": links.related("consumer-groups"),
            "topics": links.related("topics"),
            "partition_reassignments": links.related("topics", "-", "partitions", "-", "reassignment"),
        },
    )


def _shown_broker(links: Links, node: Node) -> dict[str, Any]:
    return links.resource(
        "KafkaBroker",
        ("brokers", node.id),
        ("broker", node.id),
        {
            "broker_id": node.id,
            "host": node.host,
            "port": node.port,
            "rack": node.rack,
            "configs": links.related("brokers", node.id, "configs"),
            "partition_replicas": links.related("brokers", node.id, "partition-replicas"),
        },
    )
