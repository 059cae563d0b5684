"""A disk that is slow to flush keeps waiting whom it concerns, and nobody else."""

import asyncio
import threading
from random import Random

import pytest

from ottla.protocol.errors import ErrorCode
from ottla.replication.replica_manager import ReplicaManager
from ottla.storage.disk.simulated import PowerCut, SimulatedDisk
from ottla.storage.log_config import LogConfig
from ottla.storage.log_manager import LogManager
from ottla.storage.topic_partition import TopicPartition
from tests.unit.replication.broker_under_test import BrokerUnderTest, Metadata, directory_id, offsets, want
from tests.unit.replication.manual_loop import ManualLoop
from tests.unit.replication.memory_leader import Network
from tests.unit.replication.test_housekeeping import applied, as_broker, on_a_real_loop

ORDERS = TopicPartition("orders", 0)


class WatchedDisk(SimulatedDisk):
    """Notes what the loop itself waits for."""

    def __init__(self, loop: ManualLoop) -> None:
        super().__init__()
        self._loop = loop
        self.waits: list[str] = []

    def step(self, operation: str, path: str) -> bool:
        if not self._loop.is_in_worker and operation.startswith("flush"):
            self.waits.append(f"{operation} {path}")
        return super().step(operation, path)


# Truncation


class Pair:
    """Two brokers, and what one of them waits for."""

    def __init__(self) -> None:
        self.loop = ManualLoop()
        self.network = Network(self.loop)
        config = LogConfig(segment_bytes=500)
        for broker_id in (1, 2):
            self.network.brokers[broker_id] = BrokerUnderTest(
                self.loop,
                broker_id,
                endpoint_of=self.network.endpoint_of(broker_id),
                disk=WatchedDisk(self.loop),
                config=config,
            )
        self.metadata = Metadata(*self.network.brokers.values())
        for broker_id in (1, 2):
            self.metadata.register(broker_id)
        self.metadata.create("orders", [1, 2])
        self.loop.run()

    def broker(self, broker_id: int) -> BrokerUnderTest:
        return self.network.brokers[broker_id]

    def part(self) -> None:
        """Both have five records, and 1 has forty more that 2 does not know when it begins to lead."""
        self.broker(1).produce(count=5)
        self.loop.advance(10)
        self.network.cut = {1}
        for _ in range(8):
            self.broker(1).produce(count=5, size=50)
        self.metadata.change("orders", leader=2, isr=[2])
        self.loop.advance(10)
        self.broker(2).produce(count=2)
        self.loop.advance(10)

    def turn_until_cut(self) -> None:
        """Goes on until the log of 1 lost its end in memory, and the disk is still to follow."""
        log = self.broker(1).partition().log
        for _ in range(10_000):
            if log.is_flushing:
                return
            if self.loop.is_idle:
                self.loop.pass_time(10)
            else:
                self.loop.turn()
        raise AssertionError("nothing was cut")

    def ends(self) -> list[int]:
        return [self.broker(broker_id).partition().log.log_end_offset for broker_id in (1, 2)]


def test_the_loop_waits_for_no_disk_while_a_follower_gives_records_up() -> None:
    pair = Pair()
    pair.part()
    disk = pair.broker(1).disk
    assert isinstance(disk, WatchedDisk)
    assert pair.ends() == [45, 7]
    disk.waits.clear()
    pair.network.cut = set()
    pair.loop.advance(3000)
    assert pair.ends() == [7, 7]
    assert disk.waits == []


def test_nor_while_a_follower_begins_anew() -> None:
    pair = Pair()
    pair.part()
    pair.broker(2).partition().log.update_high_watermark(7)
    pair.broker(2).partition().delete_records_before(7)
    disk = pair.broker(1).disk
    assert isinstance(disk, WatchedDisk)
    disk.waits.clear()
    pair.network.cut = set()
    pair.loop.advance(5000)
    log = pair.broker(1).partition().log
    assert (log.log_start_offset, log.log_end_offset, disk.waits) == (7, 7, [])


def test_who_becomes_leader_while_its_log_is_cut_leads_with_what_is_left() -> None:
    pair = Pair()
    pair.part()
    pair.network.cut = set()
    pair.turn_until_cut()
    pair.metadata.change("orders", leader=1, isr=[1])
    pair.loop.advance(3000)
    assert pair.broker(1).produce(count=3)[0].base_offset == 5
    pair.loop.advance(3000)
    assert offsets(pair.broker(1).fetch(want())[0])[:5] == list(range(5))
    assert offsets(pair.broker(1).fetch(want(offset=5))[0]) == [5, 6, 7]


def test_a_log_that_is_cut_when_its_broker_stops_can_be_closed() -> None:
    pair = Pair()
    pair.part()
    broker = pair.broker(1)
    pair.network.cut = set()
    pair.turn_until_cut()
    asyncio.run(broker.replicas.stop())
    broker.logs.shutdown()
    again = BrokerUnderTest(ManualLoop(), disk=broker.disk)
    assert again.logs.get(ORDERS).log_end_offset == 5  # type: ignore[union-attr]


# Moving


@pytest.fixture
def moving() -> tuple[BrokerUnderTest, WatchedDisk]:
    """A broker whose log of 200 records, all flushed, is to go from /a to /b."""
    loop = ManualLoop()
    disk = WatchedDisk(loop)
    return begin_move(loop, disk), disk


def begin_move(loop: ManualLoop, disk: SimulatedDisk, config: LogConfig | None = None) -> BrokerUnderTest:
    config = config or LogConfig(segment_bytes=5000, index_interval_bytes=500)
    broker = BrokerUnderTest(loop, directories=("/a", "/b"), config=config, disk=disk)
    metadata = Metadata(broker)
    metadata.register(1)
    metadata.create("orders", [1], directories=[directory_id(1)])
    loop.run()
    for _ in range(20):
        broker.produce(count=10, size=100)
    broker.logs.get(ORDERS).flush(loop.now_ms())  # type: ignore[union-attr]
    return broker


def test_the_loop_waits_for_no_disk_while_a_log_moves(moving: tuple[BrokerUnderTest, WatchedDisk]) -> None:
    broker, disk = moving
    disk.waits.clear()
    broker.replicas.alter_log_dir(ORDERS, "/b", lambda code: None)
    broker.loop.run()
    log = broker.logs.get(ORDERS)
    assert log is not None
    assert (log.directory, log.log_end_offset, disk.waits) == ("/b/orders-0", 200, [])
    assert not [name for name in disk.list("/a") if name == "orders-0"]


def test_a_power_cut_at_any_point_of_a_move_takes_nothing_that_was_flushed() -> None:
    loop, disk = ManualLoop(), SimulatedDisk()
    broker = begin_move(loop, disk)
    before = disk.operations
    broker.replicas.alter_log_dir(ORDERS, "/b", lambda code: None)
    loop.run()
    operations = disk.operations - before
    assert operations > 20
    for cut in range(operations):
        loop, disk = ManualLoop(), SimulatedDisk()
        broker = begin_move(loop, disk)
        disk.cut_after(cut)
        broker.replicas.alter_log_dir(ORDERS, "/b", lambda code: None)
        with pytest.raises(PowerCut):
            loop.run()
        disk.crash(Random(cut))
        again = BrokerUnderTest(ManualLoop(), directories=("/a", "/b"), disk=disk)
        log = again.logs.get(ORDERS)
        assert log is not None, cut
        assert log.log_end_offset == 200, cut


def test_a_kill_at_any_point_of_a_move_takes_nothing_that_was_acknowledged() -> None:
    """Nothing is lost that was written, but the process is gone between two turns of its loop."""
    turns = 0
    while True:
        loop, disk = ManualLoop(), SimulatedDisk()
        broker = begin_move(loop, disk)
        broker.replicas.alter_log_dir(ORDERS, "/b", lambda code: None)
        written = 200
        for _ in range(turns):
            loop.turn()
            assert broker.produce()[0].error_code == ErrorCode.NONE
            written += 1
        again = BrokerUnderTest(ManualLoop(), directories=("/a", "/b"), disk=disk)
        log = again.logs.get(ORDERS)
        assert log is not None
        assert log.log_end_offset == written, turns
        if not broker.logs.get(ORDERS).is_flushing and turns > 15:  # type: ignore[union-attr]
            break
        turns += 1
    assert broker.partition().log.directory == "/b/orders-0"  # type: ignore[attr-defined]


def test_others_are_served_while_a_move_waits_for_its_disk() -> None:
    class StuckDisk(SimulatedDisk):
        """From the moment that the copy is in its place, flushes of /b do not return."""

        def __init__(self) -> None:
            super().__init__()
            self.may_go_on, self.is_stuck = threading.Event(), threading.Event()
            self.path = "/none"

        def flush_directory(self, directory: str) -> None:
            if directory == self.path and self.status(f"{directory}/orders-0") is not None:
                self.is_stuck.set()
                assert self.may_go_on.wait(30)
            super().flush_directory(directory)

    disk = StuckDisk()

    async def use(replicas: ReplicaManager, logs: LogManager) -> None:
        broker = as_broker(replicas)
        metadata = Metadata(broker)
        metadata.create("orders", [1])
        metadata.create("bills", [1])
        await applied(replicas, metadata)
        broker.produce(count=100)
        home = logs.directories.home_of(ORDERS)
        assert home is not None
        disk.path = "/b" if home.path == "/a" else "/a"
        replicas.alter_log_dir(ORDERS, disk.path, lambda code: None)
        assert await asyncio.to_thread(disk.is_stuck.wait, 30)
        assert broker.produce("bills")[0].error_code == ErrorCode.NONE
        assert broker.produce("orders")[0].base_offset == 100
        assert offsets(broker.fetch(want(offset=100))[0]) == [100]
        disk.may_go_on.set()

    on_a_real_loop(disk, use)
