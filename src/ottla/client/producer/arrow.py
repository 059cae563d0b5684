"""Sends whole Arrow columns: batches are written from the columns' buffers, no Python object is made per record.

Owns how rows find their partitions: by the key column's hash, by a column of numbers, all to one, or a batch to each in
turn. What has no key is spread a batch at a time. Needs pyarrow (`pip install ottla[arrow]`).
"""

import time
from collections.abc import Generator, Iterator
from typing import Any, Final

import pyarrow as pa
import pyarrow.compute as pc

from ottla.base.frozen import frozen
from ottla.client.producer import send_future
from ottla.client.producer.append import SendFuture
from ottla.client.producer.batch import ProducerBatch
from ottla.client.producer.core import ProducerCore
from ottla.client.producer.partitioner.murmur2 import key_partitions
from ottla.client.record import RecordMetadata
from ottla.protocol.errors import EncodeError
from ottla.protocol.records.arrow.batches import encode_batches
from ottla.protocol.records.arrow.source import source_of
from ottla.protocol.records.batch import Batch

_FIELDS: Final = ("value", "key", "headers", "timestamp")


@frozen
class ArrowOptions:
    """Which columns hold what; columns of these names are found without being named.

    `partition_by` is a column of partition numbers, or one partition for all; without it the key decides, and rows
    without a key go a batch to each partition in turn. `timestamp` is a column, or milliseconds for all rows; rows
    without one get the time of sending.
    """

    value: str = "value"
    key: str | None = None
    headers: str | None = None
    timestamp: str | int | None = None
    partition_by: str | int | None = None


class ArrowSent:
    """The outcome of the rows: done when all their batches are."""

    def __init__(self) -> None:
        self._futures: Final[list[SendFuture]] = []
        self.rows = 0
        """How many records there are."""

    def _add(self, batch: ProducerBatch) -> None:
        self._futures.append(SendFuture(batch, batch.count - 1, batch.max_timestamp, -1, -1))
        self.rows += batch.count

    def done(self) -> bool:
        """Whether every record was acknowledged, or has failed."""
        return all(future.done() for future in self._futures)

    def result(self, timeout: float | None = None) -> list[RecordMetadata]:
        """The last record of each batch, once all are there; raises what the first batch that failed failed with."""
        deadline = None if timeout is None else time.monotonic() + timeout
        return [
            send_future.result(future, None if deadline is None else max(0.0, deadline - time.monotonic()))
            for future in self._futures
        ]

    def __await__(self) -> Generator[Any, None, list[RecordMetadata]]:
        found = []
        for future in self._futures:
            found.append((yield from future.__await__()))
        return found


class ArrowSender:
    """Makes the batches of one call."""

    def __init__(self, core: ProducerCore, topic: str, options: ArrowOptions) -> None:
        self.sent: Final = ArrowSent()
        self._core: Final = core
        self._topic: Final = topic
        self._options: Final = options
        self._turn = 0

    def batches(self, records: Any) -> Iterator[ProducerBatch]:
        """Batches to be added in this order; `EncodeError` for columns that are not there or hold something else."""
        if not isinstance(records, (pa.Table, pa.RecordBatch)):
            raise EncodeError(f"a pyarrow.Table or RecordBatch is needed, not {type(records).__name__}")
        chunks = records.to_batches() if isinstance(records, pa.Table) else [records]
        for chunk in chunks:
            if chunk.num_rows:
                yield from self._chunk(chunk)

    def _chunk(self, chunk: Any) -> Iterator[ProducerBatch]:
        columns = self._columns(chunk)
        by = self._options.partition_by
        if isinstance(by, int):
            yield from self._written(columns, self._checked(by))
            return
        numbers = self._numbers(chunk, columns)
        if numbers is None:
            yield from self._written(columns, None)
            return
        found = pc.unique(numbers).to_pylist()
        for number in found:
            rows = columns if len(found) == 1 else _rows(columns, numbers, number)
            yield from self._written(rows, None if number is None else self._checked(number))

    def _columns(self, chunk: Any) -> Any:
        """The columns under the names that the codec knows."""
        wanted = {"value": self._options.value, "key": self._options.key, "headers": self._options.headers}
        if isinstance(self._options.timestamp, str):
            wanted["timestamp"] = self._options.timestamp
        names = chunk.schema.names
        found = {}
        for field in _FIELDS:
            given = wanted.get(field)
            name = given or field
            if field == "timestamp" and isinstance(self._options.timestamp, int):
                continue
            if name in names:
                found[field] = chunk.column(names.index(name))
            elif given is not None:
                raise EncodeError(f"there is no column {name!r}, only {', '.join(names)}", path=field)
        return pa.RecordBatch.from_pydict(found)

    def _numbers(self, chunk: Any, columns: Any) -> Any:
        """The partition of each row, null where any will do; None if that is so for all rows."""
        by = self._options.partition_by
        if by is not None:
            if by not in chunk.schema.names:
                raise EncodeError(f"there is no column {by!r}", path="partition_by")
            return chunk.column(chunk.schema.names.index(by)).cast(pa.int32())
        lane = self._core.accumulator.lanes[self._topic]
        if "key" not in columns.schema.names or not lane.uses_keys:
            return None
        source = source_of(pa.RecordBatch.from_arrays([columns.column("key")], ["value"]), 0).value
        found = key_partitions(source, columns.num_rows, lane.partition_count)
        numbers = pa.Array.from_buffers(pa.int32(), columns.num_rows, [None, pa.py_buffer(found)])
        if not columns.column("key").null_count:
            return numbers
        return pc.if_else(pc.less(numbers, 0), pa.scalar(None, pa.int32()), numbers)

    def _checked(self, number: int) -> int:
        count = self._core.accumulator.lanes[self._topic].partition_count
        if not 0 <= number < count:
            raise EncodeError(f"{self._topic} has partitions 0 to {count - 1}, not {number}", path="partition_by")
        return number

    def _written(self, columns: Any, partition: int | None) -> Iterator[ProducerBatch]:
        options = self._core.options
        given = self._options.timestamp
        written = encode_batches(
            columns,
            options.batch,
            batch_bytes_max=max(options.accumulator.batch_size, 1),
            default_timestamp=given if isinstance(given, int) else time.time_ns() // 1_000_000,
        )
        for data in written:
            queue = self._core.accumulator.queues[self._topic][self._next() if partition is None else partition]
            header = Batch(data)
            header.assign(0, -1)
            batch = ProducerBatch(queue, time.monotonic_ns() // 1_000_000, len(data))
            batch.adopt(data, header.records_count, header.base_timestamp, header.max_timestamp)
            batch.records = data
            self.sent._add(batch)
            yield batch

    def _next(self) -> int:
        """The partitions in turn, a batch to each."""
        lane = self._core.accumulator.lanes[self._topic]
        if self._turn == 0:
            self._turn = lane.sticky_partition
        self._turn += 1
        return self._turn % lane.partition_count


def _rows(columns: Any, numbers: Any, number: int | None) -> Any:
    mask = pc.is_null(numbers) if number is None else pc.fill_null(pc.equal(numbers, number), False)
    return columns.filter(mask)
