"""Writes v2 batches: all at once from tuples, record by record for a producer, or again with another codec.

The first record's timestamp is the base that the others' deltas count from, as in Apache Kafka, so that the same
records uncompressed give the same bytes. What comes out is a bytearray: base offset and leader epoch are still to be
patched by the log that appends it.
"""

import struct
from collections.abc import Sequence
from dataclasses import replace

from ottla.base.frozen import frozen
from ottla.protocol.checksum import crc32c
from ottla.protocol.compression import DECOMPRESSED_BYTES_MAX, CompressionType, compress, decompress
from ottla.protocol.errors import EncodeError
from ottla.protocol.records import frames, frames_plain
from ottla.protocol.records.batch import HEADER_BYTES, LOG_OVERHEAD, MAGIC, Batch
from ottla.protocol.records.record import Header, RecordTuple
from ottla.protocol.records.timestamp import NO_TIMESTAMP

_HEADER = struct.Struct(">qiibIhiqqqhii")
_CRC = struct.Struct(">I")
_CRC_AT, _ATTRIBUTES_AT = 17, 21
_INT32_MAX = 2**31 - 1
_INT64_BOUND = 2**63


@frozen
class BatchOptions:
    """Everything about a batch but its records.

    `base_offset` and `last_offset` come from the records unless given, which compaction does: a batch keeps its range
    when records go. With `log_append_time` the batch says LogAppendTime and every record has that timestamp.
    """

    compression: CompressionType = CompressionType.NONE
    compression_level: int | None = None
    base_offset: int | None = None
    last_offset: int | None = None
    partition_leader_epoch: int = -1
    log_append_time: int | None = None
    delete_horizon_ms: int | None = None
    producer_id: int = -1
    producer_epoch: int = -1
    base_sequence: int = -1
    is_transactional: bool = False
    is_control: bool = False

    @property
    def attributes(self) -> int:
        """The attribute bits."""
        return (
            self.compression
            | (self.log_append_time is not None) << 3
            | self.is_transactional << 4
            | self.is_control << 5
            | (self.delete_horizon_ms is not None) << 6
        )


DEFAULT_OPTIONS = BatchOptions()


def write_batch(records: Sequence[RecordTuple], options: BatchOptions = DEFAULT_OPTIONS) -> bytearray:
    """The records as one batch; offsets must rise, and may have gaps.

    >>> from ottla.protocol.records.reader import read_tuples
    >>> record = (5, 1_700_000_000_000, b"key", b"value", (("trace", b"1"),))
    >>> read_tuples(write_batch([record])) == [record]
    True
    """
    base_offset, base_timestamp = _bases(records, options)
    batch, last_delta, max_timestamp = frames.encode(records, base_offset, base_timestamp, HEADER_BYTES)
    if options.last_offset is not None:
        if options.last_offset < base_offset + max(last_delta, 0):
            raise EncodeError(
                f"a last offset of {options.last_offset} before {base_offset + max(last_delta, 0)}", path="last_offset"
            )
        last_delta = options.last_offset - base_offset
    if options.log_append_time is not None:
        max_timestamp = options.log_append_time
    if options.compression is not CompressionType.NONE:
        with memoryview(batch) as view:
            section = compress(options.compression, view[HEADER_BYTES:], options.compression_level)
        batch = bytearray(HEADER_BYTES) + section
    write_header(batch, options, (base_offset, last_delta, base_timestamp, max_timestamp, len(records)))
    return batch


def recompress(
    batch: Batch, compression: CompressionType, level: int | None = None, max_bytes: int = DECOMPRESSED_BYTES_MAX
) -> bytearray:
    """A copy of the batch with its records compressed another way."""
    section = compress(compression, decompress(batch.compression, batch.records, max_bytes), level)
    options = replace(options_of(batch), compression=compression)
    written = bytearray(HEADER_BYTES) + section
    timestamps = batch.base_timestamp, batch.max_timestamp
    fields = (batch.base_offset, batch.last_offset_delta, *timestamps, batch.records_count)
    write_header(written, options, fields)
    return written


def emptied(batch: Batch) -> bytearray:
    """The batch without its records, as compaction keeps it for its producer's last sequence number or offset."""
    options = replace(options_of(batch), compression=CompressionType.NONE, delete_horizon_ms=None)
    written = bytearray(HEADER_BYTES)
    fields = (batch.base_offset, batch.last_offset_delta, NO_TIMESTAMP, batch.max_timestamp, 0)
    write_header(written, options, fields)
    return written


def options_of(batch: Batch) -> BatchOptions:
    """The fields for a changed copy of the batch: its range, codec, identity and kind."""
    return BatchOptions(
        compression=batch.compression,
        base_offset=batch.base_offset,
        last_offset=batch.last_offset,
        partition_leader_epoch=batch.partition_leader_epoch,
        log_append_time=batch.log_append_time,
        delete_horizon_ms=batch.delete_horizon_ms,
        producer_id=batch.producer_id,
        producer_epoch=batch.producer_epoch,
        base_sequence=batch.base_sequence,
        is_transactional=batch.is_transactional,
        is_control=batch.is_control,
    )


def _bases(records: Sequence[RecordTuple], options: BatchOptions) -> tuple[int, int]:
    """The base offset and base timestamp."""
    offset, timestamp = 0, NO_TIMESTAMP
    if records:
        # Says what is wrong with a first record whose fields could not serve as bases.
        first = records[0]
        if not (isinstance(first, tuple) and len(first) == 5 and _is_int64(first[0]) and _is_int64(first[1])):
            frames_plain.encode_record(bytearray(), first, 0, 0, 0)
        offset, timestamp = first[0], first[1]
    if options.base_offset is not None:
        offset = options.base_offset
    if options.delete_horizon_ms is not None:
        timestamp = options.delete_horizon_ms
    return offset, timestamp


def _is_int64(value: object) -> bool:
    return isinstance(value, int) and -_INT64_BOUND <= value < _INT64_BOUND


def write_header(batch: bytearray, options: BatchOptions, fields: tuple[int, int, int, int, int]) -> None:
    """Fills the header in front of a batch's records, CRC included.

    `fields` are base offset, last offset delta, base timestamp, max timestamp and record count.
    """
    base_offset, last_delta, base_timestamp, max_timestamp, count = fields
    if len(batch) - LOG_OVERHEAD > _INT32_MAX:
        raise EncodeError(f"{len(batch)} bytes in one batch", path="batch")
    try:
        _HEADER.pack_into(
            batch,
            0,
            base_offset,
            len(batch) - LOG_OVERHEAD,
            options.partition_leader_epoch,
            MAGIC,
            0,
            options.attributes,
            max(last_delta, 0) if options.last_offset is None else last_delta,
            base_timestamp,
            max_timestamp,
            options.producer_id,
            options.producer_epoch,
            options.base_sequence,
            count,
        )
    except struct.error as error:
        raise EncodeError(str(error), path="batch") from None
    with memoryview(batch) as view:
        _CRC.pack_into(batch, _CRC_AT, crc32c(view[_ATTRIBUTES_AT:]))


class BatchBuilder:
    """Collects records for one batch until it is full; offsets are 0, 1, 2, … for the broker to move.

    The size is exact without compression and otherwise estimated from `compression_ratio`, what earlier batches
    shrank to; a batch takes its first record whatever its size.

    >>> builder = BatchBuilder(max_bytes=100)
    >>> builder.append(0, None, b"x" * 20), builder.append(0, None, b"x" * 20)
    (True, False)
    >>> len(builder.build()) == builder.size
    True
    """

    # Compressed sizes vary from batch to batch: leave some air, as Kafka's producer does.
    _RATIO_MARGIN = 1.05

    def __init__(
        self, options: BatchOptions = DEFAULT_OPTIONS, *, max_bytes: int = 16384, compression_ratio: float = 1.0
    ) -> None:
        self._options = options
        self._max_bytes = max_bytes
        compressed = options.compression is not CompressionType.NONE
        self._ratio = compression_ratio * self._RATIO_MARGIN if compressed else 1.0
        self._records: list[RecordTuple] = []
        self._section_bytes = 0
        self._base_offset = options.base_offset or 0
        self._base_timestamp = options.delete_horizon_ms

    def __len__(self) -> int:
        return len(self._records)

    @property
    def size(self) -> int:
        """Bytes that the batch would take now."""
        return HEADER_BYTES + int(self._section_bytes * self._ratio)

    def append(self, timestamp: int, key: bytes | None, value: bytes | None, headers: tuple[Header, ...] = ()) -> bool:
        """Takes the record, or returns False because the batch is full."""
        count = len(self._records)
        record = (self._base_offset + count, timestamp, key, value, headers)
        base_timestamp = timestamp if self._base_timestamp is None else self._base_timestamp
        if not _is_int64(base_timestamp):
            base_timestamp = 0
        size = frames.record_size(record, count, self._base_offset, base_timestamp)
        if count and HEADER_BYTES + int((self._section_bytes + size) * self._ratio) > self._max_bytes:
            return False
        self._base_timestamp = base_timestamp
        self._records.append(record)
        self._section_bytes += size
        return True

    def build(self) -> bytearray:
        """The batch."""
        return write_batch(self._records, replace(self._options, base_offset=self._base_offset))
