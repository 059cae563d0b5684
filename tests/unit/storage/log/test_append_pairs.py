"""A broker's own keys and values: the log is what it would be had they come as a batch."""

import pytest

from ottla.protocol.records.pair_batch import write_pairs
from ottla.storage.disk.simulated import SimulatedDisk
from ottla.storage.errors import LogOfflineError, StorageError
from ottla.storage.log.log import Log
from ottla.storage.log_config import LogConfig
from tests.unit.storage.log_builder import FROM_COORDINATOR, NOW_MS, SMALL, append, offsets, open_log

PAIRS: list[tuple[bytes, bytes | None]] = [(b"k0", b"v" * 40), (b"k1", None), (b"k2", b"")]


def disk_with_log(config: LogConfig = SMALL) -> tuple[SimulatedDisk, Log]:
    disk = SimulatedDisk()
    disk.make_directory("/data")
    return disk, open_log(disk, config)


def test_same_log_as_by_batches() -> None:
    _, short = disk_with_log()
    _, long = disk_with_log()
    for number in range(60):
        epoch = 3 + number // 20
        timestamp = NOW_MS + number
        end_offset = short.append_pairs(PAIRS, timestamp, epoch, NOW_MS)
        info = append(long, write_pairs(PAIRS, timestamp), epoch, options=FROM_COORDINATOR)
        assert end_offset == info.last_offset + 1 == short.log_end_offset
    assert len(short.segments) > 3
    assert [segment.base_offset for segment in short.segments] == [segment.base_offset for segment in long.segments]
    assert short.epochs.entries == long.epochs.entries
    assert offsets(short) == offsets(long)
    for mine, other in zip(short.segments, long.segments, strict=True):
        assert mine.file().read(0, mine.size_bytes) == other.file().read(0, other.size_bytes)
        assert mine.max_timestamp_offset == other.max_timestamp_offset
        assert mine.locate(mine.next_offset - 1) == other.locate(other.next_offset - 1)


@pytest.mark.parametrize(
    ("config", "now_ms"),
    [
        (LogConfig(message_timestamp_type="LogAppendTime"), NOW_MS),
        (LogConfig(compression_type="zstd"), NOW_MS),
        (LogConfig(max_message_bytes=100), NOW_MS),
        (LogConfig(segment_bytes=100), NOW_MS),
        (LogConfig(message_timestamp_before_max_ms=1000), NOW_MS + 1001),
        (LogConfig(message_timestamp_after_max_ms=1000), NOW_MS - 1001),
    ],
)
def test_where_a_batch_needs_a_look_nothing_is_done(config: LogConfig, now_ms: int) -> None:
    _, log = disk_with_log(config)
    assert log.append_pairs(PAIRS, NOW_MS, 0, now_ms) is None
    assert (log.log_end_offset, log.size_bytes, log.epochs.entries) == (0, 0, ())


def test_disk_that_refuses_takes_the_log_offline() -> None:
    disk, log = disk_with_log()
    log.append_pairs(PAIRS, NOW_MS, 0, NOW_MS)
    disk.make_read_only()
    with pytest.raises(StorageError):
        log.append_pairs(PAIRS, NOW_MS, 0, NOW_MS)
    assert log.log_end_offset == len(PAIRS)
    with pytest.raises(LogOfflineError):
        log.append_pairs(PAIRS, NOW_MS, 0, NOW_MS)
