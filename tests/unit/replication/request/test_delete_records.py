from collections.abc import Sequence

import pytest

from ottla.protocol.errors import ErrorCode
from ottla.replication.request.delete_records import DeleteRecordsEntry, DeleteRecordsResult
from ottla.storage.topic_partition import TopicPartition
from tests.unit.replication.broker_under_test import Answers, BrokerUnderTest, Metadata, want
from tests.unit.replication.manual_loop import ManualLoop


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
    metadata.create("orders", [1])
    metadata.create("copied", [1, 2])
    metadata.create("__consumer_offsets", [1])
    loop.run()
    broker.produce(count=10)
    broker.produce("copied", count=10)
    follow(broker, 10, start=0)
    return metadata


def follow(broker: BrokerUnderTest, offset: int, start: int) -> None:
    broker.fetch(want("copied", 0, offset, log_start_offset=start), replica_id=2, replica_epoch=1)
    broker.loop.run()


def delete(broker: BrokerUnderTest, *entries: tuple[str, int, int]) -> Answers:
    answers = Answers()

    def done(results: Sequence[DeleteRecordsResult]) -> None:
        answers.take(results)

    broker.replicas.delete_records([DeleteRecordsEntry(*entry) for entry in entries], timeout_ms=500, done=done)
    broker.loop.run()
    return answers


def test_the_log_start_moves_and_never_back(broker: BrokerUnderTest, metadata: Metadata) -> None:
    assert delete(broker, ("orders", 0, 4)) == [("orders", 0, 0, 4)]
    assert delete(broker, ("orders", 0, 2)) == [("orders", 0, 0, 4)]
    assert delete(broker, ("orders", 0, -1)) == [("orders", 0, 0, 10)]
    assert broker.partition().log.log_start_offset == 10


def test_what_cannot_be_deleted_is_refused(broker: BrokerUnderTest, metadata: Metadata) -> None:
    broker.logs.update_topic_config("copied", {"cleanup.policy": "compact"})
    results = delete(
        broker, ("orders", 0, 11), ("orders", 0, 11), ("copied", 0, 1), ("__consumer_offsets", 0, 0), ("nowhere", 0, 0)
    )
    assert [result.error_code for result in results] == [
        ErrorCode.OFFSET_OUT_OF_RANGE,
        ErrorCode.POLICY_VIOLATION,
        ErrorCode.INVALID_TOPIC_EXCEPTION,
        ErrorCode.UNKNOWN_TOPIC_OR_PARTITION,
    ]
    assert {result.low_watermark for result in results} == {-1}
    assert delete(broker, ("orders", 0, -2))[0].error_code == ErrorCode.OFFSET_OUT_OF_RANGE
    broker.logs.update_topic_config("copied", {"cleanup.policy": "compact,delete"})
    follow(broker, 10, start=1)
    assert delete(broker, ("copied", 0, 1)) == [("copied", 0, 0, 1)]


def test_it_waits_until_the_followers_have_moved_too(broker: BrokerUnderTest, metadata: Metadata) -> None:
    answers = delete(broker, ("copied", 0, 4), ("orders", 0, 1))
    assert not answers.is_done
    follow(broker, 10, start=2)
    assert not answers.is_done
    follow(broker, 10, start=4)
    assert answers == [("copied", 0, 0, 4), ("orders", 0, 0, 1)]


def test_a_follower_that_is_fenced_is_not_waited_for(broker: BrokerUnderTest, metadata: Metadata) -> None:
    answers = delete(broker, ("copied", 0, 4))
    metadata.fence(2)
    metadata.change("copied", isr=[1])
    broker.loop.run()
    assert answers == [("copied", 0, 0, 4)]


def test_one_that_is_fenced_and_may_lead_is_waited_for(
    loop: ManualLoop, broker: BrokerUnderTest, metadata: Metadata
) -> None:
    """Apache Kafka confirms here, and the next leader brings the records back."""
    metadata.fence(2)
    metadata.change("copied", isr=[1], eligible_leader_replicas=[2])
    answers = delete(broker, ("copied", 0, 4))
    loop.advance(600)
    assert answers == [("copied", 0, ErrorCode.REQUEST_TIMED_OUT, 0)]


def test_a_time_out_says_how_far_it_came(loop: ManualLoop, broker: BrokerUnderTest, metadata: Metadata) -> None:
    answers = delete(broker, ("copied", 0, 4), ("orders", 0, 1))
    loop.advance(600)
    assert answers == [("copied", 0, ErrorCode.REQUEST_TIMED_OUT, 0), ("orders", 0, 0, 1)]


def test_a_lost_leadership_ends_the_wait(loop: ManualLoop, broker: BrokerUnderTest, metadata: Metadata) -> None:
    answers = delete(broker, ("copied", 0, 4))
    metadata.change("copied", leader=2)
    loop.run()
    assert answers == [("copied", 0, ErrorCode.NOT_LEADER_OR_FOLLOWER, -1)]


def test_the_answer_leaves_when_the_log_start_is_on_the_disk(broker: BrokerUnderTest, metadata: Metadata) -> None:
    [home] = broker.logs.directories.all()
    written: list[int | None] = []

    def done(results: Sequence[DeleteRecordsResult]) -> None:
        written.append(home.log_starts.read().get(TopicPartition("orders", 0)))

    broker.replicas.delete_records([DeleteRecordsEntry("orders", 0, 4)], timeout_ms=500, done=done)
    broker.loop.run()
    assert written == [4]
