"""Brokers of Apache Kafka and of Ottla as replicas of one topic: each leads one partition, and follows in the other.

Partition 0 is Apache Kafka's to lead, partition 1 ours. After everything that happens to the two their logs are the
same, byte for byte, with every record that a producer was promised and none that had to go.
"""

from collections.abc import Iterator

import pytest
from confluent_kafka import ElectionType, KafkaError, KafkaException, Message, Producer, TopicPartition
from confluent_kafka.admin import AdminClient, NewTopic, PartitionMetadata

from ottla.protocol.records.batch import batches
from ottla.protocol.records.reader import decode_batch
from tests.integration.mixed.cluster import MixedCluster
from tests.integration.mixed.conftest import MakeCluster
from tests.integration.mixed.member import Kind, Member, Voters

pytestmark = pytest.mark.long

APACHE, OTTLA = 1, 2
LED_BY = {0: APACHE, 1: OTTLA}
TOPIC = "orders"
_PERHAPS = b"perhaps"
_LOST = b"lost"


@pytest.fixture
def cluster(make_cluster: MakeCluster) -> MixedCluster:
    cluster = make_cluster({3001: Kind.OTTLA}, {APACHE: Kind.APACHE, OTTLA: Kind.OTTLA}, Voters.DYNAMIC)
    cluster.start()
    return cluster


class Orders:
    """The topic, and what was promised to be in it."""

    def __init__(self, cluster: MixedCluster) -> None:
        self._cluster = cluster
        self._admin = AdminClient({"bootstrap.servers": cluster.bootstrap, "log_level": 2})
        wanted = NewTopic(TOPIC, len(LED_BY), replica_assignment=[[APACHE, OTTLA], [OTTLA, APACHE]])
        self._cluster.until(lambda: len(self._admin.list_topics(timeout=30).brokers) == 2)
        self._admin.create_topics([wanted])[TOPIC].result(60)
        self._number = 0
        self.promised: dict[int, list[bytes]] = {0: [], 1: []}
        self._producer = self._make_producer(**{"enable.idempotence": True})
        self._hasty = self._make_producer(acks=1)

    def _make_producer(self, **settings: object) -> Producer:
        fixed = {"bootstrap.servers": self._cluster.bootstrap, "log_level": 2, "linger.ms": 0}
        return Producer({**fixed, "batch.num.messages": 50, **settings})

    def send(self, count: int = 200) -> None:
        """Sends to both partitions, without waiting."""
        for _ in range(count):
            self._number += 1
            value = b"order %06d" % self._number
            for partition in LED_BY:
                self._producer.produce(TOPIC, value, partition=partition, on_delivery=self._delivered)
            self._producer.poll(0)

    def flush(self) -> None:
        """Returns once all that was sent is acknowledged."""
        assert self._producer.flush(60) == 0

    def send_unsafely(self, partition: int, *values: bytes) -> None:
        """Sends records, one by one, that the leader acknowledges alone."""
        for value in values:
            self._hasty.produce(TOPIC, value, partition=partition, on_delivery=_must_be_delivered)
            assert self._hasty.flush(30) == 0

    def _delivered(self, error: KafkaError | None, message: Message) -> None:
        assert error is None, error
        value, partition = message.value(), message.partition()
        assert isinstance(value, bytes)
        assert partition is not None
        self.promised[partition].append(value)

    def leaders(self) -> dict[int, int]:
        """Who leads which partition."""
        return {index: found.leader for index, found in self._partitions().items()}

    def isr_sizes(self) -> set[int]:
        """How many replicas are in sync."""
        return {len(found.isrs) for found in self._partitions().values()}

    def _partitions(self) -> dict[int, PartitionMetadata]:
        try:
            return self._admin.list_topics(TOPIC, timeout=10).topics[TOPIC].partitions
        except KafkaException:
            return {}

    def until_in_sync(self) -> None:
        """Returns once both replicas of both partitions are in sync."""
        self._cluster.until(lambda: self.isr_sizes() == {2})

    def give_back(self) -> None:
        """Has each partition led by the one it belongs to."""
        self.until_in_sync()

        def elected() -> bool:
            wanted = [TopicPartition(TOPIC, partition) for partition in LED_BY]
            self._admin.elect_leaders(ElectionType.PREFERRED, wanted).result(30)
            return self.leaders() == LED_BY

        self._cluster.until(elected)


def _must_be_delivered(error: KafkaError | None, _: Message) -> None:
    assert error is None, error


def test_replicas_of_both_kinds_hold_the_same(cluster: MixedCluster) -> None:
    orders = Orders(cluster)
    orders.give_back()
    orders.send()
    orders.flush()
    for broker in cluster.brokers.values():
        other = next(one for one in cluster.brokers.values() if one is not broker)
        # One goes in order, the other leads all of it, while records keep coming.
        orders.send()
        broker.stop()
        orders.send()
        orders.flush()
        assert set(orders.leaders().values()) == {other.node_id}
        broker.start()
        orders.give_back()
        # One is killed.
        orders.send()
        broker.kill()
        orders.send()
        orders.flush()
        broker.start()
        orders.give_back()
    orders.send()
    orders.flush()
    orders.until_in_sync()
    assert_same_logs(cluster, orders)


def test_what_only_a_dead_leader_had_goes(cluster: MixedCluster) -> None:
    orders = Orders(cluster)
    for partition, node_id in LED_BY.items():
        orders.give_back()
        orders.send()
        orders.flush()
        leader = cluster.brokers[node_id]
        [follower] = [broker for broker in cluster.brokers.values() if broker is not leader]
        # Once before, so that it has all that it needs: a follower that is frozen for long is out of sync.
        orders.send_unsafely(partition, _PERHAPS)
        follower.freeze()
        # The first may reach the follower after all, in answer to what it asked before.
        orders.send_unsafely(partition, _PERHAPS, _PERHAPS, _LOST)
        leader.kill()
        follower.thaw()
        orders.send()
        orders.flush()
        leader.start()
        orders.until_in_sync()
    orders.send()
    orders.flush()
    assert_same_logs(cluster, orders)


def assert_same_logs(cluster: MixedCluster, orders: Orders) -> None:
    for broker in cluster.brokers.values():
        broker.stop()
    for partition, promised in orders.promised.items():
        first, second = (list(log_of(broker, partition)) for broker in cluster.brokers.values())
        assert first == second
        values = [value for batch in first for value in values_of(batch)]
        assert _LOST not in values
        assert [value for value in values if value != _PERHAPS] == promised


def log_of(broker: Member, partition: int) -> Iterator[bytes]:
    """The batches of a replica, as bytes."""
    for segment in sorted((broker.log_directory / f"{TOPIC}-{partition}").glob("*.log")):
        data = segment.read_bytes()
        for batch in batches(data):
            assert batch.crc_matches()
            yield data[batch.position : batch.end]


def values_of(data: bytes) -> list[bytes | None]:
    [batch] = batches(data)
    return [value for _, _, _, value, _ in decode_batch(batch)]
