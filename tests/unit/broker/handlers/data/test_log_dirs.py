"""DescribeLogDirs and AlterReplicaLogDirs in terms of the replica manager."""

from collections.abc import Callable, Collection
from dataclasses import dataclass, field

import pytest

from ottla.protocol.messages.alter_replica_log_dirs import (
    AlterReplicaLogDir,
    AlterReplicaLogDirsRequest,
    AlterReplicaLogDirTopic,
)
from ottla.protocol.messages.describe_log_dirs import DescribableLogDirTopic, DescribeLogDirsRequest
from ottla.replication.directory.log_dir import LogDirDescription, ReplicaInDirectory
from ottla.storage.topic_partition import TopicPartition
from tests.unit.broker.small_broker import SmallBroker

REPLICAS = [
    ReplicaInDirectory(TopicPartition("a", 0), 100, 0, is_future=False),
    ReplicaInDirectory(TopicPartition("b", 0), 7, 0, is_future=False),
    ReplicaInDirectory(TopicPartition("a", 1), 50, 3, is_future=True),
]


@dataclass
class TwoDirectories:
    """One directory with replicas and one that is offline; moves go to the first only."""

    moves: dict[TopicPartition, str] = field(default_factory=dict)

    def describe_log_dirs(self, partitions: Collection[TopicPartition] | None) -> list[LogDirDescription]:
        shown = [replica for replica in REPLICAS if partitions is None or replica.partition in partitions]
        return [
            LogDirDescription(0, "/one", shown, 1_000, 400, is_cordoned=True),
            LogDirDescription(56, "/two", [], -1, -1, is_cordoned=False),
        ]

    def alter_log_dir(self, name: TopicPartition, path: str, done: Callable[[int], None]) -> None:
        self.moves[name] = path
        done(0 if path == "/one" else 57)


@pytest.fixture
def broker() -> SmallBroker:
    made = SmallBroker()
    made.parts.replicas = TwoDirectories()
    return made


@pytest.mark.parametrize("version", [1, 2, 3, 4, 5])
def test_all_replicas(broker: SmallBroker, version: int) -> None:
    one, two = broker.ask(DescribeLogDirsRequest(topics=None), version).results
    assert (one.error_code, one.log_dir, two.error_code, two.topics) == (0, "/one", 56, [])
    shown = {
        (topic.name, p.partition_index): (p.partition_size, p.offset_lag, p.is_future_key)
        for topic in one.topics
        for p in topic.partitions
    }
    assert shown == {("a", 0): (100, 0, False), ("a", 1): (50, 3, True), ("b", 0): (7, 0, False)}
    assert [topic.name for topic in one.topics] == ["a", "b"]
    assert (one.total_bytes, one.usable_bytes) == ((1_000, 400) if version >= 4 else (-1, -1))
    assert one.is_cordoned is (version >= 5)


def test_some_replicas(broker: SmallBroker) -> None:
    wanted = [
        DescribableLogDirTopic(topic="a", partitions=[1, 9]),
        DescribableLogDirTopic(topic="nowhere", partitions=[0]),
    ]
    one, _ = broker.ask(DescribeLogDirsRequest(topics=wanted), 4).results
    assert [(topic.name, [p.partition_index for p in topic.partitions]) for topic in one.topics] == [("a", [1])]
    one, _ = broker.ask(DescribeLogDirsRequest(topics=[]), 4).results
    assert one.topics == []


@pytest.mark.parametrize("version", [1, 2])
def test_moves(broker: SmallBroker, version: int) -> None:
    request = AlterReplicaLogDirsRequest(
        dirs=[
            AlterReplicaLogDir(path="/one", topics=[AlterReplicaLogDirTopic(name="a", partitions=[0, 1])]),
            AlterReplicaLogDir(path="/else", topics=[AlterReplicaLogDirTopic(name="a", partitions=[1, 2])]),
        ]
    )
    answer = broker.ask(request, version)
    (result,) = answer.results
    assert result.topic_name == "a"
    assert {p.partition_index: p.error_code for p in result.partitions} == {0: 0, 1: 57, 2: 57}
    assert broker.ask(AlterReplicaLogDirsRequest(), version).results == []
