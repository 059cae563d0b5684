"""Kafka's four codecs, written so that Java clients read them and read within a limit.

>>> from ottla.protocol.compression import CompressionType, compress, decompress
>>> bytes(decompress(CompressionType.ZSTD, compress(CompressionType.ZSTD, b"hello")))
b'hello'
"""

from ottla.protocol.compression.codec import DECOMPRESSED_BYTES_MAX, compress, decompress, is_costly, pieces
from ottla.protocol.compression.compression_type import CompressionType

__all__ = ["DECOMPRESSED_BYTES_MAX", "CompressionType", "compress", "decompress", "is_costly", "pieces"]
