"""Fetches of what may not be in memory: a worker reads it, and the loop waits for no disk."""

import gc

import pytest

from ottla.replication.partition.partition import Partition
from ottla.replication.request.fetch import READ_COMMITTED
from ottla.storage.disk.simulated import SimulatedDisk
from ottla.storage.log_config import LogConfig
from tests.unit.replication.broker_under_test import BrokerUnderTest, Metadata, offsets, want
from tests.unit.replication.manual_loop import ManualLoop


class WatchedDisk(SimulatedDisk):
    """Notes what the loop itself reads."""

    def __init__(self, loop: ManualLoop) -> None:
        super().__init__()
        self._loop = loop
        self.reads: list[str] = []

    def check(self, operation: str, path: str) -> None:
        if operation == "read" and not self._loop.is_in_worker:
            self.reads.append(path)
        super().check(operation, path)


@pytest.fixture
def loop() -> ManualLoop:
    return ManualLoop()


@pytest.fixture
def disk(loop: ManualLoop) -> WatchedDisk:
    return WatchedDisk(loop)


@pytest.fixture
def broker(loop: ManualLoop, disk: WatchedDisk) -> BrokerUnderTest:
    return BrokerUnderTest(loop, disk=disk, config=LogConfig(segment_bytes=500))


@pytest.fixture(autouse=True)
def metadata(loop: ManualLoop, disk: WatchedDisk, broker: BrokerUnderTest) -> Metadata:
    """Two partitions of several segments each."""
    metadata = Metadata(broker)
    metadata.register(1)
    metadata.register(2)
    metadata.create("orders", [1], [1])
    loop.run()
    for index in (0, 1):
        for _ in range(8):
            broker.produce(index=index, count=5, size=20)
        assert len(list(broker.partition(index=index).log.segments)) > 2  # type: ignore[attr-defined]
    disk.reads.clear()
    return metadata


def test_the_loop_reads_nothing_before_a_worker_did(
    loop: ManualLoop, disk: WatchedDisk, broker: BrokerUnderTest
) -> None:
    answers = broker.fetch(want(offset=0))
    assert (answers.is_done, disk.reads) == (False, [])
    loop.run()
    [result] = answers
    assert offsets(result)[0] == 0
    assert result.high_watermark == 40


def test_the_end_of_the_log_is_read_at_once(broker: BrokerUnderTest) -> None:
    [result] = broker.fetch(want(offset=39))
    assert offsets(result)[-1] == 39


def test_what_is_in_memory_waits_a_moment_for_what_is_not(loop: ManualLoop, broker: BrokerUnderTest) -> None:
    answers = broker.fetch(want(offset=0), want(index=1, offset=39))
    assert not answers.is_done
    loop.run()
    old, new = answers
    assert (offsets(old)[0], offsets(new)[-1]) == (0, 39)


def test_and_no_longer(loop: ManualLoop, broker: BrokerUnderTest, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(loop, "call_soon_threadsafe", lambda callback: None)
    answers = broker.fetch(want(offset=0), want(index=1, offset=39))
    loop.advance(600)
    old, new = answers
    assert (old.records, old.error_code, offsets(new)[-1]) == (None, 0, 39)


def test_a_fetch_of_several_old_places_waits_for_all(loop: ManualLoop, broker: BrokerUnderTest) -> None:
    answers = broker.fetch(want(offset=0), want(index=1, offset=0))
    loop.run()
    assert [offsets(result)[0] for result in answers] == [0, 0]


def test_a_follower_gets_what_there_is_at_once(loop: ManualLoop, broker: BrokerUnderTest, metadata: Metadata) -> None:
    metadata.create("copied", [1, 2], [1, 2])
    loop.run()
    for index in (0, 1):
        for _ in range(8):
            broker.produce("copied", index, count=5, size=20)
    old, new = broker.fetch(want("copied", 0, 0), want("copied", 1, 39), replica_id=2)
    assert (old.records, offsets(new)[-1]) == (None, 39)


def test_news_of_another_partition_end_the_wait(loop: ManualLoop, broker: BrokerUnderTest) -> None:
    answers = broker.fetch(want(offset=0), want(index=1, offset=40), max_wait_ms=500)
    broker.produce()
    assert not answers.is_done, "news of the partition that is being read say nothing of what is read"
    broker.produce(index=1)
    old, new = answers
    assert (old.records, offsets(new)) == (None, [40])


def test_for_more_than_one_byte_it_waits_just_so(loop: ManualLoop, broker: BrokerUnderTest) -> None:
    answers = broker.fetch(want(offset=0), min_bytes=100, max_wait_ms=500)
    assert not answers.is_done
    loop.run()
    assert offsets(answers[0])[0] == 0


def test_two_consumers_of_one_place_share_a_read(loop: ManualLoop, broker: BrokerUnderTest) -> None:
    both = [broker.fetch(want(offset=0)), broker.fetch(want(offset=0), isolation_level=READ_COMMITTED)]
    loop.run()
    assert [offsets(answers[0])[0] for answers in both] == [0, 0]
    assert both[1][0].aborted_transactions == []


def test_a_disk_that_never_answers_costs_ten_seconds_and_no_error(
    loop: ManualLoop, broker: BrokerUnderTest, monkeypatch: pytest.MonkeyPatch
) -> None:
    log = broker.partition().log
    monkeypatch.setattr(loop, "call_soon_threadsafe", lambda callback: None)
    answers = broker.fetch(want(offset=0))
    loop.advance(9_000)
    assert not answers.is_done
    loop.advance(2_000)
    [result] = answers
    assert (result.error_code, result.records, result.high_watermark) == (0, None, log.high_watermark)


def test_beyond_the_log_is_told_at_once(loop: ManualLoop, broker: BrokerUnderTest) -> None:
    answers = broker.fetch(want(offset=99))
    assert answers[0].error_code


def partitions(topic: str) -> list[Partition]:
    """Those that anything holds."""
    return [found for found in gc.get_objects() if isinstance(found, Partition) and found.topic == topic]


def test_a_partition_that_is_gone_is_not_kept_for_what_was_read_of_it(
    loop: ManualLoop, broker: BrokerUnderTest, metadata: Metadata
) -> None:
    metadata.create("gone", [1])
    loop.run()
    for _ in range(8):
        broker.produce("gone", count=5, size=20)
    broker.fetch(want(topic="gone", offset=0))
    loop.run()
    assert len(partitions("gone")) == 1
    metadata.delete("gone")
    loop.advance(60_000)
    broker.fetch(want(offset=0))
    loop.run()
    gc.collect()
    assert partitions("gone") == []
