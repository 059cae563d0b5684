"""A v2 batch's header as a view on the buffer it lies in, in plain Python; `_batch` is the same, compiled.

Nothing is copied and nothing cached: each property reads the buffer, each patch writes it. Making a `Batch` checks
what is needed to do so safely (whole in the buffer, magic 2, room for a header) and no more; CRC and contents are for
the validator. Base offset and leader epoch lie outside the CRC; every other patch ends with a new CRC.
"""

import struct
from collections.abc import Iterator
from typing import NamedTuple

from ottla.base.buffer import Buffer
from ottla.protocol.checksum import crc32c
from ottla.protocol.compression import CompressionType
from ottla.protocol.errors import DecodeError
from ottla.protocol.records.memory import contiguous
from ottla.protocol.records.timestamp import TimestampType

HEADER_BYTES = 61
LOG_OVERHEAD = 12
"""Bytes before those that the length field counts: base offset and length."""
MAGIC = 2

_LEGACY_MESSAGE_BYTES_MIN = 14
MAGIC_AT = 16
FLAGS_AT = 22
"""The low byte of the attributes: the codec in `CODEC_BITS`, and what kind of batch it is."""
CODEC_BITS = 0x07
TRANSACTIONAL = 0x10
_CRC_AT, _ATTRIBUTES_AT, _LAST_DELTA_AT = 17, 21, 23
_BASE_TIMESTAMP_AT, _MAX_TIMESTAMP_AT, _PRODUCER_AT, _COUNT_AT = 27, 35, 43, 57
_INT32_MAX = 2**31 - 1
_INT16, _INT32, _INT64, _UINT32 = (struct.Struct(">" + code) for code in "hiqI")
_PRODUCER = struct.Struct(">qhi")


class Frame(NamedTuple):
    """The batch at a position of a log, of any magic."""

    size: int
    magic: int


def frame_at(buffer: Buffer, position: int = 0) -> Frame | None:
    """The batch or old message at the position; None if the buffer ends before it does.

    Fetch answers are cut wherever their size limit fell, so an incomplete end is not an error; a length or magic that
    no batch can have is.
    """
    left = len(buffer) - position
    if left < LOG_OVERHEAD:
        return None
    length = _INT32.unpack_from(buffer, position + 8)[0]
    if length < _LEGACY_MESSAGE_BYTES_MIN:
        raise DecodeError(f"a batch of {length} bytes", path="batch.length", position=position + 8)
    if left <= MAGIC_AT:
        return None
    magic = buffer[position + MAGIC_AT]
    if magic > MAGIC:
        raise DecodeError(f"magic {magic}", path="batch.magic", position=position + MAGIC_AT)
    if magic == MAGIC and length < HEADER_BYTES - LOG_OVERHEAD:
        raise DecodeError(f"a batch of {length} bytes", path="batch.length", position=position + 8)
    if left < length + LOG_OVERHEAD:
        return None
    return Frame(length + LOG_OVERHEAD, magic)


def refuse_legacy(magic: int, position: int) -> DecodeError:
    """Magic 0 and 1 have another layout, which `ottla.protocol.records.legacy` reads."""
    return DecodeError(f"magic {magic} where 2 is needed", path="batch.magic", position=position + MAGIC_AT)


def refuse_cut_short(position: int) -> DecodeError:
    """The buffer ends inside the batch."""
    return DecodeError("the bytes end inside the batch", path="batch", position=position)


class Batch:
    """The batch at a position of a buffer."""

    __slots__ = ("_view", "position", "size")

    def __init__(self, buffer: Buffer, position: int = 0) -> None:
        view = contiguous(buffer)
        if position < 0:
            raise refuse_cut_short(position)
        frame = frame_at(view, position)
        if frame is None:
            raise refuse_cut_short(position)
        if frame.magic != MAGIC:
            raise refuse_legacy(frame.magic, position)
        self._view = view
        self.position = position
        self.size = frame.size

    def __repr__(self) -> str:
        return f"Batch(offsets {self.base_offset}..{self.last_offset}, {self.records_count} records, {self.size} bytes)"

    @property
    def end(self) -> int:
        """The position after the batch."""
        return self.position + self.size

    @property
    def data(self) -> memoryview:
        """The whole batch."""
        return self._view[self.position : self.position + self.size]

    @property
    def records(self) -> memoryview:
        """The record section, compressed if the batch is."""
        return self._view[self.position + HEADER_BYTES : self.position + self.size]

    @property
    def base_offset(self) -> int:
        """The offset that record offset deltas count from."""
        return self._int64(0)

    @property
    def partition_leader_epoch(self) -> int:
        """The epoch of the leader that appended the batch; -1 before."""
        return self._int32(LOG_OVERHEAD)

    @property
    def magic(self) -> int:
        """Always 2."""
        return MAGIC

    @property
    def crc(self) -> int:
        """The CRC-32C that the header claims."""
        crc: int = _UINT32.unpack_from(self._view, self.position + _CRC_AT)[0]
        return crc

    @property
    def attributes(self) -> int:
        """All attribute bits."""
        attributes: int = _INT16.unpack_from(self._view, self.position + _ATTRIBUTES_AT)[0]
        return attributes

    @property
    def codec_id(self) -> int:
        """The codec's number, 0 to 7."""
        return self.attributes & 0x07

    @property
    def compression(self) -> CompressionType:
        """The codec; UNSUPPORTED_COMPRESSION_TYPE for numbers that mean none."""
        return CompressionType.from_id(self.codec_id)

    @property
    def timestamp_type(self) -> TimestampType:
        """The source of the timestamps."""
        return TimestampType.LOG_APPEND_TIME if self.attributes & 0x08 else TimestampType.CREATE_TIME

    @property
    def is_transactional(self) -> bool:
        """Whether the batch belongs to a transaction."""
        return self.attributes & 0x10 != 0

    @property
    def is_control(self) -> bool:
        """Whether its record is a marker for brokers and clients, not data."""
        return self.attributes & 0x20 != 0

    @property
    def delete_horizon_ms(self) -> int | None:
        """When tombstones in it may go; then `base_timestamp` is this and deltas count from it."""
        return self.base_timestamp if self.attributes & 0x40 else None

    @property
    def last_offset_delta(self) -> int:
        """The last offset's distance from the base offset; compaction leaves it as it was."""
        return self._int32(_LAST_DELTA_AT)

    @property
    def last_offset(self) -> int:
        """The last offset the batch covers."""
        return self.base_offset + self.last_offset_delta

    @property
    def next_offset(self) -> int:
        """The offset after the batch."""
        return self.last_offset + 1

    @property
    def base_timestamp(self) -> int:
        """The timestamp that record timestamp deltas count from."""
        return self._int64(_BASE_TIMESTAMP_AT)

    @property
    def max_timestamp(self) -> int:
        """The highest timestamp; with LogAppendTime that of every record."""
        return self._int64(_MAX_TIMESTAMP_AT)

    @property
    def log_append_time(self) -> int | None:
        """The timestamp of every record if the broker set it."""
        return self.max_timestamp if self.attributes & 0x08 else None

    @property
    def producer_id(self) -> int:
        """The idempotent producer's id, or -1."""
        return self._int64(_PRODUCER_AT)

    @property
    def producer_epoch(self) -> int:
        """The producer's epoch, or -1."""
        epoch: int = _INT16.unpack_from(self._view, self.position + _PRODUCER_AT + 8)[0]
        return epoch

    @property
    def base_sequence(self) -> int:
        """The first record's sequence number, or -1."""
        return self._int32(_PRODUCER_AT + 10)

    @property
    def last_sequence(self) -> int:
        """The last record's sequence number, or -1; numbers wrap to 0 after 2^31-1."""
        first = self.base_sequence
        return first if first == -1 else (first + self.last_offset_delta) & _INT32_MAX

    @property
    def records_count(self) -> int:
        """How many records the header announces."""
        return self._int32(_COUNT_AT)

    def compute_crc(self) -> int:
        """The CRC-32C of everything behind the CRC field."""
        return crc32c(self._view[self.position + _ATTRIBUTES_AT : self.position + self.size])

    def crc_matches(self) -> bool:
        """Whether the bytes are those that the CRC was made of."""
        return self.compute_crc() == self.crc

    def is_in_order(self, size_max: int, earliest: int, latest: int, *, needs_keys: bool) -> bool:
        """Whether the batch, as a client sent it, can go into a log with CreateTime just as it is.

        True answers every question that `validation.validate` asks; False only says that it has to ask them. The
        compiled twin looks at the records, this one leaves them to `validate`.
        """
        return False

    def assign(self, base_offset: int, partition_leader_epoch: int) -> None:
        """Gives the batch its place in the log; the CRC does not cover either."""
        _INT64.pack_into(self._view, self.position, base_offset)
        _INT32.pack_into(self._view, self.position + LOG_OVERHEAD, partition_leader_epoch)

    def set_max_timestamp(self, timestamp_type: TimestampType, max_timestamp: int) -> None:
        """Changes timestamp type and highest timestamp, and the CRC if either is new."""
        if self.timestamp_type == timestamp_type and self.max_timestamp == max_timestamp:
            return
        attributes = self.attributes & ~0x08 | timestamp_type << 3
        _INT16.pack_into(self._view, self.position + _ATTRIBUTES_AT, attributes)
        _INT64.pack_into(self._view, self.position + _MAX_TIMESTAMP_AT, max_timestamp)
        self._seal()

    def set_producer(self, producer_id: int, producer_epoch: int, base_sequence: int) -> None:
        """Gives the batch its producer's identity and sequence, and a new CRC."""
        _PRODUCER.pack_into(self._view, self.position + _PRODUCER_AT, producer_id, producer_epoch, base_sequence)
        self._seal()

    def _seal(self) -> None:
        _UINT32.pack_into(self._view, self.position + _CRC_AT, self.compute_crc())

    def _int32(self, at: int) -> int:
        value: int = _INT32.unpack_from(self._view, self.position + at)[0]
        return value

    def _int64(self, at: int) -> int:
        value: int = _INT64.unpack_from(self._view, self.position + at)[0]
        return value


class Batches:
    """Iterates over the whole batches from a position on; `position` is where the next would start."""

    __slots__ = ("_view", "position")

    def __init__(self, buffer: Buffer, position: int = 0) -> None:
        self._view = contiguous(buffer)
        self.position = position

    def __iter__(self) -> Iterator[Batch]:
        return self

    def __next__(self) -> Batch:
        if frame_at(self._view, self.position) is None:
            raise StopIteration
        batch = Batch(self._view, self.position)
        self.position = batch.end
        return batch
