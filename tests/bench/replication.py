"""Replication: what a partition and the replica manager add to the log, and a fetch with records at hand

Rates of one core, one replica, batches of one record of 100 bytes. Beside each the log alone.
"""

import asyncio
import os
import shutil
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager

from ottla.base.ids import Uuid
from ottla.base.system_clock import SystemClock
from ottla.metadata.image.local_replica_change import LocalPartition
from ottla.metadata.image.partition import PartitionRegistration
from ottla.protocol.records.writer import write_batch
from ottla.replication.partition.partition import Partition
from ottla.replication.replica_manager import ReplicaManager
from ottla.replication.replica_manager_options import ReplicaManagerOptions
from ottla.replication.request.fetch import FetchParams, FetchPartition, FetchResult
from ottla.replication.request.produce import AppendEntry, AppendResult
from ottla.storage.disk.local import LocalDisk
from ottla.storage.log.log import Log
from ottla.storage.log_config import LogConfig
from ottla.storage.log_manager import LogManager
from ottla.storage.log_manager_options import LogManagerOptions
from ottla.storage.topic_partition import TopicPartition
from tests.bench.measure import Figure, compare
from tests.unit.replication.broker_under_test import DirectoryEvents, NoLeader, Proposals

NOW_MS = SystemClock().now_ms()
UNNUMBERED = bytes(8)
CONFIG = LogConfig(segment_bytes=1 << 26)
TOPIC_ID = Uuid(b"0123456789abcdef")
ALONE = PartitionRegistration((1,), (), (1,), (), (), (), (), 1, 0, 0, 0)
ROUND = 20


def figures(*, seconds: float) -> Iterator[Figure]:
    """What happens for every request of a lone broker."""
    with _replicas() as (replicas, logs):
        yield from _appends(replicas, logs, seconds)
        yield _fetch(replicas, logs, seconds)
        yield _idle_fetch(replicas, seconds)
        yield _wait(replicas, seconds)


@contextmanager
def _replicas() -> Iterator[tuple[ReplicaManager, LogManager]]:
    parent = "/dev/shm" if os.path.isdir("/dev/shm") else None
    path = tempfile.mkdtemp(prefix="ottla-bench-", dir=parent)
    loop = asyncio.new_event_loop()
    try:
        clock = SystemClock()
        options = LogManagerOptions(directories=(path,), disk=LocalDisk(), clock=clock, default_config=CONFIG)
        logs = LogManager(options)
        logs.load()
        replicas = ReplicaManager(
            ReplicaManagerOptions(
                node_id=1,
                logs=logs,
                clock=clock,
                loop=loop,
                alter_partition=Proposals(),
                directory_events=DirectoryEvents(),
                endpoint_of=lambda broker_id: NoLeader(),
            )
        )
        for index in range(100):
            log = logs.get_or_create(TopicPartition("bench", index), TOPIC_ID)
            partition = Partition(LocalPartition("bench", TOPIC_ID, index), log, replicas._view)
            partition.become_leader(ALONE, 0)
            replicas.table.add(partition)
        yield replicas, logs
        loop.run_until_complete(replicas.stop())
        logs.shutdown()
    finally:
        loop.close()
        shutil.rmtree(path)


def _log(logs: LogManager, index: int) -> Log:
    log = logs.get(TopicPartition("bench", index))
    if log is None:
        raise RuntimeError(f"no partition {index}")
    return log


def _drop_old(log: Log) -> None:
    if len(log.segments) > 2:
        log.update_high_watermark(log.log_end_offset)
        log.delete_segments(log.segments.all()[:-1], NOW_MS)
        for segment in log.take_deleted():
            segment.delete()


def _appends(replicas: ReplicaManager, logs: LogManager, seconds: float) -> Iterator[Figure]:
    batch = write_batch([(0, NOW_MS, None, bytes(100), ())])
    plain, led, managed = (_log(logs, index) for index in (0, 1, 2))
    partition = replicas.leader("bench", 1)
    entries = [AppendEntry("bench", 2, batch)]
    answers: list[Sequence[AppendResult]] = []

    def done(results: Sequence[AppendResult]) -> None:
        answers[:] = (results,)

    def alone() -> None:
        for _ in range(ROUND):
            batch[:8] = UNNUMBERED
            plain.append_as_leader(batch, 0, NOW_MS)
        _drop_old(plain)

    def by_partition() -> None:
        for _ in range(ROUND):
            batch[:8] = UNNUMBERED
            partition.append(batch, acks=-1, now_ms=NOW_MS)
        _drop_old(led)

    def by_manager() -> None:
        for _ in range(ROUND):
            batch[:8] = UNNUMBERED
            replicas.append(entries, acks=-1, timeout_ms=1000, done=done)
        _drop_old(managed)

    yield compare(
        "append by the partition",
        "append",
        {"ours": by_partition, "log": alone},
        ROUND,
        seconds=seconds,
        target="0.9 ×",
    )
    yield compare(
        "append by the manager, answered", "append", {"ours": by_manager, "log": alone}, ROUND, seconds=seconds
    )


def _fetcher(
    replicas: ReplicaManager, params: FetchParams, wanted: Sequence[FetchPartition]
) -> Callable[[], Sequence[FetchResult]]:
    answers: list[FetchResult] = []

    def done(results: Sequence[FetchResult]) -> None:
        answers[:] = results

    def fetch() -> Sequence[FetchResult]:
        replicas.fetch(params, wanted, done)
        return answers

    return fetch


def _fetch(replicas: ReplicaManager, logs: LogManager, seconds: float) -> Figure:
    """The newest record, as a consumer that keeps up asks for it."""
    batch = write_batch([(0, NOW_MS, None, bytes(100), ())])
    for _ in range(1000):
        batch[:8] = UNNUMBERED
        replicas.leader("bench", 3).append(batch, acks=1, now_ms=NOW_MS)
    params = FetchParams(max_wait_ms=500, min_bytes=1, max_bytes=1 << 20)
    fetch = _fetcher(replicas, params, [FetchPartition("bench", 3, 999, 1 << 20, topic_id=TOPIC_ID)])
    log = _log(logs, 3)

    def alone() -> object:
        return log.read(999, 1 << 20, 1000)

    return compare("fetch with records at hand", "fetch", {"ours": fetch, "log": alone}, 1, seconds=seconds)


def _idle_fetch(replicas: ReplicaManager, seconds: float) -> Figure:
    params = FetchParams(max_wait_ms=0, min_bytes=1, max_bytes=1 << 20)
    wanted = [FetchPartition("bench", index, 0, 1 << 20, topic_id=TOPIC_ID) for index in range(10, 100)]
    fetch = _fetcher(replicas, params, wanted)
    return compare("idle partitions looked at by a fetch", "partition", {"ours": fetch}, 90, seconds=seconds)


def _wait(replicas: ReplicaManager, seconds: float) -> Figure:
    """A fetch that waits, the append that it waits for, and its answer."""
    batch = write_batch([(0, NOW_MS, None, bytes(100), ())])
    params = FetchParams(max_wait_ms=500, min_bytes=1, max_bytes=1 << 20)
    entries = [AppendEntry("bench", 4, batch)]
    partition = replicas.leader("bench", 4)

    def done(results: Sequence[object]) -> None:
        if len(results) != 1:
            raise RuntimeError("one answer for one partition")

    def ours() -> None:
        wanted = [FetchPartition("bench", 4, partition.log.log_end_offset, 1 << 20)]
        replicas.fetch(params, wanted, done)
        batch[:8] = UNNUMBERED
        replicas.append(entries, acks=1, timeout_ms=1000, done=done)

    return compare("waiting fetch, append, answer", "round", {"ours": ours}, 1, seconds=seconds)
