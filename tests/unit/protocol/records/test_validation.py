"""What a leader refuses, with the codes that Apache Kafka answers."""

import pickle
import struct
from collections.abc import Iterator
from contextlib import contextmanager
from unittest import mock

import cramjam
import crc32c
import pytest

from ottla.protocol.compression import CompressionType
from ottla.protocol.errors import ApiError, ErrorCode
from ottla.protocol.records import frames
from ottla.protocol.records.batch import Batch
from ottla.protocol.records.control import ControlRecordType, EndTransactionMarker, write_end_marker
from ottla.protocol.records.reader import read_tuples
from ottla.protocol.records.timestamp import TimestampType
from ottla.protocol.records.validation import (
    RECORD_ERRORS_MAX,
    AppendOrigin,
    AppendRules,
    Validated,
    single_batch,
    validate,
)
from ottla.protocol.records.writer import BatchOptions, write_batch

pytestmark = pytest.mark.usefixtures("twin")

NOW = 1_750_000_000_000
RECORDS = [(offset, NOW - 100 + offset, b"k", b"v", ()) for offset in range(5)]
CODECS = pytest.mark.parametrize("codec", CompressionType)
DEFAULTS = AppendRules()
LOG_APPEND_TIME = AppendRules(timestamp_type=TimestampType.LOG_APPEND_TIME)


def _sealed(data: bytearray) -> bytearray:
    struct.pack_into(">I", data, 17, crc32c.crc32c(memoryview(data)[21:]))
    return data


def _changed(records: list[tuple], *, at: int, to: bytes, codec: CompressionType = CompressionType.NONE) -> bytearray:
    """The batch with some header bytes changed and the CRC made good again."""
    data = write_batch(records, BatchOptions(compression=codec))
    data[at : at + len(to)] = to
    return _sealed(data)


@contextmanager
def no_iteration() -> Iterator[None]:
    """Fails whoever makes tuples of the records."""
    made = AssertionError("records were made into tuples")
    with mock.patch.object(frames, "iterate", side_effect=made), mock.patch.object(frames, "decode", side_effect=made):
        yield


@contextmanager
def suppress_refusal(codes: set[ErrorCode]) -> Iterator[None]:
    """Collects the code of a refusal."""
    try:
        yield
    except ApiError as error:
        codes.add(error.code)


def _check(data: bytes | bytearray, rules: AppendRules = DEFAULTS, version: int = 13) -> Validated:
    return validate(single_batch(data, version), rules, NOW)


def _code(data: bytes | bytearray, rules: AppendRules = DEFAULTS, version: int = 13) -> tuple[ErrorCode, list[int]]:
    with pytest.raises(ApiError) as caught:
        _check(data, rules, version)
    return caught.value.code, [error.batch_index for error in getattr(caught.value, "record_errors", [])]


@CODECS
def test_a_good_batch_is_patched_in_place(codec: CompressionType) -> None:
    data = write_batch(RECORDS, BatchOptions(compression=codec))
    before = bytes(data)
    _check(data).assign(1000, 7)
    assert data[21:] == before[21:]
    assert [record[0] for record in read_tuples(data)] == [1000, 1001, 1002, 1003, 1004]
    assert Batch(data).partition_leader_epoch == 7


@CODECS
def test_log_append_time_is_stamped(codec: CompressionType) -> None:
    data = write_batch(RECORDS, BatchOptions(compression=codec))
    _check(data, LOG_APPEND_TIME).assign(1000, 7)
    assert {record[1] for record in read_tuples(data)} == {NOW}


def test_a_wrong_max_timestamp_is_put_right() -> None:
    data = _changed(RECORDS, at=35, to=struct.pack(">q", NOW + 10))
    _check(data).assign(0, 0)
    assert Batch(data).max_timestamp == NOW - 96
    assert Batch(data).crc_matches()


def test_bytes_after_the_batch_are_ignored_until_they_make_another() -> None:
    data = write_batch(RECORDS)
    _check(data + b"\0")
    _check(data + data[:-1])
    assert _code(data + data) == (ErrorCode.INVALID_RECORD, [])


@pytest.mark.parametrize("size", [0, 1, 16, 17, 60, 61, 100])
def test_a_batch_cut_short(size: int) -> None:
    assert _code(write_batch(RECORDS)[:size]) == (ErrorCode.INVALID_RECORD, [])


@pytest.mark.parametrize(("magic", "code"), [(0, 87), (1, 87), (3, 2), (255, 2)])
def test_magic(magic: int, code: int) -> None:
    assert _code(_changed(RECORDS, at=16, to=bytes([magic]))) == (code, [])


@pytest.mark.parametrize("length", [-1, 0, 13, 14, 48])
def test_lengths_that_no_batch_has(length: int) -> None:
    assert _code(_changed(RECORDS, at=8, to=struct.pack(">i", length))) == (ErrorCode.CORRUPT_MESSAGE, [])


def test_crc() -> None:
    data = write_batch(RECORDS)
    data[-3] ^= 1
    assert _code(data) == (ErrorCode.CORRUPT_MESSAGE, [])


def test_base_offset() -> None:
    data = write_batch(RECORDS)
    Batch(data).assign(1, 0)
    assert _code(data) == (ErrorCode.INVALID_RECORD, [])


def test_size() -> None:
    data = write_batch(RECORDS)
    _check(data, AppendRules(max_message_bytes=len(data)))
    assert _code(data, AppendRules(max_message_bytes=len(data) - 1)) == (ErrorCode.MESSAGE_TOO_LARGE, [])


def test_zstd_needs_produce_7() -> None:
    data = write_batch(RECORDS, BatchOptions(compression=CompressionType.ZSTD))
    _check(data, version=7)
    assert _code(data, version=6) == (ErrorCode.UNSUPPORTED_COMPRESSION_TYPE, [])


@pytest.mark.parametrize("codec_id", [5, 6, 7])
def test_codec_ids_that_mean_nothing(codec_id: int) -> None:
    assert _code(_changed(RECORDS, at=22, to=bytes([codec_id]))) == (ErrorCode.UNKNOWN_SERVER_ERROR, [])


@pytest.mark.parametrize("codec_id", [1, 2, 3, 4])
def test_data_that_does_not_decompress(codec_id: int) -> None:
    assert _code(_changed(RECORDS, at=22, to=bytes([codec_id]))) == (ErrorCode.UNKNOWN_SERVER_ERROR, [])


@pytest.mark.parametrize(
    "codec", [CompressionType.GZIP, CompressionType.SNAPPY, CompressionType.LZ4, CompressionType.ZSTD]
)
def test_bombs(codec: CompressionType) -> None:
    data = write_batch([(0, NOW, None, bytes(5_000_000), ())], BatchOptions(compression=codec))
    rules = AppendRules(decompressed_bytes_max=4_000_000)
    assert _code(data, rules) == (ErrorCode.MESSAGE_TOO_LARGE, [])


@CODECS
@pytest.mark.parametrize(
    ("count", "last_delta"), [(0, -1), (0, 4), (-1, -2), (4, 4), (6, 4), (5, 5), (5, 3), (4, 3), (6, 5)]
)
def test_count_and_last_offset_delta(codec: CompressionType, count: int, last_delta: int) -> None:
    data = write_batch(RECORDS, BatchOptions(compression=codec))
    struct.pack_into(">i", data, 57, count)
    struct.pack_into(">i", data, 23, last_delta)
    assert _code(_sealed(data)) == (ErrorCode.INVALID_RECORD, [])


@CODECS
def test_offset_deltas(codec: CompressionType) -> None:
    records = [(0, NOW, b"k", b"v", ()), (2, NOW, b"k", b"v", ()), (3, NOW, b"k", b"v", ())]
    data = write_batch(records, BatchOptions(compression=codec))
    struct.pack_into(">i", data, 23, 2)
    assert _code(_sealed(data)) == (ErrorCode.INVALID_RECORD, [1, 2])


def test_malformed_records() -> None:
    codes = set()
    for at in range(61, len(write_batch(RECORDS))):
        data = write_batch(RECORDS)
        data[at] ^= 0x80
        with suppress_refusal(codes):
            _check(_sealed(data))
    assert codes == {ErrorCode.INVALID_RECORD}


def test_clients_write_no_control_batches_but_coordinators_do() -> None:
    marker = EndTransactionMarker(ControlRecordType.COMMIT, 1)
    data = write_end_marker(marker, producer_id=1, producer_epoch=0, timestamp=NOW)
    assert _code(data) == (ErrorCode.INVALID_RECORD, [])
    validate(Batch(data), AppendRules(), NOW, AppendOrigin.COORDINATOR)


def test_a_producer_id_needs_a_sequence() -> None:
    assert _code(write_batch(RECORDS, BatchOptions(producer_id=5, producer_epoch=0))) == (ErrorCode.INVALID_RECORD, [])
    _check(write_batch(RECORDS, BatchOptions(producer_id=5, producer_epoch=0, base_sequence=0)))


@CODECS
def test_compacted_topics_need_keys(codec: CompressionType) -> None:
    records = [(offset, NOW, None if offset % 2 else b"k", b"v", ()) for offset in range(5)]
    data = write_batch(records, BatchOptions(compression=codec))
    _check(data)
    assert _code(data, AppendRules(compacted=True)) == (ErrorCode.INVALID_RECORD, [1, 3])


@CODECS
def test_timestamps_have_bounds(codec: CompressionType) -> None:
    times = [NOW, NOW - 1000, NOW - 1001, -1, NOW + 500, NOW + 501, 2**63 - 1, -(2**63)]
    records = [(offset, time, b"k", b"v", ()) for offset, time in enumerate(times)]
    data = write_batch(records, BatchOptions(compression=codec))
    rules = AppendRules(timestamp_before_max_ms=1000, timestamp_after_max_ms=500)
    assert _code(data, rules) == (ErrorCode.INVALID_TIMESTAMP, [2, 5, 6, 7])
    _check(data, AppendRules(timestamp_type=TimestampType.LOG_APPEND_TIME, timestamp_after_max_ms=0))


def test_a_missing_key_and_a_bad_timestamp_make_one_answer() -> None:
    data = write_batch([(0, NOW, None, b"v", ()), (1, NOW * 2, b"k", b"v", ())])
    assert _code(data, AppendRules(compacted=True)) == (ErrorCode.INVALID_TIMESTAMP, [0, 1])


def test_the_default_bounds_are_kafkas() -> None:
    _check(write_batch([(0, NOW + 3_600_000, None, b"v", ())]))
    _check(write_batch([(0, 0, None, b"v", ())]))
    assert _code(write_batch([(0, NOW + 3_600_001, None, b"v", ())])) == (ErrorCode.INVALID_TIMESTAMP, [0])


def test_producers_may_not_claim_log_append_time() -> None:
    stamped = write_batch(RECORDS[:2], BatchOptions(log_append_time=NOW - 5))
    assert _code(stamped, LOG_APPEND_TIME) == (ErrorCode.INVALID_TIMESTAMP, [0, 1])
    unstamped = write_batch(RECORDS[:2], BatchOptions(log_append_time=-1))
    assert _code(unstamped) == (ErrorCode.INVALID_TIMESTAMP, [0, 1])
    # As in Apache Kafka: within bounds on a CreateTime topic the claim is dropped, the time kept as the highest.
    _check(stamped).assign(0, 0)
    assert Batch(stamped).timestamp_type is TimestampType.CREATE_TIME
    assert Batch(stamped).max_timestamp == NOW - 5


def test_lz4_that_no_java_consumer_could_read() -> None:
    section = bytes(write_batch(RECORDS)[61:])
    for linked, code in ((False, None), (True, ErrorCode.UNKNOWN_SERVER_ERROR)):
        compressor = cramjam.lz4.Compressor(block_linked=linked)
        compressor.compress(section)
        data = write_batch(RECORDS, BatchOptions(compression=CompressionType.LZ4))[:61] + bytes(compressor.finish())
        struct.pack_into(">i", data, 8, len(data) - 12)
        if code is None:
            _check(_sealed(data))
        else:
            assert _code(_sealed(data)) == (code, [])


def test_a_claim_of_log_append_time_stands_for_every_timestamp() -> None:
    records = [(0, NOW * 2, b"k", b"v", ()), (1, NOW * 2, None, b"v", ())]
    claimed = write_batch(records, BatchOptions(log_append_time=NOW))
    assert _code(claimed, AppendRules(compacted=True)) == (ErrorCode.INVALID_RECORD, [1])
    beyond = write_batch(records, BatchOptions(log_append_time=NOW * 2))
    assert _code(beyond, AppendRules(compacted=True)) == (ErrorCode.INVALID_TIMESTAMP, [0, 1])


def test_bounds_of_timestamps_that_int64_cannot_hold() -> None:
    rules = AppendRules(timestamp_before_max_ms=2**63 - 1, timestamp_after_max_ms=2**63 - 1, compacted=True)
    data = write_batch([(0, -(2**63), b"k", b"v", ()), (1, 2**63 - 1, None, b"v", ())])
    assert _code(data, rules) == (ErrorCode.INVALID_TIMESTAMP, [0, 1])


def test_one_bad_record_at_the_end_of_many_costs_no_object_for_the_others() -> None:
    count = 20_000
    data = write_batch(
        [(offset, NOW, b"k", b"v" * 50, ()) for offset in range(count - 1)] + [(count - 1, NOW, None, b"", ())]
    )
    rules = AppendRules(compacted=True, max_message_bytes=1 << 24)
    with no_iteration():
        assert _code(data, rules) == (ErrorCode.INVALID_RECORD, [count - 1])


@pytest.mark.parametrize("rules", [AppendRules(compacted=True), AppendRules(timestamp_after_max_ms=0)])
def test_refusals_survive_a_trip_to_another_process(rules: AppendRules) -> None:
    with pytest.raises(ApiError) as caught:
        _check(write_batch([(0, NOW + 1, None, b"v", ())]), rules)
    again = pickle.loads(pickle.dumps(caught.value))
    assert type(again) is type(caught.value)
    assert (again.code, str(again)) == (caught.value.code, str(caught.value))
    assert again.record_errors == caught.value.record_errors != []


def test_the_list_of_record_errors_has_an_end() -> None:
    data = write_batch([(offset, NOW, None, None, ()) for offset in range(RECORD_ERRORS_MAX + 10)])
    code, indexes = _code(data, AppendRules(compacted=True))
    assert (code, indexes) == (ErrorCode.INVALID_RECORD, list(range(RECORD_ERRORS_MAX)))
