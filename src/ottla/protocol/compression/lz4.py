"""lz4 frames as Kafka's Java client writes them: independent blocks of 64 KiB, no checksums but the header's.

What Kafka's reader refuses is refused, as no Java consumer could get past it: blocks that depend on earlier ones,
dictionaries, reserved bits, a missing end mark. Like it we check block checksums, but neither the content's size nor
its checksum, take a block of nothing for the end, and ignore what follows the frame. Clients for magic 0 computed the
header checksum over too many bytes; `repaired` puts the right one in its place.
"""

import struct
from collections.abc import Iterator
from typing import NamedTuple

import cramjam

from ottla.base.buffer import Buffer
from ottla.protocol.compression.failure import corrupt, too_large

_MAGIC = b"\x04\x22\x4d\x18"
_BLOCK_BYTES = 64 * 1024
# Version 1, independent blocks; blocks of 64 KiB; then the header checksum of exactly these two bytes.
_HEADER = _MAGIC + b"\x60\x40\x82"
_END_MARK = bytes(4)
# The flags in the first byte of the descriptor; of the second only bits 4 to 6 are in use.
_VERSION, _VERSION_MASK = 0x40, 0xC0
_INDEPENDENT, _BLOCK_CHECKSUMS, _CONTENT_SIZE, _CONTENT_CHECKSUM, _RESERVED = 0x20, 0x10, 0x08, 0x04, 0x03
_BLOCK_SIZE_CODE_MIN, _RESERVED_SIZE_BITS = 4, 0x8F
_STORED = 0x80000000
_LENGTH = struct.Struct("<I")
_EXPANSION_MAX = 255
# A block whose first byte is below this starts with no literals; with nothing behind it, it is a block of nothing.
_LITERAL = 0x10
# lz4-java's default level means its fast compressor; every other level means the high compressor of that level.
_FAST_LEVEL = 9
_HIGH_LEVEL_MIN, _HIGH_LEVEL_MAX = 3, 12


class _Frame(NamedTuple):
    """A frame's shape: its blocks as (start, size, stored), where they all end, and the most that they make."""

    block_bytes_max: int
    block_checksums: bool
    blocks: list[tuple[int, int, bool]]
    blocks_end: int
    size_max: int


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
        if frame.block_checksums:
            size = cramjam.lz4.decompress_into(_blocks_alone(data, frame), out) if frame.blocks else 0
        else:
            size = _decompress_blocks(data, frame, out)
    except cramjam.DecompressionError as error:
        if frame.size_max > max_bytes:
            raise too_large(max_bytes) from None
        raise corrupt("lz4", error) from None
    return memoryview(out)[:size]


def pieces(data: memoryview, workspace: bytearray, max_bytes: int) -> Iterator[memoryview]:
    """Decompresses in pieces, which lie in `workspace` until the next is asked for if blocks fit it."""
    frame = _parse(data)
    if frame.block_checksums:
        yield decompress(data, max_bytes)
        return
    if frame.block_bytes_max > len(workspace):
        workspace = bytearray(frame.block_bytes_max)
    view = memoryview(workspace)
    filled, made = 0, 0
    for start, size, stored in frame.blocks:
        if filled + frame.block_bytes_max > len(view):
            yield view[:filled]
            filled = 0
        try:
            size = _decompress_block(data[start : start + size], view[filled : filled + frame.block_bytes_max], stored)
        except cramjam.DecompressionError as error:
            raise corrupt("lz4", error, start) from None
        filled += size
        made += size
        if made > max_bytes:
            raise too_large(max_bytes)
    yield view[:filled]


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
    level = max(_HIGH_LEVEL_MIN, min(level, _HIGH_LEVEL_MAX))
    compressor = cramjam.lz4.Compressor(level=level, content_checksum=False, block_linked=False)
    compressor.compress(bytes(chunk))
    frame = memoryview(compressor.finish())
    start, size, stored = _parse(frame).blocks[0]
    return chunk if stored else frame[start : start + size]


def _blocks_alone(data: memoryview, frame: _Frame) -> bytes:
    """A frame of the same blocks and their checksums, without the size and checksum of all, which Kafka ignores."""
    descriptor = bytes((_VERSION | _INDEPENDENT | _BLOCK_CHECKSUMS, data[5]))
    checksum = bytes((_header_checksum(memoryview(descriptor)),))
    blocks = data[frame.blocks[0][0] - _LENGTH.size : frame.blocks_end]
    return b"".join((_MAGIC, descriptor, checksum, blocks, _END_MARK))


def _decompress_blocks(data: memoryview, frame: _Frame, out: bytearray) -> int:
    view = memoryview(out)
    filled = 0
    for start, size, stored in frame.blocks:
        room = view[filled : filled + frame.block_bytes_max]
        filled += _decompress_block(data[start : start + size], room, stored)
    return filled


def _decompress_block(block: memoryview, room: memoryview, stored: int) -> int:
    if not stored:
        size: int = cramjam.lz4.decompress_block_into(block, room, output_len=len(room))
        return size
    if len(block) > len(room):
        raise cramjam.DecompressionError("no room for a stored block")
    room[: len(block)] = block
    return len(block)


def _descriptor_end(data: memoryview) -> int:
    """Where the header checksum lies."""
    if len(data) < len(_HEADER) or data[:4] != _MAGIC:
        raise corrupt("lz4", "no frame starts here", 0)
    flags, sizes = data[4], data[5]
    if flags & _VERSION_MASK != _VERSION:
        raise corrupt("lz4", "unknown version", 4)
    if not flags & _INDEPENDENT:
        raise corrupt("lz4", "its blocks depend on each other", 4)
    if flags & _RESERVED:
        raise corrupt("lz4", "it has a dictionary or a reserved flag", 4)
    if sizes & _RESERVED_SIZE_BITS or sizes >> 4 < _BLOCK_SIZE_CODE_MIN:
        raise corrupt("lz4", "unknown block size", 5)
    end = 6 + (8 if flags & _CONTENT_SIZE else 0)
    if end >= len(data):
        raise corrupt("lz4", "it ends inside the header", len(data))
    return end


def _parse(data: memoryview) -> _Frame:
    end = _descriptor_end(data)
    flags = data[4]
    if _header_checksum(data[4:end]) != data[end]:
        raise corrupt("lz4", "the header's checksum is wrong", end)
    block_bytes_max = 1 << 2 * (data[5] >> 4) + 8
    checksum_bytes = 4 if flags & _BLOCK_CHECKSUMS else 0
    blocks: list[tuple[int, int, bool]] = []
    position, size_max = end + 1, 0
    while True:
        if position + _LENGTH.size > len(data):
            raise corrupt("lz4", "it ends before its end mark", position)
        length = _LENGTH.unpack_from(data, position)[0]
        start = position + _LENGTH.size
        size, stored = length & ~_STORED, bool(length & _STORED)
        if size == 0:
            break
        if size > block_bytes_max or size + checksum_bytes > len(data) - start:
            raise corrupt("lz4", f"a block of {size} bytes", start)
        if size == 1 and not stored and data[start] < _LITERAL:
            return _Frame(block_bytes_max, bool(checksum_bytes), blocks, position, size_max)
        blocks.append((start, size, stored))
        size_max += size if stored else min(block_bytes_max, _EXPANSION_MAX * size)
        position = start + size + checksum_bytes
    if flags & _CONTENT_CHECKSUM and start + 4 > len(data):
        raise corrupt("lz4", "it ends before its checksum", start)
    return _Frame(block_bytes_max, bool(checksum_bytes), blocks, position, size_max)


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
