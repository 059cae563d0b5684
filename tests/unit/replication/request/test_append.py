import pytest

from ottla.protocol.errors import ErrorCode, IneligibleReplicaError
from ottla.replication.request.produce import AppendEntry, AppendResult
from ottla.storage.disk.simulated import Fault
from ottla.storage.log_config import LogConfig
from tests.unit.replication.broker_under_test import Answers, BrokerUnderTest, Metadata, batch, want
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
    for broker_id in (1, 2, 3):
        metadata.register(broker_id)
    metadata.create("orders", [1], [1])
    metadata.create("copied", [1, 2, 3])
    loop.run()
    return metadata


def follow(broker: BrokerUnderTest, replica_id: int, offset: int) -> None:
    """A follower has everything before the offset."""
    broker.fetch(want("copied", 0, offset, log_start_offset=0), replica_id=replica_id, replica_epoch=1)


def test_an_append_to_a_lone_replica_is_answered_at_once(broker: BrokerUnderTest, metadata: Metadata) -> None:
    for acks in (-1, 0, 1):
        [result] = broker.produce(acks=acks, count=2)
        assert (result.error_code, result.topic, result.partition) == (0, "orders", 0)
    assert (result.base_offset, result.last_offset, result.log_start_offset, result.log_append_time_ms) == (4, 5, 0, -1)
    assert broker.partition().high_watermark == 6


def test_partitions_are_answered_in_the_order_of_the_request(broker: BrokerUnderTest, metadata: Metadata) -> None:
    answers: Answers = Answers()
    entries = [AppendEntry("orders", 1, batch()), AppendEntry("nowhere", 0, batch()), AppendEntry("orders", 0, batch())]
    broker.replicas.append(entries, acks=1, timeout_ms=100, done=answers.take)
    assert [(result.topic, result.partition, result.error_code) for result in answers] == [
        ("orders", 1, 0),
        ("nowhere", 0, ErrorCode.UNKNOWN_TOPIC_OR_PARTITION),
        ("orders", 0, 0),
    ]


def test_a_partition_that_is_named_twice_counts_once(broker: BrokerUnderTest, metadata: Metadata) -> None:
    answers: Answers = Answers()
    entries = [AppendEntry("orders", 0, batch()), AppendEntry("orders", 0, batch(3))]
    broker.replicas.append(entries, acks=1, timeout_ms=100, done=answers.take)
    assert [(result.base_offset, result.last_offset) for result in answers] == [(0, 2)]


def test_bad_acks_refuse_everything(broker: BrokerUnderTest, metadata: Metadata) -> None:
    [result] = broker.produce(acks=2)
    assert result == AppendResult("orders", 0, ErrorCode.INVALID_REQUIRED_ACKS)
    assert broker.partition().log.log_end_offset == 0


def test_clients_do_not_write_internal_topics(loop: ManualLoop, broker: BrokerUnderTest, metadata: Metadata) -> None:
    metadata.create("__consumer_offsets", [1])
    loop.run()
    [result] = broker.produce("__consumer_offsets")
    assert result == AppendResult("__consumer_offsets", 0, ErrorCode.INVALID_TOPIC_EXCEPTION)
    answers: Answers = Answers()
    entry = AppendEntry("__consumer_offsets", 0, batch())
    broker.replicas.append([entry], acks=1, timeout_ms=1, done=answers.take, internal_topics_allowed=True)
    assert answers[0].error_code == 0


def test_a_refused_batch_says_where_the_log_starts_unless_the_log_never_saw_it(
    broker: BrokerUnderTest, metadata: Metadata
) -> None:
    broken = batch()
    broken[20] ^= 1
    answers: Answers = Answers()
    broker.replicas.append([AppendEntry("orders", 0, broken)], acks=1, timeout_ms=1, done=answers.take)
    assert answers[0] == AppendResult("orders", 0, ErrorCode.CORRUPT_MESSAGE)
    broker.logs.update_topic_config("orders", {"cleanup.policy": "compact"})
    [result] = broker.produce()
    assert (result.error_code, result.log_start_offset) == (ErrorCode.INVALID_RECORD, 0)
    assert result.error_message is not None
    assert [error.batch_index for error in result.record_errors] == [0]


def test_a_repeated_batch_is_answered_with_its_old_offsets(broker: BrokerUnderTest, metadata: Metadata) -> None:
    for _ in range(2):
        answers: Answers = Answers()
        records = batch(2, producer_id=7, producer_epoch=0, base_sequence=0)
        broker.replicas.append([AppendEntry("orders", 0, records)], acks=-1, timeout_ms=1, done=answers.take)
    assert (answers[0].error_code, answers[0].base_offset, answers[0].size_bytes) == (0, 0, 0)
    assert broker.partition().log.log_end_offset == 2


# Waiting for replicas


def test_acks_all_waits_until_the_whole_isr_has_it(broker: BrokerUnderTest, metadata: Metadata) -> None:
    answers = broker.produce("copied", acks=-1)
    assert not answers.is_done
    follow(broker, 2, 1)
    assert not answers.is_done
    follow(broker, 3, 1)
    assert [(result.error_code, result.base_offset) for result in answers] == [(0, 0)]
    assert not len(broker.replicas.waiting.produces)


def test_acks_one_does_not_wait(broker: BrokerUnderTest, metadata: Metadata) -> None:
    assert broker.produce("copied", acks=1).is_done
    assert broker.partition("copied").high_watermark == 0


def test_what_is_not_replicated_in_time_is_a_time_out(
    loop: ManualLoop, broker: BrokerUnderTest, metadata: Metadata
) -> None:
    answers: Answers = Answers()
    entries = [AppendEntry("orders", 0, batch()), AppendEntry("copied", 0, batch())]
    broker.replicas.append(entries, acks=-1, timeout_ms=200, done=answers.take)
    loop.advance(199)
    assert not answers.is_done
    loop.advance(5)
    assert [result.error_code for result in answers] == [0, ErrorCode.REQUEST_TIMED_OUT]
    follow(broker, 2, 1)
    follow(broker, 3, 1)
    assert not broker.replicas.waiting.produces.watched


def test_a_lost_leadership_ends_the_wait(loop: ManualLoop, broker: BrokerUnderTest, metadata: Metadata) -> None:
    answers = broker.produce("copied", acks=-1)
    metadata.change("copied", leader=2)
    loop.run()
    assert [result.error_code for result in answers] == [ErrorCode.NOT_LEADER_OR_FOLLOWER]


def test_a_deleted_topic_ends_the_wait(loop: ManualLoop, broker: BrokerUnderTest, metadata: Metadata) -> None:
    answers = broker.produce("copied", acks=-1)
    metadata.delete("copied")
    loop.run()
    assert [result.error_code for result in answers] == [ErrorCode.UNKNOWN_TOPIC_OR_PARTITION]


def test_too_few_in_sync_refuse_acks_all_before_anything_is_written(
    loop: ManualLoop, broker: BrokerUnderTest, metadata: Metadata
) -> None:
    broker.logs.update_topic_config("copied", {"min.insync.replicas": "2"})
    metadata.change("copied", isr=[1])
    loop.run()
    [result] = broker.produce("copied", acks=-1)
    assert (result.error_code, result.log_start_offset) == (ErrorCode.NOT_ENOUGH_REPLICAS, 0)
    assert broker.partition("copied").log.log_end_offset == 0
    assert broker.produce("copied", acks=1)[0].error_code == 0
    assert broker.partition("copied").high_watermark == 0, "too few are in sync to commit anything"


def test_too_few_in_sync_after_the_write_are_told_so(
    loop: ManualLoop, broker: BrokerUnderTest, metadata: Metadata
) -> None:
    broker.logs.update_topic_config("copied", {"min.insync.replicas": "2"})
    answers = broker.produce("copied", acks=-1)
    follow(broker, 2, 1)
    broker.logs.update_topic_config("copied", {"min.insync.replicas": "3"})
    metadata.change("copied", isr=[1, 2])
    loop.run()
    assert not answers.is_done, "below the minimum nothing is committed"
    broker.logs.update_topic_config("copied", {"min.insync.replicas": "2"})
    follow(broker, 2, 1)
    metadata.change("copied", isr=[1, 2])
    loop.run()
    assert [result.error_code for result in answers] == [0]


def test_more_in_sync_replicas_than_there_are_cannot_be_asked_for(
    loop: ManualLoop, broker: BrokerUnderTest, metadata: Metadata
) -> None:
    broker.logs.update_topic_config("orders", {"min.insync.replicas": "2"})
    assert broker.produce(acks=-1)[0].error_code == 0


def test_who_is_taken_out_of_the_isr_is_not_waited_for(
    loop: ManualLoop, broker: BrokerUnderTest, metadata: Metadata
) -> None:
    """A follower whose disk failed had everything a moment ago."""
    for follower in (2, 3):
        follow(broker, follower, 0)
    answers = broker.produce("copied", acks=-1)
    follow(broker, 2, 1)
    metadata.change("copied", isr=[1, 2])
    loop.run()
    assert [result.error_code for result in answers] == [0]


def test_who_was_about_to_join_is_waited_for_no_longer_than_the_lag_time(
    loop: ManualLoop, broker: BrokerUnderTest, metadata: Metadata
) -> None:
    broker.replicas.start()
    metadata.change("copied", isr=[1, 2])
    loop.run()
    follow(broker, 3, 0)
    broker.proposals.refuse(IneligibleReplicaError())
    answers = broker.produce("copied", acks=-1, timeout_ms=100_000)
    follow(broker, 2, 1)
    assert not answers.is_done
    loop.advance(50_000)
    assert [result.error_code for result in answers] == [0]


# Waiting for the disk


def test_flush_on_ack_answers_once_the_records_are_on_the_disk(loop: ManualLoop) -> None:
    broker = BrokerUnderTest(loop, config=LogConfig(flush_on_ack=True))
    metadata = Metadata(broker)
    metadata.create("orders", [1])
    loop.run()
    answers = broker.produce(acks=1)
    assert not answers.is_done
    broker.logs.directories.all()[0].group_commit.close()
    loop.run()
    assert [(result.error_code, result.base_offset) for result in answers] == [(0, 0)]
    log = broker.logs.get(("orders", 0))  # type: ignore[arg-type]
    assert log is not None
    assert log.recovery_point == 1


def test_with_acks_zero_nobody_waits_for_the_disk(loop: ManualLoop) -> None:
    broker = BrokerUnderTest(loop, config=LogConfig(flush_messages=1))
    metadata = Metadata(broker)
    metadata.create("orders", [1])
    loop.run()
    assert broker.produce(acks=0).is_done
    broker.logs.directories.all()[0].group_commit.close()
    loop.run()
    log = broker.logs.get(("orders", 0))  # type: ignore[arg-type]
    assert log is not None
    assert log.recovery_point == 1


def test_a_flush_that_fails_is_a_storage_error(loop: ManualLoop) -> None:
    broker = BrokerUnderTest(loop, config=LogConfig(flush_on_ack=True))
    metadata = Metadata(broker)
    metadata.create("orders", [1])
    loop.run()
    broker.disk.fail(Fault("flush", path_ending=".log"))
    answers = broker.produce(acks=1)
    broker.logs.directories.all()[0].group_commit.close()
    loop.run()
    assert [result.error_code for result in answers] == [ErrorCode.KAFKA_STORAGE_ERROR]
    assert broker.events.lost == ["/data"]


def test_a_failing_disk_takes_the_partitions_of_its_directory_offline(
    broker: BrokerUnderTest, metadata: Metadata
) -> None:
    broker.disk.fail(Fault("write", path_ending=".log"))
    assert broker.produce()[0] == AppendResult("orders", 0, ErrorCode.KAFKA_STORAGE_ERROR)
    assert broker.produce("orders", 1)[0].error_code == ErrorCode.KAFKA_STORAGE_ERROR
    assert broker.events.lost == ["/data"]
    assert broker.events.is_over
    assert broker.replicas.get("orders", 1) is None
