import pytest

from ottla.base.ids import Uuid
from ottla.client.cluster.cluster_view import BrokerView, ClusterView, PartitionView
from ottla.protocol.errors import ErrorCode, InvalidTopicError, LeaderNotAvailableError
from ottla.protocol.messages.metadata import (
    MetadataResponse,
    MetadataResponseBroker,
    MetadataResponsePartition,
    MetadataResponseTopic,
)

ID, OTHER_ID = Uuid(bytes(15) + b"\x01"), Uuid(bytes(15) + b"\x02")
ASKED = frozenset({"orders"})


def answer(*topics: MetadataResponseTopic) -> MetadataResponse:
    brokers = [
        MetadataResponseBroker(node_id=1, host="a", port=9092),
        MetadataResponseBroker(node_id=2, host="b", port=9092),
    ]
    return MetadataResponse(brokers=brokers, cluster_id="c", controller_id=2, topics=list(topics))


def orders(leader: int, epoch: int, *, topic_id: Uuid = ID, error: int = 0) -> MetadataResponseTopic:
    partition = MetadataResponsePartition(
        error_code=error, partition_index=0, leader_id=leader, leader_epoch=epoch, replica_nodes=[1, 2], isr_nodes=[1]
    )
    return MetadataResponseTopic(name="orders", topic_id=topic_id, partitions=[partition])


def test_what_an_answer_says() -> None:
    view = ClusterView().applied(answer(orders(1, 5)), ASKED)
    assert (view.cluster_id, view.controller_id, sorted(view.brokers)) == ("c", 2, [1, 2])
    assert view.leader("orders", 0) == BrokerView(1, "a", 9092)
    assert view.topic_of(ID) == view.topics["orders"]
    assert view.partition("orders", 0) == PartitionView(0, 1, 5, (1, 2), (1,))
    assert view.partition("orders", 1) is None
    assert view.partition("nothing", 0) is None


def test_an_older_epoch_does_not_count() -> None:
    view = ClusterView().applied(answer(orders(2, 5)), ASKED).applied(answer(orders(1, 4)), ASKED)
    assert view.leader("orders", 0) == BrokerView(2, "b", 9092)


def test_a_recreated_topic_begins_anew() -> None:
    before = ClusterView().applied(answer(orders(2, 5)), ASKED)
    view = before.applied(answer(orders(1, 0, topic_id=OTHER_ID)), ASKED)
    assert view.partition("orders", 0) == PartitionView(0, 1, 0, (1, 2), (1,))
    assert view.topic_of(ID) is None


def test_brokers_without_epochs_are_believed() -> None:
    view = ClusterView().applied(answer(orders(2, -1)), ASKED).applied(answer(orders(1, -1)), ASKED)
    assert view.leader("orders", 0) == BrokerView(1, "a", 9092)


def test_a_partition_without_leader() -> None:
    view = ClusterView().applied(answer(orders(-1, 6, error=ErrorCode.LEADER_NOT_AVAILABLE)), ASKED)
    assert view.leader("orders", 0) is None
    found = view.partition("orders", 0)
    assert found is not None
    assert (found.leader, found.leader_epoch, found.error_code) == (-1, 6, ErrorCode.LEADER_NOT_AVAILABLE)


@pytest.mark.parametrize("code", [ErrorCode.INVALID_TOPIC_EXCEPTION, ErrorCode.LEADER_NOT_AVAILABLE])
def test_a_refused_topic_is_an_error_and_no_topic(code: ErrorCode) -> None:
    view = ClusterView().applied(answer(MetadataResponseTopic(error_code=code, name="orders")), ASKED)
    assert view.topics == {}
    assert type(view.errors["orders"]) in (InvalidTopicError, LeaderNotAvailableError)


def test_topics_that_were_not_asked_for_are_forgotten() -> None:
    view = ClusterView().applied(answer(orders(1, 5)), ASKED).applied(answer(), frozenset())
    assert view.topics == {}
    assert view.names == {}


def test_a_named_leader_and_its_address() -> None:
    view = ClusterView().applied(answer(orders(1, 5)), ASKED)
    after = view.with_leader("orders", PartitionView(0, 3, 6), [BrokerView(3, "c", 9092)])
    assert after.leader("orders", 0) == BrokerView(3, "c", 9092)
    assert view.leader("orders", 0) == BrokerView(1, "a", 9092)
    assert sorted(after.brokers) == [1, 2, 3]
