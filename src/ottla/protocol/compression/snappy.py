"""snappy in the block framing of xerial's Java library, which Kafka clients write; a bare snappy block is read too.

Frame: `82 "SNAPPY" 00`, version int32, compatible version int32, then blocks of int32 length and raw snappy data.
Between blocks there may be more headers, as when streams were joined. As in that library only theirs have to have a
version that it knows, and are known by their first four bytes; one to three bytes at the end are ignored.
"""

import struct
from collections.abc import Iterator

import cramjam

from ottla.base.buffer import Buffer
from ottla.protocol.compression.failure import corrupt, too_large

_MAGIC = b"\x82SNAPPY\x00"
_HEADER = _MAGIC + struct.pack(">ii", 1, 1)
_BLOCK_BYTES = 32 * 1024
_LENGTH = struct.Struct(">i")
_MAGIC_START = _LENGTH.unpack_from(_MAGIC)[0]
_VERSION_MIN = 1
# The densest snappy element makes 64 bytes of 3: a size beyond this is a lie and gets no memory.
_EXPANSION_MAX = 32


def compress(data: Buffer) -> bytes:
    """Blocks of 32 KiB, as Java's writer cuts them."""
    source = memoryview(data).cast("B")
    out = bytearray(_HEADER)
    for start in range(0, len(source), _BLOCK_BYTES):
        block = cramjam.snappy.compress_raw(source[start : start + _BLOCK_BYTES])
        out += _LENGTH.pack(len(block))
        out += block
    return bytes(out)


def decompress(data: memoryview, max_bytes: int) -> memoryview:
    """The blocks' contents; without the header the whole is one raw block."""
    blocks = _blocks(data)
    sizes = _sizes(blocks, max_bytes)
    out = bytearray(sum(sizes))
    view = memoryview(out)
    filled = 0
    for block, size in zip(blocks, sizes, strict=True):
        _decompress_block(block, view[filled : filled + size])
        filled += size
    return view


def pieces(data: memoryview, workspace: bytearray, max_bytes: int) -> Iterator[memoryview]:
    """Decompresses in pieces, which lie in `workspace` until the next is asked for if blocks fit it."""
    blocks = _blocks(data)
    sizes = _sizes(blocks, max_bytes)
    view = memoryview(workspace)
    filled = 0
    for block, size in zip(blocks, sizes, strict=True):
        if filled + size > len(view):
            yield view[:filled]
            filled = 0
            if size > len(view):
                view = memoryview(bytearray(size))
        _decompress_block(block, view[filled : filled + size])
        filled += size
    yield view[:filled]


def _decompress_block(block: memoryview, room: memoryview) -> None:
    try:
        cramjam.snappy.decompress_raw_into(block, room)
    except cramjam.DecompressionError as error:
        raise corrupt("snappy", error) from None


def _blocks(data: memoryview) -> list[memoryview]:
    if not data:
        raise corrupt("snappy", "it is empty", 0)
    if data[: len(_MAGIC)] != _MAGIC:
        return [data]
    blocks = []
    position = len(_HEADER)
    while position + _LENGTH.size <= len(data):
        start = position + _LENGTH.size
        size = _LENGTH.unpack_from(data, position)[0]
        if size == _MAGIC_START:
            position = _header_end(data, position)
            continue
        if not 0 <= size <= len(data) - start:
            raise corrupt("snappy", f"a block of {size} bytes, {len(data) - start} left", position)
        position = start + size
        blocks.append(data[start:position])
    if position > len(data):
        raise corrupt("snappy", "it ends inside the header", len(data))
    return blocks


def _header_end(data: memoryview, position: int) -> int:
    """Where a header between blocks ends."""
    end = position + len(_HEADER)
    if end > len(data):
        raise corrupt("snappy", "it ends inside the header", len(data))
    version = _LENGTH.unpack_from(data, position + len(_MAGIC))[0]
    if version < _VERSION_MIN:
        raise corrupt("snappy", f"version {version}", position + len(_MAGIC))
    return end


def _sizes(blocks: list[memoryview], max_bytes: int) -> list[int]:
    sizes = []
    room = max_bytes
    for block in blocks:
        try:
            size = cramjam.snappy.decompress_raw_len(block)
        except cramjam.DecompressionError as error:
            raise corrupt("snappy", error) from None
        if size > _EXPANSION_MAX * len(block):
            raise corrupt("snappy", f"{len(block)} bytes cannot hold {size}")
        room -= size
        if room < 0:
            raise too_large(max_bytes)
        sizes.append(size)
    return sizes
