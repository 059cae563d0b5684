"""Reads the records out of batches: as tuples, as `Record`s, or one at a time without keeping any.

The bytes are those of a Fetch answer or a log file: any number of batches of any magic, the last perhaps cut short.
Offsets may have gaps and batches may be empty, as compaction leaves them. A batch's CRC is checked before its
records are read, and it never decompresses to more than `decompressed_bytes_max`.
"""

from collections.abc import Iterator

from ottla.base.buffer import Buffer
from ottla.base.frozen import frozen
from ottla.protocol.compression import DECOMPRESSED_BYTES_MAX, decompress
from ottla.protocol.errors import CorruptMessageError
from ottla.protocol.records import frames, legacy
from ottla.protocol.records.batch import MAGIC, Batch, frame_at
from ottla.protocol.records.memory import contiguous
from ottla.protocol.records.record import Record, RecordTuple


@frozen
class ReadOptions:
    """Which fields to leave out, and how far to trust the bytes."""

    from_offset: int | None = None
    """Leaves out records before it: a fetch answer starts with the whole batch that holds the offset asked for."""
    control_records: bool = False
    """Whether control records are shown."""
    check_crcs: bool = True
    decompressed_bytes_max: int = DECOMPRESSED_BYTES_MAX


DEFAULT_OPTIONS = ReadOptions()


def read_tuples(data: Buffer, options: ReadOptions = DEFAULT_OPTIONS) -> list[RecordTuple]:
    """Every record as a tuple of offset, timestamp, key, value and headers."""
    records: list[RecordTuple] = []
    for batch in _batches(data, options):
        if isinstance(batch, Batch):
            found = decode_batch(batch, options.decompressed_bytes_max)
        else:
            found = legacy.read_message(batch, options.decompressed_bytes_max, check_crcs=options.check_crcs)
        found = _from(found, options.from_offset)
        # Most answers hold one large batch: its list is the answer, not a copy of it.
        if records:
            records += found
        else:
            records = found
    return records


def read_records(data: Buffer, options: ReadOptions = DEFAULT_OPTIONS) -> list[Record]:
    """Every record with named fields."""
    return list(map(Record._make, read_tuples(data, options)))


def iterate_records(data: Buffer, options: ReadOptions = DEFAULT_OPTIONS) -> Iterator[RecordTuple]:
    """Every record in turn; none is made before it is asked for."""
    first = options.from_offset
    for batch in _batches(data, options):
        if isinstance(batch, Batch):
            found = iterate_batch(batch, options.decompressed_bytes_max)
        else:
            found = iter(legacy.read_message(batch, options.decompressed_bytes_max, check_crcs=options.check_crcs))
        if first is None:
            yield from found
        else:
            yield from (record for record in found if record[0] >= first)


def record_section(batch: Batch, max_bytes: int = DECOMPRESSED_BYTES_MAX) -> memoryview:
    """The record frames of a batch, decompressed; the batch's own bytes if it is not compressed."""
    if batch.codec_id == 0:
        return batch.records
    if batch.records_count == 0:
        return memoryview(b"")
    return decompress(batch.compression, batch.records, max_bytes)


def decode_batch(batch: Batch, max_bytes: int = DECOMPRESSED_BYTES_MAX) -> list[RecordTuple]:
    """One batch's records, control records too; the CRC is the caller's to check."""
    section = record_section(batch, max_bytes)
    return frames.decode(section, batch.records_count, batch.base_offset, batch.base_timestamp, batch.log_append_time)


def iterate_batch(batch: Batch, max_bytes: int = DECOMPRESSED_BYTES_MAX) -> Iterator[RecordTuple]:
    """Like `decode_batch`, one record at a time."""
    section = record_section(batch, max_bytes)
    return frames.iterate(section, batch.records_count, batch.base_offset, batch.base_timestamp, batch.log_append_time)


def _batches(data: Buffer, options: ReadOptions) -> Iterator[Batch | memoryview]:
    """The batches whose records are wanted; an old message, which may wrap others, as its bytes."""
    view = contiguous(data)
    position = 0
    while (frame := frame_at(view, position)) is not None:
        start, position = position, position + frame.size
        if frame.magic != MAGIC:
            yield view[start:position]
            continue
        batch = Batch(view, start)
        if options.from_offset is not None and batch.last_offset < options.from_offset:
            continue
        if options.check_crcs and not batch.crc_matches():
            raise CorruptMessageError(f"The CRC of the batch at offset {batch.base_offset} does not match")
        if options.control_records or not batch.is_control:
            yield batch


def _from(records: list[RecordTuple], offset: int | None) -> list[RecordTuple]:
    if offset is None or not records or records[0][0] >= offset:
        return records
    return [record for record in records if record[0] >= offset]
