"""Old message sets, also malformed ones; the sound ones are among the vectors."""

import struct
import zlib

import pytest

from ottla.protocol.compression import CompressionType, compress
from ottla.protocol.errors import CorruptMessageError, DecodeError, MessageTooLargeError
from ottla.protocol.records.batch import batches
from ottla.protocol.records.legacy import convert, read_message
from ottla.protocol.records.reader import ReadOptions, read_tuples


def _field(data: bytes | None) -> bytes:
    return b"\xff\xff\xff\xff" if data is None else struct.pack(">i", len(data)) + data


def _message(offset: int, magic: int, value: bytes | None, attributes: int = 0, timestamp: int = 0) -> bytes:
    body = bytes([magic, attributes]) + (struct.pack(">q", timestamp) if magic else b"") + _field(None) + _field(value)
    return struct.pack(">qiI", offset, len(body) + 4, zlib.crc32(body)) + body


def _values(data: bytes) -> list[tuple[int, int, bytes | None]]:
    return [(record[0], record[1], record[3]) for record in read_tuples(data)]


def test_relative_offsets_count_back_from_the_wrapper() -> None:
    inner = b"".join(_message(index, 1, b"%d" % index, timestamp=50 + index) for index in range(3))
    wrapper = _message(12, 1, compress(CompressionType.GZIP, inner), attributes=1, timestamp=99)
    assert _values(wrapper) == [(10, 50, b"0"), (11, 51, b"1"), (12, 52, b"2")]


def test_a_wrapper_at_offset_0_starts_there() -> None:
    inner = b"".join(_message(index, 1, b"%d" % index) for index in range(3))
    assert [offset for offset, _, _ in _values(_message(0, 1, compress(CompressionType.GZIP, inner), 1))] == [0, 1, 2]


def test_log_append_time_of_a_wrapper_is_everyones() -> None:
    inner = b"".join(_message(index, 1, b"", timestamp=50) for index in range(2))
    wrapper = _message(1, 1, compress(CompressionType.SNAPPY, inner), attributes=0x08 | 2, timestamp=99)
    assert _values(wrapper) == [(0, 99, b""), (1, 99, b"")]


def test_inner_offsets_of_magic_0_are_absolute() -> None:
    inner = _message(40, 0, b"a") + _message(44, 0, b"b")
    assert _values(_message(44, 0, compress(CompressionType.GZIP, inner), 1)) == [(40, -1, b"a"), (44, -1, b"b")]


def test_lz4_of_magic_0_has_a_wrong_header_checksum() -> None:
    inner = _message(0, 0, b"a" * 1000)
    frame = bytearray(compress(CompressionType.LZ4, inner))
    frame[6] = 0x55
    assert _values(_message(0, 0, bytes(frame), 3)) == [(0, -1, b"a" * 1000)]
    with pytest.raises(DecodeError, match="checksum"):
        read_tuples(_message(0, 1, bytes(frame), 3))


def test_old_and_new_batches_in_one_log() -> None:
    data = _message(0, 0, b"a") + _message(1, 1, b"b", timestamp=5)
    assert _values(data + bytes(convert(_message(2, 1, b"c", timestamp=6)))) == [
        (0, -1, b"a"),
        (1, 5, b"b"),
        (2, 6, b"c"),
    ]


def test_plain_messages_share_a_batch_when_converted() -> None:
    run = b"".join(_message(offset, 1, b"x", timestamp=offset) for offset in (3, 4, 9))
    stamped = _message(10, 1, b"x", attributes=0x08, timestamp=77)
    assert convert(run + stamped).count(b"\x02", 16, 17) == 1
    assert _values(bytes(convert(run + stamped))) == [(3, 3, b"x"), (4, 4, b"x"), (9, 9, b"x"), (10, 77, b"x")]


def test_offsets_that_do_not_rise_are_converted_to_more_batches() -> None:
    data = _message(5, 0, b"a") + _message(5, 0, b"b") + _message(2**40, 0, b"c")
    assert [offset for offset, _, _ in _values(bytes(convert(data)))] == [5, 5, 2**40]


def test_a_set_cut_short_is_read_as_far_as_it_goes() -> None:
    data = _message(0, 1, b"a") + _message(1, 1, b"b")
    assert len(read_tuples(data[:-1])) == 1
    inner = compress(CompressionType.GZIP, data[:-1])
    assert len(read_tuples(_message(1, 1, inner, 1))) == 1


def test_a_bomb_stops_at_the_limit() -> None:
    bomb = _message(0, 1, compress(CompressionType.GZIP, _message(0, 1, bytes(100_000))), 1)
    with pytest.raises(MessageTooLargeError):
        read_tuples(bomb, ReadOptions(decompressed_bytes_max=50_000))


@pytest.mark.parametrize("at", range(16, 26))
def test_a_changed_byte_is_noticed(at: int) -> None:
    data = bytearray(_message(0, 0, b"value"))
    data[at] ^= 0x80
    with pytest.raises((CorruptMessageError, DecodeError)):
        read_tuples(data)


@pytest.mark.parametrize(
    ("data", "match"),
    [
        (_message(0, 1, None, 1), "without a message set"),
        (_message(0, 1, compress(CompressionType.ZSTD, _message(0, 1, b"")), 4), "without a message set"),
        (_message(0, 1, compress(CompressionType.GZIP, b""), 1), "none inside"),
        (_message(0, 1, b"garbage", 1), "not gzip data"),
        (_message(0, 1, compress(CompressionType.GZIP, bytes(30)), 1), "a message of 0 bytes"),
        (_message(1, 1, compress(CompressionType.GZIP, _message(9, 1, b"")), 1), "before the last inner one"),
        (_message(0, 1, compress(CompressionType.GZIP, _message(0, 1, b"", 1)), 1), "inside another"),
    ],
)
def test_malformed_wrappers(data: bytes, match: str) -> None:
    with pytest.raises(DecodeError, match=match):
        read_message(data)


@pytest.mark.parametrize("size", range(30))
def test_messages_that_end_too_early(size: int) -> None:
    message = _message(0, 1, b"value")
    short = message[:8] + struct.pack(">i", max(size - 12, 0)) + message[12:size]
    with pytest.raises(DecodeError):
        read_message(short, check_crcs=False)


def test_converted_to_another_codec() -> None:
    inner = b"".join(_message(index, 1, b"%d" % index, timestamp=50 + index) for index in range(3))
    data = _message(12, 1, compress(CompressionType.GZIP, inner), attributes=1) + _message(13, 1, b"p")
    own = [batch.compression for batch in batches(convert(data))]
    assert own == [CompressionType.GZIP, CompressionType.NONE]
    for codec in (CompressionType.NONE, CompressionType.ZSTD):
        converted = convert(data, compression=codec)
        assert {batch.compression for batch in batches(converted)} == {codec}
        assert read_tuples(converted) == read_tuples(data)


def test_offsets_wrap_at_64_bits_as_in_java() -> None:
    inner = _message(3, 1, b"a") + _message(-(2**63), 1, b"b")
    wrapper = _message(5, 1, compress(CompressionType.GZIP, inner), attributes=1)
    with pytest.raises(DecodeError, match="before the last inner one"):
        read_tuples(wrapper)
    inner = _message(2**63 - 1, 1, b"a") + _message(3, 1, b"b")
    wrapper = _message(5, 1, compress(CompressionType.GZIP, inner), attributes=1)
    assert [offset for offset, _, _ in _values(wrapper)] == [-(2**63) + 1, 5]
    assert _values(bytes(convert(wrapper))) == _values(wrapper)
