"""Codecs: round trips, Java's framing, limits, and bytes that no codec wrote."""

import random
import struct
import zlib
from contextlib import suppress

import cramjam
import pytest

from ottla.protocol.compression import CompressionType, compress, decompress, is_costly, pieces
from ottla.protocol.compression.compression_type import CompressionLevelError
from ottla.protocol.errors import DecodeError, MessageTooLargeError, UnsupportedCompressionTypeError

REAL = [CompressionType.GZIP, CompressionType.SNAPPY, CompressionType.LZ4, CompressionType.ZSTD]
_RANDOM = random.Random(7)
NOISE = _RANDOM.randbytes(150_000)
TEXT = b" ".join(b"%d" % _RANDOM.randrange(1000) for _ in range(60_000))
SAMPLES = [b"", b"x", b"hello" * 3, NOISE, TEXT, bytes(300_000), TEXT[:65_536], NOISE[:32_768] + TEXT]
LEVELS = {
    CompressionType.GZIP: [-1, 1, 9],
    CompressionType.LZ4: [1, 9, 12, 17],
    CompressionType.ZSTD: [-131072, -1, 3, 7],
}
each = pytest.mark.parametrize("codec", REAL, ids=lambda codec: codec.config_name)


@pytest.mark.parametrize("codec", CompressionType)
@pytest.mark.parametrize("data", SAMPLES, ids=len)
def test_round_trip(codec: CompressionType, data: bytes) -> None:
    for level in (None, *LEVELS.get(codec, [])):
        assert decompress(codec, compress(codec, data, level)) == data
        assert decompress(codec, memoryview(compress(codec, memoryview(data), level))) == data


@each
def test_compression_compresses(codec: CompressionType) -> None:
    assert len(compress(codec, TEXT)) < 0.8 * len(TEXT)


def test_levels_change_the_size() -> None:
    for codec, (low, high) in {
        CompressionType.GZIP: (1, 9),
        CompressionType.LZ4: (9, 12),
        CompressionType.ZSTD: (-9, 9),
    }.items():
        assert len(compress(codec, TEXT, high)) < len(compress(codec, TEXT, low))


@each
def test_output_stops_at_the_limit(codec: CompressionType) -> None:
    for data in SAMPLES[3:]:
        packed = compress(codec, data)
        assert decompress(codec, packed, len(data)) == data
        with pytest.raises(MessageTooLargeError):
            decompress(codec, packed, len(data) - 1)


def test_uncompressed_data_has_the_limit_too() -> None:
    with pytest.raises(MessageTooLargeError):
        decompress(CompressionType.NONE, b"12345", 4)


@each
def test_data_cut_short(codec: CompressionType) -> None:
    packed = compress(codec, TEXT[:40_000])
    for size in (0, 1, 5, 15, len(packed) // 2, len(packed) - 1):
        with pytest.raises(DecodeError):
            decompress(codec, packed[:size])


@each
def test_noise(codec: CompressionType) -> None:
    for size in (0, 1, 3, 4, 7, 20, 1000):
        with pytest.raises(DecodeError):
            decompress(codec, NOISE[:size])


@each
def test_changed_bytes_end_in_data_or_in_an_error_of_ours(codec: CompressionType) -> None:
    packed = compress(codec, TEXT[:5000])
    for at in range(len(packed)):
        for bit in (0x01, 0x80):
            changed = bytearray(packed)
            changed[at] ^= bit
            with suppress(DecodeError, MessageTooLargeError):
                decompress(codec, changed, 100_000)


def test_snappy_is_framed_as_xerial_frames_it() -> None:
    packed = compress(CompressionType.SNAPPY, bytes(70_000))
    assert packed[:16] == b"\x82SNAPPY\x00\0\0\0\x01\0\0\0\x01"
    sizes, position = [], 16
    while position < len(packed):
        size = struct.unpack_from(">i", packed, position)[0]
        sizes.append(cramjam.snappy.decompress_raw_len(packed[position + 4 : position + 4 + size]))
        position += 4 + size
    assert sizes == [32_768, 32_768, 4_464]


def test_snappy_without_a_frame_and_in_two() -> None:
    assert decompress(CompressionType.SNAPPY, bytes(cramjam.snappy.compress_raw(TEXT))) == TEXT
    assert decompress(CompressionType.SNAPPY, compress(CompressionType.SNAPPY, b"a") * 2) == b"aa"


def test_snappy_ends_where_no_block_can_follow() -> None:
    packed = compress(CompressionType.SNAPPY, b"a")
    for tail in (b"\0", b"\0\0", b"\xff\xff\xff"):
        assert decompress(CompressionType.SNAPPY, packed + tail) == b"a"


@pytest.mark.parametrize(("version", "known"), [(1, True), (2, True), (0, False), (-1, False)])
def test_snappy_headers_between_blocks_need_a_known_version(version: int, known: bool) -> None:
    first = compress(CompressionType.SNAPPY, b"a")
    changed = first[:8] + struct.pack(">i", version) + first[12:]
    assert decompress(CompressionType.SNAPPY, changed + first) == b"aa"
    if known:
        assert decompress(CompressionType.SNAPPY, first + changed) == b"aa"
    else:
        with pytest.raises(DecodeError, match="version"):
            decompress(CompressionType.SNAPPY, first + changed)


def test_snappy_headers_between_blocks_are_known_by_four_bytes() -> None:
    first = compress(CompressionType.SNAPPY, b"a")
    assert decompress(CompressionType.SNAPPY, first + first[:4] + b"xxxx" + first[8:]) == b"aa"
    for cut in (5, 15):
        with pytest.raises(DecodeError, match="inside the header"):
            decompress(CompressionType.SNAPPY, first + first[:cut])


def test_snappy_that_promises_gigabytes_gets_none() -> None:
    block = b"\xff\xff\xff\xff\x0f" + b"\0" * 20
    for data in (block, compress(CompressionType.SNAPPY, b"") + struct.pack(">i", len(block)) + block):
        with pytest.raises(DecodeError, match="cannot hold"):
            decompress(CompressionType.SNAPPY, data, 2**33)


@pytest.mark.parametrize("length", [-1, 5, 2**31 - 1])
def test_snappy_blocks_outside_the_data(length: int) -> None:
    with pytest.raises(DecodeError):
        decompress(CompressionType.SNAPPY, compress(CompressionType.SNAPPY, b"") + struct.pack(">i", length) + b"abcd")


def test_lz4_has_the_header_that_java_writes() -> None:
    packed = compress(CompressionType.LZ4, TEXT)
    assert packed[:7] == bytes.fromhex("04224d18604082")
    assert packed[-4:] == bytes(4)


def test_lz4_stores_what_does_not_shrink() -> None:
    packed = compress(CompressionType.LZ4, NOISE[:1000])
    assert packed[7:11] == struct.pack("<I", 1000 | 0x80000000)
    assert packed[11:1011] == NOISE[:1000]


def test_gzip_members_in_a_row_and_garbage_behind_them() -> None:
    member = compress(CompressionType.GZIP, b"ab")
    assert decompress(CompressionType.GZIP, member * 3 + b"garbage") == b"ababab"
    with pytest.raises(MessageTooLargeError):
        decompress(CompressionType.GZIP, member * 3, 5)


def test_many_tiny_gzip_members_take_linear_time() -> None:
    member = zlib.compress(b"", 9, 31)
    assert decompress(CompressionType.GZIP, member * 20_000) == b""


def test_zstd_frames_in_a_row_and_skippable_ones() -> None:
    skippable = struct.pack("<II", 0x184D2A53, 3) + b"abc"
    frame = compress(CompressionType.ZSTD, TEXT)
    assert decompress(CompressionType.ZSTD, frame + skippable + frame) == TEXT * 2
    with pytest.raises(MessageTooLargeError):
        decompress(CompressionType.ZSTD, frame * 2, 2 * len(TEXT) - 1)


def test_zstd_that_repeats_a_byte_for_ever() -> None:
    header = bytes.fromhex("28b52ffd0058")
    repeated = struct.pack("<I", 1 << 1 | 131_072 << 3)[:3] + b"x"
    last = struct.pack("<I", 1 | 1 << 1 | 131_072 << 3)[:3] + b"x"
    assert len(decompress(CompressionType.ZSTD, header + repeated * 3 + last)) == 4 * 131_072
    with pytest.raises(MessageTooLargeError):
        decompress(CompressionType.ZSTD, header + repeated * 200_000 + last, 1_000_000)


def test_ids_and_names() -> None:
    assert [CompressionType.from_id(codec_id).config_name for codec_id in range(5)] == [
        "none",
        "gzip",
        "snappy",
        "lz4",
        "zstd",
    ]
    assert all(CompressionType.from_name(codec.config_name) is codec for codec in CompressionType)
    for codec_id in (-1, 5, 6, 7):
        with pytest.raises(UnsupportedCompressionTypeError):
            CompressionType.from_id(codec_id)
    with pytest.raises(UnsupportedCompressionTypeError):
        CompressionType.from_name("brotli")


@pytest.mark.parametrize(
    ("codec", "level"),
    [
        (CompressionType.NONE, 1),
        (CompressionType.SNAPPY, 1),
        (CompressionType.GZIP, 0),
        (CompressionType.GZIP, 10),
        (CompressionType.LZ4, 0),
        (CompressionType.LZ4, 18),
        (CompressionType.ZSTD, 23),
        (CompressionType.ZSTD, -131073),
    ],
)
def test_levels_that_kafka_refuses(codec: CompressionType, level: int) -> None:
    with pytest.raises(CompressionLevelError):
        compress(codec, b"", level)


def test_default_levels() -> None:
    assert [codec.default_level for codec in CompressionType] == [None, -1, None, 9, 3]


def in_pieces(codec: CompressionType, packed: bytes, max_bytes: int = 1 << 30, workspace_bytes: int = 65_536) -> bytes:
    return b"".join(map(bytes, pieces(codec, packed, bytearray(workspace_bytes), max_bytes)))


@each
@pytest.mark.parametrize("workspace_bytes", [65_536, 100_000, 1 << 20])
def test_pieces_make_up_the_whole(codec: CompressionType, workspace_bytes: int) -> None:
    for data in SAMPLES:
        for level in (None, *LEVELS.get(codec, [])):
            packed = compress(codec, data, level)
            assert in_pieces(codec, packed, len(data), workspace_bytes) == data


@each
def test_pieces_stop_at_the_limit(codec: CompressionType) -> None:
    for data in SAMPLES[3:]:
        for workspace_bytes in (65_536, 1 << 20):
            with pytest.raises(MessageTooLargeError):
                in_pieces(codec, compress(codec, data), len(data) - 1, workspace_bytes)


@each
def test_pieces_of_changed_or_cut_bytes_are_those_of_the_whole(codec: CompressionType) -> None:
    packed = compress(codec, TEXT[:5000])
    changed = [packed[:size] for size in range(len(packed))]
    for at in range(len(packed)):
        for bit in (0x01, 0x80):
            changed.append(packed[:at] + bytes((packed[at] ^ bit,)) + packed[at + 1 :])
    for data in changed:
        try:
            whole = bytes(decompress(codec, data, 100_000))
        except (DecodeError, MessageTooLargeError):
            with pytest.raises((DecodeError, MessageTooLargeError)):
                in_pieces(codec, data, 100_000)
        else:
            assert in_pieces(codec, data, 100_000) == whole


@pytest.mark.parametrize("tail", [b"", b"\0", b"\0\0\0\0\0", b"xyz" * 50_000])
def test_gzip_pieces_of_many_members_and_what_follows_them(tail: bytes) -> None:
    packed = compress(CompressionType.GZIP, TEXT) + compress(CompressionType.GZIP, b"end") + tail
    assert in_pieces(CompressionType.GZIP, packed) == TEXT + b"end" == decompress(CompressionType.GZIP, packed)
    assert in_pieces(CompressionType.GZIP, packed, workspace_bytes=1 << 20) == TEXT + b"end"


def test_zstd_pieces_of_frames_of_every_kind() -> None:
    first, second = (compress(CompressionType.ZSTD, data) for data in (TEXT, b"end"))
    skippable = struct.pack("<II", 0x184D2A53, 5) + b"12345"
    packed = skippable + first + skippable + second
    assert in_pieces(CompressionType.ZSTD, packed) == TEXT + b"end" == decompress(CompressionType.ZSTD, packed)


@each
def test_what_expands_a_lot_is_costly_however_small(codec: CompressionType) -> None:
    assert is_costly(codec, memoryview(compress(codec, NOISE)))
    assert not is_costly(codec, memoryview(compress(codec, b"hello")))
    if codec in (CompressionType.ZSTD, CompressionType.GZIP):
        bomb = memoryview(compress(codec, bytes(3_000_000)))
        assert len(bomb) < 8192
        assert is_costly(codec, bomb)
