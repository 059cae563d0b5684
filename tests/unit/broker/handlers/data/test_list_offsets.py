"""ListOffsets as a client sees it, where Apache Kafka's own answers (`test_data_as_kafka`) don't reach."""

from collections.abc import Callable

import pytest

from ottla.protocol.errors import ErrorCode
from ottla.protocol.messages.list_offsets import (
    ListOffsetsPartition,
    ListOffsetsPartitionResponse,
    ListOffsetsRequest,
    ListOffsetsResponse,
    ListOffsetsTopic,
)
from ottla.protocol.messages.produce import ProduceResponse
from tests.unit.broker.data_broker import DataBroker
from tests.unit.broker.handlers.data.test_produce import batch, produce


def ask(broker: DataBroker, topic: str, *times: int, version: int = 11) -> list[ListOffsetsPartitionResponse]:
    """What partitions 0, 1, … say to these times."""
    asked = [ListOffsetsPartition(partition_index=index, timestamp=time) for index, time in enumerate(times)]
    topics = [ListOffsetsTopic(name=topic, partitions=asked)]
    response = broker.ask(ListOffsetsRequest(replica_id=-1, topics=topics), version, ListOffsetsResponse)
    return [partition for answer in response.topics for partition in answer.partitions]


def test_answers_keep_the_order_of_the_request(broker: DataBroker) -> None:
    broker.create("orders", 3)
    broker.ask(produce("orders", batch(1), batch(2), batch(3)), 9, ProduceResponse)
    found = ask(broker, "orders", -1, -1, -1)
    assert [(answer.partition_index, answer.offset) for answer in found] == [(0, 1), (1, 2), (2, 3)]


@pytest.mark.parametrize("version", range(1, 12))
def test_the_end_can_be_asked_for_in_every_version(broker: DataBroker, version: int) -> None:
    broker.create("orders")
    broker.ask(produce("orders", batch(4)), 9, ProduceResponse)
    [answer] = ask(broker, "orders", -1, version=version)
    assert answer == ListOffsetsPartitionResponse(offset=4, leader_epoch=0 if version >= 4 else -1)


@pytest.mark.parametrize(
    ("version", "code"), [(4, ErrorCode.LEADER_NOT_AVAILABLE), (5, ErrorCode.OFFSET_NOT_AVAILABLE)]
)
def test_a_new_leader_asks_for_patience(make_broker: Callable[..., DataBroker], version: int, code: int) -> None:
    """Its high watermark is behind the records of its predecessor, which clients may have seen already."""
    broker = make_broker(brokers=2)
    topic_id = broker.create("orders", replicas=2)
    broker.ask(produce("orders", batch(4)), 9, ProduceResponse)
    broker.move(topic_id, leader=2)
    broker.move(topic_id, leader=1)
    [answer] = ask(broker, "orders", -1, version=version)
    assert answer.error_code == code


def test_another_leader_is_to_be_looked_for(make_broker: Callable[..., DataBroker]) -> None:
    broker = make_broker(brokers=2)
    broker.create("elsewhere", leader=2)
    [answer] = ask(broker, "elsewhere", -1)
    assert answer.error_code == ErrorCode.NOT_LEADER_OR_FOLLOWER
