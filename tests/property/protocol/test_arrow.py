"""Arrow columns and tuples tell the same story of the same bytes, whichever twin reads or writes them."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any
from unittest import mock

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ottla.base.errors import OttlaError
from ottla.protocol.compression import CompressionType
from ottla.protocol.records import columns_plain, columns_writer_plain
from ottla.protocol.records.arrow import batches as arrow
from ottla.protocol.records.arrow.batches import HEADERS, Projection, decode, encode, encode_batches
from ottla.protocol.records.reader import ReadOptions, read_tuples
from ottla.protocol.records.writer import BatchOptions, write_batch
from tests.fuzz.arrow import fuzz_one

_columns = pytest.importorskip("ottla.protocol.records._columns")
_columns_writer = pytest.importorskip("ottla.protocol.records._columns_writer")

INT64 = st.integers(-(2**63), 2**63 - 1)
BYTES = st.none() | st.binary(max_size=40) | st.binary(min_size=100, max_size=700)
HEADER = st.tuples(st.text(max_size=5), st.none() | st.binary(max_size=70))
ROWS = st.lists(
    st.tuples(
        st.integers(0, 2**41) | INT64,
        BYTES,
        BYTES,
        st.lists(HEADER, max_size=3).map(tuple),
    ),
    max_size=70,
)
TUPLES = Projection(timestamps=pa.int64())


@contextmanager
def plain_twins() -> Iterator[None]:
    """The plain loops in place of the compiled ones."""
    with (
        mock.patch.object(arrow, "ColumnReader", columns_plain.ColumnReader),
        mock.patch.object(arrow, "ColumnWriter", columns_writer_plain.ColumnWriter),
    ):
        yield


def on_both(call: Callable[[], Any]) -> Any:
    """What the call gives, by either twin; an error as its type and words."""
    compiled = outcome(call)
    with plain_twins():
        plain = outcome(call)
    assert compiled == plain
    return compiled


def outcome(call: Callable[[], Any]) -> Any:
    try:
        return call()
    except OttlaError as error:
        return type(error), str(error)


def tuples(data: Any, options: ReadOptions) -> list[tuple[Any, ...]]:
    records = decode(data, TUPLES, options)
    records.validate(full=True)
    return [
        (
            row["offset"],
            row["timestamp"],
            row["key"],
            row["value"],
            tuple((header["key"], header["value"]) for header in row["headers"]),
        )
        for row in records.to_pylist()
    ]


def table(rows: list[tuple[Any, ...]]) -> Any:
    timestamps, keys, values, headers = zip(*rows, strict=True) if rows else ((), (), (), ())
    return pa.record_batch(
        {
            "timestamp": pa.array(timestamps, pa.int64()),
            "key": pa.array(keys, pa.binary()),
            "value": pa.array(values, pa.large_binary()),
            "headers": pa.array([list(pairs) for pairs in headers], HEADERS),
        }
    )


@settings(deadline=None)
@given(ROWS, st.sampled_from(CompressionType), st.integers(0, 2**62), st.integers(-3, 80))
def test_reads_what_the_tuple_reader_reads(
    rows: list[tuple[Any, ...]], codec: CompressionType, base_offset: int, start: int
) -> None:
    records = [(base_offset + 3 * i, *row) for i, row in enumerate(rows)]
    data = write_batch(records, BatchOptions(compression=codec)) + write_batch(records)
    options = ReadOptions(from_offset=base_offset + start)
    assert on_both(lambda: tuples(data, options)) == read_tuples(data, options)


@settings(deadline=None)
@given(ROWS, st.integers(0, 20), st.integers(0, 2**62))
def test_writes_what_the_tuple_writer_writes(rows: list[tuple[Any, ...]], first: int, base_offset: int) -> None:
    options = BatchOptions(base_offset=base_offset)
    records = [(base_offset + i, *row) for i, row in enumerate(rows[first:])]
    assert on_both(lambda: encode(table(rows).slice(first), options)) == write_batch(records, options)


@settings(deadline=None)
@given(ROWS, st.integers(0, 20), st.integers(0, 3000), st.sampled_from(CompressionType))
def test_batches_hold_all_rows_in_order(
    rows: list[tuple[Any, ...]], first: int, bytes_max: int, codec: CompressionType
) -> None:
    records = table(rows).slice(first)
    options = BatchOptions(compression=codec)
    written = on_both(lambda: list(encode_batches(records, options, batch_bytes_max=bytes_max)))
    if codec is CompressionType.NONE:
        assert all(len(batch) <= bytes_max or len(read_tuples(batch)) == 1 for batch in written)
    expected = [(i, *row) for i, row in enumerate(rows[first:])]
    assert tuples(b"".join(written), ReadOptions()) == expected


@settings(deadline=None, max_examples=300)
@given(ROWS.filter(bool), st.data())
def test_twins_agree_on_bytes_that_somebody_changed(rows: list[tuple[Any, ...]], data: st.DataObject) -> None:
    changed = write_batch([(i, *row) for i, row in enumerate(rows[:4])])
    for _ in range(data.draw(st.integers(1, 4))):
        changed[data.draw(st.integers(0, len(changed) - 1))] = data.draw(st.sampled_from((0, 1, 2, 127, 128, 254, 255)))
    options = ReadOptions(check_crcs=False)
    found = on_both(lambda: tuples(changed, options))
    assert found == outcome(lambda: read_tuples(changed, options))


@settings(deadline=None, max_examples=500)
@given(st.lists(st.integers(0, 255), max_size=120))
def test_twins_agree_on_arrays_of_any_raw_buffers(data: list[int]) -> None:
    fuzz_one(bytes((2, *data)))
