"""The inputs of a task from the Arrow batches that the source gives: decoded column by column, or record by record."""

from collections.abc import Iterable, Iterator, Sequence
from typing import Any, Final

import pyarrow as pa

from ottla.client.record import TopicPartition
from ottla.client.serde.raw import BytesSerde
from ottla.client.serde.text import StringSerde
from ottla.streams.engine.error_handler import InputRecord
from ottla.streams.engine.input_column import InputColumns
from ottla.streams.record import Headers
from ottla.streams.serde import Serde

READ: Final = ("key", "value", "offset", "timestamp", "headers")
"""The columns that the batches have."""
_ROWS_MAX: Final = 4_096
"""What a task takes at a time: what it gives out for these is in memory."""


class ArrowFeed:
    """The records of one partition."""

    def __init__(self, place: TopicPartition, batches: Iterator[Any]) -> None:
        self._place: Final = place
        self._batches: Final = batches

    def __iter__(self) -> Iterator[InputRecord]:
        return records_of(self._place, self._batches)

    def pieces(self, serdes: tuple[Serde[Any], Serde[Any]]) -> Iterator[InputColumns | Iterable[InputRecord]]:
        """As columns; records where a time is not valid or a value cannot be decoded: the task knows what to do."""
        for batch in self._batches:
            for start in range(0, batch.num_rows, _ROWS_MAX):
                piece = batch.slice(start, _ROWS_MAX)
                yield self._columns(piece, serdes) or records_of(self._place, iter((piece,)))

    def _columns(self, batch: Any, serdes: tuple[Serde[Any], Serde[Any]]) -> InputColumns | None:
        topic, partition = self._place
        keys, values, offsets, times, headers = (batch.column(at) for at in range(len(READ)))
        milliseconds = _milliseconds(times)
        if min(milliseconds) < 0:
            return None
        found = None if headers.null_count == len(headers) else [_headers_in(one) for one in headers.to_pylist()]
        try:
            decoded_keys = _decoded(serdes[0], topic, keys, found)
            decoded_values = _decoded(serdes[1], topic, values, found)
        except Exception:  # noqa: BLE001  # a user's serde may raise anything; record by record, the handler decides
            return None

        def record_at(number: int) -> InputRecord:
            place = (topic, partition, offsets[number].as_py(), milliseconds[number])
            return InputRecord(*place, keys[number].as_py(), values[number].as_py(), found[number] if found else ())

        return InputColumns(
            topic, partition, offsets.to_pylist(), milliseconds, decoded_keys, decoded_values, found, record_at
        )


def records_of(place: TopicPartition, batches: Iterator[Any]) -> Iterator[InputRecord]:
    """The records of batches with the columns `READ`."""
    topic, partition = place
    for batch in batches:
        keys, values, offsets, times, headers = (batch.column(at) for at in range(len(READ)))
        rows = zip(offsets.to_pylist(), _milliseconds(times), keys.to_pylist(), values.to_pylist(), strict=True)
        if headers.null_count == len(headers):
            for offset, time, key, value in rows:
                yield InputRecord(topic, partition, offset, time, key, value)
            continue
        for (offset, time, key, value), found in zip(rows, headers.to_pylist(), strict=True):
            yield InputRecord(topic, partition, offset, time, key, value, _headers_in(found))


def _milliseconds(times: Any) -> list[int]:
    found: list[int] = (times.cast(pa.int64()).to_numpy() // 1000).tolist()
    return found


def _decoded(serde: Serde[Any], topic: str, column: Any, headers: Sequence[Headers] | None) -> list[Any]:
    """The values of a column; text as a whole."""
    found: list[Any]
    if type(serde) is StringSerde and serde.encoding == "utf-8":
        found = column.cast(pa.string()).to_pylist()
        return found
    found = column.to_pylist()
    if type(serde) is BytesSerde:
        return found
    deserialize = serde.deserialize
    if headers is None:
        return [None if data is None else deserialize(topic, (), data) for data in found]
    return [None if data is None else deserialize(topic, one, data) for data, one in zip(found, headers, strict=True)]


def _headers_in(found: list[dict[str, Any]] | None) -> Headers:
    return tuple((one["key"], one["value"]) for one in found or ())
