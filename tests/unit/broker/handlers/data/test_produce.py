"""Produce as a client sees it, where Apache Kafka's own answers (`test_data_as_kafka`) don't reach."""

from collections.abc import Callable

import pytest

from ottla.base.ids import Uuid
from ottla.protocol.api_key import ApiKey
from ottla.protocol.errors import ErrorCode
from ottla.protocol.messages.fetch import FetchPartition, FetchRequest, FetchResponse, FetchTopic
from ottla.protocol.messages.produce import (
    LeaderIdAndEpoch,
    NodeEndpoint,
    PartitionProduceData,
    PartitionProduceResponse,
    ProduceRequest,
    ProduceResponse,
    TopicProduceData,
    TopicProduceResponse,
)
from ottla.protocol.records.writer import BatchOptions, write_batch
from ottla.storage.topic_partition import TopicPartition
from tests.unit.broker.data_broker import NOW_MS, DataBroker

VERSIONS = range(3, 14)


def batch(count: int = 1, options: BatchOptions | None = None) -> bytearray:
    records = [(index, NOW_MS, b"k", b"v", ()) for index in range(count)]
    return write_batch(records, options or BatchOptions())


def produce(
    topic: str | Uuid, *records: bytes | bytearray | None, acks: int = 1, txn: str | None = None, timeout_ms: int = 1000
) -> ProduceRequest:
    """The records for partitions 0, 1, …"""
    data = [PartitionProduceData(index=index, records=each) for index, each in enumerate(records)]
    named = TopicProduceData(partition_data=data)
    if isinstance(topic, Uuid):
        named.topic_id = topic
    else:
        named.name = topic
    return ProduceRequest(transactional_id=txn, acks=acks, timeout_ms=timeout_ms, topic_data=[named])


def outcomes(response: ProduceResponse) -> list[tuple[int, int, int]]:
    """Partition, code and offset of each answer."""
    return [
        (partition.index, partition.error_code, partition.base_offset)
        for topic in response.responses
        for partition in topic.partition_responses
    ]


@pytest.mark.parametrize("version", VERSIONS)
@pytest.mark.parametrize("partitions", [1, 3])
def test_records_get_the_next_offsets(broker: DataBroker, version: int, partitions: int) -> None:
    topic_id = broker.create("orders", partitions)
    topic: str | Uuid = topic_id if version >= 13 else "orders"
    for expected in (0, 2):
        request = produce(topic, *[batch(2) for _ in range(partitions)])
        answers = [
            PartitionProduceResponse(index=index, base_offset=expected, log_start_offset=0 if version >= 5 else -1)
            for index in range(partitions)
        ]
        named = TopicProduceResponse(partition_responses=answers)
        if version >= 13:
            named.topic_id = topic_id
        else:
            named.name = "orders"
        assert broker.ask(request, version, ProduceResponse) == ProduceResponse(responses=[named])


def test_a_topic_that_comes_again_by_the_same_name_has_its_own_answers(broker: DataBroker) -> None:
    first = broker.create("orders")
    broker.ask(produce(first, batch()), 13, ProduceResponse)
    broker.delete(first)
    broker.loop.advance(1000)
    [answer] = broker.ask(produce(first, batch()), 13, ProduceResponse).responses
    assert (answer.topic_id, answer.partition_responses[0].error_code) == (first, ErrorCode.UNKNOWN_TOPIC_ID)


@pytest.mark.parametrize("partitions", [1, 2])
def test_null_records_are_refused_and_not_forgotten(broker: DataBroker, partitions: int) -> None:
    broker.create("orders", partitions)
    records: list[bytearray | None] = [None, batch()]
    response = broker.ask(produce("orders", *records[:partitions]), 9, ProduceResponse)
    assert sorted(outcomes(response)) == [(0, ErrorCode.INVALID_RECORD, -1), (1, 0, 0)][:partitions]


def test_one_batch_of_no_kind_spoils_the_request(broker: DataBroker) -> None:
    broker.create("orders", 2)
    broken = batch()
    broken[16] = 3
    response = broker.ask(produce("orders", broken, batch()), 9, ProduceResponse)
    assert sorted(outcomes(response)) == [(0, ErrorCode.CORRUPT_MESSAGE, -1), (1, ErrorCode.CORRUPT_MESSAGE, -1)]


def test_a_batch_whose_checksum_is_wrong_fails_its_own_partition(broker: DataBroker) -> None:
    broker.create("orders", 2)
    broken = batch()
    broken[-1] ^= 0xFF
    response = broker.ask(produce("orders", broken, batch()), 9, ProduceResponse)
    assert sorted(outcomes(response)) == [(0, ErrorCode.CORRUPT_MESSAGE, -1), (1, 0, 0)]


def test_with_one_replica_all_are_in_sync_at_once(broker: DataBroker) -> None:
    broker.create("orders")
    exchange = broker.send(produce("orders", batch(), acks=-1), 9)
    assert exchange.is_done
    assert not exchange.may_proceed


def test_while_replicas_are_waited_for_the_connection_goes_on(make_broker: Callable[..., DataBroker]) -> None:
    broker = make_broker(brokers=2)
    topic_id = broker.create("orders", replicas=2)
    exchange = broker.send(produce(topic_id, batch(3), acks=-1, timeout_ms=5000), 13)
    assert not exchange.is_done
    assert exchange.may_proceed
    state = {"replica_id": 2, "replica_epoch": 2}
    for offset in (0, 3):
        fetch = FetchRequest(
            max_wait_ms=0,
            min_bytes=1,
            topics=[
                FetchTopic(
                    topic_id=topic_id,
                    partitions=[
                        FetchPartition(
                            fetch_offset=offset, partition_max_bytes=1 << 20, log_start_offset=0, last_fetched_epoch=-1
                        )
                    ],
                )
            ],
        )
        fetch.replica_state.replica_id, fetch.replica_state.replica_epoch = state["replica_id"], state["replica_epoch"]
        assert broker.ask(fetch, 17, FetchResponse).error_code == 0
    broker.loop.run()
    response = exchange.response(ApiKey.PRODUCE, 13)
    assert isinstance(response, ProduceResponse)
    assert outcomes(response) == [(0, 0, 0)]


def test_replicas_that_never_come_end_in_a_time_out(make_broker: Callable[..., DataBroker]) -> None:
    broker = make_broker(brokers=2)
    broker.create("orders", replicas=2)
    exchange = broker.send(produce("orders", batch(), acks=-1, timeout_ms=5000), 9)
    broker.loop.advance(4900)
    assert not exchange.is_done
    broker.loop.advance(400)
    response = exchange.response(ApiKey.PRODUCE, 9)
    assert isinstance(response, ProduceResponse)
    assert [code for _, code, _ in outcomes(response)] == [ErrorCode.REQUEST_TIMED_OUT]


@pytest.mark.parametrize("version", [9, 10, 13])
def test_a_partition_that_moved_comes_with_its_leader(make_broker: Callable[..., DataBroker], version: int) -> None:
    broker = make_broker(brokers=2)
    topic_id = broker.create("orders", replicas=2)
    broker.move(topic_id, leader=2)
    response = broker.ask(produce(topic_id if version >= 13 else "orders", batch()), version, ProduceResponse)
    [answer] = response.responses[0].partition_responses
    assert answer.error_code == ErrorCode.NOT_LEADER_OR_FOLLOWER
    told = LeaderIdAndEpoch(leader_id=2, leader_epoch=1) if version >= 10 else LeaderIdAndEpoch()
    assert answer.current_leader == told
    endpoint = NodeEndpoint(node_id=2, host="host-2", port=9002, rack="rack-2")
    assert response.node_endpoints == ([endpoint] if version >= 10 else [])


def test_a_partition_elsewhere_comes_with_its_leader_too(make_broker: Callable[..., DataBroker]) -> None:
    broker = make_broker(brokers=2)
    broker.create("elsewhere", leader=2, replicas=1)
    response = broker.ask(produce("elsewhere", batch()), 12, ProduceResponse)
    assert response.responses[0].partition_responses[0].current_leader.leader_id == 2
    assert [endpoint.node_id for endpoint in response.node_endpoints] == [2]


def test_internal_topics_are_for_the_broker_itself(broker: DataBroker) -> None:
    broker.create("__consumer_offsets")
    refused = broker.ask(produce("__consumer_offsets", batch()), 9, ProduceResponse)
    [answer] = refused.responses[0].partition_responses
    assert (answer.error_code, answer.log_start_offset) == (ErrorCode.INVALID_TOPIC_EXCEPTION, -1)
    allowed = broker.ask(produce("__consumer_offsets", batch()), 9, ProduceResponse, client_id="__admin_client")
    assert outcomes(allowed) == [(0, 0, 0)]


def test_nobody_answers_without_acknowledgement(broker: DataBroker) -> None:
    broker.create("orders", 2)
    for records in ([batch()], [batch(), batch()]):
        exchange = broker.send(produce("orders", *records, acks=0), 9)
        assert exchange.has_no_answer
    for request in (produce("nobody", batch(), acks=0), produce(Uuid(b"x" * 16), batch(), acks=0)):
        version = 9 if request.topic_data[0].name else 13
        exchange = broker.send(request, version)
        assert exchange.frame is None
        assert "acks=0" in (exchange.connection.closed_with or "")


MARKED = BatchOptions(producer_id=7, producer_epoch=0, base_sequence=0, is_transactional=True)


@pytest.mark.parametrize("version", [9, 11, 12])
def test_a_transaction_nobody_can_vouch_for_is_to_be_tried_again(broker: DataBroker, version: int) -> None:
    broker.create("orders", 2)
    request = produce("orders", batch(options=MARKED), batch(), acks=-1, txn="t")
    response = broker.ask(request, version, ProduceResponse)
    assert sorted(outcomes(response)) == [(0, ErrorCode.NOT_ENOUGH_REPLICAS, -1), (1, 0, 0)]
    refused = next(answer for answer in response.responses[0].partition_responses if answer.error_code)
    assert refused.error_message == (
        "Unable to verify the partition has been added to the transaction. Underlying error: COORDINATOR_NOT_AVAILABLE"
    )
    assert broker.replicas.get("orders", 0).log.log_end_offset == 0  # type: ignore[union-attr]


def test_without_verification_old_clients_write_their_transactions(make_broker: Callable[..., DataBroker]) -> None:
    broker = make_broker(transaction_partition_verification_enable="false")
    broker.create("orders")
    first = broker.ask(produce("orders", batch(options=MARKED), txn="t"), 11, ProduceResponse)
    assert outcomes(first) == [(0, 0, 0)]
    following = BatchOptions(producer_id=7, producer_epoch=0, base_sequence=1, is_transactional=True)
    for version in (11, 12):
        # The transaction is open here now, so there is nothing to ask.
        again = broker.ask(produce("orders", batch(options=following), txn="t"), version, ProduceResponse)
        assert outcomes(again) == [(0, 0, 1)]
    log = broker.logs.get(TopicPartition("orders", 0))
    assert log is not None
    assert log.first_unstable_offset == 0


def test_one_request_is_of_one_transaction(broker: DataBroker) -> None:
    broker.create("orders", 2)
    other = BatchOptions(producer_id=8, producer_epoch=0, base_sequence=0, is_transactional=True)
    request = produce("orders", batch(options=MARKED), batch(options=other), txn="t")
    response = broker.ask(request, 9, ProduceResponse)
    assert outcomes(response) == [(index, ErrorCode.INVALID_PRODUCER_ID_MAPPING, -1) for index in (0, 1)]


def test_an_old_epoch_is_refused_before_anybody_is_asked(broker: DataBroker) -> None:
    broker.create("orders")
    newer = BatchOptions(producer_id=7, producer_epoch=5, base_sequence=0)
    broker.ask(produce("orders", batch(options=newer)), 9, ProduceResponse)
    response = broker.ask(produce("orders", batch(options=MARKED), txn="t"), 9, ProduceResponse)
    assert outcomes(response) == [(0, ErrorCode.INVALID_PRODUCER_EPOCH, -1)]


def test_what_comes_in_is_counted_by_topic(broker: DataBroker) -> None:
    broker.create("orders", 2)
    broker.ask(produce("orders", batch(3)), 9, ProduceResponse)
    broker.ask(produce("orders", batch(2), batch(4)), 9, ProduceResponse)
    size = len(batch(3)) + len(batch(2)) + len(batch(4))
    text = broker.scrape()
    assert 'kafka_server_brokertopicmetrics_messagesin_total{topic="orders"} 9' in text
    assert f'kafka_server_brokertopicmetrics_bytesin_total{{topic="orders"}} {size}' in text
    assert 'kafka_server_brokertopicmetrics_totalproducerequests_total{topic="orders"} 3' in text


def test_failures_are_counted_but_not_what_clients_do_wrong(broker: DataBroker) -> None:
    broker.create("orders")
    broker.create("small", max_message_bytes=10)
    gap = BatchOptions(producer_id=7, producer_epoch=0, base_sequence=9)
    broker.ask(
        produce("orders", batch(options=BatchOptions(producer_id=7, producer_epoch=0, base_sequence=0))),
        9,
        ProduceResponse,
    )
    broker.ask(produce("orders", batch(options=gap)), 9, ProduceResponse)
    broker.ask(produce("small", batch()), 9, ProduceResponse)
    spoilt = batch()
    spoilt[-1] ^= 1
    broker.ask(produce("orders", spoilt), 9, ProduceResponse)
    broker.ask(produce("nobody", batch()), 9, ProduceResponse)
    text = broker.scrape()
    assert 'failedproducerequests_total{topic="orders"} 1' in text
    assert 'invalidoffsetorsequencerecords_total{topic="orders"} 1' in text
    assert 'failedproducerequests_total{topic="small"} 0' in text
    assert 'invalidmessagecrcrecords_total{topic="orders"} 1' in text
    assert "nobody" not in text


def test_repeats_are_not_counted_as_records(broker: DataBroker) -> None:
    broker.create("orders")
    options = BatchOptions(producer_id=7, producer_epoch=0, base_sequence=0)
    for _ in range(2):
        assert outcomes(broker.ask(produce("orders", batch(options=options)), 9, ProduceResponse)) == [(0, 0, 0)]
    assert 'kafka_server_brokertopicmetrics_messagesin_total{topic="orders"} 1' in broker.scrape()
