"""Appending as leader and as follower."""

import errno

import pytest

from ottla.protocol.compression import CompressionType
from ottla.protocol.errors import (
    ApiError,
    CorruptMessageError,
    InvalidRecordError,
    InvalidTimestampError,
    InvalidTxnStateError,
    MessageTooLargeError,
    OutOfOrderSequenceNumberError,
    RecordListTooLargeError,
)
from ottla.protocol.records.batch import Batch, batches
from ottla.protocol.records.control import ControlRecordType
from ottla.protocol.records.timestamp import TimestampType
from ottla.storage.disk.simulated import Fault, SimulatedDisk
from ottla.storage.errors import LogOfflineError, StorageError, UnexpectedOffsetError
from ottla.storage.log.append_info import FROM_CLIENT, AppendOptions
from ottla.storage.log.log import Log
from ottla.storage.log_config import LogConfig
from tests.unit.storage.log_builder import (
    FROM_COORDINATOR,
    NOW_MS,
    SMALL,
    append,
    data_batch,
    marker,
    offsets,
    open_log,
    placed,
    produced,
)


@pytest.fixture
def disk() -> SimulatedDisk:
    made = SimulatedDisk()
    made.make_directory("/data")
    return made


@pytest.fixture
def log(disk: SimulatedDisk) -> Log:
    return open_log(disk)


def test_leader_gives_offsets_and_its_epoch(log: Log) -> None:
    assert append(log, data_batch(3), 5)[:3] == (0, 2, NOW_MS)
    second = data_batch(2)
    info = append(log, second, 6)
    assert (info.first_offset, info.last_offset, info.log_append_time, info.log_start_offset) == (3, 4, -1, 0)
    assert (Batch(second).base_offset, Batch(second).partition_leader_epoch) == (3, 6)
    assert log.log_end_offset == 5
    assert log.epochs.entries == ((5, 0), (6, 3))
    assert offsets(log) == [0, 1, 2, 3, 4]
    assert log.end_offset_for_epoch(5) == (5, 3)


def test_several_batches_at_once(log: Log) -> None:
    info = append(log, data_batch(2) + data_batch(3), options=FROM_COORDINATOR)
    assert (info.first_offset, info.last_offset) == (0, 4)
    assert offsets(log) == [0, 1, 2, 3, 4]


def test_log_append_time_is_the_brokers(disk: SimulatedDisk) -> None:
    log = open_log(disk, LogConfig(message_timestamp_type="LogAppendTime"))
    batch = data_batch(2, timestamp=5)
    info = append(log, batch)
    assert (info.max_timestamp, info.log_append_time) == (NOW_MS, NOW_MS)
    assert Batch(batch).timestamp_type is TimestampType.LOG_APPEND_TIME
    assert Batch(batch).crc_matches()


@pytest.mark.parametrize("name", ["gzip", "snappy", "lz4", "zstd", "uncompressed"])
def test_topic_with_a_codec_compresses_again(disk: SimulatedDisk, name: str) -> None:
    log = open_log(disk, LogConfig(compression_type=name))
    sent = CompressionType.GZIP if name != "gzip" else CompressionType.NONE
    append(log, data_batch(3, value=b"again " * 20, compression=sent))
    append(log, data_batch(1, compression=sent) + data_batch(1), options=FROM_COORDINATOR)
    append(log, marker(1, 0, ControlRecordType.COMMIT), options=FROM_COORDINATOR)
    expected = 0 if name == "uncompressed" else CompressionType.from_name(name)
    assert [batch.codec_id for batch in log.active_segment.scan()] == [expected, expected, expected, 0]
    assert offsets(log) == list(range(6))
    with pytest.raises(CorruptMessageError):
        append(log, broken(data_batch(compression=sent)))


def broken(batch: bytearray) -> bytearray:
    batch[-1] ^= 1
    return batch


@pytest.mark.parametrize(
    ("records", "error"),
    [
        (bytearray(), CorruptMessageError),
        (data_batch()[:40], CorruptMessageError),
        (broken(data_batch()), CorruptMessageError),
        (data_batch() + data_batch()[:30], InvalidRecordError),
        (data_batch(timestamp=NOW_MS + 3_600_001), InvalidTimestampError),
        (data_batch(value=bytes(1_900)), RecordListTooLargeError),
        (marker(1, 0, ControlRecordType.COMMIT), InvalidRecordError),
        (placed(data_batch(), 7), InvalidRecordError),
    ],
)
def test_refused_batch_changes_nothing(log: Log, records: bytearray, error: type[ApiError]) -> None:
    append(log, data_batch())
    log.update_config(LogConfig(segment_bytes=1_900))
    with pytest.raises(error):
        append(log, records)
    assert (log.log_end_offset, log.offline_error) == (1, None)
    log.update_config(LogConfig(max_message_bytes=100))
    with pytest.raises(MessageTooLargeError):
        append(log, data_batch(value=bytes(100)))
    assert append(log, data_batch()).first_offset == 1


def test_repeated_batch_is_answered_with_its_first_offset(log: Log) -> None:
    append(log, data_batch())
    first = append(log, produced(7, 0, 0, 2), options=FROM_CLIENT)
    append(log, produced(7, 0, 2, 2), options=FROM_CLIENT)
    again = append(log, produced(7, 0, 0, 2), options=FROM_CLIENT)
    assert again.is_duplicate
    assert (again.first_offset, again.last_offset) == (first.first_offset, first.last_offset) == (1, 2)
    assert again.log_append_time == NOW_MS, "the largest timestamp of the batch that is in the log"
    assert log.log_end_offset == 5
    with pytest.raises(OutOfOrderSequenceNumberError):
        append(log, produced(7, 0, 0, 1), options=FROM_CLIENT)


def test_transaction_needs_a_receipt_and_holds_back_the_last_stable_offset(log: Log) -> None:
    with pytest.raises(InvalidTxnStateError):
        append(log, produced(7, 0, 0, transactional=True), options=FROM_CLIENT)
    batch = produced(7, 0, 0, transactional=True)
    receipt = log.start_verification(Batch(batch), NOW_MS, supports_epoch_bump=True)
    append(log, batch, options=AppendOptions(verification=receipt))
    append(log, produced(7, 0, 1, transactional=True), options=FROM_CLIENT)
    log.update_high_watermark(2)
    assert (log.high_watermark, log.last_stable_offset, log.first_unstable_offset) == (2, 0, 0)
    append(log, marker(7, 0, ControlRecordType.ABORT), options=FROM_COORDINATOR)
    assert log.last_stable_offset == 0, "the marker is not replicated yet"
    log.update_high_watermark(3)
    assert log.last_stable_offset == 3
    assert log.aborted_transactions(0, 3) == [(7, 0, 2, 3)]


def test_follower_keeps_offsets_epochs_and_gaps(log: Log) -> None:
    fetched = placed(data_batch(2), 10, 3) + placed(data_batch(1), 20, 4) + placed(data_batch(), 21, 4)[:50]
    info = log.append_as_follower(fetched, 4, NOW_MS)
    assert info is not None
    assert (info.first_offset, info.last_offset) == (10, 20)
    assert log.log_end_offset == 21
    assert log.epochs.entries == ((3, 10), (4, 20))
    assert offsets(log, 0) == [10, 11, 20]
    assert log.append_as_follower(b"", 4, NOW_MS) is None


def test_follower_stops_before_an_epoch_it_does_not_know(log: Log) -> None:
    info = log.append_as_follower(placed(data_batch(), 0, 3) + placed(data_batch(), 1, 9), 3, NOW_MS)
    assert info is not None
    assert log.log_end_offset == 1


def test_follower_refuses_what_does_not_continue(log: Log) -> None:
    log.append_as_follower(placed(data_batch(5), 0), 0, NOW_MS)
    with pytest.raises(UnexpectedOffsetError, match="where 5 is next"):
        log.append_as_follower(placed(data_batch(), 4), 0, NOW_MS)
    with pytest.raises(CorruptMessageError):
        log.append_as_follower(broken(placed(data_batch(), 5)), 0, NOW_MS)
    assert (log.log_end_offset, log.offline_error) == (5, None)


def test_follower_takes_a_gap_that_no_index_can_express(log: Log) -> None:
    far = 3 * 2**31
    log.append_as_follower(placed(data_batch(), 0) + placed(data_batch(2), far), 0, NOW_MS)
    assert offsets(log) == [0, far, far + 1]
    assert len(log.segments) == 2
    assert log.segments.active.offset_max >= far + 1


def test_segment_rolls_when_the_next_batch_does_not_fit(log: Log) -> None:
    for _ in range(4):
        append(log, data_batch(value=bytes(900)))
    assert [segment.base_offset for segment in log.segments] == [0, 2]
    log.flush(NOW_MS)
    assert log.snapshots.offsets == [2]
    assert all(segment.size_bytes <= SMALL.segment_bytes for segment in log.segments)


def test_segment_rolls_on_strictly_more_than_its_age(disk: SimulatedDisk) -> None:
    log = open_log(disk, LogConfig(segment_ms=1_000))
    for timestamp in (5_000, 6_000, 4_000, 6_001, 7_001):
        append(log, data_batch(timestamp=timestamp))
    assert [segment.base_offset for segment in log.segments] == [0, 3]


def test_segment_without_timestamps_rolls_by_its_age(disk: SimulatedDisk) -> None:
    log = open_log(disk, LogConfig(segment_ms=1_000))
    for now_ms in (NOW_MS, NOW_MS + 1_000, NOW_MS + 1_001):
        log.append_as_leader(data_batch(timestamp=-1), 0, now_ms)
    assert [segment.base_offset for segment in log.segments] == [0, 2]


def test_jitter_makes_a_segment_roll_earlier(disk: SimulatedDisk) -> None:
    log = open_log(disk, LogConfig(segment_ms=1_000_000, segment_jitter_ms=1_000_000))
    append(log, data_batch(timestamp=0))
    append(log, data_batch(timestamp=1_000_000))
    assert len(log.segments) == 2


def test_segment_rolls_when_an_index_is_full(disk: SimulatedDisk) -> None:
    log = open_log(disk, LogConfig(segment_index_bytes=36, index_interval_bytes=0))
    for timestamp in range(7):
        append(log, data_batch(timestamp=timestamp))
    # 36 bytes are three time index entries; two and the sealing one.
    assert [segment.base_offset for segment in log.segments] == [0, 3, 6]


def test_full_disk_takes_the_log_offline_and_nothing_is_half_there(disk: SimulatedDisk, log: Log) -> None:
    append(log, data_batch())
    disk.fill_up(30)
    with pytest.raises(StorageError, match=r"orders-0/00000000000000000000\.log") as caught:
        append(log, data_batch())
    assert caught.value.errno == errno.ENOSPC
    with pytest.raises(LogOfflineError):
        append(log, data_batch())
    with pytest.raises(LogOfflineError):
        log.read(0, 100, 1)
    disk.heal()
    again = open_log(disk)
    assert offsets(again) == [0]
    assert append(again, data_batch()).first_offset == 1


def test_flush_that_failed_is_not_taken_for_one_that_worked(disk: SimulatedDisk, log: Log) -> None:
    append(log, data_batch())
    disk.fail(Fault("flush", path_ending=".log"))
    with pytest.raises(StorageError):
        log.flush(NOW_MS)
    assert log.recovery_point == 0
    disk.heal()
    with pytest.raises(LogOfflineError):
        log.flush(NOW_MS)


def test_read_only_disk_refuses_appends(disk: SimulatedDisk, log: Log) -> None:
    append(log, data_batch())
    disk.make_read_only()
    with pytest.raises(StorageError) as caught:
        append(log, data_batch())
    assert caught.value.errno == errno.EROFS
    assert log.offline_error is caught.value


def test_what_was_written_is_what_came_in(log: Log) -> None:
    batch = data_batch(3, value=b"opaque")
    append(log, batch)
    found = log.read(0, 1_000, 3).records
    assert found is not None
    [stored] = batches(found.read())
    assert bytes(stored.data) == bytes(batch)
