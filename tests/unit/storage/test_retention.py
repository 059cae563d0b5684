import pytest

from ottla.base.system_clock import SystemClock
from ottla.storage.disk.simulated import SimulatedDisk
from ottla.storage.log.log import Log
from ottla.storage.log_config import LogConfig
from ottla.storage.retention import OldTimestampWarning, delete_old_segments
from tests.unit.storage.log_builder import NOW_MS, append, data_batch, offsets, open_log


def log_with(count: int, **settings: object) -> Log:
    """A log of segments with one batch each, one second apart, all replicated."""
    log = open_log(SimulatedDisk(), LogConfig(**{"segment_index_bytes": 960, **settings}))  # type: ignore[arg-type]
    for index in range(count):
        if index:
            log.roll(NOW_MS)
        append(log, data_batch(timestamp=NOW_MS + index * 1000))
    log.update_high_watermark(log.log_end_offset)
    return log


BATCH_BYTES = len(data_batch())


def test_segments_go_once_their_newest_record_is_too_old() -> None:
    log = log_with(4, retention_ms=5000)
    assert delete_old_segments(log, NOW_MS + 5000) == 0
    assert delete_old_segments(log, NOW_MS + 6001) == 2
    assert (log.log_start_offset, offsets(log)) == (2, [2, 3])


def test_the_active_segment_goes_too_when_it_is_too_old() -> None:
    log = log_with(2, retention_ms=5000)
    assert delete_old_segments(log, NOW_MS + 60_000) == 2
    assert (log.log_start_offset, log.log_end_offset, log.size_bytes) == (2, 2, 0)
    assert delete_old_segments(log, NOW_MS + 60_000) == 0
    append(log, data_batch(timestamp=NOW_MS + 60_000))
    assert offsets(log) == [2]


def test_no_limit_keeps_everything() -> None:
    log = log_with(3, retention_ms=-1, retention_bytes=-1)
    assert delete_old_segments(log, 1 << 60) == 0


@pytest.mark.parametrize(("allowed", "left"), [(0, 0), (1, 1), (2, 2), (3, 3), (10, 4)])
def test_the_oldest_go_while_what_is_left_is_enough(allowed: int, left: int) -> None:
    log = log_with(4, retention_ms=-1, retention_bytes=allowed * BATCH_BYTES)
    assert delete_old_segments(log, NOW_MS) == 4 - left
    assert offsets(log) == list(range(4 - left, 4))


def test_a_byte_of_retention_keeps_the_only_segment() -> None:
    log = log_with(1, retention_ms=-1, retention_bytes=1)
    assert delete_old_segments(log, NOW_MS) == 0


def test_nothing_above_the_high_watermark_goes() -> None:
    log = log_with(4, retention_ms=0)
    log.update_high_watermark(2)
    assert delete_old_segments(log, NOW_MS + 60_000) == 2
    assert log.log_start_offset == 2


def test_what_lies_before_the_log_start_goes_whatever_the_policy() -> None:
    for policy in ({"compact"}, set[str]()):
        log = log_with(4, cleanup_policy=frozenset(policy), retention_ms=0, retention_bytes=0)
        assert delete_old_segments(log, NOW_MS + 60_000) == 0
        log.increment_log_start_offset(3)
        assert delete_old_segments(log, NOW_MS + 60_000) == 3
        assert offsets(log) == [3]


def test_records_without_a_timestamp_are_as_old_as_their_file() -> None:
    disk = SimulatedDisk()
    disk.now_ms = NOW_MS
    log = open_log(disk, LogConfig(segment_index_bytes=960, retention_ms=1000))
    append(log, data_batch(timestamp=-1))
    log.update_high_watermark(1)
    assert delete_old_segments(log, NOW_MS + 1000) == 0
    assert delete_old_segments(log, NOW_MS + 1001) == 1


YEAR_MS = 365 * 24 * 60 * 60 * 1000


def test_new_records_that_expire_by_their_own_timestamps_are_warned_about_once(
    caplog: pytest.LogCaptureFixture,
) -> None:
    disk = SimulatedDisk()
    disk.now_ms = NOW_MS
    log = open_log(disk, LogConfig(segment_index_bytes=960, retention_ms=1000))
    warning = OldTimestampWarning(SystemClock())
    for _ in range(2):
        append(log, data_batch(timestamp=NOW_MS - 40 * YEAR_MS))
        log.update_high_watermark(log.log_end_offset)
        assert delete_old_segments(log, NOW_MS, warning) == 1
    (record,) = caplog.records
    assert record.levelname == "WARNING"
    assert f"topic {log.topic} " in record.message
    assert "is 39 years older than retention.ms allows" in record.message


def test_records_that_had_their_time_go_without_a_word(caplog: pytest.LogCaptureFixture) -> None:
    disk = SimulatedDisk()
    disk.now_ms = NOW_MS
    log = open_log(disk, LogConfig(segment_index_bytes=960, retention_ms=1000))
    append(log, data_batch(timestamp=NOW_MS))
    log.update_high_watermark(1)
    assert delete_old_segments(log, NOW_MS + 1001, OldTimestampWarning(SystemClock())) == 1
    assert not caplog.records
