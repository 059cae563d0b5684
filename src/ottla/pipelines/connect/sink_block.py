"""Records of one fetch, read as columns of Arrow, for tasks that take values by their fields. Pure.

A block is as long as `max.poll.records`: one record in it that has to go its own way takes no more with it than that.
"""

from collections.abc import Iterator
from itertools import repeat
from typing import TYPE_CHECKING, Any, Final

from ottla.connect.pipeline.column_pipeline import ReadBlock
from ottla.connect.pipeline.dead_letter import ConsumerRecord

if TYPE_CHECKING:
    import pyarrow as pa

BLOCK_COLUMNS: Final = ("topic", "partition", "offset", "timestamp", "timestampType", "key", "value", "headers")
_TYPES: Final = {0: "CreateTime", 1: "LogAppendTime"}


def parts(found: "pa.RecordBatch", rows_max: int) -> Iterator["pa.RecordBatch"]:
    """The records in pieces."""
    for start in range(0, found.num_rows, rows_max):
        yield found.slice(start, rows_max)


def block_of(found: "pa.RecordBatch") -> ReadBlock | None:
    """The records as the column way takes them; None if some have headers."""
    if len(found.column("headers").flatten()):
        return None
    return ReadBlock(
        topic=found.column("topic")[0].as_py(),
        partition=found.column("partition")[0].as_py(),
        offsets=found.column("offset").to_pylist(),
        timestamps=_timestamps(found),
        keys=_values(found.column("key")),
        values=_values(found.column("value")),
    )


def records_of(found: "pa.RecordBatch") -> list[ConsumerRecord]:
    """The records one by one."""
    headers = [
        tuple([(each["key"], each["value"]) for each in row or ()]) for row in found.column("headers").to_pylist()
    ]
    types = [_TYPES.get(kind, "NoTimestampType") for kind in found.column("timestampType").to_pylist()]
    rows = zip(
        found.column("topic").to_pylist(), found.column("partition").to_pylist(), found.column("offset").to_pylist(),
        _timestamps(found), types, found.column("key").to_pylist(), found.column("value").to_pylist(), headers,
        strict=True,
    )  # fmt: skip
    return [ConsumerRecord(*row) for row in rows]


def _timestamps(found: "pa.RecordBatch") -> list[int | None]:
    times: list[int] = found.column("timestamp").cast("timestamp[ms]").cast("int64").to_pylist()
    return [time if time >= 0 else None for time in times] if min(times) < 0 else [*times]


def _values(column: Any) -> list[bytes | None]:
    if column.null_count == len(column):
        return list(repeat(None, len(column)))
    found: list[bytes | None] = column.to_pylist()
    return found
