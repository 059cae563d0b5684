"""Record batches straight from and to Arrow columns, without a Python object per record.

>>> import pyarrow as pa
>>> from ottla.protocol.records.arrow.batches import Projection, decode, encode
>>> batch = encode(pa.record_batch({"key": ["a", None], "value": [b"1", b"2"]}))
>>> decode(batch, Projection(("offset", "key", "value"))).to_pydict()
{'offset': [0, 1], 'key': [b'a', None], 'value': [b'1', b'2']}

What is malformed or left out is the same as in `reader`, what is written the same as in `writer`. With `arrow_source`
this is the one part of the protocol that needs pyarrow (`pip install ottla[arrow]`).
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import pyarrow as pa

from ottla.base.buffer import Buffer
from ottla.protocol.compression import CompressionType, compress
from ottla.protocol.errors import CorruptMessageError, DecodeError, EncodeError
from ottla.protocol.records import legacy, reader, writer
from ottla.protocol.records.arrow.source import HEADER, HEADERS, source_of
from ottla.protocol.records.batch import HEADER_BYTES, LOG_OVERHEAD, MAGIC, Batch, batches, frame_at
from ottla.protocol.records.columns import ColumnReader, ColumnWriter
from ottla.protocol.records.columns_layout import NO_START, BinaryColumn, Columns, HeaderColumn, Wanted
from ottla.protocol.records.memory import contiguous
from ottla.protocol.records.reader import ReadOptions
from ottla.protocol.records.timestamp import NO_TIMESTAMP
from ottla.protocol.records.writer import BatchOptions

COLUMNS = ("key", "value", "headers", "offset", "timestamp", "timestamp_type")
"""All that a record batch can be read into."""

_MAGIC_AT = 16
_INT32_MAX = 2**31 - 1
_BATCH_BYTES_MAX = _INT32_MAX + LOG_OVERHEAD
_MILLISECONDS = pa.timestamp("ms", "UTC")
_BINARY = pa.binary()
_STRING = pa.string()


@dataclass(frozen=True)
class Projection:
    """Which columns to read, in which order, and as what type timestamps are wanted: any timestamp type, or int64.

    What a topic's every record shares is not read from records. It is cheap to add:

    >>> import pyarrow as pa
    >>> records = pa.record_batch({"value": [b"1", b"2"]})
    >>> records.append_column("topic", pa.repeat("orders", records.num_rows)).to_pydict()
    {'value': [b'1', b'2'], 'topic': ['orders', 'orders']}
    """

    columns: tuple[str, ...] = COLUMNS
    timestamps: Any = _MILLISECONDS

    def __post_init__(self) -> None:
        if len(set(self.columns)) != len(self.columns) or not set(self.columns) <= set(COLUMNS):
            raise ValueError(f"columns are some of {', '.join(COLUMNS)}, each at most once; not {self.columns}")
        if not (pa.types.is_int64(self.timestamps) or pa.types.is_timestamp(self.timestamps)):
            raise ValueError(f"timestamps are int64 or a timestamp type, not {self.timestamps}")

    @cached_property
    def schema(self) -> Any:
        """The schema of what `decode` gives."""
        return pa.schema([(name, kind) for name, kind in self.fields])

    @cached_property
    def fields(self) -> tuple[tuple[str, Any], ...]:
        """The columns with their types."""
        types = {"offset": pa.int64(), "timestamp": self.timestamps, "timestamp_type": pa.int32(), "headers": HEADERS}
        return tuple((name, types.get(name, _BINARY)) for name in self.columns)

    @cached_property
    def wanted(self) -> Wanted:
        """The columns that a reader has to fill."""
        wanted = Wanted(0)
        for name in self.columns:
            wanted |= Wanted[name.upper()]
        return wanted


EVERYTHING = Projection()


def decode(buffer: Buffer, projection: Projection = EVERYTHING, options: ReadOptions = reader.DEFAULT_OPTIONS) -> Any:
    """The records of a Fetch answer, or of any run of batches, as a `pyarrow.RecordBatch`.

    Leaves out what `options` say, as `reader` does, and a last batch that is cut short. Timestamps are the producer's
    or the broker's, as `timestamp_type` tells (0 CreateTime, 1 LogAppendTime). Raises `DecodeError` for malformed
    bytes and for a column of more than 2 GiB, and CORRUPT_MESSAGE where a CRC does not match.
    """
    view = contiguous(buffer)
    first = NO_START if options.from_offset is None else options.from_offset
    columns = ColumnReader(projection.wanted, first, len(view))
    _append_batches(columns, view, options)
    return _record_batch(columns.finish(), projection)


def _append_batches(columns: ColumnReader, view: memoryview, options: ReadOptions) -> None:
    walk = batches(view)
    while True:
        start = walk.position
        if len(view) - start > _MAGIC_AT and view[start + _MAGIC_AT] < MAGIC:
            frame = frame_at(view, start)
            if frame is None:
                return
            message = view[start : start + frame.size]
            converted = legacy.convert(
                message,
                options.decompressed_bytes_max,
                check_crcs=options.check_crcs,
                compression=CompressionType.NONE,
            )
            _append_batches(columns, memoryview(converted), options)
            walk = batches(view, start + frame.size)
            continue
        batch = next(walk, None)
        if batch is None:
            return
        _append(columns, batch, options)


def _append(columns: ColumnReader, batch: Batch, options: ReadOptions) -> None:
    if options.from_offset is not None and batch.last_offset < options.from_offset:
        return
    if options.check_crcs and not batch.crc_matches():
        raise CorruptMessageError(f"The CRC of the batch at offset {batch.base_offset} does not match")
    if options.control_records or not batch.is_control:
        section = reader.record_section(batch, options.decompressed_bytes_max)
        columns.append(section, batch.records_count, batch.base_offset, batch.base_timestamp, batch.log_append_time)


def _record_batch(columns: Columns, projection: Projection) -> Any:
    arrays = []
    for name, kind in projection.fields:
        column = getattr(columns, name)
        if isinstance(column, BinaryColumn):
            arrays.append(_binary(column, kind))
        elif isinstance(column, HeaderColumn):
            arrays.append(_headers(column, columns.rows))
        elif name == "timestamp":
            arrays.append(_timestamps(column, columns.rows, kind))
        else:
            arrays.append(_numbers(column, columns.rows, kind))
    return pa.RecordBatch.from_arrays(arrays, schema=projection.schema)


def _binary(column: BinaryColumn, kind: Any) -> Any:
    validity = None if column.validity is None else pa.py_buffer(column.validity)
    buffers = [validity, pa.py_buffer(column.offsets), pa.py_buffer(column.data)]
    return pa.Array.from_buffers(kind, column.rows, buffers, column.nulls)


def _numbers(column: Any, rows: int, kind: Any) -> Any:
    return pa.Array.from_buffers(kind, rows, [None, pa.py_buffer(column)], 0)


def _timestamps(column: Any, rows: int, kind: Any) -> Any:
    if pa.types.is_int64(kind) or kind.unit == "ms":
        return _numbers(column, rows, kind)
    try:
        return _numbers(column, rows, pa.timestamp("ms", kind.tz)).cast(kind)
    except pa.ArrowInvalid as error:
        raise DecodeError(str(error), path="timestamp") from None


def _headers(column: HeaderColumn, rows: int) -> Any:
    children = [_header_keys(column.keys), _binary(column.values, _BINARY)]
    pairs = pa.Array.from_buffers(HEADER, column.keys.rows, [None], 0, children=children)
    return pa.Array.from_buffers(HEADERS, rows, [None, pa.py_buffer(column.offsets)], 0, children=[pairs])


def _header_keys(column: BinaryColumn) -> Any:
    """The keys as strings; what is not UTF-8 gets replacement characters, as Kafka's Java client reads it."""
    keys = _binary(column, _STRING)
    try:
        keys.validate(full=True)
    except pa.ArrowInvalid:
        raw = _binary(column, _BINARY).to_pylist()
        return pa.array([key.decode("utf-8", "replace") for key in raw], _STRING)
    return keys


def encode(
    records: Any, options: BatchOptions = writer.DEFAULT_OPTIONS, *, default_timestamp: int = NO_TIMESTAMP
) -> bytearray:
    """The rows of a `pyarrow.RecordBatch` as one batch; a table's batches come from `Table.to_batches`.

    Its columns are `value`, and if there `key`, `headers` and `timestamp` (int64 milliseconds or any timestamp type);
    others are not looked at. Where a timestamp is missing or null, `default_timestamp` is written.
    """
    columns = _columns(records, options, default_timestamp)
    if records.num_rows == 0:
        return writer.write_batch((), options)
    batch, stop = _write(columns, 0, options, _BATCH_BYTES_MAX)
    if stop < records.num_rows:
        raise EncodeError("the records need more than the 2 GiB that a batch can have", path=f"records[{stop}]")
    return batch


def encode_batches(
    records: Any,
    options: BatchOptions = writer.DEFAULT_OPTIONS,
    *,
    batch_bytes_max: int = 1024 * 1024,
    default_timestamp: int = NO_TIMESTAMP,
) -> Iterator[bytearray]:
    """Encodes columns as batches of at most `batch_bytes_max` before compression; a record larger than that goes alone.

    Offsets and sequence numbers go on from batch to batch.

    >>> import pyarrow as pa
    >>> [len(batch) for batch in encode_batches(pa.record_batch({"value": [b"x" * 50] * 5}), batch_bytes_max=200)]
    [175, 175, 118]
    """
    columns = _columns(records, options, default_timestamp)
    batch_bytes_max = max(0, min(batch_bytes_max, _BATCH_BYTES_MAX))
    start = 0
    while start < records.num_rows:
        batch, stop = _write(columns, start, options, batch_bytes_max)
        yield batch
        options = _moved_on(options, stop - start)
        start = stop


def _columns(records: Any, options: BatchOptions, default_timestamp: int) -> ColumnWriter:
    if options.last_offset is not None or options.delete_horizon_ms is not None or options.is_control:
        raise EncodeError("compacted and control batches are not written from columns", path="batch")
    return ColumnWriter(source_of(records, default_timestamp))


def _write(columns: ColumnWriter, start: int, options: BatchOptions, bytes_max: int) -> tuple[bytearray, int]:
    """A batch that starts with row `start`, and the row after its last."""
    batch, stop, base_timestamp, max_timestamp = columns.section(start, HEADER_BYTES, bytes_max)
    if options.compression is not CompressionType.NONE:
        with memoryview(batch) as view:
            section = compress(options.compression, view[HEADER_BYTES:], options.compression_level)
        batch = bytearray(HEADER_BYTES) + section
    if options.log_append_time is not None:
        max_timestamp = options.log_append_time
    count = stop - start
    writer.write_header(batch, options, (options.base_offset or 0, count - 1, base_timestamp, max_timestamp, count))
    return batch, stop


def _moved_on(options: BatchOptions, count: int) -> BatchOptions:
    """The options for what follows a batch of `count` records; sequence numbers start again at 0 after 2^31-1."""
    sequence = options.base_sequence
    if sequence >= 0:
        sequence = (sequence + count) & _INT32_MAX
    return replace(options, base_offset=(options.base_offset or 0) + count, base_sequence=sequence)
