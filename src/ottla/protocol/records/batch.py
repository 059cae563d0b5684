"""The v2 batch as a view on the buffer it lies in: read a header, check its CRC, patch it, walk over many.

>>> from ottla.protocol.records.batch import batches
>>> from ottla.protocol.records.writer import write_batch
>>> log = write_batch([(0, 1_700_000_000_000, b"k", b"v", ())])
>>> [batch] = batches(log)
>>> batch.assign(base_offset=42, partition_leader_epoch=7)
>>> batch.last_offset, batch.crc_matches()
(42, True)
"""

from typing import TYPE_CHECKING

from ottla.base.accelerated import load
from ottla.base.buffer import Buffer
from ottla.protocol.records.batch_plain import (
    CODEC_BITS,
    FLAGS_AT,
    HEADER_BYTES,
    LOG_OVERHEAD,
    MAGIC,
    MAGIC_AT,
    TRANSACTIONAL,
    Frame,
    frame_at,
)

if TYPE_CHECKING:
    from ottla.protocol.records.batch_plain import Batch, Batches
else:
    _twin = load("ottla.protocol.records._batch", "ottla.protocol.records.batch_plain")
    Batch = _twin.Batch
    Batches = _twin.Batches

__all__ = [
    "CODEC_BITS",
    "FLAGS_AT",
    "HEADER_BYTES",
    "LOG_OVERHEAD",
    "MAGIC",
    "MAGIC_AT",
    "TRANSACTIONAL",
    "Batch",
    "Batches",
    "Frame",
    "batches",
    "frame_at",
]


def batches(buffer: Buffer, position: int = 0) -> Batches:
    """The whole batches of the buffer, in order; stops at one that is cut short, refuses what is no v2 batch.

    The iterator's `position` tells how far the whole batches reach.
    """
    return Batches(buffer, position)
