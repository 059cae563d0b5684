"""Storage: one partition's log on this machine's page cache

Rates of one core: appends are checked (CRC, record frames), numbered and written; reads are positioned, not copied.
The last two lines are sizes, not rates.
"""

import gc
import os
import random
import shutil
import tempfile
import tracemalloc
from collections.abc import Iterator
from contextlib import contextmanager

from ottla.protocol.records.batch import Batch
from ottla.protocol.records.writer import BatchOptions, write_batch
from ottla.storage.disk.local import LocalDisk
from ottla.storage.log.loader import LoadOptions, Shutdown
from ottla.storage.log.log import Log
from ottla.storage.log_config import LogConfig
from tests.bench.measure import Figure, compare

NOW_MS = 1_700_000_000_000
UNNUMBERED = bytes(8)
CONFIG = LogConfig(segment_bytes=1 << 28, max_message_bytes=1 << 21)
IDLE_PARTITIONS = 300


def figures(*, seconds: float) -> Iterator[Figure]:
    """Everything that one log does often."""
    yield _append(1 << 20, "append of 1 MB batches, validated", "B", "1 GB/s", seconds)
    yield _append(1_000, "append of 1 KB batches, validated", "batch", "150 k/s", seconds)
    yield _append_idempotent(seconds)
    yield _position(seconds)
    yield _recover(seconds)
    yield from _idle()


@contextmanager
def _home() -> Iterator[str]:
    """A directory in memory where there is one: the disk is not what is measured."""
    parent = "/dev/shm" if os.path.isdir("/dev/shm") else None
    path = tempfile.mkdtemp(prefix="ottla-bench-", dir=parent)
    try:
        yield path
    finally:
        shutil.rmtree(path)


def _open(path: str, shutdown: Shutdown = Shutdown.UNCLEAN) -> Log:
    return Log.open(LocalDisk(), path, CONFIG, LoadOptions("bench", 0, NOW_MS, shutdown=shutdown))


def _drop_old(log: Log) -> None:
    """Keeps the bench from filling the memory."""
    if len(log.segments) > 2:
        log.update_high_watermark(log.log_end_offset)
        log.delete_segments(log.segments.all()[:-1], NOW_MS)
        for segment in log.take_deleted():
            segment.delete()


def _append(size: int, name: str, unit: str, target: str, seconds: float) -> Figure:
    """Beside it the bare system call, which no broker can do without."""
    batch = write_batch([(0, NOW_MS, b"key", bytes(size - 80), ())])
    with _home() as home:
        log = _open(f"{home}/bench-0")
        descriptor = os.open(f"{home}/bare", os.O_RDWR | os.O_CREAT)
        position = 0

        def ours() -> None:
            for _ in range(20):
                batch[:8] = UNNUMBERED
                log.append_as_leader(batch, 1, NOW_MS)
            _drop_old(log)

        def bare() -> None:
            nonlocal position
            for _ in range(20):
                position += os.pwrite(descriptor, batch, position)
            if position > CONFIG.segment_bytes:
                os.ftruncate(descriptor, position := 0)

        try:
            work = 20 * (len(batch) if unit == "B" else 1)
            return compare(name, unit, {"ours": ours, "pwrite": bare}, work, seconds=seconds, target=target)
        finally:
            os.close(descriptor)


def _append_idempotent(seconds: float) -> Figure:
    options = BatchOptions(producer_id=7, producer_epoch=0, base_sequence=0)
    batch = write_batch([(0, NOW_MS, b"key", bytes(920), ())], options)
    with _home() as home:
        log = _open(f"{home}/bench-0")
        sequence = 0

        def ours() -> None:
            nonlocal sequence
            for _ in range(20):
                batch[:8] = UNNUMBERED
                Batch(batch).set_producer(7, 0, sequence)
                log.append_as_leader(batch, 1, NOW_MS)
                sequence += 1
            _drop_old(log)

        return compare("the same from an idempotent producer", "batch", {"ours": ours}, 20, seconds=seconds)


def _position(seconds: float) -> Figure:
    batch = write_batch([(0, NOW_MS, b"key", bytes(920), ())])
    with _home() as home:
        log = _open(f"{home}/bench-0")
        for _ in range(200_000):
            batch[:8] = UNNUMBERED
            log.append_as_leader(batch, 1, NOW_MS)
        end = log.log_end_offset
        offsets = random.Random(1).choices(range(end), k=1_000)

        def ours() -> None:
            for offset in offsets:
                log.read(offset, 1 << 20, end)

        return compare("positioning of random reads", "read", {"ours": ours}, 1_000, seconds=seconds, target="200 k/s")


def _recover(seconds: float) -> Figure:
    batch = write_batch([(index, NOW_MS, b"key", bytes(1_000), ()) for index in range(64)])
    with _home() as home:
        log = _open(f"{home}/bench-0")
        for _ in range((200 << 20) // len(batch)):
            batch[:8] = UNNUMBERED
            log.append_as_leader(batch, 1, NOW_MS)
        size = log.size_bytes
        contenders = {"ours": lambda: _open(f"{home}/bench-0")}
        return compare(
            "recovery of a log that was not flushed", "B", contenders, size, seconds=seconds, target="500 MB/s"
        )


def _idle() -> Iterator[Figure]:
    """What an open partition holds that nobody uses: a clean one with a record in it."""
    batch = write_batch([(0, NOW_MS, b"key", b"value", ())])
    with _home() as home:
        for index in range(IDLE_PARTITIONS):
            log = _open(f"{home}/bench-{index}")
            batch[:8] = UNNUMBERED
            log.append_as_leader(batch, 1, NOW_MS)
            log.close(NOW_MS)
        del log
        gc.collect()
        descriptors = len(os.listdir("/proc/self/fd"))
        tracemalloc.start()
        logs = [_open(f"{home}/bench-{index}", Shutdown.CLEAN) for index in range(IDLE_PARTITIONS)]
        gc.collect()
        size, _ = tracemalloc.get_traced_memory()
        tracemalloc.stop()
        held = len(os.listdir("/proc/self/fd")) - descriptors
        yield Figure("memory of an idle partition", "bytes", size / len(logs), target="≤ 20,000", per="")
        yield Figure("descriptors of an idle partition", "", held / len(logs), target="≤ 2", per="")
