"""Columns that a source gives: whole, or as rows where one value is too large for a request."""

from dataclasses import replace

import pytest

from ottla.connect.columns import SourceColumns

pa = pytest.importorskip("pyarrow", reason="needs pyarrow: pip install ottla[arrow]")


def columns(*values: str | None, keys: list[bytes | None] | None = None) -> SourceColumns:
    kind = pa.string() if keys is None else pa.binary()
    return SourceColumns(
        topic="t",
        values=pa.array(values, kind),
        keys=None if keys is None else pa.array(keys, pa.binary()),
        timestamps=None if keys is None else pa.array([5] * len(values), pa.timestamp("ms")),
        source_partition={"a": 1},
        source_offset={"b": 2},
    )


def test_small_values_stay_columns() -> None:
    from ottla.pipelines.connect.column_batch import column_batch

    batch = column_batch(columns("a", "bc"), 2)
    assert batch is not None
    assert batch.to_pydict() == {"value": [b"a", b"bc"]}
    keyed = column_batch(columns("a", None, keys=[b"k", None]), 2)
    assert keyed is not None
    assert keyed.column("key").to_pylist() == [b"k", None]
    assert column_batch(columns(), 2) is not None


def test_a_large_value_makes_rows_of_all() -> None:
    from ottla.pipelines.connect.column_batch import all_rows, column_batch

    large = columns("a", "bcd", keys=[b"k", None])
    assert column_batch(large, 2) is None
    found = [(row.key, row.value, row.timestamp, row.source_offset) for row in all_rows(large)]
    assert found == [(b"k", b"a", 5, None), (None, b"bcd", 5, None)]


def test_headers_are_those_of_every_row() -> None:
    from ottla.pipelines.connect.column_batch import column_batch

    marked = replace(columns("a", "bc"), headers=(("h", b"1"), ("n", None)))
    batch = column_batch(marked, 5)
    assert batch is not None
    assert batch.column("headers").to_pylist() == [[{"key": "h", "value": b"1"}, {"key": "n", "value": None}]] * 2
    assert column_batch(marked, 4) is None
