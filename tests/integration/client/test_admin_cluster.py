"""The admin client, and tools on it, with three brokers: whom it asks, and what becomes of it when one is gone."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from ottla.base.errors import OttlaError
from ottla.client.admin.blocking_admin import Admin
from ottla.client.admin.value.offset import OffsetSpec
from ottla.client.admin.value.replica import ElectionType
from ottla.client.admin.value.topic import NewTopic
from ottla.client.record import OffsetAndMetadata, TopicPartition
from tests.clients.client import confluent
from tests.clients.patience import until
from tests.integration.cli.side_by_side import run_tool
from tests.integration.coordinator.cluster import BROKERS, Cluster


@pytest.fixture(scope="module")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    cluster = Cluster(tmp_path_factory.mktemp("cluster"), offsets_topic_num_partitions="3")
    cluster.start()
    yield cluster
    cluster.kill()


@pytest.fixture
def admin(cluster: Cluster) -> Iterator[Admin]:
    with Admin(bootstrap_servers=cluster.bootstrap) as admin:
        until(set(BROKERS), lambda: {node.id for node in admin.describe_cluster().nodes})
        yield admin


def _leader(admin: Admin, partition: TopicPartition) -> int | None:
    """Who leads, None if nobody does, or the broker that was asked has not heard of the topic yet."""
    found = admin.describe_topics([partition.topic], errors={})
    return found[partition.topic].partitions[partition.partition].leader if found else None


def _replicas(admin: Admin, partition: TopicPartition) -> tuple[int, ...]:
    return admin.describe_topics([partition.topic])[partition.topic].partitions[partition.partition].replicas


def test_every_leader_is_asked_about_its_partitions(cluster: Cluster, admin: Admin) -> None:
    assignment = {number: [broker] for number, broker in enumerate((*BROKERS, *BROKERS))}
    admin.create_topics([NewTopic("spread", assignment=assignment)])
    partitions = [TopicPartition("spread", number) for number in assignment]
    assert {part.offset for part in admin.list_offsets(dict.fromkeys(partitions, OffsetSpec.LATEST)).values()} == {0}
    producer = confluent.producer(cluster.bootstrap)
    for partition in partitions:
        for _ in range(partition.partition + 1):
            producer.produce(partition.topic, b"v", partition=partition.partition)
    assert producer.flush(60) == 0
    ends = admin.list_offsets(dict.fromkeys(partitions, OffsetSpec.LATEST))
    assert [ends[partition].offset for partition in partitions] == [1, 2, 3, 4, 5, 6]
    assert admin.delete_records(dict.fromkeys(partitions, 1)) == dict.fromkeys(partitions, 1)
    sizes = admin.describe_log_dirs(BROKERS, partitions)
    held = {broker: {part for found in sizes[broker].values() for part in found.replicas} for broker in BROKERS}
    for broker in BROKERS:
        assert held[broker] == {TopicPartition("spread", broker - 1), TopicPartition("spread", broker + 2)}


def test_groups_of_all_coordinators(admin: Admin) -> None:
    admin.create_topics([NewTopic("grouped")])
    partition = TopicPartition("grouped", 0)
    groups = [f"group-{number}" for number in range(12)]
    for number, group in enumerate(groups):
        admin.alter_consumer_group_offsets(group, {partition: number})
    assert {listed.group_id for listed in admin.list_groups()} >= set(groups)
    described = admin.describe_consumer_groups(groups)
    assert list(described) == groups
    assert len({group.coordinator.id for group in described.values()}) > 1
    offsets = admin.list_consumer_group_offsets(dict.fromkeys(groups))
    assert offsets == {group: {partition: OffsetAndMetadata(number)} for number, group in enumerate(groups)}
    errors: dict[str, OttlaError] = {}
    admin.delete_groups([*groups, "nobody"], errors=errors)
    assert list(errors) == ["nobody"]


def test_a_partition_moves(cluster: Cluster, admin: Admin, tmp_path: Path) -> None:
    admin.create_topics([NewTopic("moving", assignment={0: [1]})])
    partition = TopicPartition("moving", 0)
    until(1, lambda: _leader(admin, partition))
    plan = tmp_path / "plan.json"
    plan.write_text(json.dumps({"partitions": [{"topic": "moving", "partition": 0, "replicas": [2, 3]}]}))
    call = ("--bootstrap-server", cluster.bootstrap, "--reassignment-json-file", str(plan))
    started = run_tool("reassign_partitions", *call, "--execute", "--throttle", "10000000")
    assert started.code == 0, started
    assert "Successfully started partition reassignment for moving-0\n" in started.out
    until(True, lambda: "moving-0 is completed." in run_tool("reassign_partitions", *call, "--verify").out)
    assert _replicas(admin, partition) == (2, 3)
    verified = run_tool("reassign_partitions", *call, "--verify").out.splitlines()
    assert verified[-2:] == [
        "Clearing broker-level throttles on brokers 1,2,3",
        "Clearing topic-level throttles on topic moving",
    ]


def test_leadership_returns_to_the_preferred_replica(cluster: Cluster, admin: Admin) -> None:
    admin.create_topics([NewTopic("led", assignment={0: [3, 1]})])
    partition = TopicPartition("led", 0)
    until(3, lambda: _leader(admin, partition))
    cluster.brokers[3].kill()
    until(1, lambda: _leader(admin, partition))
    assert admin.list_offsets({partition: OffsetSpec.LATEST})[partition].offset == 0
    report = run_tool("topics", "--bootstrap-server", cluster.bootstrap, "--describe", "--under-replicated-partitions")
    assert "\tTopic: led\tPartition: 0\tLeader: 1\tReplicas: 3,1\tIsr: 1\t" in report.out
    cluster.brokers[3].start()
    until({1, 3}, lambda: set(admin.describe_topics(["led"])["led"].partitions[0].isr))
    wish = ("--election-type", "preferred", "--topic", "led", "--partition", "0")
    elected = run_tool("leader_election", "--bootstrap-server", cluster.bootstrap, *wish)
    words = ("Successfully completed leader election (PREFERRED)", "Valid replica already elected")
    assert elected.out.startswith(words)
    until(3, lambda: _leader(admin, partition))
    assert admin.elect_leaders(ElectionType.PREFERRED, errors={}) == []
