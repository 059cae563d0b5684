"""The last row of a task: it reaches the sink whatever batches the rows come in, and is not written."""

from collections.abc import Sequence
from typing import Any

import pytest

pytest.importorskip("pyspark.sql", reason="needs pyspark: pip install ottla[spark]")

from ottla.client.record import TopicPartition
from ottla.pipelines.streams.output_column import records_of, rows_of
from ottla.pipelines.streams.position_row import (
    POSITION,
    TICK,
    GroupPosition,
    PositionedRows,
)
from ottla.streams.engine.error_handler import OutputRecord
from ottla.streams.host.kept_time import times_from_text, times_to_text

TIMES = {"0_1": {"": (17,), "node": (3, 4)}}
HERE = GroupPosition("app", 1, {"a": 5, "b": 7, TICK: 9}, TIMES)


def record(value: bytes | None) -> OutputRecord:
    return OutputRecord("out", b"k", value, 5, (("h", b"x"),), None)


def batches(*cuts: Sequence[OutputRecord]) -> list[Any]:
    return [rows_of(records) for records in cuts]


@pytest.mark.parametrize("is_apart", [False, True])
def test_it_is_taken_out(is_apart: bool) -> None:
    last = OutputRecord(POSITION, None, HERE.encoded(), 0)
    given = batches([record(b"1"), record(None)], [last]) if is_apart else batches([record(b"1"), record(None), last])
    rows = PositionedRows(iter(given))
    assert [value for batch in rows for value in batch.column("value").to_pylist()] == [b"1", None]
    assert rows.position is not None
    assert rows.position.position == {"a": 5, "b": 7, TICK: 9}


def test_offsets_are_those_of_topics_and_one_has_the_times() -> None:
    offsets = HERE.offsets()
    assert {place: at.offset for place, at in offsets.items()} == {
        TopicPartition("a", 1): 5,
        TopicPartition("b", 1): 7,
    }
    assert [times_from_text(at.metadata) for at in offsets.values()] == [TIMES, {}]


def test_times_that_are_too_long_are_left_out() -> None:
    import random

    chance = random.Random(1)
    many = {str(task): {"": tuple(chance.randrange(1 << 62) for _ in range(40))} for task in range(100)}
    assert times_to_text(many) == ""
    assert times_from_text("what somebody else has written") == {}


def test_rows_have_what_records_have() -> None:
    import pyarrow as pa

    found = rows_of([record(b"1"), OutputRecord("out", None, None, 6, (), 2)])
    assert found.to_pylist() == [
        {"topic": "out", "partition": None, "key": b"k", "value": b"1", "timestamp": 5,
         "headers": [{"key": "h", "value": b"x"}]},
        {"topic": "out", "partition": 2, "key": None, "value": None, "timestamp": 6, "headers": None},
    ]  # fmt: skip
    read = pa.RecordBatch.from_arrays(
        [
            found.column("key"),
            found.column("value"),
            pa.array([10, 11]),
            pa.array([5_000, 6_000], pa.timestamp("us", "UTC")),
            found.column("headers"),
        ],
        names=["key", "value", "offset", "timestamp", "headers"],
    )
    first, second = records_of(TopicPartition("in", 3), iter([read]))
    assert first == ("in", 3, 10, 5, b"k", b"1", (("h", b"x"),))
    assert second == ("in", 3, 11, 6, None, None, ())
