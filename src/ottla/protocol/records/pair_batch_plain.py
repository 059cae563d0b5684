"""Batches of keys and values that were written at one time, outside of transactions, as coordinators write them."""

from struct import Struct
from typing import Final

from ottla.protocol.records.writer import write_batch

NO_LEADER_EPOCH: Final = -1

# Both are outside of what the checksum covers.
_BASE_OFFSET: Final = Struct(">q")
_LEADER_EPOCH: Final = Struct(">i")
_LEADER_EPOCH_AT: Final = 12


def write_pairs(
    pairs: list[tuple[bytes, bytes | None]], timestamp: int, base_offset: int = 0, leader_epoch: int = NO_LEADER_EPOCH
) -> bytearray:
    """The pairs as one uncompressed batch, with offsets from `base_offset` on; None is a tombstone."""
    batch = write_batch([(offset, timestamp, key, value, ()) for offset, (key, value) in enumerate(pairs)])
    _BASE_OFFSET.pack_into(batch, 0, base_offset)
    _LEADER_EPOCH.pack_into(batch, _LEADER_EPOCH_AT, leader_epoch)
    return batch
