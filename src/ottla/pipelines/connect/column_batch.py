"""Columns that a source gives, in the types that it promised, as what the producer takes, or as rows.

A value that is too large for a request fails or is tolerated as a record of its own, so columns that have one are
sent as rows altogether: that keeps their order. Pure.
"""

from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from ottla.connect.columns import ColumnKind, SourceColumns
from ottla.connect.data.schema import OPTIONAL_BYTES, STRING
from ottla.connect.errors import ConnectError
from ottla.connect.pipeline.column_pipeline import timestamps_of
from ottla.connect.record import Header, SourceRecord

if TYPE_CHECKING:
    import pyarrow as pa


def typed(columns: SourceColumns, kind: ColumnKind) -> SourceColumns:
    """The columns as plain arrays of the promised kind, whatever Arrow has for such values (views, chunks, large)."""
    import pyarrow as pa

    wanted = pa.string() if kind is ColumnKind.STRING else pa.binary()
    times = columns.timestamps
    try:
        return replace(
            columns,
            values=_array(columns.values, wanted),
            keys=None if columns.keys is None else _array(columns.keys, wanted),
            timestamps=times if times is None or isinstance(times, int) else _milliseconds(times),
        )
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError) as error:
        raise ConnectError(f"poll_columns() gave no column of {kind.value}: {error}") from error


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
    """The rows of columns as a task gave them."""
    values = columns.values.to_pylist()
    keys = columns.keys.to_pylist() if columns.keys is not None else [None] * len(values)
    times = timestamps_of(columns)
    schema = STRING if str(columns.values.type) == "string" else OPTIONAL_BYTES
    headers = tuple([Header(name, OPTIONAL_BYTES, value) for name, value in columns.headers])
    for key, value, timestamp in zip(keys, values, times, strict=True):
        # The offset is that of all of them, and is stored behind the last.
        yield SourceRecord(
            columns.source_partition, None, columns.topic, value, key=key, value_schema=schema,
            key_schema=None if key is None else schema, timestamp=timestamp, headers=headers,
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


def _array(values: Any, kind: Any) -> Any:
    import pyarrow as pa

    found = values.combine_chunks() if isinstance(values, pa.ChunkedArray) else values
    return found if found.type == kind else found.cast(kind)


def _milliseconds(values: Any) -> Any:
    """Moments of any unit, or numbers, as numbers of milliseconds."""
    import pyarrow as pa

    if pa.types.is_timestamp(values.type):
        # Fractions of a millisecond are cut off: a topic has none.
        values = values.cast(pa.timestamp("ms", values.type.tz), safe=False)
    return _array(values, pa.int64())
