"""One way in and one way out for every codec.

Decompression never yields more than `max_bytes`: a bomb costs at most that much memory and ends in
MESSAGE_TOO_LARGE; bytes that the codec did not write end in `DecodeError`. All codecs drop the GIL while they work.
"""

from ottla.base.buffer import Buffer
from ottla.protocol.compression import gzip, lz4, snappy, zstd
from ottla.protocol.compression.compression_type import CompressionType
from ottla.protocol.errors import MessageTooLargeError

# As much as an uncompressed request may carry (socket.request.max.bytes).
DECOMPRESSED_BYTES_MAX = 100 * 1024 * 1024


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
    """What was compressed; for `NONE` a view of the data itself."""
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
