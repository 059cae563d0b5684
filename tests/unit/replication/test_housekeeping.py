"""Periodic work: it is done in time, on its thread, and what it finds on the disk is noticed."""

import asyncio
import threading
from collections.abc import Awaitable, Callable

from ottla.base.metric import MetricRegistry
from ottla.base.metric_text import render
from ottla.base.system_clock import SystemClock
from ottla.replication.metric import register_metrics
from ottla.replication.replica_manager import ReplicaManager
from ottla.replication.replica_manager_options import ReplicaManagerOptions
from ottla.replication.schedule.periodic import PeriodicTask
from ottla.replication.schedule.writer_thread import run_on_loop
from ottla.replication.settings import ReplicationSettings
from ottla.storage.cleaner.cleaner_config import CleanerConfig
from ottla.storage.cleaner.log_cleaner import LogCleaner
from ottla.storage.disk.simulated import Fault, SimulatedDisk
from ottla.storage.log_config import LogConfig
from ottla.storage.log_manager import LogManager
from ottla.storage.log_manager_options import LogManagerOptions
from ottla.storage.topic_partition import TopicPartition
from tests.unit.replication.broker_under_test import (
    BrokerUnderTest,
    DirectoryEvents,
    Metadata,
    NoLeader,
    Proposals,
    directory_id,
)
from tests.unit.replication.manual_loop import ManualLoop

ORDERS = TopicPartition("orders", 0)


def started(loop: ManualLoop, **options: object) -> tuple[BrokerUnderTest, Metadata]:
    broker = BrokerUnderTest(loop, **options)  # type: ignore[arg-type]
    broker.replicas.start()
    metadata = Metadata(broker)
    metadata.register(1)
    metadata.create("orders", [1])
    loop.run()
    return broker, metadata


def test_a_task_runs_again_an_interval_after_it_was_done() -> None:
    loop = ManualLoop()
    times: list[int] = []
    task = PeriodicTask(loop, lambda: 100, lambda done: (times.append(loop.monotonic_ms()), loop.call_soon(done)))  # type: ignore[arg-type, return-value]
    begin = loop.monotonic_ms()
    task.start(50)
    loop.advance(400)
    assert [time - begin for time in times] == [50, 150, 250, 350]
    task.stop()
    loop.advance(400)
    assert len(times) == 4


def test_high_watermarks_are_checkpointed_every_five_seconds() -> None:
    loop = ManualLoop()
    broker, _ = started(loop)
    broker.produce(count=7)
    loop.advance(5_001)
    home = broker.logs.directories.all()[0]
    assert home.high_watermarks.read() == {ORDERS: 7}


def test_recovery_points_and_log_starts_are_checkpointed() -> None:
    loop = ManualLoop()
    broker, _ = started(loop)
    broker.produce(count=7)
    broker.partition().delete_records_before(3)
    log = broker.logs.get(ORDERS)
    assert log is not None
    log.flush(loop.now_ms())
    loop.advance(31_000)
    home = broker.logs.directories.all()[0]
    assert (home.recovery_points.read(), home.log_starts.read()) == ({ORDERS: 7}, {ORDERS: 3})


def test_retention_first_looks_after_thirty_seconds() -> None:
    loop = ManualLoop()
    broker, _ = started(loop, config=LogConfig(retention_ms=1000))
    broker.produce(count=7)
    loop.advance(29_000)
    assert broker.partition().log.log_start_offset == 0
    loop.advance(2_000)
    assert broker.partition().log.log_start_offset == 7


def test_a_directory_that_fails_in_the_background_is_noticed() -> None:
    loop = ManualLoop()
    broker, _ = started(loop)
    broker.produce()
    broker.disk.fail(Fault("create", path_ending=".tmp"))
    broker.disk.fail(Fault("write", path_ending=".tmp"))
    loop.advance(6_000)
    assert (broker.events.lost, broker.replicas.get("orders", 0)) == (["/data"], None)


def test_logs_are_flushed_by_time_if_the_broker_says_so() -> None:
    loop = ManualLoop()
    settings = ReplicationSettings(log_flush_scheduler_interval_ms=100, log_initial_task_delay_ms=0)
    broker, _ = started(loop, config=LogConfig(flush_ms=500), settings=settings)
    broker.produce(count=3)
    log = broker.logs.get(ORDERS)
    assert log is not None
    loop.advance(400)
    assert log.recovery_point == 0
    loop.advance(400)
    assert log.recovery_point == 3


def test_changed_settings_count_from_the_next_time_on() -> None:
    loop = ManualLoop()
    broker, metadata = started(loop)
    metadata.register(2)
    metadata.create("copied", [1, 2])
    loop.run()
    broker.produce("copied")
    broker.replicas.update_settings(ReplicationSettings(replica_lag_time_max_ms=1000))
    loop.advance(14_000)
    assert broker.proposals.open == []
    loop.advance(2_000)
    assert broker.proposals.isrs == [[1]]


def test_metrics_tell_how_many_partitions_there_are_and_how_they_are() -> None:
    loop = ManualLoop()
    broker, metadata = started(loop)
    metadata.create("copied", [1, 2], [2, 1], isr=[1])
    loop.run()
    broker.produce(count=3)
    registry = MetricRegistry()
    register_metrics(registry, broker.replicas)
    text = render(registry)
    for line in (
        "kafka_server_replicamanager_partitioncount 3",
        "kafka_server_replicamanager_leadercount 2",
        "kafka_server_replicamanager_underreplicatedpartitions 1",
        "kafka_server_replicamanager_isrshrinks_total 0",
        'kafka_server_delayedoperationpurgatory_purgatorysize{delayedOperation="Fetch"} 0',
        'kafka_log_log_logendoffset{topic="orders",partition="0"} 3',
    ):
        assert line in text.splitlines(), text


def on_a_real_loop(disk: SimulatedDisk, use: Callable[[ReplicaManager, LogManager], Awaitable[None]]) -> None:
    """Replication with asyncio, worker threads, and changes that come back to the loop."""

    async def main() -> None:
        loop, clock = asyncio.get_running_loop(), SystemClock()
        options = LogManagerOptions(
            directories=("/a", "/b"),
            disk=disk,
            clock=clock,
            lock_directory=None,
            run_on_writer=run_on_loop(loop),
        )
        logs = LogManager(options)
        logs.load()
        for number, home in enumerate(logs.directories.all()):
            home.directory_id = directory_id(number + 1)
        replicas = ReplicaManager(
            ReplicaManagerOptions(
                node_id=1,
                logs=logs,
                clock=clock,
                loop=loop,
                alter_partition=Proposals(),
                directory_events=DirectoryEvents(),
                endpoint_of=lambda broker_id, number: NoLeader(),
                cleaner=LogCleaner(logs, CleanerConfig(backoff_ms=1)),
                settings=ReplicationSettings(
                    log_initial_task_delay_ms=0,
                    log_retention_check_interval_ms=1,
                    replica_high_watermark_checkpoint_interval_ms=1,
                ),
            )
        )
        replicas.start()
        await use(replicas, logs)
        await asyncio.wait_for(replicas.stop(), 30)
        logs.shutdown()

    asyncio.run(main())


def as_broker(replicas: ReplicaManager) -> BrokerUnderTest:
    broker = BrokerUnderTest.__new__(BrokerUnderTest)
    broker.replicas = replicas
    return broker


async def applied(replicas: ReplicaManager, metadata: Metadata) -> int:
    """Waits until all is as the metadata says; the thread that said so."""
    heard: asyncio.Future[int] = asyncio.get_running_loop().create_future()
    replicas.when_applied(metadata.image.provenance.offset, lambda: heard.set_result(threading.get_ident()))
    return await asyncio.wait_for(heard, 30)


def test_threads_create_and_delete_and_the_loop_hears_of_it() -> None:
    async def use(replicas: ReplicaManager, logs: LogManager) -> None:
        broker = as_broker(replicas)
        metadata = Metadata(broker)
        metadata.create("orders", *[[1]] * 200)
        assert await applied(replicas, metadata) == threading.get_ident()
        for index in range(200):
            assert broker.produce("orders", index)[0].error_code == 0
        metadata.delete("orders")
        await applied(replicas, metadata)
        assert logs.all_logs() == []

    on_a_real_loop(SimulatedDisk(), use)


def test_a_stop_in_the_middle_of_everything_is_a_clean_one() -> None:
    disk = SimulatedDisk()

    async def begin(replicas: ReplicaManager, logs: LogManager) -> None:
        broker = as_broker(replicas)
        metadata = Metadata(broker)
        metadata.create("orders", [1])
        await applied(replicas, metadata)
        broker.produce(count=1000, size=1000)
        home = logs.directories.home_of(ORDERS)
        assert home is not None
        replicas.alter_log_dir(ORDERS, "/b" if home.path == "/a" else "/a", lambda code: None)
        metadata.create("many", *[[1]] * 500)
        await asyncio.sleep(0)

    async def look(replicas: ReplicaManager, logs: LogManager) -> None:
        broker = as_broker(replicas)
        metadata = Metadata(broker)
        metadata.create("orders", [1])
        await applied(replicas, metadata)
        assert broker.partition().high_watermark == 1000

    on_a_real_loop(disk, begin)
    on_a_real_loop(disk, look)
