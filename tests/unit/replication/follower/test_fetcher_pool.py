"""`num.replica.fetchers`: partitions of one leader are spread over so many fetches, also when that changes."""

from ottla.replication.settings import ReplicationSettings
from ottla.storage.topic_partition import TopicPartition
from tests.unit.replication.broker_under_test import BrokerUnderTest, Metadata
from tests.unit.replication.manual_loop import ManualLoop
from tests.unit.replication.memory_leader import MemoryLeader, Network

PARTITIONS = 6


class Cluster:
    """A leader, and a follower that notes which of its fetches are open."""

    def __init__(self, fetchers: int) -> None:
        self.loop = ManualLoop()
        self.network = Network(self.loop)
        self.made: list[int] = []
        settings = ReplicationSettings(num_replica_fetchers=fetchers)
        self.leader = BrokerUnderTest(self.loop, 1, endpoint_of=self.network.endpoint_of(1))
        self.follower = BrokerUnderTest(self.loop, 2, endpoint_of=self._connect, settings=settings)
        self.network.brokers.update({1: self.leader, 2: self.follower})
        self.metadata = Metadata(self.leader, self.follower)
        for broker_id in (1, 2):
            self.metadata.register(broker_id)
        for topic in self.topics():
            self.metadata.create(topic, [1, 2])
        self.loop.run()

    @staticmethod
    def topics() -> list[str]:
        return [f"topic-{number}" for number in range(PARTITIONS)]

    def _connect(self, leader_id: int, number: int) -> MemoryLeader:
        self.made.append(number)
        return self.network.endpoint_of(2)(leader_id, number)

    def produce(self) -> None:
        for topic in self.topics():
            self.leader.produce(topic)
        self.loop.advance(10)

    def ends(self) -> list[int]:
        logs = [self.follower.logs.get(TopicPartition(topic, 0)) for topic in self.topics()]
        return [log.log_end_offset for log in logs if log is not None]

    def change(self, fetchers: int) -> None:
        self.follower.replicas.update_settings(ReplicationSettings(num_replica_fetchers=fetchers))
        self.loop.run()


def test_one_fetch_has_all_partitions_of_a_leader() -> None:
    cluster = Cluster(1)
    cluster.produce()
    assert (cluster.made, cluster.ends()) == ([0], [1] * PARTITIONS)


def test_several_fetches_share_them() -> None:
    cluster = Cluster(3)
    cluster.produce()
    assert (sorted(cluster.made), cluster.ends()) == ([0, 1, 2], [1] * PARTITIONS)


def test_the_number_changes_while_records_come() -> None:
    cluster = Cluster(1)
    for expected, fetchers in enumerate((3, 2, 1), 1):
        cluster.produce()
        cluster.change(fetchers)
        assert len(cluster.follower.replicas._fetchers) == fetchers
        assert cluster.ends() == [expected] * PARTITIONS
    cluster.produce()
    assert cluster.ends() == [4] * PARTITIONS
