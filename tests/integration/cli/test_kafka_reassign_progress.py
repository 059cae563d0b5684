"""`kafka-reassign-partitions` beside Kafka's own while partitions move: three brokers, throttled.

Each tool does the same from beginning to end with topics of its own: only one reassignment may be started at a time.
"""

import json
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from ottla.client import Admin, NewTopic, Producer, TopicPartition
from tests.clients.client.java import Outcome, ToolHost
from tests.integration.cli.side_by_side import run_tool
from tests.integration.mixed.cluster import MixedCluster
from tests.integration.mixed.member import Kind, Voters
from tests.integration.node.writing import until

CALLS = [
    "--execute --throttle 1000 --reassignment-json-file {all}",
    "--execute --reassignment-json-file {all}",
    "--execute --additional --throttle 2000 --reassignment-json-file {all}",
    "--verify --reassignment-json-file {all}",
    "--verify --preserve-throttles --reassignment-json-file {all}",
    "--list",
    "--execute --additional --reassignment-json-file {other}",
    "--list",
    "--verify --reassignment-json-file {other}",
    "--cancel --preserve-throttles --reassignment-json-file {other}",
    "--list",
    "--cancel --reassignment-json-file {all}",
    "--cancel --reassignment-json-file {all}",
    "--verify --reassignment-json-file {all}",
    "--list",
]


@pytest.fixture
def cluster(java_tools: ToolHost, tmp_path: Path) -> Iterator[MixedCluster]:
    """Brokers of both kinds, throttled: what moves is still moving when it is looked at."""
    brokers = {1: Kind.OTTLA, 2: Kind.APACHE, 3: Kind.OTTLA}
    cluster = MixedCluster(tmp_path, {3000: Kind.OTTLA}, brokers, Voters.STATIC)
    try:
        cluster.start()
        yield cluster
    finally:
        cluster.kill()


def _fill(cluster: MixedCluster, name: str) -> None:
    with Admin(bootstrap_servers=cluster.bootstrap) as admin, Producer(bootstrap_servers=cluster.bootstrap) as producer:
        admin.create_topics(
            [
                NewTopic(f"moved-{name}", assignment={0: [1, 2], 1: [1, 2], 2: [2, 3]}),
                NewTopic(f"still-{name}", assignment={0: [1]}),
            ]
        )
        for number in range(120):
            producer.send(f"moved-{name}", bytes(100_000), partition=number % 3)


def _plan(path: Path, *parts: tuple[str, int, list[int]]) -> str:
    plan = [{"topic": topic, "partition": number, "replicas": replicas} for topic, number, replicas in parts]
    path.write_text(json.dumps({"version": 1, "partitions": plan}))
    return str(path)


def _told(run: Callable[..., Outcome], cluster: MixedCluster, name: str, directory: Path) -> list[tuple[str, int, str]]:
    """What the tool says to all the calls, whichever topics are its own."""
    _fill(cluster, name)
    moved, still = f"moved-{name}", f"still-{name}"
    files = {
        "all": _plan(
            directory / f"all-{name}", (moved, 0, [2, 3]), (moved, 1, [1, 3]), (moved, 2, [2, 3]), (still, 0, [1])
        ),
        "other": _plan(directory / f"other-{name}", (moved, 0, [3, 1])),
    }
    told = []
    for call in CALLS:
        outcome = run("--bootstrap-server", cluster.bootstrap, *call.format(**files).split())
        told.append((call, outcome.code, outcome.out.replace(name, "{me}")))
        if call == CALLS[0]:
            _await_replicas(cluster, TopicPartition(moved, 0), TopicPartition(moved, 1))
    return told


def _await_replicas(cluster: MixedCluster, *partitions: TopicPartition) -> None:
    """The next call names the directories of the replicas that have begun on broker 3."""

    def have_begun() -> bool:
        directories = admin.describe_log_dirs([3], partitions)[3].values()
        return {partition for found in directories for partition in found.replicas} == set(partitions)

    with Admin(bootstrap_servers=cluster.bootstrap) as admin:
        until(have_begun)


def test_what_is_in_progress_looks_the_same(cluster: MixedCluster, java_tools: ToolHost, tmp_path: Path) -> None:
    def java(*arguments: str) -> Outcome:
        return java_tools.run("reassign.ReassignPartitionsCommand", *arguments)

    def ours(*arguments: str) -> Outcome:
        return run_tool("reassign_partitions", *arguments)

    expected = _told(java, cluster, "java-side", tmp_path)
    assert "moved-{me}-0: replicas: 2,3,1. adding: 3. removing: 1." in expected[5][2]
    assert _told(ours, cluster, "ours-side", tmp_path) == expected
