"""What we write, read by Apache Kafka itself: its DumpLogSegments, and its broker."""

import os
import re
from pathlib import Path

import pytest

from ottla.base.ids import Uuid
from ottla.base.system_clock import SystemClock
from ottla.protocol.compression import CompressionType
from ottla.protocol.records.control import ControlRecordType, EndTransactionMarker, write_end_marker
from ottla.protocol.records.writer import BatchOptions, write_batch
from ottla.storage.cleaner.cleaner_config import CleanerConfig
from ottla.storage.cleaner.log_cleaner import LogCleaner
from ottla.storage.directory_lock import DirectoryInUseError, DirectoryLock
from ottla.storage.disk.local import LocalDisk
from ottla.storage.log.append_info import FROM_COORDINATOR, AppendOptions
from ottla.storage.log.log import Log
from ottla.storage.log_manager import LogManager
from ottla.storage.log_manager_options import LogManagerOptions
from ottla.storage.topic_partition import TopicPartition
from tests.kafka.peer import KafkaServer, java, require_kafka

pytestmark = pytest.mark.long

T0 = 1_700_000_000_000
OURS = TopicPartition("ours", 0)
SMALL: dict[str, object] = {
    "internal.segment.bytes": "4000",
    "index.interval.bytes": "300",
    "retention.ms": "-1",
    "min.cleanable.dirty.ratio": "0",
}
COMPACT = {**SMALL, "cleanup.policy": "compact"}
UNVERIFIED = AppendOptions(verify_transactions=False)
COMPLAINT = re.compile(r"(?i)mismatch|non-consecutive|error|exception|corrupt|not found|isvalid: false")


def manager_of(directory: Path, topics: dict[str, dict[str, object]]) -> LogManager:
    manager = LogManager(LogManagerOptions(directories=(str(directory),), disk=LocalDisk(), clock=SystemClock()))
    manager.load(topics)
    return manager


def fill(log: Log) -> None:
    """Every codec, tombstones, an idempotent producer, and transactions of both ends."""
    sequence = 0
    for number in range(60):
        records = [
            (
                index,
                T0 + number * 10 + index,
                b"k%d" % ((number + index) % 9),
                b"v" * 40 if index else None,
                (("h", b"x"),),
            )
            for index in range(4)
        ]
        options = BatchOptions(
            compression=CompressionType(number % 5), producer_id=4000, producer_epoch=0, base_sequence=sequence
        )
        log.append_as_leader(write_batch(records, options), 0, T0)
        sequence += 4
    for number, end in enumerate([ControlRecordType.ABORT, ControlRecordType.COMMIT] * 3):
        options = BatchOptions(producer_id=4001, producer_epoch=0, base_sequence=number * 2, is_transactional=True)
        records = [(index, T0 + 5000 + number, b"t%d" % index, b"%d" % number, ()) for index in range(2)]
        log.append_as_leader(write_batch(records, options), 0, T0, UNVERIFIED)
        marker = write_end_marker(
            EndTransactionMarker(end, 0), producer_id=4001, producer_epoch=0, timestamp=T0 + 5000 + number
        )
        log.append_as_leader(marker, 0, T0, FROM_COORDINATOR)
    log.update_high_watermark(log.log_end_offset)


def dump(directory: Path, pattern: str, *options: str) -> str:
    files = ",".join(
        str(path) for path in sorted(directory.glob(pattern)) if path.stat().st_size or path.suffix == ".index"
    )
    return java("org.apache.kafka.tools.DumpLogSegments", "--files", files, *options)


@pytest.mark.parametrize("compacted", [False, True], ids=["appended", "compacted"])
def test_dump_log_segments_finds_nothing_to_complain_about(tmp_path: Path, compacted: bool) -> None:
    require_kafka()
    manager = manager_of(tmp_path, {"ours": COMPACT if compacted else SMALL})
    log = manager.get_or_create(OURS, Uuid(os.urandom(16)))
    fill(log)
    if compacted:
        log.roll(T0)
        assert LogCleaner(manager, CleanerConfig()).clean_filthiest(T0) is not None
        manager.maintenance.cleanup(SystemClock().now_ms() + 10**6)
    end = log.log_end_offset
    manager.shutdown()
    directory = tmp_path / "ours-0"
    records = dump(directory, "*.log", "--deep-iteration", "--print-data-log")
    indexes = dump(directory, "*.*index", "--index-sanity-check")
    verified = dump(directory, "*.*index", "--verify-index-only")
    snapshots = dump(directory, "*.snapshot")
    for said in (records, indexes, verified, snapshots):
        assert not COMPLAINT.search(said), COMPLAINT.search(said)
    assert "passed sanity check" in indexes
    found = [int(offset) for offset in re.findall(r"^\| offset: (\d+)", records, re.MULTILINE)]
    assert found == sorted(set(found))
    assert found[-1] == end - 1
    assert (len(found) == end) is not compacted
    assert "producerId: 4000" in snapshots


def test_a_broker_of_apache_kafka_serves_what_we_wrote(tmp_path: Path) -> None:
    require_kafka()
    server = KafkaServer(tmp_path, log_retention_ms="-1")
    server.format("b3R0bGEtZml4dHVyZS0wMg")
    server.start()
    try:
        topic = ("--create", "--topic", "ours", "--config", "retention.ms=-1")
        java("org.apache.kafka.tools.TopicCommand", "--bootstrap-server", server.bootstrap, *topic)
    finally:
        server.stop()
    manager = manager_of(server.log_directory, {"ours": SMALL})
    log = manager.get(OURS)
    assert log is not None
    fill(log)
    expected = log.log_end_offset
    manager.shutdown()
    server.start()
    try:
        with pytest.raises(DirectoryInUseError):
            DirectoryLock.acquire(str(server.log_directory))
        rows = [line.split("\t") for line in java("Consume.java", server.bootstrap, "ours").splitlines()]
    finally:
        server.stop()
    uncommitted = [int(row[2]) for row in rows if row[1] == "read_uncommitted"]
    committed = [row for row in rows if row[1] == "read_committed"]
    assert uncommitted == [offset for offset in range(expected) if offset < 240 or (offset - 240) % 3 != 2]
    assert [row[5] for row in committed if row[4].startswith("t")] == ["1", "1", "3", "3", "5", "5"]
    assert sum(row[4].startswith("k") for row in committed) == 240
