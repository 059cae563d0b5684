"""Coordinators in a cluster: markers and questions between brokers, and another broker that takes over."""

import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from confluent_kafka import KafkaException, TopicPartition
from confluent_kafka.admin import AdminClient, NewTopic

from tests.clients.client import confluent
from tests.clients.record import Record
from tests.clients.topic import create_with
from tests.integration.coordinator.cluster import Cluster

PATIENCE_SECONDS = 60.0


@pytest.fixture
def cluster(tmp_path: Path) -> Iterator[Cluster]:
    made = Cluster(
        tmp_path,
        group_initial_rebalance_delay_ms="0",
        offsets_topic_num_partitions="3",
        offsets_topic_replication_factor="3",
        transaction_state_log_num_partitions="3",
        transaction_state_log_replication_factor="3",
        transaction_state_log_min_isr="2",
        broker_session_timeout_ms="3000",
        broker_heartbeat_interval_ms="500",
    )
    try:
        made.start()
        yield made
    finally:
        made.kill()


def create(cluster: Cluster, topic: str, partitions: int) -> None:
    create_with(AdminClient({"bootstrap.servers": cluster.bootstrap}), NewTopic(topic, partitions, 3))


def read_committed(cluster: Cluster, topic: str, partitions: int, count: int) -> list[bytes]:
    """What a read_committed consumer sees of a topic: at least `count` records, and the ends of all partitions."""
    client = confluent.consumer(cluster.bootstrap, isolation_level="read_committed", enable_partition_eof=True)
    client.assign([TopicPartition(topic, index, 0) for index in range(partitions)])
    found: list[bytes] = []
    ended: set[int] = set()
    deadline = time.monotonic() + PATIENCE_SECONDS
    while len(found) < count or len(ended) < partitions:
        message = client.poll(1)
        assert time.monotonic() < deadline, (found, ended, cluster.output())
        if message is not None and message.error() is None:
            found.append(message.value())
        elif message is not None:
            ended.add(message.partition())
    client.close()
    return sorted(found)


def test_transactions_over_all_brokers(cluster: Cluster) -> None:
    create(cluster, "orders", 6)
    for transactional_id in ("a", "b", "c"):
        client = confluent.producer(cluster.bootstrap, transactional_id=transactional_id)
        client.init_transactions(60)
        for outcome in ("kept", "lost"):
            client.begin_transaction()
            for index in range(6):
                client.produce("orders", f"{transactional_id} {outcome} {index}".encode(), partition=index)
            client.flush(30)
            if outcome == "kept":
                client.commit_transaction(30)
            else:
                client.abort_transaction(30)
    expected = [f"{transactional_id} kept {index}".encode() for transactional_id in "abc" for index in range(6)]
    assert read_committed(cluster, "orders", 6, 18) == expected


def test_another_broker_takes_over(cluster: Cluster) -> None:
    """Groups and transactions go on when the broker that coordinates them is killed."""
    create(cluster, "orders", 3)
    now_ms = int(time.time() * 1000)
    confluent.write(cluster.bootstrap, "orders", [Record(None, b"%d" % number, (), now_ms) for number in range(10)])
    reader = confluent.consumer(cluster.bootstrap, group_id="g", socket_timeout_ms=5_000)
    reader.commit(offsets=[TopicPartition("orders", 0, 7)], asynchronous=False)
    writer = confluent.producer(cluster.bootstrap, transactional_id="t", socket_timeout_ms=5_000)
    writer.init_transactions(60)
    for node_id in cluster.brokers:
        writer.begin_transaction()
        writer.produce("orders", b"by %d" % node_id, partition=1)
        writer.flush(30)
        cluster.brokers[node_id].kill()
        writer.commit_transaction(60)
        assert _committed(cluster, reader) == 7
        cluster.brokers[node_id].start()
        _wait_in_sync(cluster)
    reader.close()
    expected = sorted([b"%d" % number for number in range(10)] + [b"by %d" % node_id for node_id in cluster.brokers])
    assert read_committed(cluster, "orders", 3, 13) == expected


def _committed(cluster: Cluster, reader: confluent.Consumer) -> int:
    """Asked until another coordinator is there."""
    deadline = time.monotonic() + PATIENCE_SECONDS
    while True:
        try:
            return int(reader.committed([TopicPartition("orders", 0)], timeout=10)[0].offset)
        except KafkaException:
            assert time.monotonic() < deadline, cluster.output()
            time.sleep(0.2)


def _wait_in_sync(cluster: Cluster) -> None:
    """The next broker may go only when the last one is back in all partitions."""
    admin = AdminClient({"bootstrap.servers": cluster.bootstrap})
    deadline = time.monotonic() + PATIENCE_SECONDS
    while True:
        topics = admin.list_topics(timeout=30).topics.values()
        if all(len(found.isrs) == 3 for topic in topics for found in topic.partitions.values()):
            return
        assert time.monotonic() < deadline, cluster.output()
        time.sleep(0.2)
