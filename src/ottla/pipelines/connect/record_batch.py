"""Records that were made one by one, as columns for the producer: a record sent alone costs it ten times as much.

Pure. Order is kept: what is sent at once are records behind one another for one topic.
"""

from collections.abc import Iterator, Sequence
from itertools import groupby, repeat
from operator import is_
from typing import TYPE_CHECKING, Any, Final

from ottla.connect.pipeline.column_pipeline import ProducerColumns
from ottla.connect.pipeline.dead_letter import ProducerRecord
from ottla.pipelines.connect.column_batch import repeated_headers

if TYPE_CHECKING:
    import pyarrow as pa

ROWS_MIN: Final = 32
"""Fewer are sent one by one: columns have a price of their own."""


def runs(records: Sequence[ProducerRecord]) -> Iterator[list[ProducerRecord]]:
    """Records behind one another for the same topic and partition.

    >>> a, b = ProducerRecord("a", None, None, b"1"), ProducerRecord("b", None, None, b"2")
    >>> [len(run) for run in runs([a, a, b, a])]
    [2, 1, 1]
    """
    # Fast path: one topic, which is nearly every poll.
    place = (records[0].topic, records[0].partition) if records else None
    if all((record.topic, record.partition) == place for record in records):
        if records:
            yield list(records)
        return
    for _, found in groupby(records, lambda record: (record.topic, record.partition)):
        yield list(found)


def columns_of(records: Sequence[ProducerRecord], bytes_max: int) -> "pa.RecordBatch | None":
    """The records as the producer takes them; None if one is too large for a request, or they are few."""
    if len(records) < ROWS_MIN:
        return None
    headers = [record.headers for record in records]
    has_headers = any(headers)
    made = _plain_columns(
        [record.key for record in records], [record.value for record in records],
        [record.timestamp for record in records], bytes_max - (_header_bytes(headers) if has_headers else 0),
    )  # fmt: skip
    if made is None:
        return None
    return _batch({**made, "headers": _header_column(headers)} if has_headers else made)


def producer_batch(columns: ProducerColumns, bytes_max: int) -> "pa.RecordBatch | None":
    """Columns as the producer takes them; None if one record is too large for a request."""
    headers = columns.headers
    room = bytes_max - (_header_bytes([headers]) if headers else 0)
    made = _plain_columns(columns.keys, columns.values, columns.timestamps, room)
    if made is None:
        return None
    return _batch({**made, "headers": repeated_headers(headers, len(columns.values))} if headers else made)


def _plain_columns(
    keys: Sequence[bytes | None], values: Sequence[bytes | None], times: Sequence[int | None], bytes_max: int
) -> dict[str, Any] | None:
    """All but the headers; None if a key and a value together may be larger than that."""
    import pyarrow as pa

    has_keys = not all(map(is_, keys, repeat(None)))
    if _largest(values) + (_largest(keys) if has_keys else 0) > bytes_max:
        return None
    made: dict[str, Any] = {"value": pa.array(values, pa.binary())}
    if has_keys:
        made["key"] = pa.array(keys, pa.binary())
    if not all(map(is_, times, repeat(None))):
        made["timestamp"] = pa.array(times, pa.int64())
    return made


def _batch(columns: dict[str, Any]) -> "pa.RecordBatch":
    import pyarrow as pa

    return pa.RecordBatch.from_pydict(columns)


def _largest(values: Sequence[bytes | None]) -> int:
    return max(map(len, filter(None, values)), default=0)


def _header_bytes(rows: Sequence[tuple[tuple[str, bytes | None], ...]]) -> int:
    """The size of the largest headers, a little too much: names are counted as they are longest in UTF-8."""
    first = rows[0]
    different = [row for row in rows if row is not first and row != first]
    return max(sum(4 * len(name) + len(value or b"") for name, value in row) for row in (first, *different))


def _header_column(rows: Sequence[tuple[tuple[str, bytes | None], ...]]) -> Any:
    import pyarrow as pa

    offsets, names, values = [0], [], []
    for row in rows:
        for name, value in row:
            names.append(name)
            values.append(value)
        offsets.append(len(names))
    pairs = pa.StructArray.from_arrays([pa.array(names, pa.string()), pa.array(values, pa.binary())], ["key", "value"])
    return pa.ListArray.from_arrays(pa.array(offsets, pa.int32()), pairs)
