"""Consumers and the replicas of a partition: the one that is near is read, and one that lost records is noticed."""

import asyncio
from pathlib import Path

import pytest

from ottla.client import AsyncAdmin, AsyncConsumer, AsyncProducer, LogTruncationError, NewTopic, TopicPartition
from ottla.replication.request.replica_selector import RACK_AWARE
from tests.integration.node.test_cluster import Cluster, described, impatience

__all__ = ["impatience"]  # a fixture
ORDERS = TopicPartition("orders", 0)


def bootstrap(cluster: Cluster, node_id: int) -> str:
    """A broker's address for clients."""
    host, port = cluster.address(node_id)
    return f"{host}:{port}"


async def place(cluster: Cluster, node_id: int, replicas: list[int], **configs: str) -> None:
    """Makes the topic as soon as all brokers are there."""
    named = {name.replace("_", "."): value for name, value in configs.items()}
    async with AsyncAdmin(bootstrap_servers=bootstrap(cluster, node_id)) as admin:
        while not {node.id for node in (await admin.describe_cluster()).nodes} >= set(replicas):
            await asyncio.sleep(0.05)
        await admin.create_topics([NewTopic("orders", assignment={0: replicas}, configs=named)])


async def until_in_sync(cluster: Cluster, node_id: int, leader: int, isr: set[int]) -> None:
    """Waits until a broker knows that it is so."""
    async with asyncio.timeout(60):
        while True:
            topic = await described(cluster.address(node_id), "orders")
            if not topic.error_code and topic.partitions:
                found = topic.partitions[0]
                if found.leader_id == leader and set(found.isr_nodes) == isr:
                    return
            await asyncio.sleep(0.05)


async def send(cluster: Cluster, node_id: int, count: int) -> None:
    """Sends that many records."""
    async with AsyncProducer(bootstrap_servers=bootstrap(cluster, node_id)) as producer:
        await asyncio.gather(*[await producer.enqueue("orders", bytes(1000), partition=0) for _ in range(count)])


async def read(consumer: AsyncConsumer, count: int) -> None:
    """Reads that many records."""
    seen = 0
    async with asyncio.timeout(60):
        while seen < count:
            seen += len(await consumer.poll(1))


def received_bytes(consumer: AsyncConsumer, node_id: int) -> float:
    """What came from a node."""
    tag = ("node-id", f"node-{node_id}")
    return sum(
        value for name, value in consumer.metrics().items() if name.name == "incoming-byte-total" and tag in name.tags
    )


def test_the_replica_in_the_same_rack_is_read(tmp_path: Path) -> None:
    async def scenario() -> None:
        roles = {1: "broker,controller", 2: "broker"}
        async with Cluster(tmp_path, roles, replica_selector_class=RACK_AWARE) as cluster:
            await place(cluster, 1, [1, 2])
            await until_in_sync(cluster, 1, 1, {1, 2})
            await send(cluster, 1, 100)
            settings = {"bootstrap.servers": bootstrap(cluster, 1), "auto.offset.reset": "earliest"}
            async with AsyncConsumer(settings, client_rack="rack-2") as near, AsyncConsumer(settings) as far:
                near.assign([ORDERS])
                far.assign([ORDERS])
                await read(near, 100)
                await read(far, 100)
                assert received_bytes(near, 2) > 100_000 > received_bytes(near, 1)
                assert received_bytes(far, 1) > 100_000 > received_bytes(far, 2)

    asyncio.run(scenario())


@pytest.mark.parametrize("reset", ["none", "latest"])
def test_a_leader_that_lost_records_is_noticed(tmp_path: Path, reset: str) -> None:
    """Ten records were on both replicas, ten more on the one that is gone for good."""

    async def scenario() -> None:
        async with Cluster(tmp_path, {1: "controller", 2: "broker", 3: "broker", 4: "broker"}) as cluster:
            await place(cluster, 2, [2, 3], unclean_leader_election_enable="true")
            await until_in_sync(cluster, 2, 2, {2, 3})
            await send(cluster, 2, 10)
            await cluster.stop(3)
            await until_in_sync(cluster, 2, 2, {2})
            await send(cluster, 2, 10)
            async with AsyncConsumer(bootstrap_servers=bootstrap(cluster, 4), auto_offset_reset=reset) as consumer:
                consumer.assign([ORDERS])
                consumer.seek(ORDERS, 0)
                await read(consumer, 20)
                await cluster.stop(2)
                await cluster.start(3)
                await until_in_sync(cluster, 3, 3, {3})
                await send(cluster, 3, 5)
                if reset == "none":
                    with pytest.raises(LogTruncationError) as caught:
                        await read(consumer, 1)
                    assert "orders-0" in str(caught.value)
                else:
                    # It goes on where the logs part.
                    await read(consumer, 5)
                    assert await consumer.position(ORDERS) == 15

    asyncio.run(scenario())
