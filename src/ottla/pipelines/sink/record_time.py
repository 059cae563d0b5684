"""The times that rows bring along, as records have them: milliseconds since 1970, whole columns at a time.

Null, and Kafka's -1 for "has none", leave the time to the moment of writing. An earlier time is refused, as every Kafka
producer does. Spark's microseconds are cut off, not rounded: 12:00:00.999999 is in the second 12:00:00.
"""

from typing import Any, Final

import pyarrow as pa
import pyarrow.compute as pc

from ottla.pipelines.sink.errors import SinkError
from ottla.protocol.records.timestamp import NO_TIMESTAMP

COLUMN: Final = "timestamp"
_INT64: Any = pa.int64()


def with_record_times(batch: Any) -> Any:
    """The `pyarrow.RecordBatch` with its column `timestamp`, if it has one, as milliseconds; `SinkError` for bad ones.

    >>> batch = pa.record_batch({"value": ["a", "b"], "timestamp": pa.array([1_999, None], pa.timestamp("us"))})
    >>> with_record_times(batch).column("timestamp").to_pylist()
    [1, None]
    """
    at = batch.schema.get_field_index(COLUMN)
    if at < 0:
        return batch
    times = _milliseconds(batch.column(at))
    least = pc.min(times).as_py()
    if least is not None and least < 0:
        if least < NO_TIMESTAMP:
            raise SinkError(
                f"column 'timestamp': {least} ms is before 1970; fill it with a later time, or null for now"
            )
        times = pc.if_else(pc.equal(times, NO_TIMESTAMP), pa.scalar(None, _INT64), times)
    return batch.set_column(at, COLUMN, times)


def _milliseconds(times: Any) -> Any:
    if not pa.types.is_timestamp(times.type):
        return times
    if pc.any(pc.less(times.cast(_INT64), 0)).as_py():
        # Division cuts towards zero, and -1 µs is not 0 ms but in the last one of 1969.
        times = pc.floor_temporal(times, unit="millisecond")
    return times.cast(pa.timestamp("ms", times.type.tz), safe=False).cast(_INT64)
