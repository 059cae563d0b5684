"""Processes to be killed: `python -m tests.integration.storage.victim write|clean DIRECTORY`.

`write` appends records whose value is their offset, each batch flushed before it is acknowledged, and prints the
offset up to which it has acknowledged. `clean` keeps a log dirty and compacts it over and over, and prints the ids of
its cleaning processes.
"""

import sys
import threading

from ottla.base.system_clock import SystemClock
from ottla.protocol.records.record import RecordTuple
from ottla.protocol.records.writer import BatchOptions, write_batch
from ottla.storage.cleaner.child import CleanerChild
from ottla.storage.cleaner.cleaner_config import CleanerConfig
from ottla.storage.cleaner.log_cleaner import LogCleaner
from ottla.storage.cleaner.work_order import WorkOrder
from ottla.storage.disk.local import LocalDisk
from ottla.storage.errors import StorageError
from ottla.storage.log.log import Log
from ottla.storage.log_manager import LogManager
from ottla.storage.log_manager_options import LogManagerOptions
from ottla.storage.topic_partition import TopicPartition

PARTITION = TopicPartition("victim", 0)
PRODUCER_ID = 77
KEYS = 50
WRITTEN: dict[str, object] = {"flush.on.ack": "true", "internal.segment.bytes": "20000", "index.interval.bytes": "500"}
CLEANED: dict[str, object] = {
    "cleanup.policy": "compact",
    "internal.segment.bytes": "20000",
    "index.interval.bytes": "500",
    "min.cleanable.dirty.ratio": "0",
    "file.delete.delay.ms": "0",
}


def manager_of(directory: str, config: dict[str, object]) -> LogManager:
    """The logs of a directory, loaded."""
    manager = LogManager(LogManagerOptions(directories=(directory,), disk=LocalDisk(), clock=SystemClock()))
    manager.load({PARTITION.topic: config})
    return manager


def batch_at(log: Log, count: int) -> bytearray:
    """A batch that says its own offsets, of a producer that goes on where it stopped."""
    first, now_ms = log.log_end_offset, SystemClock().now_ms()
    entry = log.producers.entries.get(PRODUCER_ID)
    sequence = 0 if entry is None else entry.last_sequence + 1
    records: list[RecordTuple] = [
        (index, now_ms, b"%d" % ((first + index) % KEYS), b"%d" % (first + index), ()) for index in range(count)
    ]
    return write_batch(records, BatchOptions(producer_id=PRODUCER_ID, producer_epoch=0, base_sequence=sequence))


def write(directory: str) -> None:
    """Appends and acknowledges for ever."""
    manager = manager_of(directory, WRITTEN)
    log = manager.get_or_create(PARTITION, None)
    window = threading.Semaphore(20)
    while True:
        window.acquire()
        log.append_as_leader(batch_at(log, 5), 0, SystemClock().now_ms())
        log.update_high_watermark(log.log_end_offset)
        end_offset = log.log_end_offset

        def done(error: StorageError | None, end_offset: int = end_offset) -> None:
            if error is None:
                print(end_offset, flush=True)
            window.release()

        assert manager.maintenance.flush_after_append(log, end_offset, done)


def clean(directory: str) -> None:
    """Compacts for ever."""

    def start(order: WorkOrder) -> CleanerChild:
        child = CleanerChild(order)
        print(child.pid, flush=True)
        return child

    manager = manager_of(directory, CLEANED)
    log = manager.get_or_create(PARTITION, None)
    log.update_high_watermark(log.log_end_offset)
    cleaner = LogCleaner(manager, CleanerConfig(), start)
    while True:
        for _ in range(100):
            log.append_as_leader(batch_at(log, 20), 0, SystemClock().now_ms())
        log.update_high_watermark(log.log_end_offset)
        log.flush(SystemClock().now_ms())
        cleaner.clean_filthiest(SystemClock().now_ms())
        manager.maintenance.remove_due(SystemClock().now_ms())


if __name__ == "__main__":
    {"write": write, "clean": clean}[sys.argv[1]](sys.argv[2])
