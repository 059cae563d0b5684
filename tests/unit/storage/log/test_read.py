"""Reading: slices, limits, timestamps, aborted transactions, descriptors."""

import os
from pathlib import Path

import pytest

from ottla.protocol.errors import OffsetOutOfRangeError
from ottla.protocol.records.batch import Batch, batches
from ottla.protocol.records.control import ControlRecordType
from ottla.protocol.records.writer import write_batch
from ottla.storage.disk.local import LocalDisk
from ottla.storage.disk.port import Access
from ottla.storage.disk.simulated import SimulatedDisk
from ottla.storage.errors import ColdReadError
from ottla.storage.log.loader import LoadOptions, Shutdown
from ottla.storage.log.log import Log
from ottla.storage.log_config import LogConfig
from ottla.storage.segment.segment import Segment
from tests.unit.storage.log_builder import (
    FROM_COORDINATOR,
    NOW_MS,
    SMALL,
    append,
    data_batch,
    marker,
    offsets,
    open_log,
    produced,
    replace_segments,
)


@pytest.fixture
def disk() -> SimulatedDisk:
    made = SimulatedDisk()
    made.make_directory("/data")
    return made


@pytest.fixture
def log(disk: SimulatedDisk) -> Log:
    """Eight batches of two records, in segments of four."""
    made = open_log(disk)
    for index in range(8):
        append(made, data_batch(2, value=bytes(200), timestamp=NOW_MS + 10 * index))
    assert [segment.base_offset for segment in made.segments] == [0, 8]
    return made


def read(log: Log, offset: int, bytes_max: int, end_offset: int) -> bytes:
    found = log.read(offset, bytes_max, end_offset).records
    return b"" if found is None else found.read()


def test_first_batch_comes_whole_and_the_last_may_be_cut(log: Log) -> None:
    size = Batch(read(log, 0, 1, 16)).size
    assert len(read(log, 3, 1, 16)) == size
    assert Batch(read(log, 3, 1, 16)).base_offset == 2
    assert len(read(log, 0, size + 10, 16)) == size + 10
    assert len(read(log, 0, 10**6, 16)) == 4 * size, "a read ends with its segment"


def test_nothing_at_or_above_the_limit_is_served(log: Log) -> None:
    size = Batch(read(log, 0, 1, 16)).size
    assert len(read(log, 0, 10**6, 6)) == 3 * size
    assert len(read(log, 0, 10**6, 5)) == 2 * size, "a limit inside a batch leaves it out"
    assert len(read(log, 8, 10**6, 12)) == 2 * size
    assert read(log, 6, 10**6, 6) == b""
    assert read(log, 16, 10**6, 16) == b""
    assert log.read(6, 1, 6).size_bytes == 0


def test_offset_outside_is_refused(log: Log) -> None:
    log.update_high_watermark(16)
    log.increment_log_start_offset(3)
    for offset in (-1, 2, 17):
        with pytest.raises(OffsetOutOfRangeError):
            log.read(offset, 100, 16)
    assert offsets(log) == list(range(3, 16))


def test_log_start_goes_no_further_than_the_high_watermark(log: Log) -> None:
    log.update_high_watermark(5)
    with pytest.raises(OffsetOutOfRangeError):
        log.increment_log_start_offset(6)
    assert log.increment_log_start_offset(5)
    assert not log.increment_log_start_offset(4)


def test_slice_outlives_its_segment(log: Log) -> None:
    found = log.read(0, 10**6, 16).records
    assert found is not None
    before = found.read()
    log.update_high_watermark(16)
    log.delete_segments(log.segments.all()[:1], NOW_MS)
    for segment in log.take_deleted():
        segment.delete()
    assert found.read() == before
    assert os.pread(found.fileno(), len(found), found.position) == before
    assert log.log_start_offset == 8


@pytest.mark.parametrize(
    ("timestamp", "expected"),
    [(0, (NOW_MS, 0)), (NOW_MS + 1, (NOW_MS + 10, 2)), (NOW_MS + 45, (NOW_MS + 50, 10)), (NOW_MS + 71, None)],
)
def test_first_record_since_a_timestamp(log: Log, timestamp: int, expected: tuple[int, int] | None) -> None:
    found = log.offset_for_timestamp(timestamp)
    assert (None if found is None else found[:2]) == expected


def test_timestamp_is_looked_for_inside_a_batch(disk: SimulatedDisk) -> None:
    log = open_log(disk)
    append(
        log, write_batch([(0, NOW_MS, None, b"", ()), (1, NOW_MS + 9, None, b"", ()), (2, NOW_MS + 3, None, b"", ())])
    )
    assert log.offset_for_timestamp(NOW_MS + 1) == (NOW_MS + 9, 1, 0)
    assert log.offset_of_max_timestamp() == (NOW_MS + 9, 1, 0)


def test_max_timestamp_is_the_first_of_its_kind(log: Log) -> None:
    assert log.offset_of_max_timestamp() == (NOW_MS + 70, 14, 0)
    append(log, data_batch(1, timestamp=NOW_MS + 70))
    append(log, data_batch(1, timestamp=NOW_MS - 70))
    assert log.offset_of_max_timestamp() == (NOW_MS + 70, 14, 0)


def test_max_timestamp_with_log_append_time_is_the_first_of_its_batch(disk: SimulatedDisk) -> None:
    log = open_log(disk, LogConfig(message_timestamp_type="LogAppendTime"))
    assert log.offset_of_max_timestamp() is None
    append(log, data_batch(3))
    assert log.offset_of_max_timestamp() == (NOW_MS, 0, 0)


def test_empty_segment_in_front_hides_nothing(disk: SimulatedDisk, log: Log) -> None:
    empty = Segment.create(disk, log.directory, 0, SMALL, suffix=".cleaned")
    empty.seal()
    replace_segments(log, log.segments.all()[:1], [empty])
    assert log.offset_for_timestamp(NOW_MS) == (NOW_MS + 40, 8, 0)
    assert offsets(log) == list(range(8, 16))


def test_read_goes_on_across_a_gap(disk: SimulatedDisk, log: Log) -> None:
    cleaned = Segment.create(disk, log.directory, 0, SMALL, suffix=".cleaned")
    first = read(log, 0, 1, 16)
    cleaned.append(first, 1, NOW_MS)
    cleaned.seal()
    cleaned.flush()
    replace_segments(log, log.segments.all()[:1], [cleaned])
    assert Batch(read(log, 5, 1, 16)).base_offset == 8
    assert offsets(log) == [0, 1, *range(8, 16)]
    assert {name for name in disk.list(log.directory) if name.endswith(".log.deleted")} != set()
    assert offsets(open_log(disk, shutdown=Shutdown.CLEAN)) == offsets(log)


def transactions(disk: SimulatedDisk) -> Log:
    """Producer 1 aborts [0,4] over two segments, 2 commits, 3 aborts [5,7]."""
    log = open_log(disk)
    append(log, produced(1, 0, 0, transactional=True))
    log.roll(NOW_MS)
    append(log, produced(2, 0, 0, 2, transactional=True))
    append(log, marker(2, 0, ControlRecordType.COMMIT), options=FROM_COORDINATOR)
    append(log, marker(1, 0, ControlRecordType.ABORT), options=FROM_COORDINATOR)
    log.roll(NOW_MS)
    append(log, produced(3, 0, 0, 2, transactional=True))
    append(log, marker(3, 0, ControlRecordType.ABORT), options=FROM_COORDINATOR)
    log.roll(NOW_MS)
    append(log, data_batch())
    return log


def test_reader_learns_of_every_abort_in_its_range(disk: SimulatedDisk) -> None:
    log = transactions(disk)
    first, second = (1, 0, 4, 5), (3, 5, 7, 8)
    assert log.aborted_transactions(0, 1) == [first], "the marker is in a later segment"
    assert log.aborted_transactions(4, 5) == [first]
    assert log.aborted_transactions(5, 6) == [second]
    assert log.aborted_transactions(0, 8) == [first, second]
    assert log.aborted_transactions(8, 9) == []


@pytest.mark.parametrize("damage", ["missing", "cut", "noise"])
def test_lost_transaction_index_is_built_anew(disk: SimulatedDisk, damage: str) -> None:
    transactions(disk).close(NOW_MS)
    path = "/data/orders-0/00000000000000000001.txnindex"
    if damage == "missing":
        disk.remove(path)
    elif damage == "cut":
        disk.open(path, Access.WRITE).truncate(20)
    else:
        disk.open(path, Access.WRITE).write(0, [b"\7"])
    log = open_log(disk, shutdown=Shutdown.CLEAN)
    assert [entry[:3] for entry in log.aborted_transactions(0, 9)] == [(1, 0, 4), (3, 5, 7)]
    assert disk.status(path) is not None


def test_idle_partition_holds_two_descriptors(tmp_path: Path) -> None:
    config = LogConfig(segment_bytes=2_000)
    options = LoadOptions("orders", 0, NOW_MS)
    before = len(os.listdir("/proc/self/fd"))
    log = Log.open(LocalDisk(), f"{tmp_path}/orders-0", config, options)
    for _ in range(40):
        append(log, data_batch(value=bytes(600)))
    for offset in range(0, 40, 3):
        log.read(offset, 100, 40)
    log.flush(NOW_MS)
    assert len(log.segments) > 10
    assert len(os.listdir("/proc/self/fd")) - before <= 2
    log.close(NOW_MS)
    assert len(os.listdir("/proc/self/fd")) == before


def test_reader_far_behind_learns_of_the_aborts_in_what_it_gets(disk: SimulatedDisk) -> None:
    log = open_log(disk, LogConfig(index_interval_bytes=400))
    for producer_id in range(50):
        append(log, produced(producer_id, 0, 0, transactional=True))
        append(log, marker(producer_id, 0, ControlRecordType.ABORT), options=FROM_COORDINATOR)
    end_offset = log.log_end_offset
    for offset in range(end_offset):
        found = log.read(offset, 1_000, end_offset)
        assert found.records is not None
        last_offset = max(batch.last_offset for batch in batches(found.records.read()))
        touched = set(log.aborted_transactions(offset, last_offset + 1))
        told = log.aborted_in(found, offset, end_offset)
        assert touched <= set(told)
        assert len(told) < 20, "not all fifty"


def test_a_wrong_index_hides_no_abort(disk: SimulatedDisk) -> None:
    log = open_log(disk, LogConfig(index_interval_bytes=400))
    for producer_id in range(50):
        append(log, produced(producer_id, 0, 0, transactional=True))
        append(log, marker(producer_id, 0, ControlRecordType.ABORT), options=FROM_COORDINATOR)
    entries = log.active_segment.offset_index.entries
    for slot in range(entries.count):
        entries.truncate(slot)
        entries.append(slot + 1, 400 * (slot + 1))
    found = log.read(0, 4_000, log.log_end_offset)
    assert found.records is not None
    last_offset = max(batch.last_offset for batch in batches(found.records.read()))
    assert set(log.aborted_transactions(0, last_offset + 1)) <= set(log.aborted_in(found, 0, log.log_end_offset))


def test_a_thread_that_may_not_wait_is_told_where_the_disk_is_needed(disk: SimulatedDisk, log: Log) -> None:
    last = log.log_end_offset - 1
    assert log.read(last, 10**6, 16, may_wait=False).records is not None
    with pytest.raises(ColdReadError, match="offset 3 is in an older segment") as refused:
        log.read(3, 10**6, 16, may_wait=False)
    assert refused.value.is_passing
    assert log.offline_error is None
    log.read_ahead(3, 10**6, is_committed=True)
    assert log.read(3, 10**6, 16).records is not None
    with pytest.raises(OffsetOutOfRangeError):
        log.read(99, 10**6, 99, may_wait=False)


def test_far_behind_in_the_active_segment_the_page_cache_is_asked(disk: SimulatedDisk) -> None:
    log = open_log(disk, LogConfig(segment_bytes=64 << 20))
    for _ in range(11):
        append(log, data_batch(value=bytes(900_000)))
    assert log.read(0, 100, 11, may_wait=False).records is not None
    disk.is_cold = True
    with pytest.raises(ColdReadError, match="offset 0 is not in memory"):
        log.read(0, 100, 11, may_wait=False)
    assert log.read(10, 100, 11, may_wait=False).records is not None
