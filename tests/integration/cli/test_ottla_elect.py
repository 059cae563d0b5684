"""All replicas nap, the last leader does not wake, and a leader is forced: what any live replica holds is kept."""

import json
import subprocess
import sys
import time
from collections.abc import Callable
from itertools import islice
from pathlib import Path

from ottla.client import Admin, Consumer, NewTopic, Producer, TopicPartition
from ottla.client.admin.value.topic import PartitionDescription
from tests.integration.coordinator.cluster import BROKERS, Cluster, ClusterBroker

DEADLINE_SECONDS = 60


def ottla(*arguments: str) -> "subprocess.CompletedProcess[str]":
    return subprocess.run(
        [sys.executable, "-m", "ottla.cli.main", *arguments], capture_output=True, text=True, timeout=120, check=False
    )


def until(what: str, holds: Callable[[], bool]) -> None:
    deadline = time.monotonic() + DEADLINE_SECONDS
    while not holds():
        assert time.monotonic() < deadline, f"not within {DEADLINE_SECONDS} s: {what}"
        time.sleep(0.1)


def described(cluster: Cluster) -> PartitionDescription:
    """The partition as the live brokers see it."""
    with Admin(bootstrap_servers=servers_of(cluster)) as admin:
        return admin.describe_topics(["duck"])["duck"].partitions[0]


def servers_of(cluster: Cluster) -> str:
    return ",".join(broker.bootstrap for broker in cluster.brokers.values() if broker.is_running)


def produce(cluster: Cluster, first: int, last: int) -> None:
    with Producer(bootstrap_servers=servers_of(cluster), acks="all") as producer:
        for future in [producer.send("duck", value=b"%d" % number) for number in range(first, last)]:
            future.result(60)


def consume(cluster: Cluster, count: int) -> list[bytes | None]:
    with Consumer(bootstrap_servers=servers_of(cluster), auto_offset_reset="earliest") as consumer:
        consumer.assign([TopicPartition("duck", 0)])
        return [record.value for record in islice(consumer, count)]


def naps(cluster: Cluster, broker: ClusterBroker, *left: int) -> None:
    broker.kill()
    if left:
        until(f"{left} go on without it", lambda: set(described(cluster).isr) == set(left))


def test_a_forced_election_takes_the_replica_that_knows_most(tmp_path: Path) -> None:
    cluster = Cluster(tmp_path, min_insync_replicas="1", broker_session_timeout_ms="3000")
    cluster.start()
    first, second, third = cluster.brokers.values()
    numbers = BROKERS
    try:
        with Admin(bootstrap_servers=cluster.bootstrap) as admin:
            admin.create_topics([NewTopic("duck", assignment={0: numbers})])
        produce(cluster, 0, 100)
        harmless = ottla("cluster", "can-stop", str(numbers[1]), "-b", cluster.bootstrap)
        assert (harmless.returncode, harmless.stdout.splitlines()[0]) == (0, f"✓ broker {numbers[1]} can be stopped")
        naps(cluster, second, numbers[0], numbers[2])
        produce(cluster, 100, 150)
        naps(cluster, third, numbers[0])
        asked = ottla("cluster", "can-stop", str(numbers[0]), "-b", servers_of(cluster), "--json")
        assert (asked.returncode, "duck-0" in json.loads(asked.stdout)["offline"]) == (1, True)
        produce(cluster, 150, 160)
        naps(cluster, first)
        second.start()
        third.start()
        until("nobody leads", lambda: described(cluster).leader is None)

        shown = ottla("elect", "duck:0", "-b", servers_of(cluster))
        assert shown.returncode == 1
        assert f"broker {numbers[2]} knows most" in shown.stdout
        assert f"Broker {numbers[0]} was in sync" in shown.stdout
        assert described(cluster).leader is None
        found = json.loads(ottla("elect", "duck:0", "-b", servers_of(cluster), "--json").stdout)
        assert (found["leader"], found["best"]) == (None, numbers[2])
        assert [replica["end_offset"] for replica in found["replicas"]] == [None, 100, 150]
        losses = [replica["would_lose"] and replica["would_lose"]["records"] for replica in found["replicas"]]
        assert losses == [None, 50, 0]

        elected = ottla("elect", "duck:0", "--execute", "-b", servers_of(cluster))
        assert elected.returncode == 0, elected
        assert f"led by broker {numbers[2]} now" in elected.stdout
        assert consume(cluster, 150) == [b"%d" % number for number in range(150)]
        assert "nothing to elect" in ottla("elect", "duck:0", "-b", servers_of(cluster)).stdout
        first.start()
        until("all are in sync again", lambda: set(described(cluster).isr) == set(numbers))
    finally:
        cluster.kill()
