"""The cluster client on a real broker: metadata, requests, coordinators, and a clean end."""

import asyncio
import os

import pytest

from ottla.client.cluster.cluster_client import ANY_NODE, CONTROLLER
from ottla.client.cluster.cluster_view import BrokerView, ClusterView
from ottla.client.cluster.coordinator_lookup import CoordinatorKind
from ottla.client.cluster.node_pool import Purpose
from ottla.client.config.admin import ADMIN_KEYS
from ottla.client.config.consumer import CONSUMER_KEYS
from ottla.client.errors import ClosedError
from ottla.client.metric.metric_name import MetricName
from ottla.protocol.api_key import ApiKey
from ottla.protocol.errors import InvalidTopicError, NetworkError, UnknownTopicOrPartitionError
from ottla.protocol.messages.fetch import FetchPartition, FetchRequest, FetchResponse, FetchTopic
from ottla.protocol.messages.heartbeat import HeartbeatRequest, HeartbeatResponse
from ottla.protocol.messages.metadata import MetadataRequest, MetadataResponse
from tests.integration.client.cluster import cluster_client
from tests.kafka.server import Server

pytestmark = pytest.mark.usefixtures("server")


def open_sockets() -> int:
    """How many sockets this process has."""
    found = 0
    for name in os.listdir("/proc/self/fd"):
        try:
            found += os.readlink(f"/proc/self/fd/{name}").startswith("socket:")
        except FileNotFoundError:
            continue
    return found


def test_the_cluster_is_known(server: Server) -> None:
    async def main() -> None:
        async with cluster_client(server.bootstrap) as client:
            assert client.view.cluster_id == "b3R0bGEtY2xpZW50cy0wMQ"
            assert client.view.brokers == {1: BrokerView(1, "127.0.0.1", server.port)}
            assert client.view.controller_id == 1

    asyncio.run(main())


def test_a_topic_is_made_by_asking_for_it(bootstrap: str, topic: str) -> None:
    async def main() -> None:
        async with cluster_client(bootstrap) as client:
            found = await client.topic(topic, timeout_ms=20_000)
            assert sorted(found.partitions) == [0, 1]
            assert client.view.topic_of(found.id) == found
            assert await client.topic(topic, timeout_ms=0) == found

    asyncio.run(main())


@pytest.mark.parametrize(("keys", "settings"), [(ADMIN_KEYS, {}), (CONSUMER_KEYS, {"allow_auto_create_topics": False})])
def test_a_topic_that_is_not_there_is_an_error(
    bootstrap: str, topic: str, keys: object, settings: dict[str, object]
) -> None:
    async def main() -> None:
        async with cluster_client(bootstrap, keys, **settings) as client:  # type: ignore[arg-type]
            with pytest.raises(UnknownTopicOrPartitionError, match="create it first, or check its spelling"):
                await client.topic(topic, timeout_ms=200)
            with pytest.raises(InvalidTopicError):
                await client.topic("no/such/name", timeout_ms=20_000)

    asyncio.run(main())


def test_changes_are_told(bootstrap: str, topic: str) -> None:
    async def main() -> None:
        changes: list[tuple[ClusterView, ClusterView]] = []
        async with cluster_client(bootstrap) as client:
            client.on_change(lambda before, after: changes.append((before, after)))
            await client.topic(topic, timeout_ms=20_000)
            assert changes[-1][1] is client.view
            assert topic not in changes[0][0].topics
            client.unwant_topics([topic])
            assert topic not in (await client.refresh()).topics
            client.want_all_topics()
            assert topic in (await client.refresh()).topics

    asyncio.run(main())


def test_nodes_are_asked(bootstrap: str) -> None:
    async def main() -> None:
        async with cluster_client(bootstrap) as client:
            for node_id in (1, ANY_NODE, CONTROLLER):
                answer = await client.request(node_id, MetadataRequest(topics=[]))
                assert isinstance(answer, MetadataResponse)
            with pytest.raises(NetworkError, match="no broker 7 is known"):
                await client.request(7, MetadataRequest(topics=[]))

    asyncio.run(main())


def test_a_bootstrap_connection_becomes_the_brokers(bootstrap: str) -> None:
    """One broker, one address, one connection."""

    async def main() -> None:
        async with cluster_client(bootstrap, client_id="me") as client:
            await client.request(1, MetadataRequest(topics=[]))
            values = client.metrics.values()
            tags = (("client-id", "me"),)
            assert values[MetricName("connection-count", "producer-metrics", tags)] == 1
            assert values[MetricName("connection-creation-total", "producer-metrics", tags)] == 1
            node_tags = (*tags, ("node-id", "node-1"))
            assert values[MetricName("request-total", "producer-node-metrics", node_tags)] >= 1
            assert values[MetricName("request-latency-avg", "producer-node-metrics", node_tags)] > 0

    asyncio.run(main())


@pytest.mark.parametrize("coordinator", [CoordinatorKind.GROUP, CoordinatorKind.TRANSACTION])
def test_a_coordinator_is_found(bootstrap: str, coordinator: CoordinatorKind, topic: str) -> None:
    async def main() -> None:
        async with cluster_client(bootstrap) as client:
            assert await client.coordinator(coordinator, topic) == 1
            client.forget_coordinator(coordinator, topic)
            assert await client.coordinator(coordinator, topic) == 1

    asyncio.run(main())


def test_a_waiting_fetch_does_not_delay_the_coordinator(bootstrap: str, topic: str) -> None:
    async def main() -> None:
        async with cluster_client(bootstrap) as client:
            found = await client.topic(topic, timeout_ms=20_000)
            await client.coordinator(CoordinatorKind.GROUP, "g")
            partition = FetchPartition(partition=0, partition_max_bytes=1000)
            fetch = FetchRequest(
                max_wait_ms=600_000,
                min_bytes=1,
                topics=[FetchTopic(topic=topic, topic_id=found.id, partitions=[partition])],
            )
            connection = await client.connection(1)
            waiting = connection.ask(fetch, timeout_ms=600_000, version=min(17, connection.version_of(ApiKey.FETCH)))
            heartbeat = HeartbeatRequest(group_id="g", generation_id=1, member_id="nobody")
            answer = await client.request(1, heartbeat, purpose=Purpose.COORDINATOR)
            assert isinstance(answer, HeartbeatResponse)
            assert not waiting.done()
        with pytest.raises(NetworkError):
            await waiting

    asyncio.run(main())


def test_answers_are_views_of_what_was_received(bootstrap: str, topic: str) -> None:
    async def main() -> None:
        async with cluster_client(bootstrap) as client:
            found = await client.topic(topic, timeout_ms=20_000)
            partition = FetchPartition(partition=0, partition_max_bytes=1000)
            topics = [FetchTopic(topic=topic, topic_id=found.id, partitions=[partition])]
            answer = await client.request(1, FetchRequest(topics=topics), version=17)
            assert isinstance(answer, FetchResponse)
            assert isinstance(answer.responses[0].partitions[0].records, memoryview)

    asyncio.run(main())


def test_nothing_is_left_after_close(bootstrap: str, topic: str) -> None:
    before = open_sockets()

    async def main() -> None:
        async with cluster_client(bootstrap) as client:
            await client.coordinator(CoordinatorKind.GROUP, "g")
            await client.request(1, HeartbeatRequest(group_id="g"), purpose=Purpose.COORDINATOR)
            pending = asyncio.create_task(client.topic(topic, timeout_ms=60_000))
            await asyncio.sleep(0)
        with pytest.raises((ClosedError, NetworkError)):
            await pending
        assert asyncio.all_tasks() == {asyncio.current_task()}
        with pytest.raises(ClosedError):
            await client.request(1, MetadataRequest(topics=[]))
        await client.close()

    for _ in range(2):  # a second event loop must find nothing of the first
        asyncio.run(main())
    assert open_sockets() == before


def test_idle_connections_are_closed_and_made_again(bootstrap: str) -> None:
    async def main() -> None:
        async with cluster_client(bootstrap, connections_max_idle_ms=100, client_id="me") as client:
            count = MetricName("connection-count", "producer-metrics", (("client-id", "me"),))
            while client.metrics.values()[count]:
                await asyncio.sleep(0.01)
            await client.request(1, MetadataRequest(topics=[]))
            assert client.metrics.values()[count] == 1

    asyncio.run(main())


def test_a_named_leader_is_taken_over(bootstrap: str, topic: str) -> None:
    async def main() -> None:
        async with cluster_client(bootstrap) as client:
            await client.topic(topic, timeout_ms=20_000)
            assert not client.leader_changed(topic, 0, 5, 0, [BrokerView(5, "127.0.0.1", 1)])
            assert not client.leader_changed(topic, 0, 5, 7)
            assert client.leader_changed(topic, 0, 5, 7, [BrokerView(5, "127.0.0.1", 1)])
            assert client.view.leader(topic, 0) == BrokerView(5, "127.0.0.1", 1)
            with pytest.raises(NetworkError, match=r"127.0.0.1:1 \(broker 5\): connection refused"):
                await client.request(5, MetadataRequest(topics=[]))

    asyncio.run(main())
