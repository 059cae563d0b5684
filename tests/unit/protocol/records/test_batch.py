"""The view on a batch: fields, patches, and walking over many batches."""

from types import ModuleType

import pytest

from ottla.protocol.compression import CompressionType
from ottla.protocol.errors import DecodeError, UnsupportedCompressionTypeError
from ottla.protocol.records.timestamp import TimestampType
from ottla.protocol.records.writer import BatchOptions, write_batch

RECORD = (100, 1000, b"k", b"v", ())
BATCH = bytes(write_batch([RECORD, (107, 2000, None, None, ())], BatchOptions(partition_leader_epoch=3)))
PRODUCED = BatchOptions(
    producer_id=2**40, producer_epoch=9, base_sequence=2**31 - 2, is_transactional=True, is_control=True
)


def test_fields(batch_twin: ModuleType) -> None:
    batch = batch_twin.Batch(b"junk" + BATCH + b"junk", 4)
    assert (batch.position, batch.size, batch.end) == (4, len(BATCH), 4 + len(BATCH))
    assert bytes(batch.data) == BATCH
    assert bytes(batch.records) == BATCH[61:]
    assert (batch.base_offset, batch.last_offset_delta, batch.last_offset, batch.next_offset) == (100, 7, 107, 108)
    assert (batch.partition_leader_epoch, batch.magic, batch.attributes, batch.records_count) == (3, 2, 0, 2)
    assert (batch.base_timestamp, batch.max_timestamp, batch.log_append_time) == (1000, 2000, None)
    assert (batch.producer_id, batch.producer_epoch, batch.base_sequence, batch.last_sequence) == (-1, -1, -1, -1)
    assert batch.compression is CompressionType.NONE
    assert batch.timestamp_type is TimestampType.CREATE_TIME
    assert (batch.is_transactional, batch.is_control, batch.delete_horizon_ms) == (False, False, None)
    assert repr(batch) == f"Batch(offsets 100..107, 2 records, {len(BATCH)} bytes)"


def test_attributes_and_producer(batch_twin: ModuleType) -> None:
    batch = batch_twin.Batch(write_batch([RECORD, (104, 0, None, None, ())], PRODUCED))
    assert (batch.is_transactional, batch.is_control) == (True, True)
    assert (batch.producer_id, batch.producer_epoch) == (2**40, 9)
    assert (batch.base_sequence, batch.last_sequence) == (2**31 - 2, 2)
    stamped = batch_twin.Batch(write_batch([RECORD], BatchOptions(log_append_time=55, delete_horizon_ms=66)))
    assert stamped.timestamp_type is TimestampType.LOG_APPEND_TIME
    assert (stamped.log_append_time, stamped.delete_horizon_ms, stamped.base_timestamp) == (55, 66, 66)
    zstd = batch_twin.Batch(write_batch([RECORD], BatchOptions(compression=CompressionType.ZSTD)))
    assert (zstd.codec_id, zstd.compression) == (4, CompressionType.ZSTD)


def test_a_codec_id_without_a_codec(batch_twin: ModuleType) -> None:
    data = bytearray(BATCH)
    data[22] = 5
    batch = batch_twin.Batch(data)
    assert batch.codec_id == 5
    with pytest.raises(UnsupportedCompressionTypeError):
        _ = batch.compression


def test_crc_notices_a_changed_byte(batch_twin: ModuleType) -> None:
    assert batch_twin.Batch(BATCH).crc_matches()
    for index in range(17, len(BATCH)):
        data = bytearray(BATCH)
        data[index] ^= 0x10
        assert not batch_twin.Batch(data).crc_matches()


def test_assign_leaves_the_crc_good(batch_twin: ModuleType) -> None:
    data = bytearray(b"x" + BATCH)
    batch = batch_twin.Batch(memoryview(data), 1)
    batch.assign(2**50, 77)
    assert (batch.base_offset, batch.last_offset, batch.partition_leader_epoch) == (2**50, 2**50 + 7, 77)
    assert batch.crc_matches()
    assert data[1 + 21 :] == BATCH[21:]


def test_log_append_time_changes_attributes_timestamp_and_crc(batch_twin: ModuleType) -> None:
    data = bytearray(BATCH)
    batch = batch_twin.Batch(data)
    batch.set_max_timestamp(TimestampType.LOG_APPEND_TIME, 4242)
    assert batch.log_append_time == 4242
    assert batch.crc_matches()
    assert data != BATCH
    batch.set_max_timestamp(TimestampType.CREATE_TIME, 2000)
    assert data == BATCH


def test_set_producer(batch_twin: ModuleType) -> None:
    batch = batch_twin.Batch(bytearray(BATCH))
    batch.set_producer(5, 6, 7)
    assert (batch.producer_id, batch.producer_epoch, batch.base_sequence) == (5, 6, 7)
    assert batch.crc_matches()


def test_a_batch_in_constant_memory_cannot_be_patched(batch_twin: ModuleType) -> None:
    batch = batch_twin.Batch(BATCH)
    for patch in (
        lambda: batch.assign(1, 1),
        lambda: batch.set_max_timestamp(TimestampType.LOG_APPEND_TIME, 1),
        lambda: batch.set_producer(1, 1, 1),
    ):
        with pytest.raises(TypeError):
            patch()
    batch.set_max_timestamp(TimestampType.CREATE_TIME, 2000)


@pytest.mark.parametrize(
    ("data", "path"),
    [
        (b"", "batch"),
        (BATCH[:12], "batch"),
        (BATCH[:60], "batch"),
        (BATCH[:-1], "batch"),
        (BATCH[:8] + b"\0\0\0\x30" + BATCH[12:], "batch.length"),
        (BATCH[:8] + b"\xff\xff\xff\xff" + BATCH[12:], "batch.length"),
        (BATCH[:16] + b"\x03" + BATCH[17:], "batch.magic"),
        (BATCH[:16] + b"\x01" + BATCH[17:], "batch.magic"),
        (BATCH[:16] + b"\xff" + BATCH[17:], "batch.magic"),
    ],
)
def test_what_is_no_batch(batch_twin: ModuleType, data: bytes, path: str) -> None:
    with pytest.raises(DecodeError) as caught:
        batch_twin.Batch(data)
    assert caught.value.path == path


@pytest.mark.parametrize("position", [-1, len(BATCH), len(BATCH) + 1, 2**40])
def test_positions_outside_the_buffer(batch_twin: ModuleType, position: int) -> None:
    with pytest.raises(DecodeError):
        batch_twin.Batch(BATCH, position)


def test_walking_over_batches_stops_where_the_last_is_cut_short(batch_twin: ModuleType) -> None:
    for cut in (1, 5, 16, 17, 60, len(BATCH) - 1, len(BATCH)):
        walk = batch_twin.Batches(b"??" + BATCH * 3 + BATCH[:-cut], 2)
        assert [batch.position for batch in walk] == [2, 2 + len(BATCH), 2 + 2 * len(BATCH)]
        assert walk.position == 2 + 3 * len(BATCH)


def test_walking_over_batches_refuses_what_is_none(batch_twin: ModuleType) -> None:
    walk = batch_twin.Batches(BATCH + bytes(100))
    assert next(walk).size == len(BATCH)
    with pytest.raises(DecodeError, match="a batch of 0 bytes"):
        next(walk)
    with pytest.raises(DecodeError, match="magic 1 where 2 is needed"):
        next(batch_twin.Batches(BATCH[:16] + b"\x01" + BATCH[17:]))


def test_views_share_the_buffer(batch_twin: ModuleType) -> None:
    data = bytearray(BATCH * 2)
    for index, batch in enumerate(batch_twin.Batches(data)):
        batch.assign(1000 * index, 0)
    assert [batch.base_offset for batch in batch_twin.Batches(data)] == [0, 1000]
