"""Which time a row's record has."""

from datetime import UTC, datetime
from typing import Any

import pyarrow as pa
import pytest

from ottla.pipelines.sink.errors import SinkError
from ottla.pipelines.sink.record_time import with_record_times

US_UTC, US, MS = pa.timestamp("us", "UTC"), pa.timestamp("us"), pa.int64()


def times(values: list[object], kind: Any) -> list[int | None]:
    batch = pa.record_batch({"timestamp": pa.array(values, kind), "value": ["x"] * len(values)})
    found = with_record_times(batch)
    assert found.column("value").to_pylist() == ["x"] * len(values)
    assert found.schema.field("timestamp").type == pa.int64()
    return found.column("timestamp").to_pylist()  # type: ignore[no-any-return]


@pytest.mark.parametrize(
    ("values", "kind", "wanted"),
    [
        ([1_600_000_000_123], MS, [1_600_000_000_123]),
        ([0, None, 7], MS, [0, None, 7]),
        ([-1], MS, [None]),
        ([datetime(2020, 9, 13, 12, 26, 40, 123_999, UTC)], US_UTC, [1_600_000_000_123]),
        ([1_999, None], US, [1, None]),
        ([-1_000], US_UTC, [None]),
        ([-1], US_UTC, [None]),
        ([], US_UTC, []),
    ],
)
def test_times_become_milliseconds(values: list[object], kind: Any, wanted: list[int | None]) -> None:
    assert times(values, kind) == wanted


@pytest.mark.parametrize(("value", "kind"), [(-2, MS), (-1_001, US_UTC), (-(10**9), US)])
def test_a_time_before_1970_is_refused(value: int, kind: Any) -> None:
    with pytest.raises(SinkError, match=r"column 'timestamp': -.* ms is before 1970"):
        times([value], kind)


def test_rows_without_the_column_stay_as_they_are() -> None:
    batch = pa.record_batch({"value": ["x"]})
    assert with_record_times(batch) is batch
