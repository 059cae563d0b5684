"""DeleteRecords as a client sees it, where Apache Kafka's own answers (`test_data_as_kafka`) don't reach."""

from collections.abc import Callable

from ottla.base.ids import Uuid
from ottla.protocol.api_key import ApiKey
from ottla.protocol.errors import ErrorCode
from ottla.protocol.messages.delete_records import (
    DeleteRecordsPartition,
    DeleteRecordsRequest,
    DeleteRecordsResponse,
    DeleteRecordsTopic,
)
from ottla.protocol.messages.fetch import FetchResponse
from ottla.protocol.messages.produce import ProduceResponse
from tests.unit.broker.data_broker import DataBroker
from tests.unit.broker.handlers.data.test_fetch import fetch, wanted
from tests.unit.broker.handlers.data.test_produce import batch, produce
from tests.unit.broker.recorder import RecordedExchange


def delete(topic: str, *offsets: int, timeout_ms: int = 1000) -> DeleteRecordsRequest:
    """Everything before these offsets in partitions 0, 1, …"""
    asked = [DeleteRecordsPartition(partition_index=index, offset=offset) for index, offset in enumerate(offsets)]
    return DeleteRecordsRequest(topics=[DeleteRecordsTopic(name=topic, partitions=asked)], timeout_ms=timeout_ms)


def outcomes(response: DeleteRecordsResponse) -> list[tuple[int, int, int]]:
    return [
        (partition.partition_index, partition.error_code, partition.low_watermark)
        for topic in response.topics
        for partition in topic.partitions
    ]


def test_each_partition_has_its_own_outcome(broker: DataBroker) -> None:
    broker.create("orders", 2)
    broker.ask(produce("orders", batch(5), batch(5)), 9, ProduceResponse)
    response = broker.ask(delete("orders", 3, 99, 0), 2, DeleteRecordsResponse)
    assert outcomes(response) == [
        (0, 0, 3),
        (1, ErrorCode.OFFSET_OUT_OF_RANGE, -1),
        (2, ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, -1),
    ]


def test_internal_topics_are_left_alone(broker: DataBroker) -> None:
    broker.create("__consumer_offsets")
    response = broker.ask(delete("__consumer_offsets", 0), 2, DeleteRecordsResponse)
    assert outcomes(response) == [(0, ErrorCode.INVALID_TOPIC_EXCEPTION, -1)]


def follow(broker: DataBroker, topic_id: Uuid, offset: int, log_start: int) -> None:
    """Broker 2 fetches, and says where its own log begins."""
    request = fetch(wanted(topic_id, offset))
    request.replica_state.replica_id, request.replica_state.replica_epoch = 2, 2
    request.topics[0].partitions[0].log_start_offset = log_start
    assert broker.ask(request, 17, FetchResponse).responses[0].partitions[0].error_code == 0


def followed_topic(broker: DataBroker) -> Uuid:
    """Five records that broker 2 has, too."""
    topic_id = broker.create("orders", replicas=2)
    broker.ask(produce("orders", batch(5)), 9, ProduceResponse)
    follow(broker, topic_id, 0, 0)
    follow(broker, topic_id, 5, 0)
    return topic_id


def late(exchange: RecordedExchange) -> DeleteRecordsResponse:
    response = exchange.response(ApiKey.DELETE_RECORDS, 2)
    assert isinstance(response, DeleteRecordsResponse)
    return response


def test_the_answer_waits_for_the_replicas(make_broker: Callable[..., DataBroker]) -> None:
    broker = make_broker(brokers=2)
    topic_id = followed_topic(broker)
    exchange = broker.send(delete("orders", 3), 2)
    assert not exchange.is_done
    follow(broker, topic_id, 5, 3)
    broker.loop.run()
    assert outcomes(late(exchange)) == [(0, 0, 3)]


def test_replicas_that_never_come_end_in_a_time_out(make_broker: Callable[..., DataBroker]) -> None:
    broker = make_broker(brokers=2)
    followed_topic(broker)
    exchange = broker.send(delete("orders", 3, timeout_ms=1000), 2)
    broker.loop.advance(1500)
    assert [code for _, code, _ in outcomes(late(exchange))] == [ErrorCode.REQUEST_TIMED_OUT]
