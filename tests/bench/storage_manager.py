"""Log manager and cleaner

Opening many clean partitions, what each costs while idle, and compaction of uncompressed and compressed batches,
Apache Kafka's cleaner beside ours (with the start of our process, without that of its virtual machine, and warm).
"""

import os
import random
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

from ottla.base.system_clock import SystemClock
from ottla.protocol.compression import CompressionType
from ottla.protocol.records.writer import BatchOptions, write_batch
from ottla.storage.cleaner.cleaner_config import CleanerConfig
from ottla.storage.cleaner.log_cleaner import LogCleaner
from ottla.storage.disk.local import LocalDisk
from ottla.storage.log_manager import LogManager
from ottla.storage.log_manager_options import LogManagerOptions
from ottla.storage.topic_partition import TopicPartition
from tests.bench.measure import Figure
from tests.kafka.peer import VERSION, command, jar_directory

_PARTITIONS = 10_000
_TOPIC = TopicPartition("bench", 0)
_KAFKA_MEGABYTES = 40
_KAFKA_FLAGS = ("-Xmx1G", "-XX:+UseG1GC", "-Dorg.slf4j.simpleLogger.defaultLogLevel=warn")


def figures(*, seconds: float) -> Iterator[Figure]:
    """The lines of the table; `seconds` sets how much is written."""
    partitions = _PARTITIONS if seconds >= 1 else _PARTITIONS // 10
    with tempfile.TemporaryDirectory() as scratch:
        yield from _opening(Path(scratch) / "many", partitions)
    megabytes = 200 if seconds >= 1 else 40
    for name, codec, batch_bytes, value_bytes in (
        ("compaction, 16 KB batches of 100 B values", CompressionType.NONE, 16_384, 100),
        ("compaction, 1 KB batches of one record", CompressionType.NONE, 1_024, 1_000),
        ("compaction, lz4, 16 KB batches", CompressionType.LZ4, 16_384, 100),
    ):
        with tempfile.TemporaryDirectory() as scratch:
            target = "≥ 100 MB/s" if codec is CompressionType.NONE else ""
            rate = _compaction(scratch, codec, (batch_bytes, value_bytes), megabytes)
            peers = _kafka_compaction(f"{scratch}/kafka", codec, (batch_bytes, value_bytes)) if seconds >= 1 else {}
            yield Figure(name, "MB", rate, peers, target=target)


def _manager(directory: str) -> LogManager:
    return LogManager(LogManagerOptions(directories=(directory,), disk=LocalDisk(), clock=SystemClock()))


def _opening(directory: Path, partitions: int) -> Iterator[Figure]:
    _make(directory, partitions)
    # A process of its own, so that its memory and descriptors are those of the logs alone.
    done = subprocess.run(
        [sys.executable, "-m", "tests.bench.storage_manager", str(directory)],
        capture_output=True,
        text=True,
        check=True,
    )
    seconds, resident, descriptors = map(float, done.stdout.split())
    yield Figure("opening clean partitions", "partitions", partitions / seconds, target="≥ 3,333")
    yield Figure("memory per idle partition", "bytes", resident / partitions, target="≤ 20,000", per="")
    yield Figure("descriptors per idle partition", "", descriptors / partitions, target="≤ 2", per="")


def _make(directory: Path, partitions: int) -> None:
    """One log under many names: it holds a few batches and was closed cleanly, so nothing writes to its files."""
    manager = _manager(str(directory))
    manager.load()
    log = manager.get_or_create(TopicPartition("topic", 0), None)
    now_ms = SystemClock().now_ms()
    for _ in range(10):
        log.append_as_leader(write_batch([(0, now_ms, b"key", b"value" * 20, ())]), 0, now_ms)
    manager.shutdown()
    source = directory / "topic-0"
    for number in range(1, partitions):
        shutil.copytree(source, directory / f"topic-{number}", copy_function=os.link)
    checkpoint = "".join(f"topic {number} 10\n" for number in range(partitions))
    (directory / "recovery-point-offset-checkpoint").write_text(f"0\n{partitions}\n{checkpoint}")


def _compaction(directory: str, codec: CompressionType, sizes: tuple[int, int], megabytes: int) -> float:
    """Megabytes of log cleaned per second, the child process's start included."""
    manager = _manager(directory)
    size_bytes = _dirty_log(manager, codec, sizes, megabytes)
    started = time.perf_counter()
    finished = LogCleaner(manager, CleanerConfig()).clean_filthiest(SystemClock().now_ms())
    elapsed = time.perf_counter() - started
    if finished is None:
        raise RuntimeError("the log was not cleaned")
    manager.shutdown()
    return size_bytes / elapsed / 1e6


def _kafka_compaction(directory: str, codec: CompressionType, sizes: tuple[int, int]) -> dict[str, float]:
    """The same by Apache Kafka's cleaner: copies of a log, the fastest counts. Nothing where it cannot be run."""
    if shutil.which("java") is None or not any(jar_directory().glob("kafka-storage-*.jar")):
        return {}
    manager = _manager(f"{directory}/0")
    size_bytes = _dirty_log(manager, codec, sizes, _KAFKA_MEGABYTES)
    manager.shutdown()
    copies = [f"{directory}/{number}/{_TOPIC}" for number in range(4)]
    for copy in copies[1:]:
        shutil.copytree(copies[0], copy)
    program = str(Path(__file__).parent.parent / "kafka" / "Cleaning.java")
    done = subprocess.run(command(program, copies, _KAFKA_FLAGS), capture_output=True, text=True, check=True)
    return {f"Apache Kafka {VERSION}": size_bytes / min(map(float, done.stdout.split())) / 1e6}


def _dirty_log(manager: LogManager, codec: CompressionType, sizes: tuple[int, int], megabytes: int) -> int:
    """Fills a log that is to be compacted; its size."""
    manager.load({"bench": {"cleanup.policy": "compact", "segment.bytes": str(100 << 20)}})
    log = manager.get_or_create(_TOPIC, None)
    _fill(log.append_as_leader, codec, sizes, megabytes * 1_000_000)
    log.update_high_watermark(log.log_end_offset)
    log.roll(SystemClock().now_ms())
    return log.size_bytes


def _fill(append, codec: CompressionType, sizes: tuple[int, int], total: int) -> None:  # type: ignore[no-untyped-def]
    batch_bytes, value_bytes = sizes
    count = max(batch_bytes // (value_bytes + 20), 1)
    chooser = random.Random(1)
    now_ms = SystemClock().now_ms()
    written = 0
    while written < total:
        records = [
            (index, now_ms, b"key-%09d" % chooser.randrange(200_000), os.urandom(value_bytes // 2) * 2, ())
            for index in range(count)
        ]
        batch = write_batch(records, BatchOptions(compression=codec))
        written += len(batch)
        append(batch, 0, now_ms)


def _measure_opening(directory: str) -> None:
    """Prints seconds, bytes and descriptors that loading took."""
    manager = _manager(directory)
    before_bytes, before_descriptors = _resident_bytes(), len(os.listdir("/proc/self/fd"))
    started = time.perf_counter()
    manager.load()
    elapsed = time.perf_counter() - started
    print(elapsed, _resident_bytes() - before_bytes, len(os.listdir("/proc/self/fd")) - before_descriptors)
    # Leaves the directory as it was found.
    os._exit(0)


def _resident_bytes() -> int:
    with open("/proc/self/statm") as statm:
        return int(statm.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")


if __name__ == "__main__":
    _measure_opening(sys.argv[1])
