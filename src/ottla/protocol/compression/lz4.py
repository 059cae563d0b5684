"""lz4 frames as Kafka's Java client writes them: independent blocks of 64 KiB, no checksums but the header's.

Clients for magic 0 computed the header checksum over too many bytes; `repaired` puts the right one in its place.
Kafka reads one frame and ignores what follows it; so do we.
"""

import struct
from typing import NamedTuple

import cramjam

from ottla.base.buffer import Buffer
from ottla.protocol.compression.refusal import corrupt, too_large

_MAGIC = b"\x04\x22\x4d\x18"
_BLOCK_BYTES = 64 * 1024
# Version 1, independent blocks; blocks of 64 KiB; then the header checksum of exactly these two bytes.
_HEADER = _MAGIC + b"\x60\x40\x82"
_END_MARK = bytes(4)
_STORED = 0x80000000
_LENGTH = struct.Struct("<I")
_EXPANSION_MAX = 255
# lz4-java's default level means its fast compressor; every other level means the high compressor of that level.
_FAST_LEVEL = 9
_HIGH_LEVEL_MIN, _HIGH_LEVEL_MAX = 3, 12


class _Frame(NamedTuple):
    """A frame's shape: its blocks as (start, size, stored), and the most that it makes."""

    block_bytes_max: int
    independent: bool
    block_checksums: bool
    blocks: list[tuple[int, int, bool]]
    size_max: int
    end: int


def compress(data: Buffer, level: int) -> bytes:
    """One frame."""
    source = memoryview(data).cast("B")
    out = bytearray(_HEADER)
    for start in range(0, len(source), _BLOCK_BYTES):
        chunk = source[start : start + _BLOCK_BYTES]
        block = _fast_block(chunk) if level == _FAST_LEVEL else _high_block(chunk, level)
        if len(block) < len(chunk):
            out += _LENGTH.pack(len(block))
            out += block
        else:
            out += _LENGTH.pack(len(chunk) | _STORED)
            out += chunk
    return bytes(out + _END_MARK)


def decompress(data: memoryview, max_bytes: int) -> memoryview:
    """The contents of the first frame."""
    frame = _parse(data)
    out = bytearray(min(frame.size_max, max_bytes))
    try:
        if frame.independent and not frame.block_checksums:
            size = _decompress_blocks(data, frame, out)
        else:
            size = cramjam.lz4.decompress_into(data[: frame.end], out)
    except cramjam.DecompressionError as error:
        if frame.size_max > max_bytes:
            raise too_large(max_bytes) from None
        raise corrupt("lz4", error) from None
    return memoryview(out)[:size]


def repaired(data: memoryview) -> memoryview:
    """The frame with the header checksum that its header should have."""
    end = _descriptor_end(data)
    fixed = bytearray(data)
    fixed[end] = _header_checksum(data[4:end])
    return memoryview(fixed)


def _fast_block(chunk: memoryview) -> bytes:
    return bytes(cramjam.lz4.compress_block(chunk, store_size=False))


def _high_block(chunk: memoryview, level: int) -> memoryview:
    """The only block of a frame that cramjam writes: its block functions know no levels."""
    frame = memoryview(cramjam.lz4.compress(chunk, level=max(_HIGH_LEVEL_MIN, min(level, _HIGH_LEVEL_MAX))))
    start, size, stored = _parse(frame).blocks[0]
    return chunk if stored else frame[start : start + size]


def _decompress_blocks(data: memoryview, frame: _Frame, out: bytearray) -> int:
    view = memoryview(out)
    filled = 0
    for start, size, stored in frame.blocks:
        block = data[start : start + size]
        room = view[filled : filled + frame.block_bytes_max]
        if not stored:
            filled += cramjam.lz4.decompress_block_into(block, room, output_len=len(room))
        elif size <= len(room):
            room[:size] = block
            filled += size
        else:
            raise cramjam.DecompressionError("no room for a stored block")
    return filled


def _descriptor_end(data: memoryview) -> int:
    """Where the header checksum lies."""
    if len(data) < len(_HEADER) or data[:4] != _MAGIC:
        raise corrupt("lz4", "no frame starts here", 0)
    flags = data[4]
    end = 6 + (8 if flags & 0x08 else 0) + (4 if flags & 0x01 else 0)
    if end >= len(data):
        raise corrupt("lz4", "it ends inside the header", len(data))
    return end


def _parse(data: memoryview) -> _Frame:
    end = _descriptor_end(data)
    flags, block_size_code = data[4], data[5] >> 4 & 7
    if flags >> 6 != 1 or block_size_code < 4:
        raise corrupt("lz4", "unknown version or block size", 4)
    if _header_checksum(data[4:end]) != data[end]:
        raise corrupt("lz4", "the header's checksum is wrong", end)
    block_bytes_max = 1 << 2 * block_size_code + 8
    checksum_bytes = 4 if flags & 0x10 else 0
    blocks, position = [], end + 1
    size_max = 0
    while True:
        if position + 4 > len(data):
            raise corrupt("lz4", "it ends before its end mark", position)
        length = _LENGTH.unpack_from(data, position)[0]
        position += 4
        size = length & ~_STORED
        if size == 0:
            break
        if size > block_bytes_max or size + checksum_bytes > len(data) - position:
            raise corrupt("lz4", f"a block of {size} bytes", position)
        stored = bool(length & _STORED)
        blocks.append((position, size, stored))
        size_max += size if stored else min(block_bytes_max, _EXPANSION_MAX * size)
        position += size + checksum_bytes
    position += 4 if flags & 0x04 else 0
    return _Frame(block_bytes_max, bool(flags & 0x20), bool(checksum_bytes), blocks, size_max, position)


def _header_checksum(descriptor: memoryview) -> int:
    """The second byte of xxHash-32, in its form for less than 16 bytes."""
    mask = 0xFFFFFFFF
    value = 374761393 + len(descriptor)
    words = len(descriptor) // 4 * 4
    for start in range(0, words, 4):
        value = value + _LENGTH.unpack_from(descriptor, start)[0] * 3266489917 & mask
        value = (value << 17 | value >> 15) * 668265263 & mask
    for byte in descriptor[words:]:
        value = value + byte * 374761393 & mask
        value = (value << 11 | value >> 21) * 2654435761 & mask
    value ^= value >> 15
    value = value * 2246822519 & mask
    value ^= value >> 13
    value = value * 3266489917 & mask
    value ^= value >> 16
    return value >> 8 & 0xFF
