"""Outputs of tasks as the Arrow batches that the sink takes."""

from collections.abc import Iterator
from typing import Any, Final

import numpy as np
import pyarrow as pa

from ottla.pipelines.streams.option import COUNTED
from ottla.streams.host.output_column import OutputColumns
from ottla.streams.record import Headers

_COUNTED_MAX: Final = 65_536
_HEADER: Final = pa.struct([pa.field("key", pa.string()), pa.field("value", pa.binary())])
_HEADERS: Final = pa.list_(pa.field("element", _HEADER))
_NAMES: Final = ("topic", "partition", "key", "value", "timestamp", "headers")


def counted_rows(count: int) -> Iterator[Any]:
    """Rows without content, as `pyarrow.RecordBatch`es with the column `COUNTED`."""
    for start in range(0, count, _COUNTED_MAX):
        yield pa.RecordBatch.from_arrays([pa.nulls(min(count - start, _COUNTED_MAX), pa.bool_())], [COUNTED])


def rows_of(records: OutputColumns) -> Any:
    """A `pyarrow.RecordBatch`."""
    count = len(records)
    topic = pa.DictionaryArray.from_arrays(np.zeros(count, np.int32), pa.array([records.topic], pa.string()))
    has_headers = any(records.headers)
    columns = [
        topic,
        pa.array(records.partition_column(), pa.int32()),
        pa.array(records.keys, pa.binary()),
        pa.array(records.values, pa.binary()),
        pa.array(records.timestamps, pa.int64()),
        pa.array([_headers_out(one) for one in records.headers] if has_headers else [None] * count, _HEADERS),
    ]
    return pa.RecordBatch.from_arrays(columns, list(_NAMES))


def _headers_out(headers: Headers) -> list[dict[str, Any]] | None:
    return [{"key": name, "value": value} for name, value in headers] or None
