"""Directories that Apache Kafka 4.3.1 wrote (tests/kafka/make_fixture.py) load here with every record."""

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from ottla.base.system_clock import SystemClock
from ottla.protocol.records.batch import Batches
from ottla.protocol.records.reader import ReadOptions, decode_batch, read_tuples
from ottla.protocol.records.record import RecordTuple
from ottla.storage.cleaner.cleaner_config import CleanerConfig
from ottla.storage.cleaner.log_cleaner import LogCleaner
from ottla.storage.disk.local import LocalDisk
from ottla.storage.log.log import Log
from ottla.storage.log_manager import LogManager
from ottla.storage.log_manager_options import LogManagerOptions
from ottla.storage.topic_partition import TopicPartition
from tests.kafka.make_fixture import CLUSTER_ID, COMPACTED, FIXTURE, TOPICS

FOREVER_MS = 10**13
DAY_MS = 86_400_000
SMALL: dict[str, object] = {"internal.segment.bytes": "2048", "index.interval.bytes": "256", "retention.ms": "-1"}


def manager_of(directory: Path, topics: dict[str, dict[str, object]]) -> LogManager:
    manager = LogManager(
        LogManagerOptions(
            directories=(str(directory),),
            disk=LocalDisk(),
            clock=SystemClock(),
            # The fixture's producers went silent long ago.
            producer_id_expiration_ms=FOREVER_MS,
        )
    )
    manager.load(topics)
    return manager


@pytest.fixture
def loaded(tmp_path: Path) -> Iterator[LogManager]:
    shutil.copytree(FIXTURE / "logs", tmp_path / "logs")
    manager = manager_of(tmp_path / "logs", dict.fromkeys(TOPICS, SMALL))
    yield manager
    manager.shutdown()


def expected(topic: str, isolation: str) -> list[list[str]]:
    rows = [line.split("\t") for line in (FIXTURE / "records.tsv").read_text().splitlines()]
    return [row[2:] for row in rows if row[0] == topic and row[1] == isolation]


def batches(log: Log) -> Iterator[bytes]:
    offset = log.log_start_offset
    while offset < log.log_end_offset:
        found = log.read(offset, 1, log.log_end_offset)
        if found.records is None:
            return
        data = found.records.read()
        yield data
        offset = next(iter(Batches(data))).next_offset


def uncommitted(log: Log) -> list[RecordTuple]:
    return [record for data in batches(log) for record in read_tuples(data)]


def committed(log: Log) -> list[RecordTuple]:
    """As a read_committed consumer does: batches of aborted transactions are left out, up to their marker."""
    aborted = sorted(log.aborted_transactions(log.log_start_offset, log.log_end_offset), key=lambda entry: entry[1])
    records: list[RecordTuple] = []
    for data in batches(log):
        batch = next(iter(Batches(data)))
        inside = any(
            entry.producer_id == batch.producer_id and entry.first_offset <= batch.base_offset <= entry.last_offset
            for entry in aborted
        )
        if not batch.is_control and not (batch.is_transactional and inside):
            records += decode_batch(batch)
    return records


def rows(records: list[RecordTuple]) -> list[list[str]]:
    def text(data: bytes | None) -> str:
        return "<null>" if data is None else data.decode()

    return [
        [str(offset), str(timestamp), text(key), text(value), "".join(f"{k}={text(v)};" for k, v in headers)]
        for offset, timestamp, key, value, headers in records
    ]


@pytest.mark.parametrize("topic", TOPICS)
def test_every_record_is_there(loaded: LogManager, topic: str) -> None:
    log = loaded.get(TopicPartition(topic, 0))
    assert log is not None
    assert rows(uncommitted(log)) == expected(topic, "read_uncommitted")
    assert rows(committed(log)) == expected(topic, "read_committed")


def test_whose_directory_it_is_is_read(loaded: LogManager) -> None:
    [properties] = loaded.directories.identify(CLUSTER_ID, 1).values()
    assert properties.directory_id is not None
    assert loaded.directories.all()[0].clean_shutdown_epoch is not None


def test_bounds_and_producers_are_what_kafka_left(loaded: LogManager) -> None:
    log = loaded.get(TopicPartition("transactions", 0))
    assert log is not None
    assert log.log_end_offset == log.high_watermark == log.recovery_point == log.last_stable_offset
    assert len(log.producers.entries) == 2
    assert {entry.producer_epoch for entry in log.producers.entries.values()} != {-1}


@pytest.mark.parametrize("topic", COMPACTED)
def test_our_compaction_writes_the_bytes_that_kafkas_wrote(topic: str, tmp_path: Path) -> None:
    shutil.copytree(FIXTURE / "before-compaction" / f"{topic}-0", tmp_path / f"{topic}-0")
    config: dict[str, object] = {**SMALL, "cleanup.policy": "compact", "min.cleanable.dirty.ratio": "0.01"}
    manager = manager_of(tmp_path, {topic: config})
    log = manager.get(TopicPartition(topic, 0))
    assert log is not None
    log.update_high_watermark(log.log_end_offset)
    kafkas = FIXTURE / "logs" / f"{topic}-0"
    assert LogCleaner(manager, CleanerConfig()).clean_filthiest(time_of_cleaning(kafkas)) is not None
    manager.shutdown()
    compared = 0
    for path in sorted(kafkas.glob("0*")):
        if path.suffix != ".snapshot":
            assert (tmp_path / f"{topic}-0" / path.name).read_bytes() == path.read_bytes(), path.name
            compared += 1
    assert compared >= 18


def time_of_cleaning(directory: Path) -> int:
    """When Kafka cleaned, told by the delete horizon that it set; any time if it set none."""
    for path in sorted(directory.glob("*.log")):
        for batch in Batches(path.read_bytes()):
            if batch.delete_horizon_ms is not None:
                return batch.delete_horizon_ms - DAY_MS
    return SystemClock().now_ms()


def test_control_records_read_too(loaded: LogManager) -> None:
    log = loaded.get(TopicPartition("transactions", 0))
    assert log is not None
    everything = [record for data in batches(log) for record in read_tuples(data, ReadOptions(control_records=True))]
    assert [record[0] for record in everything] == list(range(log.log_end_offset))
