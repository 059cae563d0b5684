"""Messages of magic 0 and 1 for tests, as brokers wrote them before 2017; the product only reads them."""

import struct
import zlib
from collections.abc import Sequence

from ottla.protocol.compression import CompressionType, compress
from ottla.storage.disk.port import Access, Disk

Pair = tuple[bytes | None, bytes | None]


def message(offset: int, magic: int, pair: Pair, *, attributes: int = 0, timestamp: int = 0) -> bytes:
    """One message with its offset and size in front."""
    body = bytes([magic, attributes]) + (struct.pack(">q", timestamp) if magic else b"")
    body += _field(pair[0]) + _field(pair[1])
    return struct.pack(">qiI", offset, len(body) + 4, zlib.crc32(body)) + body


def wrapper(first_offset: int, magic: int, pairs: Sequence[Pair], codec: CompressionType, timestamp: int = 0) -> bytes:
    """A compressed message of messages with consecutive offsets; inner timestamps rise up to the wrapper's."""
    start = 0 if magic else first_offset
    times = range(timestamp - len(pairs) + 1, timestamp + 1)
    inner = b"".join(
        message(start + index, magic, pair, timestamp=time)
        for index, (pair, time) in enumerate(zip(pairs, times, strict=True))
    )
    last_offset = first_offset + len(pairs) - 1
    return message(last_offset, magic, (None, compress(codec, inner)), attributes=codec, timestamp=timestamp)


def write_segment(disk: Disk, directory: str, base_offset: int, data: bytes) -> None:
    """A segment's log file, without indexes."""
    disk.open(f"{directory}/{base_offset:020d}.log", Access.CREATE).write(0, [data])


def _field(data: bytes | None) -> bytes:
    return b"\xff\xff\xff\xff" if data is None else struct.pack(">i", len(data)) + data
