"""Log directories: what they hold, and replicas that move from one to another."""

from random import Random

import pytest

from ottla.metadata.directory_id import UNASSIGNED
from ottla.protocol.errors import ErrorCode
from ottla.replication.settings import ReplicationSettings
from ottla.storage.disk.simulated import Fault
from ottla.storage.log_config import LogConfig
from ottla.storage.topic_partition import TopicPartition
from tests.unit.replication.broker_under_test import (
    BrokerUnderTest,
    Metadata,
    directory_id,
    offsets,
    topic_id,
    want,
)
from tests.unit.replication.manual_loop import ManualLoop

ORDERS = TopicPartition("orders", 0)
SETTINGS = ReplicationSettings(cordoned_log_dirs=frozenset({"/c"}))


@pytest.fixture
def loop() -> ManualLoop:
    return ManualLoop()


@pytest.fixture
def broker(loop: ManualLoop) -> BrokerUnderTest:
    config = LogConfig(segment_bytes=5000, index_interval_bytes=500)
    return BrokerUnderTest(loop, directories=("/a", "/b", "/c"), config=config, settings=SETTINGS)


@pytest.fixture
def metadata(loop: ManualLoop, broker: BrokerUnderTest) -> Metadata:
    metadata = Metadata(broker)
    metadata.register(1)
    metadata.create("orders", [1], directories=[directory_id(1)])
    metadata.create("bills", [1], directories=[directory_id(11)])
    loop.run()
    for _ in range(20):
        broker.produce(count=10, size=100)
    return metadata


def alter(broker: BrokerUnderTest, name: TopicPartition, path: str) -> list[int]:
    """Asks for a move; the error code, once there is one."""
    codes: list[int] = []
    broker.replicas.alter_log_dir(name, path, codes.append)
    while not codes:
        broker.loop.turn()
    return codes


def path_of(broker: BrokerUnderTest) -> str:
    log = broker.logs.get(ORDERS)
    assert log is not None
    return log.directory


def read_all(broker: BrokerUnderTest) -> list[int]:
    position, found = broker.partition().log.log_start_offset, []
    while position < broker.partition().high_watermark:
        answers = broker.fetch(want(offset=position))
        while not answers.is_done:  # A thread reads older segments first.
            broker.loop.turn()
        [result] = answers
        found += [offset for offset in offsets(result) if offset >= position]
        position = found[-1] + 1
    return found


# Describing


def test_directories_are_described_with_their_logs(broker: BrokerUnderTest, metadata: Metadata) -> None:
    described = {directory.path: directory for directory in broker.replicas.describe_log_dirs(None)}
    assert list(described) == ["/a", "/b", "/c"]
    [orders] = described["/a"].replicas
    assert (orders.partition, orders.offset_lag, orders.is_future) == (ORDERS, 0, False)
    assert orders.size_bytes == broker.partition().log.size_bytes > 20_000
    assert [directory.is_cordoned for directory in described.values()] == [False, False, True]


def test_only_what_is_asked_for_is_described(broker: BrokerUnderTest, metadata: Metadata) -> None:
    described = broker.replicas.describe_log_dirs([TopicPartition("bills", 0), TopicPartition("nowhere", 0)])
    assert [[str(replica.partition) for replica in directory.replicas] for directory in described] == [
        [],
        ["bills-0"],
        [],
    ]


def test_a_failed_directory_says_so_and_nothing_else(broker: BrokerUnderTest, metadata: Metadata) -> None:
    broker.disk.fail(Fault("write", path_ending="bills-0/00000000000000000000.log"))
    broker.produce("bills")
    described = broker.replicas.describe_log_dirs(None)[1]
    assert described == (ErrorCode.KAFKA_STORAGE_ERROR, "/b", (), -1, -1, False)


# Moving


def test_a_replica_moves_with_all_its_records(loop: ManualLoop, broker: BrokerUnderTest, metadata: Metadata) -> None:
    assert alter(broker, ORDERS, "/b") == [0]
    futures = [replica for replica in broker.replicas.describe_log_dirs(None)[1].replicas if replica.is_future]
    assert [(replica.partition, replica.offset_lag) for replica in futures] == [(ORDERS, 200)]
    loop.run()
    assert path_of(broker) == "/b/orders-0"
    assert read_all(broker) == list(range(200))
    assert broker.events.assigned == [(topic_id("orders"), 0, directory_id(11))]
    assert broker.produce()[0].base_offset == 200
    assert not [name for name in broker.disk.list("/a") if name == "orders-0"]
    assert broker.partition().future_log is None


def test_producing_goes_on_while_a_replica_moves(loop: ManualLoop, broker: BrokerUnderTest, metadata: Metadata) -> None:
    alter(broker, ORDERS, "/b")
    written = 200
    while not path_of(broker).startswith("/b"):
        assert broker.produce()[0].base_offset == written
        written += 1
        loop.turn()
    loop.run()
    assert broker.produce()[0].base_offset == written
    assert read_all(broker) == list(range(written + 1))


@pytest.mark.parametrize("turns", [None, 0, 1, 2, 3])
def test_what_was_on_the_disk_is_there_after_a_move_and_a_power_cut(
    loop: ManualLoop, broker: BrokerUnderTest, metadata: Metadata, turns: int | None
) -> None:
    """With `turns` more is written and flushed so many turns of the loop after the move began."""
    log = broker.logs.get(ORDERS)
    assert log is not None
    log.flush(loop.now_ms())
    alter(broker, ORDERS, "/b")
    if turns is not None:
        for _ in range(turns):
            loop.turn()
        broker.produce(count=10)
        broker.logs.get(ORDERS).flush(loop.now_ms())  # type: ignore[union-attr]
    loop.run()
    assert path_of(broker) == "/b/orders-0"
    end_offset = broker.partition().log.log_end_offset
    broker.disk.crash(Random(7))
    again = BrokerUnderTest(ManualLoop(), directories=("/a", "/b", "/c"), disk=broker.disk)
    assert path_of(again) == "/b/orders-0"
    assert again.logs.get(ORDERS).log_end_offset == end_offset  # type: ignore[union-attr]


def test_the_log_start_and_epochs_move_along(loop: ManualLoop, broker: BrokerUnderTest, metadata: Metadata) -> None:
    metadata.change("orders", leader=1)
    loop.run()
    broker.partition().delete_records_before(57)
    alter(broker, ORDERS, "/b")
    loop.run()
    assert (path_of(broker), broker.partition().log.log_start_offset) == ("/b/orders-0", 57)
    assert broker.partition().log.epochs.latest_epoch == 1
    assert read_all(broker) == list(range(57, 200))


def test_retention_may_take_what_is_being_copied(loop: ManualLoop, broker: BrokerUnderTest, metadata: Metadata) -> None:
    alter(broker, ORDERS, "/b")
    broker.partition().delete_records_before(150)
    loop.run()
    assert (path_of(broker), broker.partition().log.log_start_offset) == ("/b/orders-0", 150)
    assert read_all(broker) == list(range(150, 200))


def test_to_where_it_is_nothing_moves(loop: ManualLoop, broker: BrokerUnderTest, metadata: Metadata) -> None:
    assert alter(broker, ORDERS, "/a") == [0]
    assert broker.partition().future_log is None


def test_a_second_thought_gives_the_first_copy_up(
    loop: ManualLoop, broker: BrokerUnderTest, metadata: Metadata
) -> None:
    broker.replicas.update_settings(ReplicationSettings())
    broker.replicas.start()
    alter(broker, ORDERS, "/b")
    assert alter(broker, ORDERS, "/c") == [0]
    loop.advance(5000)
    assert path_of(broker) == "/c/orders-0"
    assert [name for name in broker.disk.list("/b") if name.startswith("orders")] == []
    alter(broker, ORDERS, "/b")
    alter(broker, ORDERS, "/c")
    loop.advance(5000)
    assert path_of(broker) == "/c/orders-0"
    assert read_all(broker) == list(range(200))


@pytest.mark.parametrize(
    ("name", "path", "code"),
    [
        (ORDERS, "/nowhere", ErrorCode.LOG_DIR_NOT_FOUND),
        (ORDERS, "/c", ErrorCode.INVALID_REPLICA_ASSIGNMENT),
        (TopicPartition("nowhere", 0), "/b", ErrorCode.UNKNOWN_TOPIC_OR_PARTITION),
        (TopicPartition("elsewhere", 0), "/b", ErrorCode.REPLICA_NOT_AVAILABLE),
    ],
)
def test_what_cannot_be_moved_is_refused(
    name: TopicPartition, path: str, code: ErrorCode, loop: ManualLoop, broker: BrokerUnderTest, metadata: Metadata
) -> None:
    metadata.create("elsewhere", [2])
    loop.run()
    assert alter(broker, name, path) == [code]


def test_replicas_that_never_come_are_forgotten_in_the_end(
    loop: ManualLoop, broker: BrokerUnderTest, metadata: Metadata
) -> None:
    metadata.create("late", *[[2]] * 10_002)
    loop.run()
    for index in range(10_002):
        alter(broker, TopicPartition("late", index), "/b")
    for index in (0, 10_001):
        metadata.change("late", index, replicas=[1], isr=[1], leader=1, directories=[UNASSIGNED])
    loop.run()
    homes = [broker.logs.directories.home_of(TopicPartition("late", index)) for index in (0, 10_001)]
    assert [home is not None and home.path for home in homes] == ["/c", "/b"]


def test_a_replica_that_comes_later_is_made_where_it_was_said_to(
    loop: ManualLoop, broker: BrokerUnderTest, metadata: Metadata
) -> None:
    metadata.create("coming", [2])
    loop.run()
    alter(broker, TopicPartition("coming", 0), "/b")
    metadata.change("coming", replicas=[2, 1], directories=[directory_id(2), directory_id(1)])
    loop.run()
    assert "coming-0" in broker.disk.list("/b")


def test_a_deleted_topic_is_moved_no_further(loop: ManualLoop, broker: BrokerUnderTest, metadata: Metadata) -> None:
    broker.replicas.start()
    alter(broker, ORDERS, "/b")
    metadata.delete("orders")
    loop.advance(70_000)
    for directory in ("/a", "/b"):
        assert not [name for name in broker.disk.list(directory) if name.startswith("orders")]


def test_a_target_that_fails_leaves_the_replica_where_it_is(
    loop: ManualLoop, broker: BrokerUnderTest, metadata: Metadata
) -> None:
    alter(broker, ORDERS, "/b")
    [future] = [name for name in broker.disk.list("/b") if name.endswith("-future")]
    broker.disk.fail(Fault("write", path_ending=f"{future}/00000000000000000000.log"))
    loop.run()
    assert broker.events.lost == ["/b"]
    assert (path_of(broker), broker.produce()[0].error_code) == ("/a/orders-0", 0)


def test_after_a_restart_a_move_goes_on(broker: BrokerUnderTest, metadata: Metadata) -> None:
    alter(broker, ORDERS, "/b")
    broker.logs.shutdown()
    loop = ManualLoop()
    again = BrokerUnderTest(loop, directories=("/a", "/b", "/c"), disk=broker.disk)
    later = Metadata(again)
    later.register(1)
    later.create("orders", [1], directories=[directory_id(1)])
    later.create("bills", [1], directories=[directory_id(11)])
    loop.run()
    assert path_of(again) == "/b/orders-0"
    assert read_all(again) == list(range(200))
