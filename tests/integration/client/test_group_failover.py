"""Members of a group whose coordinator is killed for good: another broker takes over, and nobody loses anything."""

import asyncio
from collections.abc import Iterator
from pathlib import Path

import pytest
from confluent_kafka.admin import AdminClient, NewTopic

from ottla.client.cluster.coordinator_lookup import CoordinatorKind
from tests.clients.topic import create_with
from tests.integration.client.group_member import GroupMember, until
from tests.integration.client.test_group_membership import QUICK_GROUPS, by, run, settled, share
from tests.integration.coordinator.cluster import Cluster


@pytest.fixture
def cluster(tmp_path: Path) -> Iterator[Cluster]:
    settings = {
        **QUICK_GROUPS,
        # Longer than it takes the cluster to notice that a broker is gone.
        "group_consumer_session_timeout_ms": "30000",
        "offsets_topic_num_partitions": "3",
        "offsets_topic_replication_factor": "3",
        "broker_session_timeout_ms": "3000",
        "broker_heartbeat_interval_ms": "500",
    }
    made = Cluster(tmp_path, **settings)
    try:
        made.start()
        yield made
    finally:
        made.kill()


@pytest.mark.parametrize("protocol", ["cooperative-sticky", "consumer"])
def test_another_broker_coordinates(cluster: Cluster, protocol: str) -> None:
    create_with(AdminClient({"bootstrap.servers": cluster.bootstrap}), NewTopic("t", 6, 3))

    async def test() -> None:
        patient = {} if protocol == "consumer" else {"session_timeout_ms": 30_000}
        settings = {**by(protocol), **patient}
        async with (
            GroupMember(cluster.bootstrap, "g", **settings) as one,
            GroupMember(cluster.bootstrap, "g", **settings) as two,
        ):
            one.subscribe(["t"])
            two.subscribe(["t"])
            await until(lambda: share(one, two) == [3, 3] and settled(one, two))
            coordinator = await one.cluster.coordinator(CoordinatorKind.GROUP, "g")
            await asyncio.to_thread(cluster.brokers[coordinator].kill)
            async with GroupMember(cluster.bootstrap, "g", **settings) as three:
                three.subscribe(["t"])
                await until(lambda: share(one, two, three) == [2, 2, 2], 60)
                assert await one.cluster.coordinator(CoordinatorKind.GROUP, "g") != coordinator
            assert not any(how == "lost" for how, _ in one.told + two.told)

    run(test())
