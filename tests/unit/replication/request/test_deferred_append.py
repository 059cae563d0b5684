"""Appends to a slow disk: those who need it wait, whatever they ask for, and nobody else."""

import errno

import pytest

from ottla.protocol.errors import ErrorCode
from ottla.replication.request.produce import AppendEntry, AppendResult
from ottla.storage.append_queue import BYTES_MAX
from ottla.storage.disk.simulated import Fault
from ottla.storage.log_config import LogConfig
from ottla.storage.topic_partition import TopicPartition
from tests.unit.replication.broker_under_test import (
    Answers,
    BrokerUnderTest,
    Metadata,
    batch,
    directory_id,
    offsets,
    want,
)
from tests.unit.replication.manual_loop import ManualLoop
from tests.unit.replication.memory_leader import Network
from tests.unit.replication.slow_disk import SlowDisk


@pytest.fixture
def loop() -> ManualLoop:
    return ManualLoop()


@pytest.fixture
def broker(loop: ManualLoop) -> BrokerUnderTest:
    broker = BrokerUnderTest(loop, directories=("/data", "/other"))
    metadata = Metadata(broker)
    metadata.register(1, directories=[directory_id(1), directory_id(11)])
    metadata.create("orders", [1], directories=[directory_id(1)])
    metadata.create("bills", [1], directories=[directory_id(11)])
    loop.run()
    return broker


def produce_again(broker: BrokerUnderTest, sequence: int, acks: int = 1) -> Answers:
    answers: Answers[AppendResult] = Answers()
    records = batch(2, producer_id=7, producer_epoch=0, base_sequence=sequence)
    broker.replicas.append([AppendEntry("orders", 0, records)], acks=acks, timeout_ms=1000, done=answers.take)
    return answers


@pytest.mark.parametrize("acks", [1, -1])
def test_an_append_is_answered_when_it_is_written(broker: BrokerUnderTest, acks: int) -> None:
    disk = SlowDisk(broker)
    waiting = broker.fetch(want(), max_wait_ms=60_000)
    first, second = broker.produce(acks=acks, count=2), broker.produce(acks=acks)
    assert not first.is_done
    assert not second.is_done
    assert broker.partition().high_watermark == 0
    assert offsets(broker.fetch(want())[0]) == []
    disk.write()
    broker.loop.run()
    assert [(result.error_code, result.base_offset) for result in (*first, *second)] == [(0, 0), (0, 2)]
    assert broker.partition().high_watermark == 3
    assert offsets(waiting[0]) == [0, 1] or offsets(waiting[0]) == [0, 1, 2]


def test_who_wants_no_answer_gets_it_at_once_and_readers_see_it_when_it_is_written(broker: BrokerUnderTest) -> None:
    disk = SlowDisk(broker)
    waiting = broker.fetch(want(), max_wait_ms=60_000)
    assert broker.produce(acks=0).is_done
    assert not waiting.is_done
    disk.write()
    broker.loop.run()
    assert (broker.partition().high_watermark, offsets(waiting[0])) == (1, [0])


def test_others_do_not_wait(broker: BrokerUnderTest) -> None:
    disk = SlowDisk(broker)
    assert not broker.produce("orders").is_done
    assert broker.produce("bills", acks=-1)[0].base_offset == 0
    assert offsets(broker.fetch(want("bills"))[0]) == [0]
    assert disk.is_asked


def test_one_request_for_both_waits_for_the_slow_one(broker: BrokerUnderTest) -> None:
    disk = SlowDisk(broker)
    answers: Answers[AppendResult] = Answers()
    entries = [AppendEntry("orders", 0, batch()), AppendEntry("bills", 0, batch()), AppendEntry("nowhere", 0, batch())]
    broker.replicas.append(entries, acks=1, timeout_ms=100, done=answers.take)
    assert not answers.is_done
    assert broker.partition("bills").high_watermark == 1
    disk.write()
    broker.loop.run()
    assert [result.error_code for result in answers] == [0, 0, ErrorCode.UNKNOWN_TOPIC_OR_PARTITION]


def test_the_short_way_leaves_it_alone(broker: BrokerUnderTest) -> None:
    assert broker.replicas.append_alone("orders", 0, batch(), 1) is not None
    SlowDisk(broker)
    assert broker.replicas.append_alone("orders", 0, batch(), 1) is None
    assert broker.partition().log.next_offset == 1


def test_a_repeat_waits_for_what_it_repeats(broker: BrokerUnderTest) -> None:
    disk = SlowDisk(broker)
    first, again = produce_again(broker, 0), produce_again(broker, 0)
    assert not again.is_done
    disk.write()
    broker.loop.run()
    assert [(result.error_code, result.base_offset) for result in (*first, *again)] == [(0, 0), (0, 0)]
    assert broker.partition().log.log_end_offset == 2


def test_order_is_kept_when_the_disk_is_well_again(broker: BrokerUnderTest) -> None:
    disk = SlowDisk(broker)
    first = produce_again(broker, 0)
    disk.become(is_slow=False)
    second = produce_again(broker, 2)
    assert not second.is_done, "behind what is on its way"
    disk.write()
    broker.loop.run()
    assert (first[0].base_offset, second[0].base_offset) == (0, 2)
    assert produce_again(broker, 4)[0].base_offset == 4
    assert not disk.is_asked


def test_a_failed_write_is_told_to_all_behind_it_and_takes_the_directory_offline(broker: BrokerUnderTest) -> None:
    disk = SlowDisk(broker)
    waiting = [broker.produce(acks=1), broker.produce(acks=-1), produce_again(broker, 0)]
    broker.disk.fail(Fault("write", errno.EIO, ".log"))
    disk.write()
    broker.loop.run()
    assert [answers[0].error_code for answers in waiting] == [ErrorCode.KAFKA_STORAGE_ERROR] * 3
    assert broker.events.lost == ["/data"]
    assert broker.produce()[0].error_code == ErrorCode.KAFKA_STORAGE_ERROR
    broker.disk.heal()
    assert broker.produce("bills")[0].error_code == 0


def test_a_producer_that_waits_too_long_hears_so(broker: BrokerUnderTest) -> None:
    disk = SlowDisk(broker)
    answers = broker.produce(acks=-1, timeout_ms=500)
    broker.loop.advance(1000)
    disk.write()
    broker.loop.run()
    assert answers[0].error_code == ErrorCode.REQUEST_TIMED_OUT
    assert broker.partition().high_watermark == 1


def test_a_flush_that_is_asked_for_comes_after_the_write(loop: ManualLoop) -> None:
    broker = BrokerUnderTest(loop, config=LogConfig(flush_messages=1))
    metadata = Metadata(broker)
    metadata.create("orders", [1])
    loop.run()
    disk = SlowDisk(broker)
    answers = broker.produce()
    loop.run()
    log = broker.logs.get(TopicPartition("orders", 0))
    assert log is not None
    assert (answers.is_done, log.recovery_point) == (False, 0)
    disk.write()
    loop.run()
    while not answers.is_done:  # The flush is a real thread's.
        loop.run()
    assert (answers[0].error_code, log.recovery_point) == (0, 1)


def test_no_more_waits_than_memory_allows(broker: BrokerUnderTest) -> None:
    broker.logs.update_topic_config("orders", {"max.message.bytes": str(BYTES_MAX)})
    disk = SlowDisk(broker)
    first = broker.produce(size=BYTES_MAX // 2)
    [refused] = broker.produce(size=BYTES_MAX // 2)
    assert refused.error_code == ErrorCode.KAFKA_STORAGE_ERROR
    disk.write()
    broker.loop.run()
    assert (first[0].error_code, broker.events.lost) == (0, [])
    assert not broker.produce(size=BYTES_MAX // 2).is_done


# Changes of the metadata while something is on its way


def test_a_partition_that_is_deleted_is_gone_for_those_who_wait(loop: ManualLoop) -> None:
    broker = BrokerUnderTest(loop)
    metadata = Metadata(broker)
    metadata.create("orders", [1])
    loop.run()
    disk = SlowDisk(broker)
    answers = [broker.produce(acks=1), broker.produce(acks=-1)]
    metadata.delete("orders")
    loop.run()
    disk.write()
    loop.run()
    codes = {found[0].error_code for found in answers}
    assert codes <= {ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, ErrorCode.KAFKA_STORAGE_ERROR}
    assert broker.events.lost == []


class Trio:
    """Three brokers and a topic on all of them; the disk of one is slow."""

    def __init__(self, slow: int) -> None:
        self.loop = ManualLoop()
        self.network = Network(self.loop)
        for broker_id in (1, 2, 3):
            self.network.brokers[broker_id] = BrokerUnderTest(
                self.loop, broker_id, endpoint_of=self.network.endpoint_of(broker_id)
            )
        self.metadata = Metadata(*self.network.brokers.values())
        for broker_id in (1, 2, 3):
            self.metadata.register(broker_id)
        self.metadata.create("orders", [1, 2, 3])
        self.loop.run()
        self.broker(1).produce(count=2)
        self.loop.advance(500)
        self.disk = SlowDisk(self.broker(slow))

    def broker(self, broker_id: int) -> BrokerUnderTest:
        return self.network.brokers[broker_id]

    def settle(self) -> None:
        for _ in range(50):
            self.disk.write()
            self.loop.advance(200)

    def ends(self) -> list[int]:
        return [self.broker(broker_id).partition().log.log_end_offset for broker_id in (1, 2, 3)]

    def contents(self) -> list[list[tuple[int, int]]]:
        """Offsets and epochs of each broker's batches."""
        logs = [broker.logs.get(TopicPartition("orders", 0)) for broker in self.network.brokers.values()]
        return [
            [(found.base_offset, found.partition_leader_epoch) for segment in log.segments for found in segment.scan()]  # type: ignore[union-attr]
            for log in logs
            if log is not None
        ]


def test_followers_get_what_the_leader_has_written() -> None:
    trio = Trio(slow=1)
    answers = trio.broker(1).produce(acks=-1)
    trio.loop.advance(600)
    assert (trio.ends(), answers.is_done) == ([2, 2, 2], False)
    trio.settle()
    assert (trio.ends(), answers[0].error_code) == ([3, 3, 3], 0)


def test_a_follower_is_as_far_as_it_has_written() -> None:
    trio = Trio(slow=2)
    answers = trio.broker(1).produce(acks=-1, timeout_ms=60_000)
    trio.loop.advance(600)
    assert (trio.ends(), answers.is_done) == ([3, 2, 3], False)
    assert trio.broker(1).partition().high_watermark == 2
    trio.settle()
    assert (trio.ends(), answers[0].error_code) == ([3, 3, 3], 0)
    for _ in range(5):
        trio.broker(1).produce()
        trio.settle()
    assert trio.ends() == [8, 8, 8]
    assert trio.broker(2).partition().high_watermark == 8


def test_a_leader_that_is_deposed_with_records_on_their_way_gives_them_up() -> None:
    trio = Trio(slow=1)
    answers = [trio.broker(1).produce(acks=acks, timeout_ms=60_000) for acks in (1, -1)]
    trio.metadata.change("orders", leader=2, isr=[1, 2, 3])
    trio.loop.advance(300)
    trio.broker(2).produce(count=4)
    trio.loop.advance(300)
    trio.settle()
    assert trio.ends() == [6, 6, 6]
    assert trio.contents() == [[(0, 0), (2, 1)]] * 3
    assert all(found.is_done for found in answers)
    assert answers[1][0].error_code == ErrorCode.NOT_LEADER_OR_FOLLOWER


def test_a_follower_that_begins_to_lead_with_records_on_their_way_leads_behind_them() -> None:
    trio = Trio(slow=2)
    trio.broker(1).produce(acks=1, count=3)
    trio.loop.advance(300)
    assert trio.ends() == [5, 2, 5]
    trio.metadata.change("orders", leader=2, isr=[1, 2, 3])
    trio.loop.advance(300)
    answers = trio.broker(2).produce(acks=-1, timeout_ms=60_000)
    trio.loop.advance(300)
    assert not answers.is_done
    trio.settle()
    assert answers[0].base_offset == 5
    assert trio.ends() == [6, 6, 6]
    assert trio.contents() == [[(0, 0), (2, 0), (5, 1)]] * 3


def test_a_log_moves_when_its_records_are_written(broker: BrokerUnderTest) -> None:
    disk = SlowDisk(broker)
    answers = broker.produce()
    broker.replicas.alter_log_dir(TopicPartition("orders", 0), "/other", lambda code: None)
    broker.loop.advance(1000)
    log = broker.logs.get(TopicPartition("orders", 0))
    assert log is not None
    assert log.directory == "/data/orders-0"
    disk.write()
    broker.loop.advance(1000)
    log = broker.logs.get(TopicPartition("orders", 0))
    assert log is not None
    assert (answers[0].error_code, log.directory, log.log_end_offset) == (0, "/other/orders-0", 1)
    assert broker.produce()[0].base_offset == 1, "its new disk is well"


def test_a_log_moves_though_appends_are_always_on_their_way(broker: BrokerUnderTest) -> None:
    """For a moment it takes no more; clients are told to try again."""
    disk = SlowDisk(broker)
    name = TopicPartition("orders", 0)
    answers = [broker.produce()]
    broker.replicas.alter_log_dir(name, "/other", lambda code: None)

    def is_moved() -> bool:
        log = broker.logs.get(name)
        return log is not None and log.directory == "/other/orders-0"

    while not is_moved():
        assert len(answers) < 100
        disk.write()
        answers.append(broker.produce())  # Before the loop hears that the one before is written.
        broker.loop.advance(100)
    answers.append(broker.produce())
    refused = [answer[0] for answer in answers if answer[0].error_code]
    assert {answer.error_code for answer in refused} == {ErrorCode.KAFKA_STORAGE_ERROR}
    taken = [answer[0].base_offset for answer in answers if not answer[0].error_code]
    assert taken == list(range(len(answers) - len(refused)))
    assert 0 < len(refused) < 5
    assert not broker.logs.directories.offline()


def test_a_log_takes_appends_again_if_it_cannot_move(broker: BrokerUnderTest) -> None:
    disk = SlowDisk(broker)
    broker.replicas.alter_log_dir(TopicPartition("orders", 0), "/other", lambda code: None)
    answers = [broker.produce()]
    for _ in range(20):  # Nothing is written meanwhile.
        broker.loop.advance(500)
        answers.append(broker.produce())
    refused = [answer for answer in answers if answer.is_done]
    assert 0 < len(refused) < 5
    assert {answer[0].error_code for answer in refused} == {ErrorCode.KAFKA_STORAGE_ERROR}
    disk.write()
    broker.loop.advance(1000)
    assert [answer[0].base_offset for answer in answers if answer not in refused] == list(range(21 - len(refused)))


@pytest.mark.parametrize("acks", [0, 1, -1])
def test_a_thread_that_is_done_before_the_loop_looks_is_heard_once(broker: BrokerUnderTest, acks: int) -> None:
    home = broker.logs.directories.named("/data")
    home.appends.start(lambda job: job(), broker.loop.call_soon)  # As fast as a thread can be.
    home.pace.is_always_slow = True
    home.look_after()
    waiting = broker.fetch(want(), max_wait_ms=60_000)
    answers = [broker.produce(acks=acks) for _ in range(3)]
    broker.loop.run()
    assert [found[0].error_code for found in answers] == [0, 0, 0]
    assert broker.partition().high_watermark == 3
    assert waiting.is_done
