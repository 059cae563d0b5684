"""The short way of the only replica: the log is what it would be by the usual one, or nothing was done at all."""

import errno
import os
from pathlib import Path

import pytest

from ottla.base.accelerated import compiled_module
from ottla.protocol.compression import CompressionType
from ottla.protocol.errors import CorruptMessageError
from ottla.protocol.records.pair_batch import write_pairs
from ottla.protocol.records.writer import write_batch
from ottla.storage.disk.local import LocalDisk
from ottla.storage.disk.port import Disk
from ottla.storage.disk.simulated import SimulatedDisk
from ottla.storage.errors import LogOfflineError, StorageError
from ottla.storage.log.append_info import AppendInfo, AppendOptions
from ottla.storage.log.log import Log
from ottla.storage.log_config import LogConfig
from ottla.storage.producer_state.entry import ProducerEntry
from tests.unit.storage import log_builder
from tests.unit.storage.log_builder import NOW_MS, SMALL, data_batch, offsets, open_log, produced

needs_compiler = pytest.mark.skipif(
    compiled_module("ottla.storage.log._end") is None, reason="plain Python has no short way"
)


def new_disk() -> SimulatedDisk:
    disk = SimulatedDisk()
    disk.make_directory("/data")
    return disk


def append_usually(log: Log, batch: bytearray, epoch: int, now_ms: int = NOW_MS) -> AppendInfo:
    """As a partition's only replica does, and all of it in Python: options of one's own are looked at."""
    info = log.append_as_leader(batch, epoch, now_ms, AppendOptions())
    log.update_high_watermark(info.last_offset + 1)
    return info


def producer(entry: ProducerEntry) -> tuple[object, ...]:
    return entry.producer_epoch, entry.last_timestamp, entry.batches, entry.transaction_first_offset


def mixed_batches() -> list[tuple[int, bytearray]]:
    """Epochs and batches: with producers, without them, compressed, and later ones that are old."""
    made = []
    for number in range(120):
        if number % 3 == 0:
            batch = produced(7, 0, number // 3 * 2, count=2)
        elif number % 7 == 0:
            batch = data_batch(5, compression=CompressionType.GZIP)
        else:
            batch = data_batch(1 + number % 4, value=b"x" * (number % 50), timestamp=NOW_MS + number * (-1) ** number)
        made.append((number // 40, batch))
    return made


@pytest.mark.parametrize("config", [SMALL, LogConfig(segment_bytes=2_000, segment_ms=20)])
def test_same_log_as_by_the_usual_way(config: LogConfig) -> None:
    short, usual = open_log(new_disk(), config), open_log(new_disk(), config)
    for epoch, batch in mixed_batches():
        other = bytearray(batch)
        info = short.append_committed(batch, epoch, NOW_MS) or append_usually(short, batch, epoch)
        assert info == append_usually(usual, other, epoch)
        assert batch == other
        assert short.tail[0] == usual.tail[0]
        assert short.tail[2] == usual.tail[2]
        assert short.high_watermark == usual.high_watermark == short.log_end_offset
    assert short.epochs.entries == usual.epochs.entries
    assert {number: producer(entry) for number, entry in short.producers.entries.items()} == {
        number: producer(entry) for number, entry in usual.producers.entries.items()
    }
    assert short.producers.end_offset == usual.producers.end_offset
    assert offsets(short) == offsets(usual)
    assert [segment.base_offset for segment in short.segments] == [segment.base_offset for segment in usual.segments]
    for mine, other_segment in zip(short.segments, usual.segments, strict=True):
        assert mine.file().read(0, mine.size_bytes) == other_segment.file().read(0, other_segment.size_bytes)
        assert mine.max_timestamp_offset == other_segment.max_timestamp_offset
        assert mine.offset_index.entries.count == other_segment.offset_index.entries.count
        assert mine.time_index.entries.count == other_segment.time_index.entries.count


@needs_compiler
def test_nearly_all_go_the_short_way() -> None:
    log = open_log(new_disk(), LogConfig())
    append_usually(log, data_batch(), 0)
    append_usually(log, produced(7, 0, 0), 0)
    for number in range(10):
        assert log.append_committed(data_batch(3), 0, NOW_MS) is not None
        assert log.append_committed(produced(7, 0, 1 + number), 0, NOW_MS) is not None


def bad_crc() -> bytearray:
    batch = data_batch()
    batch[-1] ^= 1
    return batch


@pytest.mark.parametrize(
    ("config", "batch", "epoch"),
    [
        (LogConfig(message_timestamp_type="LogAppendTime"), data_batch(), 0),
        (LogConfig(compression_type="zstd"), data_batch(), 0),
        (LogConfig(max_message_bytes=1_000), data_batch(value=b"v" * 1_000), 0),
        (LogConfig(segment_bytes=1_000), data_batch(value=b"v" * 1_000), 0),
        (LogConfig(segment_ms=1_000), data_batch(timestamp=NOW_MS + 2_000), 0),
        (LogConfig(message_timestamp_before_max_ms=1_000), data_batch(timestamp=NOW_MS - 1_001), 0),
        (LogConfig(message_timestamp_after_max_ms=1_000), data_batch(timestamp=NOW_MS + 1_001), 0),
        (LogConfig(), data_batch(), 1),
        (LogConfig(), bad_crc(), 0),
        (LogConfig(), data_batch()[:-1], 0),
        (LogConfig(), data_batch() + data_batch(), 0),
        (LogConfig(), data_batch(compression=CompressionType.GZIP), 0),
        (LogConfig(), produced(8, 0, 0), 0),
        (LogConfig(), produced(7, 0, 0), 0),
        (LogConfig(), produced(7, 0, 2), 0),
        (LogConfig(), produced(7, 1, 1), 0),
        (LogConfig(), produced(7, 0, 1, transactional=True), 0),
    ],
)
def test_where_a_batch_needs_a_look_nothing_is_done(config: LogConfig, batch: bytearray, epoch: int) -> None:
    log = open_log(new_disk(), config)
    append_usually(log, produced(7, 0, 0), 0)
    before = log.tail, log.high_watermark, log.epochs.entries, producer(log.producers.entries[7]), bytes(batch)
    assert log.append_committed(batch, epoch, NOW_MS) is None
    assert before == (
        log.tail,
        log.high_watermark,
        log.epochs.entries,
        producer(log.producers.entries[7]),
        bytes(batch),
    )


def test_keys_are_asked_for_on_compacted_topics() -> None:
    log = open_log(new_disk(), LogConfig(cleanup_policy=frozenset({"compact"})))
    append_usually(log, data_batch(), 0)
    keyless = write_batch([(0, NOW_MS, None, b"v", ())])
    assert log.append_committed(keyless, 0, NOW_MS) is None


def test_disk_that_refuses_takes_the_log_offline() -> None:
    disk = new_disk()
    log = open_log(disk, LogConfig())
    append_usually(log, data_batch(), 0)
    disk.make_read_only()
    batch = data_batch()
    with pytest.raises(StorageError):
        assert log.append_committed(batch, 0, NOW_MS) or append_usually(log, batch, 0)
    assert (log.log_end_offset, log.high_watermark) == (1, 1)
    assert log.append_committed(data_batch(), 0, NOW_MS) is None
    with pytest.raises(LogOfflineError):
        append_usually(log, data_batch(), 0)


@pytest.fixture
def local(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Disk:
    (tmp_path / "data").mkdir()
    monkeypatch.setattr(log_builder, "DIRECTORY", str(tmp_path / "data" / "orders-0"))
    return LocalDisk()


def test_file_of_the_system_holds_what_was_appended(local: Disk) -> None:
    log = open_log(local, SMALL)
    batches = [batch for epoch, batch in mixed_batches() if epoch == 0]
    for batch in batches:
        assert log.append_committed(batch, 0, NOW_MS) or append_usually(log, batch, 0)
    held = b"".join(segment.file().read(0, segment.size_bytes) for segment in log.segments)
    assert held == b"".join(batches)
    end_offset = log.log_end_offset
    log.close(NOW_MS)
    assert open_log(local, SMALL).log_end_offset == end_offset


def test_error_of_the_system_is_told_and_leaves_no_trace(local: Disk) -> None:
    log = open_log(local, LogConfig())
    for _ in range(2):
        append_usually(log, data_batch(), 0)
    segment = log.active_segment
    path, size = segment.path(), segment.size_bytes
    # The descriptor now stands for a file that takes nothing.
    with open("/dev/full", "wb") as full:
        os.dup2(full.fileno(), segment.file().fileno())
    batch = data_batch()
    with pytest.raises(StorageError) as caught:
        assert log.append_committed(batch, 0, NOW_MS) or append_usually(log, batch, 0)
    assert caught.value.errno in (errno.ENOSPC, errno.EINVAL)  # of the write, or of taking it back
    assert (log.log_end_offset, segment.size_bytes, os.path.getsize(path)) == (2, size, size)
    assert log.offline_error is not None


def test_damaged_batch_is_refused_by_the_usual_way() -> None:
    log = open_log(new_disk(), LogConfig())
    append_usually(log, data_batch(), 0)
    batch = bad_crc()
    assert log.append_committed(batch, 0, NOW_MS) is None
    with pytest.raises(CorruptMessageError):
        append_usually(log, batch, 0)


@needs_compiler
def test_a_batch_of_this_broker_goes_the_short_way() -> None:
    log = open_log(new_disk(), LogConfig())
    pairs: list[tuple[bytes, bytes | None]] = [(b"k0", b"v" * 40), (b"k1", None), (b"k2", b"")]
    for _ in range(2):
        append_usually(log, write_pairs(pairs, NOW_MS), 0)
    info = log.append_committed(write_pairs(pairs, NOW_MS), 0, NOW_MS)
    assert info is not None
    assert (info.first_offset, log.high_watermark) == (6, 9)


@needs_compiler
def test_a_leader_with_followers_goes_it_too_and_leaves_the_high_watermark() -> None:
    log = open_log(new_disk(), LogConfig())
    append_usually(log, data_batch(), 0)
    log.append_as_leader(data_batch(), 0, NOW_MS)
    assert log.append_plain(data_batch(), 0, NOW_MS) is not None
    assert (log.log_end_offset, log.high_watermark) == (3, 1)


def test_a_log_whose_appends_are_deferred_does_not_go_it() -> None:
    log = open_log(new_disk(), LogConfig())
    for _ in range(2):
        append_usually(log, data_batch(), 0)
    log.is_deferring = True
    assert log.append_committed(data_batch(), 0, NOW_MS) is None
    assert log.append_plain(data_batch(), 0, NOW_MS) is None
