"""lz4 frames: those that Kafka's reader takes are read, those that it refuses are refused."""

import random
import struct

import cramjam
import pytest

from ottla.protocol.compression import CompressionType, compress, decompress
from ottla.protocol.compression.lz4 import repaired
from ottla.protocol.errors import DecodeError, MessageTooLargeError

TEXT = b" ".join(b"%d" % random.Random(7).randrange(1000) for _ in range(60_000))
STORED = 0x80000000
END = bytes(4)
EMPTY_BLOCK = b"\x01\0\0\0\0"


def framed(flags: int = 0x60, sizes: int = 0x40, *, blocks: bytes, more: bytes = b"", tail: bytes = END) -> bytes:
    """A frame with any descriptor, and the header checksum that belongs to it."""
    frame = b"\x04\x22\x4d\x18" + bytes((flags, sizes)) + more + b"\0" + blocks + tail
    end = 6 + len(more)
    return frame[:end] + bytes((checksum(frame[4:end]),)) + frame[end + 1 :]


def checksum(descriptor: bytes) -> int:
    """The byte that a header of these bytes has to have: found by trying which one is taken."""
    start = b"\x04\x22\x4d\x18" + descriptor
    for candidate in range(256):
        try:
            cramjam.lz4.decompress(start + bytes((candidate,)) + END)
        except cramjam.DecompressionError as error:
            if "headerChecksum" in str(error):
                continue
        return candidate
    raise AssertionError("no checksum is right")


def stored(data: bytes) -> bytes:
    return struct.pack("<I", len(data) | STORED) + data


def of_cramjam(data: bytes, *, linked: bool, content_checksum: bool = False, level: int = 9) -> bytes:
    """As aiokafka has its frames written: with a checksum after each block."""
    compressor = cramjam.lz4.Compressor(level=level, content_checksum=content_checksum, block_linked=linked)
    compressor.compress(data)
    return bytes(compressor.finish())


def read(frame: bytes, limit: int = 1 << 20) -> bytes:
    return bytes(decompress(CompressionType.LZ4, frame, limit))


@pytest.mark.parametrize("level", [1, 9, 12])
@pytest.mark.parametrize("content_checksum", [False, True])
def test_frames_of_other_writers(level: int, content_checksum: bool) -> None:
    frame = of_cramjam(TEXT, linked=False, content_checksum=content_checksum, level=level)
    assert read(frame) == TEXT
    assert read(frame + b"ignored") == TEXT
    with pytest.raises(MessageTooLargeError):
        read(frame, len(TEXT) - 1)


def test_a_wrong_block_checksum_is_refused() -> None:
    frame = bytearray(of_cramjam(TEXT, linked=False))
    frame[100] ^= 1
    with pytest.raises(DecodeError):
        read(bytes(frame))


def test_size_and_checksum_of_the_content_are_not_looked_at() -> None:
    frame = of_cramjam(TEXT, linked=False, content_checksum=True)
    assert read(frame[:-1] + bytes((frame[-1] ^ 1,))) == TEXT
    assert read(framed(0x64, blocks=stored(b"abc"), tail=END + b"none")) == b"abc"
    for size in (3, 4, 2**63):
        assert read(framed(0x68, more=struct.pack("<Q", size), blocks=stored(b"abc"))) == b"abc"


@pytest.mark.parametrize("sizes", [0x40, 0x50, 0x60, 0x70])
def test_every_block_size(sizes: int) -> None:
    block_bytes = 1 << 2 * (sizes >> 4) + 8
    assert read(framed(sizes=sizes, blocks=stored(bytes(block_bytes))), 1 << 23) == bytes(block_bytes)
    with pytest.raises(DecodeError):
        read(framed(sizes=sizes, blocks=stored(bytes(block_bytes + 1))), 1 << 23)


@pytest.mark.parametrize(
    ("flags", "sizes", "why"),
    [
        (0x40, 0x40, "depend on each other"),
        (0x61, 0x40, "dictionary"),
        (0x62, 0x40, "reserved"),
        (0x20, 0x40, "version"),
        (0xA0, 0x40, "version"),
        (0xE0, 0x40, "version"),
        (0x60, 0x00, "block size"),
        (0x60, 0x30, "block size"),
        (0x60, 0x41, "block size"),
        (0x60, 0xC0, "block size"),
    ],
)
def test_descriptors_that_kafka_refuses(flags: int, sizes: int, why: str) -> None:
    frame = framed(flags, sizes, more=bytes(4) if flags & 1 else b"", blocks=stored(b"abc"))
    with pytest.raises(DecodeError, match=why):
        read(frame)
    with pytest.raises(DecodeError, match=why):
        repaired(memoryview(frame))


def test_linked_blocks_are_refused_whoever_wrote_them() -> None:
    with pytest.raises(DecodeError, match="depend on each other"):
        read(of_cramjam(TEXT, linked=True))
    with pytest.raises(DecodeError, match="depend on each other"):
        read(bytes(cramjam.lz4.compress(TEXT)))


@pytest.mark.parametrize("flags", [0x60, 0x64])
def test_frames_need_their_whole_end(flags: int) -> None:
    frame = framed(flags, blocks=stored(b"abc"), tail=END + (bytes(4) if flags & 4 else b""))
    assert read(frame) == b"abc"
    for size in range(len(frame)):
        with pytest.raises(DecodeError):
            read(frame[:size])


def test_a_stored_block_of_no_length_ends_the_frame() -> None:
    assert read(framed(blocks=stored(b"abc"), tail=struct.pack("<I", STORED))) == b"abc"


@pytest.mark.parametrize("token", [0x00, 0x0F])
def test_a_block_of_nothing_ends_the_frame_as_it_does_for_kafka(token: int) -> None:
    nothing = b"\x01\0\0\0" + bytes((token,))
    assert read(framed(blocks=nothing + stored(b"abc"))) == b""
    assert read(framed(blocks=stored(b"abc") + nothing + stored(b"def"))) == b"abc"
    assert read(framed(0x70, blocks=nothing + b"hash")) == b""
    checked = of_cramjam(b"abc", linked=False)
    assert read(checked[:-4] + nothing + b"hash" + END) == b"abc"


@pytest.mark.parametrize("level", [None, 1, 12, 17])
def test_what_is_written_has_independent_blocks_at_every_level(level: int | None) -> None:
    assert compress(CompressionType.LZ4, TEXT, level)[:7] == bytes.fromhex("04224d18604082")
