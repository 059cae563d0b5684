"""Transactions as producers and brokers see them, on real logs: from the first id to what readers may see."""

from typing import NamedTuple

import pytest

from ottla.base.ids import Uuid
from ottla.protocol.errors import ErrorCode
from ottla.protocol.messages.add_offsets_to_txn import AddOffsetsToTxnRequest, AddOffsetsToTxnResponse
from ottla.protocol.messages.add_partitions_to_txn import (
    AddPartitionsToTxnRequest,
    AddPartitionsToTxnResponse,
    AddPartitionsToTxnTopic,
)
from ottla.protocol.messages.describe_transactions import DescribeTransactionsRequest, DescribeTransactionsResponse
from ottla.protocol.messages.end_txn import EndTxnRequest, EndTxnResponse
from ottla.protocol.messages.init_producer_id import InitProducerIdRequest, InitProducerIdResponse
from ottla.protocol.messages.list_transactions import ListTransactionsRequest, ListTransactionsResponse
from ottla.protocol.messages.offset_fetch import OffsetFetchRequest, OffsetFetchRequestGroup, OffsetFetchResponse
from ottla.protocol.messages.produce import PartitionProduceData, ProduceRequest, ProduceResponse, TopicProduceData
from ottla.protocol.messages.txn_offset_commit import (
    TxnOffsetCommitRequest,
    TxnOffsetCommitRequestPartition,
    TxnOffsetCommitRequestTopic,
    TxnOffsetCommitResponse,
)
from ottla.protocol.messages.write_txn_markers import (
    WritableTxnMarker,
    WritableTxnMarkerTopic,
    WriteTxnMarkersRequest,
    WriteTxnMarkersResponse,
)
from ottla.protocol.records.writer import BatchOptions, write_batch
from tests.unit.broker.coordinator_host.conftest import CoordinatorBroker
from tests.unit.broker.data_broker import NOW_MS

CLASSIC, SECOND = 11, 12
"""Versions of Produce: the last in which producers add partitions, the first in which brokers do."""


class Producer(NamedTuple):
    """Who writes."""

    id: int
    epoch: int


def init(coordinator: CoordinatorBroker, transactional_id: str = "t", timeout_ms: int = 60_000) -> Producer:
    request = InitProducerIdRequest(transactional_id=transactional_id, transaction_timeout_ms=timeout_ms)
    response = coordinator.ask(request, 5, InitProducerIdResponse)
    assert response.error_code == 0
    return Producer(response.producer_id, response.producer_epoch)


def add(coordinator: CoordinatorBroker, producer: Producer, topic: str = "orders", version: int = 3) -> int:
    request = AddPartitionsToTxnRequest(
        v3_and_below_transactional_id="t",
        v3_and_below_producer_id=producer.id,
        v3_and_below_producer_epoch=producer.epoch,
        v3_and_below_topics=[AddPartitionsToTxnTopic(name=topic, partitions=[0])],
    )
    response = coordinator.ask(request, version, AddPartitionsToTxnResponse)
    return response.results_by_topic_v3_and_below[0].results_by_partition[0].partition_error_code


def write(coordinator: CoordinatorBroker, producer: Producer, sequence: int = 0, version: int = CLASSIC) -> int:
    """Writes a record into a transaction; the code."""
    options = BatchOptions(
        producer_id=producer.id, producer_epoch=producer.epoch, base_sequence=sequence, is_transactional=True
    )
    data = PartitionProduceData(index=0, records=write_batch([(0, NOW_MS, b"k", b"v", ())], options))
    request = ProduceRequest(
        transactional_id="t",
        acks=-1,
        timeout_ms=1000,
        topic_data=[TopicProduceData(name="orders", partition_data=[data])],
    )
    response = coordinator.ask(request, version, ProduceResponse)
    return response.responses[0].partition_responses[0].error_code


def end(coordinator: CoordinatorBroker, producer: Producer, *, committed: bool, version: int = 4) -> EndTxnResponse:
    request = EndTxnRequest(
        transactional_id="t", producer_id=producer.id, producer_epoch=producer.epoch, committed=committed
    )
    return coordinator.ask(request, version, EndTxnResponse)


def stable_offset(coordinator: CoordinatorBroker) -> tuple[int, int]:
    """The last stable offset and the end of the partition."""
    log = coordinator.broker.replicas.leader("orders", 0).log
    return log.last_stable_offset, log.log_end_offset


@pytest.fixture
def orders(coordinator: CoordinatorBroker) -> Uuid:
    """A topic to write to."""
    return coordinator.broker.create("orders")


@pytest.mark.parametrize("committed", [True, False])
@pytest.mark.usefixtures("orders")
def test_a_transaction_of_a_classic_producer(coordinator: CoordinatorBroker, committed: bool) -> None:
    producer = init(coordinator)
    assert add(coordinator, producer) == 0
    assert write(coordinator, producer) == 0
    assert write(coordinator, producer, sequence=1) == 0
    assert stable_offset(coordinator) == (0, 2)
    assert end(coordinator, producer, committed=committed).error_code == 0
    assert stable_offset(coordinator) == (3, 3)
    aborted = coordinator.broker.replicas.leader("orders", 0).log.aborted_transactions(0, 3)
    assert len(aborted) == (0 if committed else 1)


@pytest.mark.usefixtures("orders")
def test_brokers_add_partitions_of_the_second_version(coordinator: CoordinatorBroker) -> None:
    producer = init(coordinator)
    for number in range(3):
        assert write(coordinator, producer, version=SECOND) == 0
        assert write(coordinator, producer, sequence=1, version=SECOND) == 0
        response = end(coordinator, producer, committed=True, version=5)
        assert (response.error_code, response.producer_epoch) == (0, producer.epoch + 1)
        producer = Producer(response.producer_id, response.producer_epoch)
        assert stable_offset(coordinator) == (3 * (number + 1), 3 * (number + 1))


@pytest.mark.usefixtures("orders")
def test_a_partition_that_was_not_added_is_not_written_to(coordinator: CoordinatorBroker) -> None:
    producer = init(coordinator)
    assert write(coordinator, producer, version=10) == ErrorCode.INVALID_TXN_STATE
    assert write(coordinator, producer, version=11) == ErrorCode.TRANSACTION_ABORTABLE
    assert stable_offset(coordinator) == (0, 0)


@pytest.mark.usefixtures("orders")
def test_an_older_producer_is_fenced_everywhere(coordinator: CoordinatorBroker) -> None:
    old = init(coordinator)
    add(coordinator, old)
    write(coordinator, old)
    request = InitProducerIdRequest(transactional_id="t", transaction_timeout_ms=60_000)
    first = coordinator.ask(request, 5, InitProducerIdResponse)
    assert first.error_code == ErrorCode.CONCURRENT_TRANSACTIONS
    new = init(coordinator)
    assert (new.id, new.epoch) > (old.id, old.epoch)
    assert add(coordinator, old) == ErrorCode.PRODUCER_FENCED
    assert add(coordinator, old, version=1) == ErrorCode.INVALID_PRODUCER_EPOCH
    assert end(coordinator, old, committed=True).error_code == ErrorCode.PRODUCER_FENCED
    assert write(coordinator, old, sequence=1) == ErrorCode.INVALID_PRODUCER_EPOCH
    assert stable_offset(coordinator) == (2, 2)


@pytest.mark.usefixtures("orders")
def test_a_transaction_that_nobody_ends_is_aborted(coordinator: CoordinatorBroker) -> None:
    producer = init(coordinator, timeout_ms=5_000)
    add(coordinator, producer)
    write(coordinator, producer)
    coordinator.broker.loop.advance(4_000)
    assert stable_offset(coordinator) == (0, 1)
    coordinator.broker.loop.advance(1_500)
    assert stable_offset(coordinator) == (2, 2)
    assert len(coordinator.broker.replicas.leader("orders", 0).log.aborted_transactions(0, 2)) == 1


def commit_offsets(coordinator: CoordinatorBroker, producer: Producer, version: int) -> list[tuple[str, int]]:
    """Topics with the codes of their partition."""
    topics = [
        TxnOffsetCommitRequestTopic(
            name=name, partitions=[TxnOffsetCommitRequestPartition(partition_index=0, committed_offset=7)]
        )
        for name in ("orders", "nowhere")
    ]
    request = TxnOffsetCommitRequest(
        transactional_id="t", group_id="g", producer_id=producer.id, producer_epoch=producer.epoch, topics=topics
    )
    response = coordinator.ask(request, version, TxnOffsetCommitResponse)
    return [(topic.name, topic.partitions[0].error_code) for topic in response.topics]


def committed_offset(coordinator: CoordinatorBroker, *, stable: bool = False) -> dict[str, tuple[int, int]]:
    """Code and offset by topic."""
    request = OffsetFetchRequest(groups=[OffsetFetchRequestGroup(group_id="g", topics=None)], require_stable=stable)
    (group,) = coordinator.ask(request, 9, OffsetFetchResponse).groups
    return {
        topic.name: (topic.partitions[0].error_code, topic.partitions[0].committed_offset) for topic in group.topics
    }


@pytest.mark.parametrize("version", [0, 2, 3, 4, 5])
@pytest.mark.parametrize("committed", [True, False])
@pytest.mark.usefixtures("orders")
def test_offsets_count_with_their_transaction(coordinator: CoordinatorBroker, version: int, committed: bool) -> None:
    producer = init(coordinator)
    if version < 5:
        request = AddOffsetsToTxnRequest(
            transactional_id="t", producer_id=producer.id, producer_epoch=producer.epoch, group_id="g"
        )
        assert coordinator.ask(request, 3, AddOffsetsToTxnResponse).error_code == 0
    unknown = ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
    assert commit_offsets(coordinator, producer, version) == [("nowhere", unknown), ("orders", 0)]
    assert committed_offset(coordinator) == {}
    assert end(coordinator, producer, committed=committed).error_code == 0
    assert committed_offset(coordinator) == ({"orders": (0, 7)} if committed else {})


@pytest.mark.usefixtures("orders")
def test_offsets_of_a_group_that_was_not_added(coordinator: CoordinatorBroker) -> None:
    producer = init(coordinator)
    assert commit_offsets(coordinator, producer, 3)[-1] == ("orders", ErrorCode.INVALID_TXN_STATE)
    assert commit_offsets(coordinator, producer, 4)[-1] == ("orders", ErrorCode.TRANSACTION_ABORTABLE)


@pytest.mark.usefixtures("orders")
def test_transactions_are_listed_and_described(coordinator: CoordinatorBroker) -> None:
    producer = init(coordinator)
    add(coordinator, producer)
    listed = coordinator.ask(ListTransactionsRequest(), 0, ListTransactionsResponse).transaction_states
    assert [(found.transactional_id, found.producer_id, found.transaction_state) for found in listed] == [
        ("t", producer.id, "Ongoing")
    ]
    request = DescribeTransactionsRequest(transactional_ids=["t", "unknown"])
    found, unknown = coordinator.ask(request, 0, DescribeTransactionsResponse).transaction_states
    assert [(topic.topic, topic.partitions) for topic in found.topics] == [("orders", [0])]
    assert unknown.error_code == ErrorCode.TRANSACTIONAL_ID_NOT_FOUND


@pytest.mark.usefixtures("orders")
def test_markers_from_outside(coordinator: CoordinatorBroker) -> None:
    producer = init(coordinator)
    add(coordinator, producer)
    write(coordinator, producer)

    def mark(coordinator_epoch: int) -> list[tuple[str, int, int]]:
        topics = [
            WritableTxnMarkerTopic(name="orders", partition_indexes=[0, 5]),
            WritableTxnMarkerTopic(name="__consumer_offsets", partition_indexes=[0, 9]),
        ]
        marker = WritableTxnMarker(
            producer_id=producer.id,
            producer_epoch=producer.epoch,
            transaction_result=False,
            topics=topics,
            coordinator_epoch=coordinator_epoch,
        )
        response = coordinator.ask(WriteTxnMarkersRequest(markers=[marker]), 1, WriteTxnMarkersResponse)
        (result,) = response.markers
        assert result.producer_id == producer.id
        return sorted(
            (topic.name, found.partition_index, found.error_code)
            for topic in result.topics
            for found in topic.partitions
        )

    assert mark(3) == [
        ("__consumer_offsets", 0, 0),
        ("__consumer_offsets", 9, ErrorCode.UNKNOWN_TOPIC_OR_PARTITION),
        ("orders", 0, 0),
        ("orders", 5, ErrorCode.UNKNOWN_TOPIC_OR_PARTITION),
    ]
    assert stable_offset(coordinator) == (2, 2)
    codes = {(topic, index): code for topic, index, code in mark(2)}
    assert codes[("orders", 0)] == ErrorCode.TRANSACTION_COORDINATOR_FENCED


@pytest.mark.usefixtures("orders")
def test_an_answer_that_comes_late_writes_what_was_sent(coordinator: CoordinatorBroker) -> None:
    """The coordinator's answer waits for the end of the round, when the request's frame is long gone."""
    producer = init(coordinator)
    assert write(coordinator, producer, version=SECOND) == 0
    log = coordinator.broker.replicas.leader("orders", 0).log
    found = log.read(0, 1_000, 1).records
    assert found is not None
    assert found.read()[-5:-1] == b"\x02k\x02v"
