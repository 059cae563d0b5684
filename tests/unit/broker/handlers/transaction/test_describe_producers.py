"""DescribeProducers as a client sees it, where Apache Kafka's own answers (`test_data_as_kafka`) don't reach."""

from collections.abc import Callable

from ottla.protocol.errors import ErrorCode
from ottla.protocol.messages.describe_producers import (
    DescribeProducersRequest,
    DescribeProducersResponse,
    PartitionResponse,
    ProducerState,
    TopicRequest,
)
from ottla.protocol.messages.produce import ProduceResponse
from ottla.protocol.records.writer import BatchOptions
from tests.unit.broker.data_broker import NOW_MS, DataBroker
from tests.unit.broker.handlers.data.test_produce import batch, produce


def describe(broker: DataBroker, topic: str) -> PartitionResponse:
    request = DescribeProducersRequest(topics=[TopicRequest(name=topic, partition_indexes=[0])])
    return broker.ask(request, 0, DescribeProducersResponse).topics[0].partitions[0]


def test_an_open_transaction_shows_where_it_began(make_broker: Callable[..., DataBroker]) -> None:
    broker = make_broker(transaction_partition_verification_enable="false")
    broker.create("orders")
    broker.ask(produce("orders", batch(3)), 9, ProduceResponse)
    options = BatchOptions(producer_id=7, producer_epoch=2, base_sequence=0, is_transactional=True)
    broker.ask(produce("orders", batch(2, options), txn="t"), 9, ProduceResponse)
    state = ProducerState(
        producer_id=7,
        producer_epoch=2,
        last_sequence=1,
        last_timestamp=NOW_MS,
        coordinator_epoch=-1,
        current_txn_start_offset=3,
    )
    assert describe(broker, "orders").active_producers == [state]


def test_another_leader_is_to_be_asked(make_broker: Callable[..., DataBroker]) -> None:
    broker = make_broker(brokers=2)
    broker.create("elsewhere", leader=2)
    refused = PartitionResponse(error_code=ErrorCode.NOT_LEADER_OR_FOLLOWER)
    assert describe(broker, "elsewhere") == refused
