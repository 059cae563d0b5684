"""OffsetForLeaderEpoch as a client sees it, where Apache Kafka's own answers (`test_data_as_kafka`) don't reach."""

from collections.abc import Callable

from ottla.protocol.errors import ErrorCode
from ottla.protocol.messages.offset_for_leader_epoch import (
    EpochEndOffset,
    OffsetForLeaderEpochRequest,
    OffsetForLeaderEpochResponse,
    OffsetForLeaderPartition,
    OffsetForLeaderTopic,
)
from ottla.protocol.messages.produce import ProduceResponse
from tests.unit.broker.data_broker import DataBroker
from tests.unit.broker.handlers.data.test_produce import batch, produce


def ask(broker: DataBroker, topic: str, epoch: int) -> EpochEndOffset:
    asked = OffsetForLeaderPartition(leader_epoch=epoch)
    request = OffsetForLeaderEpochRequest(replica_id=-1, topics=[OffsetForLeaderTopic(topic=topic, partitions=[asked])])
    response = broker.ask(request, 4, OffsetForLeaderEpochResponse)
    return response.topics[0].partitions[0]


def test_an_epoch_ends_where_the_next_begins(make_broker: Callable[..., DataBroker]) -> None:
    broker = make_broker(brokers=2)
    topic_id = broker.create("orders", replicas=2)
    broker.ask(produce("orders", batch(4)), 9, ProduceResponse)
    broker.move(topic_id, leader=2)
    broker.move(topic_id, leader=1)
    broker.ask(produce("orders", batch(1)), 9, ProduceResponse)
    assert ask(broker, "orders", 0) == EpochEndOffset(leader_epoch=0, end_offset=4)
    assert ask(broker, "orders", 1) == EpochEndOffset(leader_epoch=0, end_offset=4)
    assert ask(broker, "orders", 2) == EpochEndOffset(leader_epoch=2, end_offset=5)


def test_another_leader_is_to_be_asked(make_broker: Callable[..., DataBroker]) -> None:
    broker = make_broker(brokers=2)
    broker.create("elsewhere", leader=2)
    assert ask(broker, "elsewhere", 0).error_code == ErrorCode.NOT_LEADER_OR_FOLLOWER
