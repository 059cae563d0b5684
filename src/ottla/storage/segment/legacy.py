"""A message of magic 0 or 1 as one batch of a log: old data that a log may still hold at its beginning.

It answers the same questions as a `Batch`, as far as storage asks them. A compressed message wraps others; its offset
is that of the last, and the first is not known without unpacking it.
"""

import struct
import zlib

from ottla.protocol.records.timestamp import NO_TIMESTAMP

_HEAD = struct.Struct(">qiIbb")
_TIMESTAMP = struct.Struct(">q")
_CRC_COVERS_FROM = 16
_MESSAGE_BYTES_MIN = 26


class LegacyMessage:
    """One old message with its offset and size in front."""

    __slots__ = ("attributes", "crc", "data", "last_offset", "magic", "max_timestamp", "size")

    producer_id = -1
    producer_epoch = -1
    base_sequence = -1
    last_sequence = -1
    partition_leader_epoch = -1
    is_transactional = False
    is_control = False

    def __init__(self, data: memoryview) -> None:
        self.data = data
        self.size = len(data)
        self.last_offset: int
        self.crc: int
        self.last_offset, _, self.crc, self.magic, self.attributes = _HEAD.unpack_from(data)
        has_timestamp = self.magic == 1 and self.size >= _MESSAGE_BYTES_MIN
        self.max_timestamp: int = _TIMESTAMP.unpack_from(data, _HEAD.size)[0] if has_timestamp else NO_TIMESTAMP

    @property
    def base_offset(self) -> int:
        """The message's offset, which for a wrapper is its last one."""
        return self.last_offset

    @property
    def next_offset(self) -> int:
        """The offset after the message."""
        return self.last_offset + 1

    def crc_matches(self) -> bool:
        """Whether the bytes are those that the CRC was made of."""
        return zlib.crc32(self.data[_CRC_COVERS_FROM:]) == self.crc
