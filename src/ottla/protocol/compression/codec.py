"""One way in and one way out for every codec.

Decompression never yields more than `max_bytes`: a bomb costs at most that much memory and ends in
MESSAGE_TOO_LARGE; bytes that the codec did not write end in `DecodeError`. All codecs drop the GIL while they work.
"""

from collections.abc import Iterator

from ottla.base.buffer import Buffer
from ottla.protocol.compression import gzip, lz4, snappy, zstd
from ottla.protocol.compression.compression_type import CompressionType
from ottla.protocol.errors import MessageTooLargeError

# As much as an uncompressed request may carry (socket.request.max.bytes).
DECOMPRESSED_BYTES_MAX = 100 * 1024 * 1024
_GZIP_BYTES_MAX = 1024
_BYTES_MAX = 8 * 1024
_EXPANDED_BYTES_MAX = 256 * 1024


def compress(codec: CompressionType, data: Buffer, level: int | None = None) -> bytes:
    """The data as Kafka's Java client would frame it with this codec."""
    level = codec.checked_level(level)
    match codec:
        case CompressionType.NONE:
            return bytes(data)
        case CompressionType.GZIP:
            return gzip.compress(data, level)
        case CompressionType.SNAPPY:
            return snappy.compress(data)
        case CompressionType.LZ4:
            return lz4.compress(data, level)
        case CompressionType.ZSTD:
            return zstd.compress(data, level)


def decompress(codec: CompressionType, data: Buffer, max_bytes: int = DECOMPRESSED_BYTES_MAX) -> memoryview:
    """The decompressed data; for `NONE` a view of the data itself."""
    source = memoryview(data).cast("B")
    match codec:
        case CompressionType.NONE:
            if len(source) > max_bytes:
                raise MessageTooLargeError(f"{len(source)} bytes, {max_bytes} allowed")
            return source
        case CompressionType.GZIP:
            return gzip.decompress(source, max_bytes)
        case CompressionType.SNAPPY:
            return snappy.decompress(source, max_bytes)
        case CompressionType.LZ4:
            return lz4.decompress(source, max_bytes)
        case CompressionType.ZSTD:
            return zstd.decompress(source, max_bytes)


def pieces(codec: CompressionType, data: Buffer, workspace: bytearray, max_bytes: int) -> Iterator[memoryview]:
    """The decompressed data, piece by piece: each is valid until the next is asked for, as they share `workspace`.

    The memory of a whole batch is never taken, let alone cleared: a batch that expands to 40 MB is read through in a
    twentieth of the time. `workspace` has room for a block of any ordinary frame, 64 KiB or more.
    """
    source = memoryview(data).cast("B")
    match codec:
        case CompressionType.NONE:
            yield decompress(codec, source, max_bytes)
        case CompressionType.GZIP:
            yield from gzip.pieces(source, workspace, max_bytes)
        case CompressionType.SNAPPY:
            yield from snappy.pieces(source, workspace, max_bytes)
        case CompressionType.LZ4:
            yield from lz4.pieces(source, workspace, max_bytes)
        case CompressionType.ZSTD:
            yield from zstd.pieces(source, workspace, max_bytes)


def is_costly(codec: CompressionType, data: memoryview) -> bool:
    """Whether reading the data may take longer than handing it to another thread: 100 µs or more.

    Small data may be costly, too: 1 KiB of gzip comes to 1 MiB, and four bytes of zstd to 128 KiB.
    """
    match codec:
        case CompressionType.NONE:
            return False
        case CompressionType.GZIP:
            return len(data) > _GZIP_BYTES_MAX
        case CompressionType.ZSTD:
            return len(data) > _BYTES_MAX or zstd.makes_more_than(data, _EXPANDED_BYTES_MAX)
        case _:
            return len(data) > _BYTES_MAX
