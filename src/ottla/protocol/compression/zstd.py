"""zstd frames. The walk over the block headers bounds the output before a byte of it is made.

Frame: magic, descriptor, window or content size, then blocks of a 3-byte header (last, type, size) and data; a block
makes at most 128 KiB. Skippable frames make nothing.
"""

from collections.abc import Iterator

import cramjam
import zstandard

from ottla.base.buffer import Buffer
from ottla.protocol.compression.failure import corrupt, too_large
from ottla.protocol.errors import DecodeError

_MAGIC = 0xFD2FB528
_SKIPPABLE_MAGIC = 0x184D2A50
_BLOCK_BYTES_MAX = 128 * 1024
_RAW, _RLE, _COMPRESSED = 0, 1, 2
_DICTIONARY_ID_BYTES = (0, 1, 2, 4)
_CONTENT_SIZE_BYTES = (0, 2, 4, 8)


def compress(data: Buffer, level: int) -> bytes:
    """One frame."""
    return bytes(cramjam.zstd.compress(data, level))


def decompress(data: memoryview, max_bytes: int) -> memoryview:
    """The frames' contents, one after another."""
    size_max = _size_max(data)
    out = bytearray(min(size_max, max_bytes))
    try:
        size = cramjam.zstd.decompress_into(data, out)
    except cramjam.DecompressionError as error:
        if size_max > max_bytes:
            raise too_large(max_bytes) from None
        raise corrupt("zstd", error) from None
    return memoryview(out)[:size]


def pieces(data: memoryview, workspace: bytearray, max_bytes: int) -> Iterator[memoryview]:
    """Decompresses in pieces, which lie in `workspace` until the next is asked for."""
    # The reader takes data that was cut short for its end; the walk over the blocks does not.
    if not data or not _size_max(data):
        yield decompress(data, max_bytes)
        return
    made = 0
    with zstandard.ZstdDecompressor().stream_reader(data, read_across_frames=True) as reader:
        while True:
            try:
                size = reader.readinto(workspace)
            except zstandard.ZstdError as error:
                raise corrupt("zstd", error) from None
            if not size:
                return
            made += size
            if made > max_bytes:
                raise too_large(max_bytes)
            yield memoryview(workspace)[:size]


def makes_more_than(data: memoryview, size: int) -> bool:
    """Whether the blocks may come to more than `size` bytes; what is malformed may."""
    try:
        return _size_max(data) > size
    except DecodeError:
        return True


def _size_max(data: memoryview) -> int:
    """No less than the frames come to."""
    total = 0
    position = 0
    while position < len(data):
        magic = _little_endian(data, position, 4)
        if magic & 0xFFFFFFF0 == _SKIPPABLE_MAGIC:
            position += 8 + _little_endian(data, position + 4, 4)
        elif magic == _MAGIC:
            size, position = _frame_size_max(data, position + 4)
            total += size
        else:
            raise corrupt("zstd", "no frame starts here", position)
    if position > len(data):
        raise corrupt("zstd", "it ends too early", len(data))
    return total


def _frame_size_max(data: memoryview, position: int) -> tuple[int, int]:
    """The most that a frame makes, and where it ends."""
    descriptor = _little_endian(data, position, 1)
    single_segment = descriptor >> 5 & 1
    content_bytes = _CONTENT_SIZE_BYTES[descriptor >> 6] or single_segment
    position += 1 + (1 - single_segment) + _DICTIONARY_ID_BYTES[descriptor & 3]
    content_size = None
    if content_bytes:
        content_size = _little_endian(data, position, content_bytes) + (256 if content_bytes == 2 else 0)
    position += content_bytes
    size, position = _blocks_size_max(data, position)
    position += 4 if descriptor & 4 else 0
    return size if content_size is None else min(size, content_size), position


def _blocks_size_max(data: memoryview, position: int) -> tuple[int, int]:
    total = 0
    last = False
    while not last:
        header = _little_endian(data, position, 3)
        last = bool(header & 1)
        kind, size = header >> 1 & 3, header >> 3
        total += _BLOCK_BYTES_MAX if kind == _COMPRESSED else size
        position += 3 + (1 if kind == _RLE else size)
    return total, position


def _little_endian(data: memoryview, position: int, size: int) -> int:
    field = data[position : position + size]
    if len(field) < size:
        raise corrupt("zstd", "it ends too early", position)
    return int.from_bytes(field, "little")
