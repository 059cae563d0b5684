import pytest

from ottla.protocol.errors import (
    FencedLeaderEpochError,
    NotLeaderOrFollowerError,
    OffsetNotAvailableError,
    UnknownLeaderEpochError,
    UnknownTopicOrPartitionError,
)
from ottla.protocol.records.writer import BatchOptions, write_batch
from ottla.replication.request.fetch import READ_COMMITTED, READ_UNCOMMITTED
from ottla.replication.request.offset_query import (
    EARLIEST,
    EARLIEST_LOCAL,
    EARLIEST_PENDING_UPLOAD,
    LATEST,
    LATEST_TIERED,
    MAX_TIMESTAMP,
    OffsetAnswer,
    OffsetQuery,
)
from ottla.replication.request.produce import AppendEntry
from ottla.storage.leader_epoch.checkpoint import EpochEntry
from ottla.storage.log.append_info import AppendOptions
from ottla.storage.topic_partition import TopicPartition
from tests.unit.replication.broker_under_test import BrokerUnderTest, Metadata, want
from tests.unit.replication.manual_loop import EPOCH_MS, ManualLoop

ORDERS = TopicPartition("orders", 0)


@pytest.fixture
def loop() -> ManualLoop:
    return ManualLoop()


@pytest.fixture
def broker(loop: ManualLoop) -> BrokerUnderTest:
    return BrokerUnderTest(loop)


@pytest.fixture
def metadata(loop: ManualLoop, broker: BrokerUnderTest) -> Metadata:
    metadata = Metadata(broker)
    metadata.register(1)
    metadata.register(2)
    metadata.create("orders", [1, 2])
    loop.run()
    for number in range(4):
        append(broker, EPOCH_MS + number * 10)
    follow(broker, 4)
    return metadata


def append(broker: BrokerUnderTest, timestamp: int, **options: object) -> None:
    records = write_batch([(0, timestamp, None, b"v", ())], BatchOptions(**options))  # type: ignore[arg-type]
    entry = AppendEntry("orders", 0, records, AppendOptions(verify_transactions=False))
    broker.replicas.append([entry], acks=1, timeout_ms=1, done=lambda results: None)


def follow(broker: BrokerUnderTest, offset: int) -> None:
    broker.fetch(want(offset=offset, log_start_offset=0), replica_id=2, replica_epoch=1)


def ask(
    broker: BrokerUnderTest, timestamp: int, isolation: int | None = READ_UNCOMMITTED, **more: object
) -> OffsetAnswer:
    query = OffsetQuery("orders", 0, timestamp, isolation_level=isolation, **more)  # type: ignore[arg-type]
    return broker.replicas.list_offset(query)


def test_bounds_and_times_are_found(broker: BrokerUnderTest, metadata: Metadata) -> None:
    assert ask(broker, EARLIEST) == (-1, 0, 0)
    assert ask(broker, EARLIEST_LOCAL) == (-1, 0, 0)
    assert ask(broker, LATEST) == (-1, 4, 0)
    assert ask(broker, EPOCH_MS + 11) == (EPOCH_MS + 20, 2, 0)
    assert ask(broker, EPOCH_MS + 31) == (-1, -1, -1)
    assert ask(broker, MAX_TIMESTAMP) == (EPOCH_MS + 30, 3, 0)


def test_without_tiers_there_is_nothing_in_them(broker: BrokerUnderTest, metadata: Metadata) -> None:
    assert ask(broker, LATEST_TIERED) == ask(broker, EARLIEST_PENDING_UPLOAD) == (-1, -1, -1)


def test_clients_see_what_is_replicated_and_replicas_all(broker: BrokerUnderTest, metadata: Metadata) -> None:
    append(broker, EPOCH_MS + 100)
    assert ask(broker, LATEST).offset == 4
    assert ask(broker, LATEST, None).offset == 5
    assert ask(broker, EPOCH_MS + 50) == (-1, -1, -1)
    assert ask(broker, EPOCH_MS + 50, None).offset == 4
    assert ask(broker, MAX_TIMESTAMP) == (-1, -1, -1)


def test_read_committed_ends_at_the_first_open_transaction(broker: BrokerUnderTest, metadata: Metadata) -> None:
    append(broker, EPOCH_MS, producer_id=5, producer_epoch=0, base_sequence=0, is_transactional=True)
    follow(broker, 5)
    assert (ask(broker, LATEST).offset, ask(broker, LATEST, READ_COMMITTED).offset) == (5, 4)


def test_a_new_leader_says_when_its_end_may_still_fall_behind(
    loop: ManualLoop, broker: BrokerUnderTest, metadata: Metadata
) -> None:
    append(broker, EPOCH_MS + 100)
    metadata.change("orders", leader=1)
    loop.run()
    with pytest.raises(OffsetNotAvailableError):
        ask(broker, LATEST)
    with pytest.raises(OffsetNotAvailableError):
        ask(broker, EPOCH_MS + 50)
    assert ask(broker, EPOCH_MS).offset == 0
    assert ask(broker, EARLIEST).offset == 0
    assert ask(broker, LATEST, None).offset == 5
    follow(broker, 5)
    assert ask(broker, LATEST) == (-1, 5, 1)


def test_epochs_fence(loop: ManualLoop, broker: BrokerUnderTest, metadata: Metadata) -> None:
    assert ask(broker, LATEST, current_leader_epoch=0).offset == 4
    with pytest.raises(UnknownLeaderEpochError):
        ask(broker, LATEST, current_leader_epoch=1)
    with pytest.raises(FencedLeaderEpochError):
        ask(broker, LATEST, current_leader_epoch=-2)
    with pytest.raises(UnknownTopicOrPartitionError):
        broker.replicas.list_offset(OffsetQuery("nowhere", 0, LATEST))


def test_a_follower_answers_only_who_asks_for_a_replica(
    loop: ManualLoop, broker: BrokerUnderTest, metadata: Metadata
) -> None:
    metadata.change("orders", leader=2)
    loop.run()
    with pytest.raises(NotLeaderOrFollowerError):
        ask(broker, LATEST)
    assert ask(broker, LATEST, None, leader_only=False).offset == 4


# Epochs and producers


def test_the_end_of_an_epoch_is_found(loop: ManualLoop, broker: BrokerUnderTest, metadata: Metadata) -> None:
    metadata.change("orders", leader=1)
    loop.run()
    append(broker, EPOCH_MS + 100)
    last = broker.replicas.last_offset_for_epoch
    assert last(ORDERS, -1, 0) == EpochEntry(0, 4)
    assert last(ORDERS, 1, 1) == EpochEntry(1, 5)
    assert last(ORDERS, 1, 2) == EpochEntry(-1, -1)
    with pytest.raises(FencedLeaderEpochError):
        last(ORDERS, 0, 0)
    metadata.change("orders", leader=2)
    loop.run()
    with pytest.raises(NotLeaderOrFollowerError):
        last(ORDERS, -1, 0)


def test_producers_are_described(broker: BrokerUnderTest, metadata: Metadata) -> None:
    append(broker, EPOCH_MS, producer_id=5, producer_epoch=2, base_sequence=0)
    [producer] = broker.replicas.describe_producers(ORDERS)
    assert (producer.producer_id, producer.producer_epoch, producer.last_sequence) == (5, 2, 0)
    with pytest.raises(UnknownTopicOrPartitionError):
        broker.replicas.describe_producers(TopicPartition("nowhere", 0))
