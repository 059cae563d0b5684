"""A log that moves keeps what it knows of its producers, also of those whose records are gone."""

from random import Random

import pytest

from ottla.protocol.errors import ErrorCode
from ottla.protocol.records.batch import Batch
from ottla.replication.request.produce import AppendEntry, AppendResult
from ottla.storage.disk.simulated import SimulatedDisk
from ottla.storage.log.append_info import AppendOptions
from ottla.storage.log.log import Log
from ottla.storage.topic_partition import TopicPartition
from tests.unit.replication.broker_under_test import Answers, BrokerUnderTest, Metadata, batch, directory_id
from tests.unit.replication.manual_loop import ManualLoop

ORDERS = TopicPartition("orders", 0)


def log_of(broker: BrokerUnderTest) -> Log:
    log = broker.logs.get(ORDERS)
    assert log is not None
    return log


def send(broker: BrokerUnderTest, sequence: int) -> AppendResult:
    """A batch of a transaction, of which the coordinator says yes."""
    records = batch(2, producer_id=7, producer_epoch=0, base_sequence=sequence, is_transactional=True)
    now_ms = broker.loop.now_ms()
    receipt = log_of(broker).start_verification(Batch(records), now_ms, supports_epoch_bump=True)
    answers: Answers[AppendResult] = Answers()
    entry = AppendEntry("orders", 0, records, AppendOptions(verification=receipt))
    broker.replicas.append([entry], acks=1, timeout_ms=1000, done=answers.take)
    result: AppendResult = answers[0]
    return result


@pytest.fixture
def broker() -> BrokerUnderTest:
    broker = BrokerUnderTest(ManualLoop(), directories=("/a", "/b"))
    metadata = Metadata(broker)
    metadata.register(1)
    metadata.create("orders", [1], directories=[directory_id(1)])
    broker.loop.run()
    return broker


def move(broker: BrokerUnderTest) -> None:
    broker.replicas.alter_log_dir(ORDERS, "/b", lambda code: None)
    broker.loop.advance(1000)
    assert log_of(broker).directory == "/b/orders-0"


@pytest.mark.parametrize("left", [0, 1, 3])
def test_a_transaction_goes_on_whose_first_records_are_deleted(broker: BrokerUnderTest, left: int) -> None:
    for sequence in (0, 2):
        assert send(broker, sequence).error_code == ErrorCode.NONE
    broker.partition().delete_records_before(4 - left)
    move(broker)
    assert log_of(broker).first_unstable_offset == 0
    assert (send(broker, 4).error_code, send(broker, 4).size_bytes) == (ErrorCode.NONE, 0), "taken once, known again"
    assert log_of(broker).log_end_offset == 6


def test_a_question_to_the_coordinator_outlasts_a_move(broker: BrokerUnderTest) -> None:
    records = batch(2, producer_id=7, producer_epoch=0, base_sequence=0, is_transactional=True)
    receipt = log_of(broker).start_verification(Batch(records), broker.loop.now_ms(), supports_epoch_bump=True)
    move(broker)
    info = broker.partition().append(
        records, acks=1, now_ms=broker.loop.now_ms(), options=AppendOptions(verification=receipt)
    )
    assert info.first_offset == 0


@pytest.mark.parametrize("seed", range(5))
def test_a_power_cut_after_the_move_takes_none_of_it(seed: int) -> None:
    disk = SimulatedDisk()
    for path in ("/a", "/b"):
        disk.make_directory(path)
    disk.flush_directory("/")
    broker = BrokerUnderTest(ManualLoop(), directories=("/a", "/b"), disk=disk)
    metadata = Metadata(broker)
    metadata.register(1)
    metadata.create("orders", [1], directories=[directory_id(1)])
    broker.loop.run()
    for sequence in (0, 2):
        send(broker, sequence)
    broker.partition().delete_records_before(4)
    move(broker)
    disk.crash(Random(seed))
    again = BrokerUnderTest(ManualLoop(), directories=("/a", "/b"), disk=disk)
    entry = log_of(again).producers.entries[7]
    assert (entry.last_sequence, entry.transaction_first_offset) == (3, 0)
