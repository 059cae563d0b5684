"""Outputs of tasks as the Arrow batches that the sink takes, and inputs from the ones that the source gives."""

from collections.abc import Iterator, Sequence
from typing import Any, Final

import pyarrow as pa

from ottla.client.record import TopicPartition
from ottla.pipelines.source.column import HEADERS_TYPE
from ottla.streams.engine.error_handler import InputRecord, OutputRecord
from ottla.streams.record import Headers

READ: Final = ("key", "value", "offset", "timestamp", "headers")
_HEADER: Final = pa.struct([pa.field("key", pa.string()), pa.field("value", pa.binary())])
_SCHEMA: Final = pa.schema(
    [
        pa.field("topic", pa.string()),
        pa.field("partition", pa.int32()),
        pa.field("key", pa.binary()),
        pa.field("value", pa.binary()),
        pa.field("timestamp", pa.int64()),
        pa.field("headers", pa.list_(pa.field("element", _HEADER))),
    ]
)


def output_schema() -> Any:
    """The same for Spark."""
    from pyspark.sql.types import BinaryType, IntegerType, LongType, StringType, StructField, StructType

    kinds = (StringType(), IntegerType(), BinaryType(), BinaryType(), LongType(), HEADERS_TYPE)
    return StructType([StructField(name, kind) for name, kind in zip(_SCHEMA.names, kinds, strict=True)])


def rows_of(records: Sequence[OutputRecord]) -> Any:
    """A `pyarrow.RecordBatch`."""
    topics, keys, values, timestamps, headers, partitions = zip(*records, strict=True)
    columns = (topics, partitions, keys, values, timestamps, [_headers_out(one) for one in headers])
    arrays = [pa.array(column, field.type) for column, field in zip(columns, _SCHEMA, strict=True)]
    return pa.RecordBatch.from_arrays(arrays, schema=_SCHEMA)


def records_of(place: TopicPartition, batches: Iterator[Any]) -> Iterator[InputRecord]:
    """The records of batches with the columns `READ`."""
    topic, partition = place
    for batch in batches:
        keys, values, offsets, times, headers = (batch.column(at) for at in range(len(READ)))
        milliseconds = times.cast(pa.int64()).to_numpy() // 1000
        rows = zip(offsets.to_pylist(), milliseconds.tolist(), keys.to_pylist(), values.to_pylist(), strict=True)
        if headers.null_count == len(headers):
            for offset, time, key, value in rows:
                yield InputRecord(topic, partition, offset, time, key, value)
            continue
        for (offset, time, key, value), found in zip(rows, headers.to_pylist(), strict=True):
            yield InputRecord(topic, partition, offset, time, key, value, _headers_in(found))


def _headers_out(headers: Headers) -> list[dict[str, Any]] | None:
    return [{"key": name, "value": value} for name, value in headers] or None


def _headers_in(found: list[dict[str, Any]] | None) -> Headers:
    return tuple((one["key"], one["value"]) for one in found or ())
