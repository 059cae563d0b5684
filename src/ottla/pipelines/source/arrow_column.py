"""Fetched batches as the Arrow batches that Spark expects: its types, its names, rows within one range of offsets.

What every record of a partition shares (topic, partition) is made once and cut to length; it costs no copy.
"""

from collections.abc import Iterator, Sequence
from typing import Any, Final

import pyarrow as pa
import pyarrow.compute as pc

from ottla.client.consumer.range.range_fetch import FetchedBatches
from ottla.client.consumer.range.range_reader import rows_before
from ottla.pipelines.source.offset_range import OffsetRange
from ottla.protocol.records.arrow.batches import Projection, decode
from ottla.protocol.records.reader import ReadOptions

ROWS_MAX: Final = 16_384
"""Rows of one Arrow batch: enough to make its fixed cost small, few enough to stay in the caches."""

_NAMES: Final = {"timestampType": "timestamp_type"}
_SHARED: Final = frozenset({"topic", "partition"})
_HEADER: Final = pa.struct([pa.field("key", pa.string()), pa.field("value", pa.binary())])
_HEADERS: Final = pa.list_(pa.field("element", _HEADER))
_TYPES: Final = {
    "key": pa.binary(),
    "value": pa.binary(),
    "topic": pa.string(),
    "partition": pa.int32(),
    "offset": pa.int64(),
    "timestamp": pa.timestamp("us", "UTC"),
    "timestampType": pa.int32(),
    "headers": _HEADERS,
}


class ArrowColumns:
    """Makes the wanted columns of one range."""

    def __init__(self, columns: Sequence[str], wanted: OffsetRange) -> None:
        self._columns: Final = tuple(columns)
        self._range: Final = wanted
        read = [_NAMES.get(name, name) for name in columns if name not in _SHARED]
        if "offset" not in read:
            # Rows are counted and the range is cut by it.
            read.append("offset")
        self._projection: Final = Projection(tuple(read), _TYPES["timestamp"])
        self._schema: Final = pa.schema([pa.field(name, _TYPES[name]) for name in columns])
        partition = pa.scalar(wanted.partition.partition, pa.int32())
        self._shared: Final[dict[str, Any]] = {
            "topic": pa.repeat(wanted.partition.topic, ROWS_MAX),
            "partition": pa.repeat(partition, ROWS_MAX),
        }

    def batches(self, fetched: FetchedBatches, *, check_crcs: bool) -> Iterator[Any]:
        """The records of the range among those of some batches, as `pyarrow.RecordBatch`es of at most `ROWS_MAX`."""
        pieces = fetched.pieces
        data = pieces[0] if len(pieces) == 1 else b"".join(pieces)
        options = ReadOptions(from_offset=fetched.start, check_crcs=check_crcs)
        records = rows_before(decode(data, self._projection, options), self._range.end)
        arrays = [None if name in _SHARED else self._array(records, name) for name in self._columns]
        for start in range(0, records.num_rows, ROWS_MAX):
            rows = min(ROWS_MAX, records.num_rows - start)
            cut = [
                self._shared[name].slice(0, rows) if array is None else array.slice(start, rows)
                for name, array in zip(self._columns, arrays, strict=True)
            ]
            yield pa.RecordBatch.from_arrays(cut, schema=self._schema)

    def _array(self, records: Any, name: str) -> Any:
        array = records.column(_NAMES.get(name, name))
        return _spark_headers(array) if name == "headers" else array


def _spark_headers(headers: Any) -> Any:
    """Null where there are none, as with Spark's Kafka connector."""
    pairs = headers.flatten().cast(_HEADER)
    lengths = headers.value_lengths()
    ends = pc.cumulative_sum(lengths.cast(pa.int32()))
    offsets = pa.concat_arrays([pa.array([0], pa.int32()), ends])
    return pa.ListArray.from_arrays(offsets, pairs, type=_HEADERS, mask=pc.equal(lengths, 0))
