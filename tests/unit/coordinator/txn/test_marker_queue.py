"""Markers: to every leader, until each is acknowledged; never complete before; on with it after a load."""

import pytest

from ottla.coordinator.ports import PartitionKey
from ottla.protocol.errors import ErrorCode, KafkaStorageError, NetworkError
from ottla.protocol.messages.add_partitions_to_txn import (
    AddPartitionsToTxnRequest,
    AddPartitionsToTxnTopic,
    AddPartitionsToTxnTransaction,
)
from ottla.protocol.messages.end_txn import EndTxnRequest
from tests.unit.coordinator.runtime.fake import Answers
from tests.unit.coordinator.txn.world import A0, A1, B0, ID, World

OFFSETS = PartitionKey("__consumer_offsets", 0)


def _ended(world: World, *partitions: PartitionKey, version: int = 5) -> tuple[int, int]:
    producer = world.producer()
    assert world.add(producer, *partitions) == 0
    assert world.end(producer, version=version).error_code == 0
    return producer


def _by_broker(world: World) -> dict[int, set[PartitionKey]]:
    return {request.broker_id: request.partitions for request in world.brokers.requests}


def test_each_leader_gets_its_partitions() -> None:
    world = World()
    producer = world.producer()
    world.add(producer, A0, A1, B0)
    world.add_offsets(producer)
    world.end(producer)
    assert _by_broker(world) == {1: {A0, B0, OFFSETS}, 2: {A1}}
    for entry in world.brokers.sent:
        assert entry[1].marker.coordinator_epoch == world.epoch


def test_completes_only_when_the_last_marker_is_acknowledged() -> None:
    world = World()
    _ended(world, A0, A1, B0)
    first, second = world.brokers.take()
    first.succeed()
    world.settle()
    assert world.state == "PrepareCommit"
    assert [(topic.topic, topic.partitions) for topic in world.describe().topics] == [("a", [1])]
    second.succeed()
    world.settle()
    assert world.state == "CompleteCommit"


@pytest.mark.parametrize("code", [3, 6, 7, 19, 20, 56, 31, 43, 52, -1])
def test_refused_partitions_are_tried_again_and_the_others_not(code: int) -> None:
    world = World()
    _ended(world, A0, B0)
    for _ in range(3):
        (request,) = world.brokers.take()
        request.answer({B0: code})
        world.settle()
        assert world.state == "PrepareCommit"
        assert world.brokers.requests == []
        world.pass_ms(2_000)
        assert _by_broker(world) == {1: {B0}}
    world.write_markers()
    assert world.state == "CompleteCommit"


def test_a_partition_that_knows_a_later_epoch_needs_no_marker(caplog: pytest.LogCaptureFixture) -> None:
    world = World()
    _ended(world, A0, B0)
    (request,) = world.brokers.take()
    request.answer({B0: ErrorCode.INVALID_PRODUCER_EPOCH})
    world.settle()
    assert world.state == "CompleteCommit"
    assert "b-0 has a later epoch" in caplog.text
    world.pass_ms(60_000)
    assert world.brokers.requests == []


def test_a_partition_that_the_answer_leaves_out_is_tried_again() -> None:
    world = World()
    _ended(world, A0, B0)
    (request,) = world.brokers.take()
    request.markers = [request.markers[0]._replace(partitions=(A0,))]
    request.succeed()
    world.pass_ms(2_000)
    assert _by_broker(world) == {1: {B0}}


def test_a_request_without_answer_goes_again() -> None:
    world = World()
    _ended(world, A0)
    world.brokers.take()[0].fail(NetworkError())
    world.pass_ms(2_000)
    assert _by_broker(world) == {1: {A0}}


def test_a_new_leader_is_asked_as_soon_as_it_is_known() -> None:
    world = World()
    _ended(world, A0)
    world.brokers.take()[0].answer({A0: 6})
    world.cluster.leaders[A0] = 3
    world.coordinator.metadata_changed()
    assert _by_broker(world) == {3: {A0}}


@pytest.mark.parametrize("how", ["no leader", "dead leader"])
def test_without_a_leader_markers_wait(how: str) -> None:
    world = World()
    if how == "no leader":
        world.cluster.leaders[A0] = -1
    else:
        world.cluster.dead.add(1)
    _ended(world, A0)
    for _ in range(5):
        world.pass_ms(60_000)
        assert (world.state, world.brokers.sent) == ("PrepareCommit", [])
    assert world.coordinator.markers.unknown_destination_count == 1
    world.cluster.dead.clear()
    world.cluster.leaders[A0] = 1
    world.pass_ms(2_000)
    world.write_markers()
    assert world.state == "CompleteCommit"
    assert world.coordinator.markers.unknown_destination_count == 0


def test_deleted_partitions_need_no_marker() -> None:
    world = World()
    producer = world.producer()
    world.add(producer, A0, B0)
    del world.cluster.leaders[B0]
    world.end(producer)
    assert _by_broker(world) == {1: {A0}}
    world.write_markers()
    assert world.state == "CompleteCommit"


def test_a_topic_deleted_while_its_marker_waits_is_let_go() -> None:
    world = World()
    _ended(world, A0)
    world.brokers.take()[0].answer({A0: 3})
    del world.cluster.leaders[A0]
    world.coordinator.metadata_changed()
    world.settle()
    assert world.state == "CompleteCommit"


def test_what_incomplete_metadata_does_not_know_is_not_deleted() -> None:
    """Killed between the decision and the markers, and restarted with metadata from before the topic was made."""
    world = World()
    _ended(world, A0)
    leaders, world.cluster.leaders = world.cluster.leaders, {}
    world.cluster.is_complete = False
    world.restart()
    for _ in range(5):
        world.pass_ms(60_000)
        assert world.state == "PrepareCommit"
    world.cluster.leaders = leaders
    world.coordinator.metadata_changed()
    assert _by_broker(world) == {1: {A0}}
    world.write_markers()
    assert world.state == "CompleteCommit"


@pytest.mark.parametrize("version", [4, 5])
@pytest.mark.parametrize("acknowledged", [False, True])
def test_after_a_restart_markers_go_on(version: int, acknowledged: bool) -> None:
    world = World()
    _ended(world, A0, A1, version=version)
    if acknowledged:
        world.brokers.take()[0].succeed()
    before = world.brokers.sent[0][1].marker
    world.restart()
    assert _by_broker(world) == {1: {A0}, 2: {A1}}
    marker = world.brokers.sent[-1][1].marker
    assert marker == before._replace(coordinator_epoch=world.epoch)
    world.write_markers()
    assert world.state == "CompleteCommit"


def test_after_a_load_markers_wait_until_the_outcome_is_committed() -> None:
    world = World()
    _ended(world, A0)
    world.commits = False
    world.brokers.sent.clear()
    world.restart()
    world.pass_ms(60_000)
    assert world.brokers.sent == []
    world.commit()
    assert _by_broker(world) == {1: {A0}}


def test_another_coordinator_takes_over() -> None:
    world = World()
    _ended(world, A0)
    (request,) = world.brokers.take()
    before = len(world.log.batches)
    world.coordinator.shards.resigned(0, 1)
    request.succeed()
    world.settle()
    assert len(world.log.batches) == before
    world.pass_ms(60_000)
    assert world.brokers.requests == []


def test_a_coordinator_that_resigned_tries_nothing_again() -> None:
    world = World()
    _ended(world, A0)
    (request,) = world.brokers.take()
    world.coordinator.shards.resigned(0, 1)
    request.answer({A0: 6})
    world.pass_ms(60_000)
    world.coordinator.metadata_changed()
    assert world.brokers.requests == []
    assert world.coordinator.next_ms is None


def test_an_end_that_comes_right_after_a_load_sends_its_markers_once() -> None:
    world = World()
    producer = world.producer()
    world.add(producer, A0)
    world.coordinator.shards.resigned(0, 1)
    world.coordinator.shards.elected(0, 2)
    world.coordinator.shards.committed(0, world.log.end_offset)
    end = EndTxnRequest(transactional_id=ID, producer_id=producer[0], producer_epoch=producer[1], committed=True)
    world.coordinator.end_txn(end, 4, world.now, Answers())
    world.settle()
    world.write_markers()
    assert (world.state, len(world.brokers.sent)) == ("CompleteCommit", 1)


def test_a_higher_coordinator_epoch_is_in_the_next_try() -> None:
    world = World()
    _ended(world, A0)
    world.brokers.take()[0].answer({A0: 52})
    world.coordinator.shards.elected(0, 7)
    world.pass_ms(2_000)
    assert world.brokers.sent[-1][1].marker.coordinator_epoch == 7


def test_a_completion_that_can_not_be_written_is_tried_again_without_new_markers() -> None:
    world = World()
    _ended(world, A0)
    world.log.fail_with = KafkaStorageError()
    world.brokers.take()[0].succeed()
    world.settle()
    world.pass_ms(1_000)
    assert world.state == "PrepareCommit"
    world.log.fail_with = None
    world.pass_ms(1_000)
    assert (world.state, len(world.brokers.sent)) == ("CompleteCommit", 1)


def test_a_completion_that_is_long_in_coming_is_written_once() -> None:
    world = World()
    _ended(world, A0)
    world.commits = False
    world.brokers.take()[0].succeed()
    for _ in range(20):
        world.pass_ms(1_000)
    written = len(world.log.batches)
    world.commit()
    assert world.state == "CompleteCommit"
    world.pass_ms(10_000)
    assert len(world.log.batches) == written


def test_a_busy_brokers_markers_share_the_next_request() -> None:
    world = World()
    _ended(world, A0)
    (first,) = world.brokers.take()
    coordinator, producers = world.coordinator, []
    for name in ("x", "y"):
        response = world.init(transactional_id=name)
        producers.append((name, response.producer_id, response.producer_epoch))
    _end_others(world, producers)
    assert world.brokers.requests == []
    first.succeed()
    (second,) = world.brokers.requests
    assert sorted(entry.marker.producer_id for entry in second.markers) == [pid for _, pid, _ in producers]
    world.write_markers()
    assert {coordinator.shards.get(0).state[name].state.label for name in "xy"} == {"CompleteAbort"}


def _end_others(world: World, producers: list[tuple[str, int, int]]) -> None:
    for name, pid, epoch in producers:
        entry = AddPartitionsToTxnTransaction(
            transactional_id=name,
            producer_id=pid,
            producer_epoch=epoch,
            topics=[AddPartitionsToTxnTopic(name="b", partitions=[0])],
        )
        request = AddPartitionsToTxnRequest(transactions=[entry])
        world.coordinator.add_partitions_to_txn(request, 5, world.now, Answers())
        end = EndTxnRequest(transactional_id=name, producer_id=pid, producer_epoch=epoch, committed=False)
        world.coordinator.end_txn(end, 5, world.now, Answers())
        world.settle()


def test_a_producer_is_named_once_in_a_request() -> None:
    """Answers are by producer: Kafka's brokers would mix up two entries of one."""
    world = World()
    _ended(world, A0, A1)
    first, second = world.brokers.take()
    world.cluster.leaders[A1] = 1
    second.answer({A1: 6})
    first.answer({A0: 6})
    world.pass_ms(2_000)
    (request,) = world.brokers.requests
    assert len(request.markers) == 1
    assert request.partitions == {A0, A1}


def test_a_broker_that_does_not_answer_holds_up_no_other() -> None:
    world = World()
    _ended(world, A0, A1)
    silent, other = world.brokers.take()
    assert silent.broker_id == 1
    other.succeed()
    world.settle()
    # Its partition finds a new leader: the marker need not wait for the silent one.
    world.cluster.leaders[A0] = 2
    silent.fail(NetworkError())
    world.coordinator.metadata_changed()
    assert _by_broker(world) == {2: {A0}}
