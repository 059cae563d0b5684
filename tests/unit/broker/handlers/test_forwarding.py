"""Calls that only the controller can answer reach it in the client's name, and its answer reaches the client."""

import pytest

from ottla.base.ids import ZERO_UUID
from ottla.protocol.definition import Request
from ottla.protocol.messages.add_raft_voter import AddRaftVoterRequest
from ottla.protocol.messages.alter_partition_reassignments import (
    AlterPartitionReassignmentsRequest,
    ReassignablePartition,
    ReassignableTopic,
)
from ottla.protocol.messages.create_partitions import CreatePartitionsRequest, CreatePartitionsTopic
from ottla.protocol.messages.create_topics import CreatableTopic, CreateTopicsRequest
from ottla.protocol.messages.delete_topics import DeleteTopicsRequest, DeleteTopicState
from ottla.protocol.messages.describe_quorum import DescribeQuorumRequest
from ottla.protocol.messages.elect_leaders import ElectLeadersRequest, TopicPartitions
from ottla.protocol.messages.list_partition_reassignments import ListPartitionReassignmentsRequest
from ottla.protocol.messages.remove_raft_voter import RemoveRaftVoterRequest
from ottla.protocol.messages.unregister_broker import UnregisterBrokerRequest
from ottla.protocol.messages.update_features import FeatureUpdateKey, UpdateFeaturesRequest
from tests.unit.broker.small_broker import SmallBroker, StillConnection

MANY = 10_001


@pytest.fixture
def broker() -> SmallBroker:
    made = SmallBroker()
    made.cluster.create("t", [1])
    return made


@pytest.mark.parametrize("version", range(2, 8))
def test_topics_come(broker: SmallBroker, version: int) -> None:
    topics = [CreatableTopic(name=name, num_partitions=2, replication_factor=1) for name in ("new", "t")]
    answer = broker.ask(CreateTopicsRequest(topics=topics), version)
    assert {topic.name: topic.error_code for topic in answer.topics} == {"new": 0, "t": 36}
    new = next(topic for topic in answer.topics if topic.name == "new")
    assert new.num_partitions == (2 if version >= 5 else -1)
    assert bool(new.configs) is (version >= 5)
    assert any(new.topic_id) is (version >= 7)
    assert broker.metadata.topic("new") is not None


@pytest.mark.parametrize("version", range(1, 7))
def test_topics_go(broker: SmallBroker, version: int) -> None:
    if version < 6:
        request = DeleteTopicsRequest(topic_names=["t", "nowhere"], timeout_ms=1_000)
    else:
        states = [DeleteTopicState(topic_id=broker.metadata.topic_id("t")), DeleteTopicState(name="nowhere")]
        request = DeleteTopicsRequest(topics=states, timeout_ms=1_000)
    answer = broker.ask(request, version)
    assert {result.name: result.error_code for result in answer.responses} == {"t": 0, "nowhere": 3}
    assert broker.metadata.topic("t") is None


@pytest.mark.parametrize("version", range(4))
def test_partitions_come(broker: SmallBroker, version: int) -> None:
    grown = CreatePartitionsTopic(name="t", count=3, assignments=None)
    answer = broker.ask(CreatePartitionsRequest(topics=[grown], timeout_ms=1_000), version)
    assert [result.error_code for result in answer.results] == [0]
    topic = broker.metadata.topic("t")
    assert topic is not None
    assert len(topic.partitions) == 3
    many = CreatePartitionsTopic(name="t", count=MANY + 3, assignments=None)
    answer = broker.ask(CreatePartitionsRequest(topics=[many], timeout_ms=1_000), version)
    assert [result.error_code for result in answer.results] != [0]


@pytest.mark.parametrize(
    ("request_", "version", "code"),
    [
        (CreateTopicsRequest(topics=[CreatableTopic(name="x")], timeout_ms=0), 7, 7),
        (DeleteTopicsRequest(topic_names=["t"], timeout_ms=-1), 5, 7),
        (CreatePartitionsRequest(topics=[CreatePartitionsTopic(name="t", count=2)], timeout_ms=0), 3, 7),
    ],
)
def test_no_time_at_all(broker: SmallBroker, request_: Request, version: int, code: int) -> None:
    answer = broker.ask(request_, version)
    (result,) = next(value for value in (getattr(answer, n, None) for n in ("topics", "responses", "results")) if value)
    assert (result.error_code, result.error_message) == (code, None)


def test_elections_and_moves(broker: SmallBroker) -> None:
    wanted = [TopicPartitions(topic="t", partitions=[0])]
    answer = broker.ask(ElectLeadersRequest(topic_partitions=wanted), 2)
    assert [p.error_code for topic in answer.replica_election_results for p in topic.partition_result] == [84]
    move = ReassignableTopic(name="t", partitions=[ReassignablePartition(partition_index=0, replicas=None)])
    answer = broker.ask(AlterPartitionReassignmentsRequest(topics=[move]), 1)
    assert [p.error_code for topic in answer.responses for p in topic.partitions] == [85]
    answer = broker.ask(ListPartitionReassignmentsRequest(), 0)
    assert (answer.error_code, answer.topics) == (0, [])


def test_features_and_brokers(broker: SmallBroker) -> None:
    update = FeatureUpdateKey(feature="nonsense", max_version_level=1)
    assert broker.ask(UpdateFeaturesRequest(feature_updates=[update]), 1).error_code == 95
    assert broker.ask(UnregisterBrokerRequest(broker_id=9), 0).error_code == 102


@pytest.mark.parametrize(
    ("request_", "version"),
    [
        (DescribeQuorumRequest(), 2),
        (AddRaftVoterRequest(voter_id=2, voter_directory_id=ZERO_UUID), 1),
        (RemoveRaftVoterRequest(voter_id=2, voter_directory_id=ZERO_UUID), 0),
    ],
)
def test_the_quorums_own_calls_are_handed_on_as_they_came(request_: Request, version: int) -> None:
    broker = SmallBroker()
    handed_on: list[tuple[object, Request]] = []
    broker.channel.forward = lambda context, request: handed_on.append((context, request))  # type: ignore[method-assign]
    connection = StillConnection()
    with pytest.raises(AssertionError, match="neither answered nor closed"):
        broker.ask(request_, version, connection)
    ((context, request),) = handed_on
    assert request == request_
    assert context.client_host == "10.0.0.7"  # type: ignore[attr-defined]
