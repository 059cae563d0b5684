"""Columns that a source gives, as what the producer takes.

A value that is too large for a request fails or is tolerated as a record of its own, so columns that have one are
sent as rows altogether: that keeps their order. Pure.
"""

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from ottla.connect.columns import SourceColumns
from ottla.connect.data.schema import OPTIONAL_BYTES, STRING
from ottla.connect.pipeline.column_pipeline import timestamps_of
from ottla.connect.record import SourceRecord

if TYPE_CHECKING:
    import pyarrow as pa


def column_batch(columns: SourceColumns, bytes_max: int) -> "pa.RecordBatch | None":
    """The columns by the producer's names; None if they have to be rows."""
    import pyarrow as pa

    overhead = sum(len(name) + len(value or b"") for name, value in columns.headers)
    if _has_large(columns, bytes_max - overhead):
        return None
    found: dict[str, Any] = {"value": columns.values.cast(pa.binary())}
    if columns.keys is not None:
        found["key"] = columns.keys.cast(pa.binary())
    if columns.timestamps is not None and not isinstance(columns.timestamps, int):
        # One number for all is the moment of the poll: the producer's own, which is cheaper, is a millisecond later.
        found["timestamp"] = columns.timestamps
    if columns.headers:
        found["headers"] = repeated_headers(columns.headers, len(columns.values))
    return pa.RecordBatch.from_pydict(found)


def all_rows(columns: SourceColumns) -> Iterator[SourceRecord]:
    """The rows of columns, without the headers that transforms gave them."""
    values = columns.values.to_pylist()
    keys = columns.keys.to_pylist() if columns.keys is not None else [None] * len(values)
    times = timestamps_of(columns)
    schema = STRING if str(columns.values.type) == "string" else OPTIONAL_BYTES
    for key, value, timestamp in zip(keys, values, times, strict=True):
        # The offset is that of all of them, and is stored behind the last.
        yield SourceRecord(
            None, None, columns.topic, value, key=key, value_schema=schema,
            key_schema=None if key is None else schema, timestamp=timestamp,
        )  # fmt: skip


def repeated_headers(headers: tuple[tuple[str, bytes | None], ...], rows: int) -> Any:
    """The column of headers of rows that all have these."""
    import pyarrow as pa

    kind = pa.list_(pa.struct([("key", pa.string()), ("value", pa.binary())]))
    one = pa.array([[{"key": name, "value": value} for name, value in headers]], kind)
    return one.take(pa.repeat(pa.scalar(0, pa.int64()), rows))


def _has_large(columns: SourceColumns, bytes_max: int) -> bool:
    from pyarrow import compute

    sizes = compute.binary_length(columns.values)
    if columns.keys is not None:
        sizes = compute.add(compute.fill_null(sizes, 0), compute.fill_null(compute.binary_length(columns.keys), 0))
    largest = compute.max(sizes).as_py()
    return largest is not None and largest > bytes_max
