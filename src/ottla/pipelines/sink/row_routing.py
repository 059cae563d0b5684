"""Where rows go: cuts an Arrow batch into one slice for each topic and partition, whole columns at a time.

The topic is the option's, or the row's column. The partition is the row's column; where that is null or missing the
key's hash decides, as in every Kafka client, and rows without a key go a slice to each partition in turn. Rows of one
partition keep their order.
"""

from collections.abc import Callable, Iterator
from typing import Any, Final, NamedTuple

import pyarrow as pa
import pyarrow.compute as pc

from ottla.client.producer.partitioner.murmur2 import key_partitions
from ottla.pipelines.sink.errors import SinkError
from ottla.protocol.records.arrow.source import source_of

_FIELDS: Final = ("value", "key", "headers", "timestamp")
_PARTITION: Final = pa.int32()

PartitionCount = Callable[[str, int], int]
"""How many partitions a topic has, by what is known if that is at least the number given; raises if there is no topic
of that name."""


class RoutedRows(NamedTuple):
    """Rows of one partition: the columns `value`, `key`, `headers` and `timestamp`, as far as there are any."""

    topic: str
    partition: int
    rows: Any


class RowRouting:
    """The routing of one task; remembers whose turn it is."""

    def __init__(self, topic: str | None, partition_count: PartitionCount, first_turn: int = 0) -> None:
        """`topic` is the option, which wins over the column; `first_turn` tells tasks apart."""
        self._topic: Final = topic
        self._partition_count: Final = partition_count
        self._turn = first_turn

    def route(self, batch: Any) -> Iterator[RoutedRows]:
        """The slices of a `pyarrow.RecordBatch`; `SinkError` for a topic or partition that is none."""
        if not batch.num_rows:
            return
        if self._topic is not None:
            yield from self._by_partition(self._topic, batch)
            return
        names = _column(batch, "topic")
        if names.null_count:
            raise SinkError("column 'topic': a row has none; fill it, or give the option 'topic' for all rows")
        encoded = pc.dictionary_encode(names)
        for number, rows in _grouped(encoded.indices, batch):
            yield from self._by_partition(encoded.dictionary[number].as_py(), rows)

    def _by_partition(self, topic: str, batch: Any) -> Iterator[RoutedRows]:
        count = self._partition_count(topic, _least(batch))
        numbers = self._numbers(topic, batch, count)
        fields = batch.select([name for name in _FIELDS if name in batch.schema.names])
        if numbers is None:
            yield RoutedRows(topic, self._next(count), fields)
            return
        for number, rows in _grouped(numbers, fields):
            yield RoutedRows(topic, number, rows)

    def _numbers(self, topic: str, batch: Any, count: int) -> Any:
        """The partition of each row; None if any will do for all of them."""
        numbers = _column(batch, "partition")
        if numbers is not None and numbers.null_count < len(numbers):
            _check(topic, numbers, count)
        else:
            numbers = None
        if numbers is None or numbers.null_count:
            by_key = _by_key(batch, count)
            numbers = by_key if numbers is None else pc.coalesce(numbers, by_key) if by_key is not None else numbers
        if numbers is None or not numbers.null_count:
            return numbers
        return pc.fill_null(numbers, pa.scalar(self._next(count), _PARTITION))

    def _next(self, count: int) -> int:
        self._turn += 1
        return self._turn % count


def _column(batch: Any, name: str) -> Any:
    names = batch.schema.names
    return batch.column(names.index(name)) if name in names else None


def _least(batch: Any) -> int:
    """The partitions that a topic needs for the rows' own column: more may have been added a moment ago."""
    numbers = _column(batch, "partition")
    largest = None if numbers is None else pc.max(numbers).as_py()
    return 1 if largest is None else largest + 1


def _check(topic: str, numbers: Any, count: int) -> None:
    ends = pc.min_max(numbers).as_py()
    for number in ends.values():
        if not 0 <= number < count:
            raise SinkError(f"column 'partition': {topic} has partitions 0 to {count - 1}, not {number}")


def _by_key(batch: Any, count: int) -> Any:
    """The partitions that the keys' hashes give, null for rows without a key; None if no row has one."""
    keys = _column(batch, "key")
    if keys is None or keys.null_count == len(keys):
        return None
    source = source_of(pa.RecordBatch.from_arrays([keys], ["value"]), 0).value
    found = key_partitions(source, len(keys), count)
    numbers = pa.Array.from_buffers(_PARTITION, len(keys), [None, pa.py_buffer(found)])
    if not keys.null_count:
        return numbers
    return pc.if_else(pc.less(numbers, 0), pa.scalar(None, _PARTITION), numbers)


def _grouped(numbers: Any, rows: Any) -> Iterator[tuple[int, Any]]:
    """The rows of each number, in their order: sorted once, since a mask for each of 1,000 partitions would cost.

    Numbers [1, 0, 1] of rows [a, b, c] → (0, [b]), (1, [a, c]).
    """
    counts = pc.value_counts(numbers)
    sizes = dict(zip(counts.field(0).to_pylist(), counts.field(1).to_pylist(), strict=True))
    if len(sizes) == 1:
        yield next(iter(sizes)), rows
        return
    # A stable sort: rows of one number stay in order.
    ordered = rows.take(pc.sort_indices(numbers))
    start = 0
    for number in sorted(sizes):
        yield number, ordered.slice(start, sizes[number])
        start += sizes[number]
