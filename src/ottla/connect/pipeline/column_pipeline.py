"""The way of many records at once, where their transforms and converters work on columns.

It gives what the way of rows gives, or nothing: then the records have to go as rows, one of which raises the error, or
is unlike the others. Nothing has happened by then, since the parts that it asks have no effects of their own.
"""

from collections.abc import Callable, Iterator, Sequence
from itertools import groupby
from typing import Final, TypeVar

from ottla.base.frozen import frozen
from ottla.connect.columns import SourceColumns
from ottla.connect.converter.converter import Converter, ReadValues, Values
from ottla.connect.data.column import Column, PlainColumn, RowsNeededError, StructColumn, column_of, map_column
from ottla.connect.data.schema import OPTIONAL_BYTES, STRING
from ottla.connect.pipeline.dead_letter import ConsumerRecord, Headers
from ottla.connect.pipeline.transform_chain import TransformChain
from ottla.connect.record import Header, SinkRecord, SourceRecord
from ottla.connect.record_columns import RecordColumns

_SKIPPED_MAX: Final = 64
_RUN_MIN: Final = 16
"""Shorter runs of one schema, on the average, are cheaper one by one."""
T = TypeVar("T")


@frozen(kw_only=True)
class ProducerColumns:
    """Records for one topic; none where a transform dropped them all."""

    topic: str
    partition: int | None
    keys: Sequence[bytes | None]
    values: Sequence[bytes | None]
    headers: Headers
    timestamps: Sequence[int | None]


@frozen(kw_only=True)
class ReadBlock:
    """Records of one partition as they were read, without headers."""

    topic: str
    partition: int
    offsets: Sequence[int]
    timestamps: Sequence[int | None]
    keys: Sequence[bytes | None]
    values: Sequence[bytes | None]


class ColumnPipeline:
    """The transforms and converters of one task."""

    def __init__(self, chain: TransformChain, key: Converter, value: Converter, header: Converter) -> None:
        self._chain: Final = chain
        self._key: Final = key
        self._value: Final = value
        self._header: Final = header
        self._skips = 0
        self._skipped = 0
        self.is_open: Final = chain.is_columnar and all(
            vars(type(each)).get("is_columnar", False) for each in (key, value)
        )

    def source(self, records: Sequence[SourceRecord]) -> ProducerColumns | None:
        """Processes records of one run (`record_runs`) as columns; None if they have to be rows."""
        return self._tried(lambda: self._written(_columns_of(records)))

    def texts(self, columns: SourceColumns) -> ProducerColumns | None:
        """Processes columns of a task; None if they have to be rows."""
        return self._tried(lambda: self._written(_columns_of_arrow(columns)))

    def sink(self, records: Sequence[ConsumerRecord]) -> list[SinkRecord] | None:
        """Processes records of one partition without headers as columns; None if they have to go one by one."""
        return self._tried(lambda: self._read(records))

    def sink_columns(self, block: ReadBlock) -> list[Column] | None:
        """Processes only the values of records as columns; None if the records have to go one by one."""
        return self._tried(lambda: self._read_columns(block))

    def _tried(self, step: Callable[[], T]) -> T | None:
        """The result of a step; after failures some steps are not tried at all."""
        if not self.is_open or self._skipped < self._skips:
            self._skipped += 1
            return None
        self._skipped = 0
        try:
            made = step()
        except Exception:  # noqa: BLE001 - anything unusual is for the rows, which find it again and say which it is
            self._skips = min(self._skips * 2 + 1, _SKIPPED_MAX)
            return None
        self._skips = 0
        return made

    def _read(self, records: Sequence[ConsumerRecord]) -> list[SinkRecord]:
        topic = records[0].topic
        keys = self._key.to_connect_all(topic, [each.key for each in records])
        values = self._value.to_connect_all(topic, [each.value for each in records])
        _check_runs(keys, values, len(records))
        made: list[SinkRecord] = []
        for start, key, value in _aligned(keys, values):
            made += self._put(records[start : start + _count(key)], key, value)
        return made

    def _read_columns(self, block: ReadBlock) -> list[Column]:
        keys = self._key.to_connect_all(block.topic, block.keys)
        values = self._value.to_connect_all(block.topic, block.values)
        _check_runs(keys, values, len(block.values))
        made: list[Column] = []
        for start, key, value in _aligned(keys, values):
            end = start + _count(value)
            given = RecordColumns(
                topic=block.topic,
                partition=block.partition,
                key=_column(key),
                value=_by_fields(value) if self._chain.keeps_maps else _column(value),
                headers=(),
                timestamps=block.timestamps[start:end],
                offsets=block.offsets[start:end],
            )
            found = self._chain.apply_columns(given)
            if found is not None:
                made.append(found.value)
        return made

    def _put(self, records: Sequence[ConsumerRecord], key: ReadValues, value: ReadValues) -> list[SinkRecord]:
        """Records of one schema."""
        if not self._chain:
            return _sink_records(records, records[0].topic, _rows(key), _rows(value), ())
        given = RecordColumns(
            topic=records[0].topic,
            partition=records[0].partition,
            key=_column(key),
            value=_column(value),
            headers=(),
            timestamps=[each.timestamp for each in records],
            offsets=[each.offset for each in records],
        )
        found = self._chain.apply_columns(given)
        if found is None:
            return []
        keys, values = (found.key.schema, found.key.rows()), (found.value.schema, found.value.rows())
        return _sink_records(records, found.topic, keys, values, found.headers)

    def _written(self, given: RecordColumns) -> ProducerColumns:
        found = self._chain.apply_columns(given)
        if found is None:
            return ProducerColumns(topic=given.topic, partition=None, keys=[], values=[], headers=(), timestamps=[])
        topic = found.topic
        write = self._header.from_connect_header
        return ProducerColumns(
            topic=topic,
            partition=found.partition,
            keys=self._key.from_connect_all(topic, found.key),
            values=self._value.from_connect_all(topic, found.value),
            headers=tuple([(each.key, write(topic, each.key, each.schema, each.value)) for each in found.headers]),
            timestamps=found.timestamps,
        )


def _check_runs(keys: Sequence[ReadValues], values: Sequence[ReadValues], count: int) -> None:
    if (len(keys) + len(values)) * _RUN_MIN > count + 2 * _RUN_MIN:
        raise RowsNeededError


def _count(found: ReadValues) -> int:
    return found.count if isinstance(found, StructColumn) else len(found[1])


def _column(found: ReadValues) -> Column:
    return found if isinstance(found, StructColumn) else column_of(*found)


def _by_fields(found: ReadValues) -> Column:
    """The same for what is never rows again: maps are worth being taken apart."""
    made = None if isinstance(found, StructColumn) or found[0] is not None else map_column(found[1])
    return made or _column(found)


def _rows(found: ReadValues) -> Values:
    return (found.schema, found.rows()) if isinstance(found, StructColumn) else found


def _part(found: ReadValues, start: int, count: int) -> ReadValues:
    if not start and count == _count(found):
        return found
    if isinstance(found, StructColumn):
        return StructColumn(found.schema, [each[start : start + count] for each in found.columns], count)
    return found[0], found[1][start : start + count]


def _aligned(keys: Sequence[ReadValues], values: Sequence[ReadValues]) -> Iterator[tuple[int, ReadValues, ReadValues]]:
    """Where each run of one key's and one value's schema begins, and its keys and values.

    >>> list(_aligned([(None, "abc")], [(None, "A"), (STRING, "BC")]))
    [(0, (None, 'a'), (None, 'A')), (1, (None, 'bc'), (Schema{STRING}, 'BC'))]
    """
    start = key_at = value_at = 0
    keys_left, values_left = list(keys), list(values)
    while keys_left and values_left:
        key, value = keys_left[0], values_left[0]
        count = min(_count(key) - key_at, _count(value) - value_at)
        yield start, _part(key, key_at, count), _part(value, value_at, count)
        start, key_at, value_at = start + count, key_at + count, value_at + count
        if key_at == _count(key):
            keys_left, key_at = keys_left[1:], 0
        if value_at == _count(value):
            values_left, value_at = values_left[1:], 0


def _sink_records(
    records: Sequence[ConsumerRecord], topic: str, keys: Values, values: Values, headers: tuple[Header, ...]
) -> list[SinkRecord]:
    (key_schema, all_keys), (value_schema, all_values) = keys, values
    made = [
        SinkRecord(
            read.topic, read.partition, read.offset, key_schema=key_schema, key=key, value_schema=value_schema,
            value=value, timestamp=read.timestamp, timestamp_type=read.timestamp_type, headers=headers, read=read,
        )
        for read, key, value in zip(records, all_keys, all_values, strict=True)
    ]  # fmt: skip
    if topic != records[0].topic:
        for record in made:
            record.topic = topic
    return made


def record_runs(records: Sequence[SourceRecord]) -> Iterator[Sequence[SourceRecord]]:
    """Records behind one another that differ in key, value, timestamp and offset alone.

    >>> a, b = SourceRecord(None, None, "a", "1"), SourceRecord(None, None, "b", "2")
    >>> [len(run) for run in record_runs([a, a, b, a])]
    [2, 1, 1]
    """
    if not records:
        return
    first = records[0]
    topic, partition, headers, key_schema, schema = (
        first.topic, first.partition, first.headers, first.key_schema, first.value_schema,
    )  # fmt: skip
    if all(
        each.value_schema is schema and each.topic == topic and each.key_schema is key_schema
        and each.partition == partition and each.headers == headers
        for each in records
    ):  # fmt: skip
        # Fast path: all of a poll, as nearly always.
        yield records
        return
    for _, found in groupby(records, _kind):
        yield list(found)


def partition_runs(records: Sequence[ConsumerRecord]) -> Iterator[Sequence[ConsumerRecord]]:
    """Records behind one another of one partition that have no headers, or that have some."""
    for _, found in groupby(records, lambda record: (record.topic, record.partition, bool(record.headers))):
        yield list(found)


def _kind(record: SourceRecord) -> tuple[str, int | None, int, int, tuple[Header, ...]]:
    return record.topic, record.partition, id(record.key_schema), id(record.value_schema), record.headers


def _columns_of(records: Sequence[SourceRecord]) -> RecordColumns:
    first = records[0]
    return RecordColumns(
        topic=first.topic,
        partition=first.partition,
        key=column_of(first.key_schema, [each.key for each in records]),
        value=column_of(first.value_schema, [each.value for each in records]),
        headers=first.headers,
        timestamps=[each.timestamp for each in records],
    )


def _columns_of_arrow(columns: SourceColumns) -> RecordColumns:
    values = columns.values.to_pylist()
    schema = STRING if str(columns.values.type) == "string" else OPTIONAL_BYTES
    none: list[None] = [None] * len(values)
    keys = none if columns.keys is None else columns.keys.to_pylist()
    if columns.keys is not None and columns.keys.null_count:
        # As rows, those have a key without schema.
        raise RowsNeededError
    return RecordColumns(
        topic=columns.topic,
        partition=None,
        key=PlainColumn(None, none) if columns.keys is None else PlainColumn(schema, keys),
        value=PlainColumn(schema, values),
        headers=(),
        timestamps=timestamps_of(columns),
    )


def timestamps_of(columns: SourceColumns) -> Sequence[int | None]:
    """The timestamp of each record."""
    given = columns.timestamps
    if given is None or isinstance(given, int):
        return [given] * len(columns.values)
    found: list[int | None] = given.cast("int64").to_pylist()
    return found
