"""What the metadata says becomes of partitions, in its order and without standing in anybody's way."""

from itertools import pairwise

import pytest

from ottla.base.ids import Uuid
from ottla.metadata.directory_id import LOST, UNASSIGNED
from ottla.metadata.image.local_replica_change import LocalPartition
from ottla.metadata.image.partition import PartitionRegistration
from ottla.protocol.errors import (
    ErrorCode,
    KafkaStorageError,
    NotLeaderOrFollowerError,
    UnknownTopicOrPartitionError,
)
from ottla.protocol.metadata_log.topic import PartitionChangeRecord, PartitionRecord, RemoveTopicRecord, TopicRecord
from ottla.replication.follower.leader_endpoint import ReplicaFetch
from ottla.replication.partition.partition import Partition
from ottla.storage.disk.atomic import write_atomically
from ottla.storage.disk.simulated import Fault
from ottla.storage.topic_partition import TopicPartition
from tests.unit.replication.broker_under_test import (
    BrokerUnderTest,
    Metadata,
    NoLeader,
    batch,
    directory_id,
    topic_id,
    want,
)
from tests.unit.replication.manual_loop import ManualLoop


@pytest.fixture
def loop() -> ManualLoop:
    return ManualLoop()


@pytest.fixture
def broker(loop: ManualLoop) -> BrokerUnderTest:
    return BrokerUnderTest(loop)


@pytest.fixture
def metadata(broker: BrokerUnderTest) -> Metadata:
    return Metadata(broker)


def test_a_new_partition_is_led_and_its_epoch_noted(
    loop: ManualLoop, broker: BrokerUnderTest, metadata: Metadata
) -> None:
    metadata.create("orders", [1], [1])
    loop.run()
    partition = broker.replicas.leader("orders", 1)
    assert (partition.is_leader, partition.leader_epoch, partition.topic_id) == (True, 0, topic_id("orders"))
    assert partition.log.epochs.latest_epoch == 0
    assert set(broker.disk.list("/data")) >= {"orders-0", "orders-1"}


def test_before_its_turn_a_partition_is_one_that_this_broker_does_not_lead_yet(
    loop: ManualLoop, broker: BrokerUnderTest, metadata: Metadata
) -> None:
    with pytest.raises(UnknownTopicOrPartitionError):
        broker.replicas.leader("orders", 0)
    metadata.create("orders", [1])
    assert broker.replicas.get("orders", 0) is None
    assert broker.produce()[0].error_code == ErrorCode.NOT_LEADER_OR_FOLLOWER
    with pytest.raises(UnknownTopicOrPartitionError):
        broker.replicas.leader("orders", 1)
    loop.run()
    assert broker.replicas.leader("orders", 0)


def test_who_waits_for_an_image_hears_when_it_is_applied(
    loop: ManualLoop, broker: BrokerUnderTest, metadata: Metadata
) -> None:
    metadata.create("orders", [1])
    offset = metadata.image.provenance.offset
    metadata.create("later", [1])
    heard: list[str] = []
    broker.replicas.when_applied(offset, lambda: heard.append("orders"))
    broker.replicas.when_applied(offset + 2, lambda: heard.append("later"))
    assert (heard, broker.replicas.applied_offset < offset) == ([], True)
    loop.run()
    assert (heard, broker.replicas.applied_offset) == (["orders", "later"], offset + 2)
    broker.replicas.when_applied(offset, lambda: heard.append("at once"))
    assert heard[-1] == "at once"


def test_changes_to_many_partitions_are_made_in_slices(
    loop: ManualLoop, broker: BrokerUnderTest, metadata: Metadata
) -> None:
    metadata.create("many", *[[1, 2]] * 100)
    loop.run()
    loop.cost_ms = 1
    changes = [PartitionChangeRecord(partition_id=index, topic_id=topic_id("many"), isr=[1]) for index in range(100)]
    metadata.publish(*changes)

    def changed() -> int:
        return sum(partition.partition_epoch for partition in broker.replicas.partitions())

    seen = [changed()]
    while seen[-1] < 100:
        loop.turn()
        seen.append(changed())
    assert all(0 < after - before <= 5 for before, after in pairwise(seen)), "other work gets its turns in between"


def test_a_changed_leader_demotes_and_promotes(loop: ManualLoop, broker: BrokerUnderTest, metadata: Metadata) -> None:
    metadata.register(2)
    metadata.create("orders", [1, 2])
    loop.run()
    broker.produce(count=3)
    metadata.change("orders", leader=2)
    loop.run()
    with pytest.raises(NotLeaderOrFollowerError):
        broker.replicas.leader("orders", 0)
    assert broker.partition().leader_id == 2
    metadata.change("orders", leader=1)
    loop.run()
    partition = broker.replicas.leader("orders", 0)
    assert (partition.leader_epoch, partition.log.epochs.latest_epoch, partition.log.log_end_offset) == (2, 2, 3)


def test_the_isr_alone_changes_no_epoch(loop: ManualLoop, broker: BrokerUnderTest, metadata: Metadata) -> None:
    metadata.register(2)
    metadata.create("orders", [1, 2])
    loop.run()
    broker.produce(count=2)
    assert broker.partition().high_watermark == 0
    metadata.change("orders", isr=[1])
    loop.run()
    assert (broker.partition().leader_epoch, broker.partition().partition_epoch) == (0, 1)
    assert broker.partition().high_watermark == 2, "alone in the ISR, all is replicated"


def test_a_follower_fetches_from_its_leader_in_the_leaders_epoch(loop: ManualLoop) -> None:
    asked: list[tuple[int, ReplicaFetch]] = []

    class Leader(NoLeader):
        def __init__(self, broker_id: int, number: int) -> None:
            self._broker_id = broker_id

        def fetch(self, wanted: object, done: object) -> None:
            asked.extend((self._broker_id, want) for want in wanted)  # type: ignore[attr-defined]

    broker = BrokerUnderTest(loop, endpoint_of=Leader)
    metadata = Metadata(broker)
    metadata.create("orders", [2, 1])
    loop.run()
    assert asked == [(2, ReplicaFetch("orders", topic_id("orders"), 0, 0, 0, 0, -1))]
    metadata.change("orders", leader=3)
    loop.run()
    assert (asked[-1][0], asked[-1][1].current_leader_epoch) == (3, 1)
    metadata.change("orders", leader=-1)
    loop.run()
    assert len(asked) == 2


# Deleting


def test_a_deleted_topic_is_gone_and_its_files_too_after_a_while(
    loop: ManualLoop, broker: BrokerUnderTest, metadata: Metadata
) -> None:
    broker.replicas.start()
    metadata.create("orders", [1])
    loop.run()
    metadata.delete("orders")
    loop.run()
    assert broker.replicas.get("orders", 0) is None
    assert broker.produce()[0].error_code == ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
    assert next(name for name in broker.disk.list("/data") if name.startswith("orders")).endswith("-delete")
    loop.advance(62_000)
    assert not [name for name in broker.disk.list("/data") if name.startswith("orders")]


def test_a_topic_that_is_deleted_and_made_again_begins_empty(
    loop: ManualLoop, broker: BrokerUnderTest, metadata: Metadata
) -> None:
    metadata.create("orders", [1])
    loop.run()
    broker.produce(count=5)
    metadata.publish(
        RemoveTopicRecord(topic_id=topic_id("orders")),
        TopicRecord(name="orders", topic_id=topic_id("again")),
        PartitionRecord(
            partition_id=0,
            topic_id=topic_id("again"),
            replicas=[1],
            isr=[1],
            leader=1,
            leader_epoch=0,
            partition_epoch=0,
            directories=[directory_id(1)],
        ),
    )
    loop.run()
    partition = broker.replicas.leader("orders", 0)
    assert (partition.topic_id, partition.log.log_end_offset) == (topic_id("again"), 0)


def test_a_replica_that_moved_away_is_deleted(loop: ManualLoop, broker: BrokerUnderTest, metadata: Metadata) -> None:
    metadata.create("orders", [1])
    loop.run()
    metadata.change("orders", replicas=[2], isr=[2], leader=2, directories=[directory_id(2)])
    loop.run()
    assert broker.replicas.get("orders", 0) is None
    assert broker.logs.get(TopicPartition("orders", 0)) is None
    with pytest.raises(NotLeaderOrFollowerError):
        broker.replicas.leader("orders", 0)


# Directories


def test_a_partition_is_made_in_the_directory_that_the_metadata_names(loop: ManualLoop) -> None:
    broker = BrokerUnderTest(loop, directories=("/a", "/b"))
    metadata = Metadata(broker)
    metadata.create("orders", [1], [1], directories=[directory_id(11)])
    loop.run()
    assert {"orders-0", "orders-1"} <= set(broker.disk.list("/b"))
    assert broker.events.assigned == []


def test_where_it_was_made_is_reported_if_the_metadata_did_not_say(loop: ManualLoop) -> None:
    broker = BrokerUnderTest(loop, directories=("/a", "/b"))
    metadata = Metadata(broker)
    metadata.create("orders", [1], [1], directories=[UNASSIGNED])
    loop.run()
    assert sorted(broker.events.assigned) == [
        (topic_id("orders"), 0, directory_id(1)),
        (topic_id("orders"), 1, directory_id(11)),
    ]


def test_a_failed_directory_costs_only_its_own_partitions(loop: ManualLoop) -> None:
    broker = BrokerUnderTest(loop, directories=("/a", "/b"))
    metadata = Metadata(broker)
    metadata.create("orders", [1], directories=[directory_id(1)])
    metadata.create("bills", [1], directories=[directory_id(11)])
    loop.run()
    broker.disk.fail(Fault("write", path_ending="orders-0/00000000000000000000.log"))
    assert broker.produce()[0].error_code == ErrorCode.KAFKA_STORAGE_ERROR
    assert broker.produce("bills")[0].error_code == 0
    assert (broker.events.lost, broker.events.is_over) == (["/a"], False)
    with pytest.raises(KafkaStorageError):
        broker.replicas.leader("orders", 0)
    metadata.change("orders", leader=1)
    loop.run()
    assert broker.produce()[0].error_code == ErrorCode.KAFKA_STORAGE_ERROR, "it stays offline"


def test_a_log_that_may_be_in_a_failed_directory_is_not_made_anew(loop: ManualLoop) -> None:
    broker = BrokerUnderTest(loop, directories=("/a", "/b"))
    metadata = Metadata(broker)
    metadata.create("orders", [1], directories=[directory_id(1)])
    loop.run()
    broker.disk.fail(Fault("write", path_ending="orders-0/00000000000000000000.log"))
    broker.produce()
    metadata.create("old", [1], directories=[directory_id(77)])
    metadata.create("new", [1], directories=[UNASSIGNED])
    loop.run()
    assert broker.produce("old")[0].error_code == ErrorCode.KAFKA_STORAGE_ERROR
    assert broker.produce("new")[0].error_code == 0


def test_a_disk_that_fails_while_a_partition_is_made_leaves_it_offline(loop: ManualLoop) -> None:
    broker = BrokerUnderTest(loop)
    metadata = Metadata(broker)
    broker.disk.fail(Fault("make_directory"))
    metadata.create("orders", [1])
    loop.run()
    assert broker.produce()[0].error_code == ErrorCode.KAFKA_STORAGE_ERROR
    assert broker.events.is_over


# Starting again


def test_after_a_restart_logs_and_high_watermarks_are_back(loop: ManualLoop, broker: BrokerUnderTest) -> None:
    metadata = Metadata(broker)
    metadata.register(2)
    metadata.create("orders", [1, 2])
    loop.run()
    broker.produce(count=5)
    broker.fetch(want(offset=3, log_start_offset=0), replica_id=2, replica_epoch=1)
    assert broker.partition().high_watermark == 3
    broker.logs.shutdown()
    again = BrokerUnderTest(loop, disk=broker.disk)
    metadata.brokers = [again]
    again_metadata = Metadata(again)
    again_metadata.register(2)
    again_metadata.create("orders", [1, 2])
    loop.run()
    assert (again.partition().high_watermark, again.partition().log.log_end_offset) == (3, 5)


def test_a_lone_replica_has_replicated_all_it_has_when_it_becomes_the_leader(
    loop: ManualLoop, broker: BrokerUnderTest, metadata: Metadata
) -> None:
    metadata.create("orders", [1])
    loop.run()
    broker.produce(count=5)
    log = broker.logs.get(TopicPartition("orders", 0))
    assert log is not None
    log.update_high_watermark(0)
    metadata.change("orders", leader=1)
    loop.run()
    assert broker.partition().high_watermark == 5


def test_a_partition_with_a_damaged_log_is_offline_and_its_directory_serves(
    loop: ManualLoop, broker: BrokerUnderTest
) -> None:
    metadata = Metadata(broker)
    metadata.create("orders", [1])
    metadata.create("bills", [1])
    loop.run()
    broker.partition("bills").log.offline_error = KafkaStorageError()  # type: ignore[assignment]
    assert broker.produce("bills")[0].error_code == ErrorCode.KAFKA_STORAGE_ERROR
    assert (broker.produce()[0].error_code, broker.events.lost) == (0, [])


def recreate(metadata: Metadata, topic: str, new_id: Uuid) -> None:
    metadata.delete(topic)
    metadata.publish(
        TopicRecord(name=topic, topic_id=new_id),
        PartitionRecord(
            partition_id=0,
            topic_id=new_id,
            replicas=[1],
            isr=[1],
            leader=1,
            leader_epoch=0,
            partition_epoch=0,
            directories=[directory_id(1)],
        ),
    )


@pytest.mark.parametrize("is_there", [True, False])
def test_nothing_that_is_acknowledged_after_a_topic_was_made_anew_goes_with_the_old_one(
    loop: ManualLoop, broker: BrokerUnderTest, metadata: Metadata, is_there: bool
) -> None:
    metadata.create("orders", [1])
    if is_there:
        loop.run()
        assert broker.produce()[0].error_code == ErrorCode.NONE
        metadata.create("in-the-way", *[[1]] * 50)
    recreate(metadata, "orders", topic_id("new"))
    codes = [broker.produce()[0].error_code]
    while broker.replicas.applied_offset < metadata.image.provenance.offset:
        loop.turn()
        codes.append(broker.produce()[0].error_code)
    loop.run()
    assert set(codes) == {ErrorCode.NOT_LEADER_OR_FOLLOWER, ErrorCode.NONE}
    partition = broker.partition()
    assert partition.topic_id == topic_id("new")
    assert partition.log.log_end_offset == codes.count(ErrorCode.NONE)


def test_who_waits_for_a_deleted_topic_hears_so_although_it_is_not_its_turn_yet(
    loop: ManualLoop, broker: BrokerUnderTest, metadata: Metadata
) -> None:
    metadata.create("orders", [1])
    loop.run()
    waiting = broker.fetch(want(), max_wait_ms=60_000)
    metadata.create("in-the-way", *[[1]] * 50)
    metadata.delete("orders")
    assert broker.fetch(want(), max_wait_ms=60_000)[0].error_code == ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
    loop.run()
    assert waiting[0].error_code == ErrorCode.UNKNOWN_TOPIC_OR_PARTITION


@pytest.mark.parametrize(("replicas", "is_told"), [([1], False), ([1, 2], True)])
def test_the_controller_hears_of_a_damaged_log_that_another_replica_can_stand_in_for(
    loop: ManualLoop, broker: BrokerUnderTest, metadata: Metadata, replicas: list[int], is_told: bool
) -> None:
    metadata.create("orders", replicas)
    loop.run()
    broker.produce(count=5)
    broker.logs.shutdown()
    write_atomically(broker.disk, f"{broker.partition().log.directory}/partition.metadata", b"noise")
    again = BrokerUnderTest(loop, disk=broker.disk)
    again_metadata = Metadata(again)
    again_metadata.register(2)
    again_metadata.create("orders", replicas)
    loop.run()
    assert again.produce()[0].error_code == ErrorCode.KAFKA_STORAGE_ERROR
    assert again.events.lost == []
    assert again.events.assigned == ([(topic_id("orders"), 0, LOST)] if is_told else [])


def test_a_log_that_cannot_be_made_for_a_mistake_keeps_nobody_else_from_service(
    loop: ManualLoop, broker: BrokerUnderTest, metadata: Metadata, monkeypatch: pytest.MonkeyPatch
) -> None:
    make = broker.logs.get_or_create

    def falter(partition: TopicPartition, *rest: object, **options: object) -> object:
        if partition == ("orders", 0):
            raise RuntimeError("a mistake")
        return make(partition, *rest, **options)  # type: ignore[arg-type]

    monkeypatch.setattr(broker.logs, "get_or_create", falter)
    metadata.create("orders", [1], [1])
    metadata.create("later", [1])
    loop.run()
    assert broker.replicas.leader("orders", 1).is_leader
    assert broker.replicas.leader("later", 0).is_leader
    with pytest.raises(KafkaStorageError):
        broker.replicas.leader("orders", 0)


def test_a_mistake_in_a_change_keeps_no_later_one_from_being_made(
    loop: ManualLoop, broker: BrokerUnderTest, metadata: Metadata, monkeypatch: pytest.MonkeyPatch
) -> None:
    metadata.create("orders", [1, 2])
    loop.run()

    def falter(*arguments: object) -> None:
        raise RuntimeError("a mistake")

    with monkeypatch.context() as patched:
        patched.setattr(Partition, "become_leader", falter)
        metadata.change("orders", isr=[1])
        loop.run()
    metadata.create("later", [1])
    loop.run()
    assert broker.replicas.leader("later", 0).is_leader
    assert broker.replicas.applied_offset == metadata.image.provenance.offset


def test_followers_become_leaders_without_waiting_for_a_disk(
    loop: ManualLoop, broker: BrokerUnderTest, metadata: Metadata
) -> None:
    """When a broker dies hundreds of its partitions wait for this."""
    metadata.create("orders", *[[2, 1] for _ in range(40)])
    loop.run()
    before = broker.disk.operations
    for index in range(40):
        metadata.change("orders", index, leader=1, isr=[1])
    loop.run()
    assert all(broker.replicas.leader("orders", index).leader_epoch == 1 for index in range(40))
    assert all(broker.partition("orders", index).log.epochs.epoch_for(0) == 1 for index in range(40))
    assert broker.disk.operations == before


def test_a_log_that_is_half_cut_is_led_when_the_cut_is_made(
    loop: ManualLoop, broker: BrokerUnderTest, metadata: Metadata
) -> None:
    metadata.create("orders", [2, 1])
    loop.run()
    name = TopicPartition("orders", 0)
    log = broker.logs.get(name)
    assert log is not None
    log.append_as_follower(batch(3), 0, 0)
    finish = broker.logs.begin_truncation(name, 0)
    assert finish is not None
    assert log.is_half_cut
    promoted = PartitionRegistration((2, 1), (), (1,), (), (), (), (), 1, 0, 5, 5)
    place = LocalPartition("orders", topic_id("orders"), 0)
    assert not broker.replicas._applier._change(place, promoted, is_leader=True), "that is for a thread, which may wait"
    assert not broker.partition().is_leader
    finish()
    assert not log.is_half_cut
    metadata.change("orders", leader=1, isr=[1])
    loop.run()
    assert (broker.partition().is_leader, log.epochs.entries[-1].start_offset) == (True, 0)
