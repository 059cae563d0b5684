"""Fetched batches in the shape that Spark expects."""

import pyarrow as pa
import pytest

from ottla.client.consumer.range.range_fetch import FetchedBatches
from ottla.client.record import TopicPartition
from ottla.pipelines.source.arrow_column import ROWS_MAX, ArrowColumns
from ottla.pipelines.source.offset_range import OffsetRange
from ottla.protocol.records.writer import BatchOptions, write_batch

ALL = ("key", "value", "topic", "partition", "offset", "timestamp", "timestampType", "headers")
PARTITION = TopicPartition("orders", 3)


def batch(first: int, count: int) -> memoryview:
    records = [(first + at, 1_000 + at, None, b"%d" % (first + at), (("h", b"x"),) * (at % 2)) for at in range(count)]
    return memoryview(bytes(write_batch(records, BatchOptions(base_offset=first))))


def rows(columns: tuple[str, ...], wanted: OffsetRange, *pieces: memoryview) -> list[dict[str, object]]:
    fetched = FetchedBatches(wanted.start, list(pieces))
    return pa.Table.from_batches(list(ArrowColumns(columns, wanted).batches(fetched, check_crcs=True))).to_pylist()


@pytest.mark.parametrize(("start", "end"), [(10, 20), (12, 17), (10, 11), (19, 20), (13, 15)])
def test_batches_are_cut_to_the_range(start: int, end: int) -> None:
    found = rows(("offset", "value"), OffsetRange(PARTITION, start, end), batch(10, 4), batch(14, 6))
    assert [row["offset"] for row in found] == list(range(start, end))
    assert [row["value"] for row in found] == [b"%d" % at for at in range(start, end)]


def test_all_columns() -> None:
    found = rows(ALL, OffsetRange(PARTITION, 1, 3), batch(0, 3))
    assert [(row["topic"], row["partition"], row["offset"], row["timestampType"]) for row in found] == [
        ("orders", 3, 1, 0),
        ("orders", 3, 2, 0),
    ]
    assert [row["timestamp"].timestamp() for row in found] == [1.001, 1.002]  # type: ignore[attr-defined]
    assert [row["headers"] for row in found] == [[{"key": "h", "value": b"x"}], None]


def test_long_runs_are_cut_into_batches() -> None:
    fetched = FetchedBatches(0, [batch(0, ROWS_MAX + 5)])
    made = list(ArrowColumns(ALL, OffsetRange(PARTITION, 0, ROWS_MAX + 5)).batches(fetched, check_crcs=True))
    assert [each.num_rows for each in made] == [ROWS_MAX, 5]
    assert made[1].column("offset").to_pylist() == list(range(ROWS_MAX, ROWS_MAX + 5))
    assert [header is None for header in made[1].column("headers").to_pylist()] == [True, False, True, False, True]


def test_nothing_in_the_range_makes_no_batch() -> None:
    fetched = FetchedBatches(5, [batch(5, 1)])
    assert list(ArrowColumns(ALL, OffsetRange(PARTITION, 5, 5)).batches(fetched, check_crcs=True)) == []
