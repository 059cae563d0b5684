"""A message of magic 0 or 1 as one batch of a log: old data that a log may still hold at its beginning.

It answers the same questions as a `Batch`, as far as storage asks them. A compressed message wraps others; its offset
is that of the last, and the first is found by unpacking it: wrapper 12 with three messages → base offset 10.
"""

import struct
import zlib

from ottla.protocol.records.legacy import read_message
from ottla.protocol.records.record import RecordTuple
from ottla.protocol.records.timestamp import NO_TIMESTAMP

_HEAD = struct.Struct(">qiIbb")
_TIMESTAMP = struct.Struct(">q")
_CRC_COVERS_FROM = 16
_MESSAGE_BYTES_MIN = 26
_CODEC = 0x07
_LOG_APPEND_TIME = 0x08
_UNPACKED_BYTES_MAX = (1 << 31) - 1


class LegacyMessage:
    """One old message with its offset and size in front."""

    __slots__ = ("_base_offset", "attributes", "crc", "data", "last_offset", "magic", "max_timestamp", "size")

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
        self.magic: int
        self.attributes: int
        self.last_offset, _, self.crc, self.magic, self.attributes = _HEAD.unpack_from(data)
        has_timestamp = self.magic == 1 and self.size >= _MESSAGE_BYTES_MIN
        self.max_timestamp: int = _TIMESTAMP.unpack_from(data, _HEAD.size)[0] if has_timestamp else NO_TIMESTAMP
        self._base_offset: int | None = None if self.codec_id else self.last_offset

    @property
    def codec_id(self) -> int:
        """The codec of the messages inside; 0 for a message that stands for itself."""
        return self.attributes & _CODEC

    @property
    def log_append_time(self) -> int | None:
        """The timestamp that the broker gave to all of it; None if the producer's own count."""
        return self.max_timestamp if self.magic == 1 and self.attributes & _LOG_APPEND_TIME else None

    @property
    def base_offset(self) -> int:
        """The offset of the first record; `DecodeError` if what it wraps cannot be read."""
        if self._base_offset is None:
            self._base_offset = self.records()[0][0]
        return self._base_offset

    @property
    def next_offset(self) -> int:
        """The offset after the message."""
        return self.last_offset + 1

    def records(self) -> list[RecordTuple]:
        """The record that it is, or those that it wraps. Like Apache Kafka's, it trusts the CRC around them."""
        return read_message(self.data, _UNPACKED_BYTES_MAX, check_crcs=False)

    def crc_matches(self) -> bool:
        """Whether the bytes are those that the CRC was made of."""
        return zlib.crc32(self.data[_CRC_COVERS_FROM:]) == self.crc
