"""Batches for questions about Produce, good ones and such as no client sends."""

import struct

import crc32c

from ottla.protocol.compression import CompressionType
from ottla.protocol.records.writer import BatchOptions, write_batch

TIME_MS = 1_700_000_000_000


def batch(
    *values: bytes,
    compression: CompressionType = CompressionType.NONE,
    producer: tuple[int, int, int] = (-1, -1, -1),
    time_ms: int = TIME_MS,
    key: bytes | None = b"key",
) -> bytes:
    """A good batch; `producer` is id, epoch and first sequence."""
    producer_id, epoch, sequence = producer
    options = BatchOptions(
        compression=compression, producer_id=producer_id, producer_epoch=epoch, base_sequence=sequence
    )
    return bytes(
        write_batch([(index, time_ms, key, value, ()) for index, value in enumerate(values or (b"value",))], options)
    )


def patched(data: bytes, layout: str, position: int, *values: int) -> bytes:
    """The batch with a field of its header overwritten, and a CRC that fits again."""
    changed = bytearray(data)
    struct.pack_into(layout, changed, position, *values)
    struct.pack_into(">I", changed, 17, crc32c.crc32c(bytes(changed[21:])))
    return bytes(changed)


def bad_batches() -> dict[str, bytes]:
    """What is wrong with it, and the bytes."""
    good = batch(b"one", b"two", b"three")
    flipped = bytearray(good)
    flipped[-1] ^= 0xFF
    return {
        "empty": b"",
        "cut short": good[:-5],
        "a header cut short": good[:40],
        "a byte behind": good + b"\x00",
        "two batches": good + good,
        "a flipped bit": bytes(flipped),
        "magic 0": patched(good, ">b", 16, 0),
        "magic 1": patched(good, ">b", 16, 1),
        "magic 3": patched(good, ">b", 16, 3),
        "magic -1": patched(good, ">b", 16, -1),
        "base offset 5": patched(good, ">q", 0, 5),
        "base offset -1": patched(good, ">q", 0, -1),
        "length 0": patched(good, ">i", 8, 0),
        "length 14": patched(good, ">i", 8, 14),
        "length 48": patched(good, ">i", 8, 48),
        "length -1": patched(good, ">i", 8, -1),
        "a count of 0": patched(good, ">i", 57, 0),
        "a count of 2 for 3 records": patched(good, ">i", 57, 2),
        "a count of 4 for 3 records": patched(good, ">i", 57, 4),
        "a count of -1": patched(good, ">i", 57, -1),
        "a last offset delta of 5": patched(good, ">i", 23, 5),
        "a last offset delta of -1": patched(good, ">i", 23, -1),
        "codec 5": patched(good, ">h", 21, 5),
        "codec 7": patched(good, ">h", 21, 7),
        "gzip that is none": patched(good, ">h", 21, 1),
        "snappy that is none": patched(good, ">h", 21, 2),
        "lz4 that is none": patched(good, ">h", 21, 3),
        "zstd that is none": patched(good, ">h", 21, 4),
        "LogAppendTime": patched(good, ">h", 21, 8),
        "transactional": patched(good, ">h", 21, 16),
        "a control batch": patched(good, ">h", 21, 32),
        "a delete horizon": patched(good, ">h", 21, 64),
        "a producer id without a sequence": batch(b"x", producer=(99, 0, -1)),
        "an epoch of -1 with a producer id": batch(b"x", producer=(99, -1, 0)),
        "a sequence without a producer id": batch(b"x", producer=(-1, -1, 5)),
        "a leader epoch of 77": patched(good, ">i", 12, 77),
    }
