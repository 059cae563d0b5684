"""Columns that a source gives: whole, or as rows where one value is too large for a request."""

from dataclasses import replace

import pytest

from ottla.connect.columns import ColumnKind, SourceColumns
from ottla.connect.errors import ConnectError

pa = pytest.importorskip("pyarrow", reason="needs pyarrow: pip install ottla[arrow]")


def columns(*values: str | None, keys: list[bytes | None] | None = None) -> SourceColumns:
    kind = pa.string() if keys is None else pa.binary()
    return SourceColumns(
        topic="t",
        values=pa.array(values, kind),
        keys=None if keys is None else pa.array(keys, pa.binary()),
        timestamps=None if keys is None else pa.array([5] * len(values), pa.int64()),
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


@pytest.mark.parametrize("kind", ["large_string", "string_view", "dictionary", "binary"])
def test_other_arrays_of_texts_are_the_kind_that_was_promised(kind: str) -> None:
    from ottla.pipelines.connect.column_batch import all_rows, typed

    types = {"dictionary": pa.dictionary(pa.int8(), pa.string()), "string_view": pa.string_view()}
    values = pa.chunked_array([["a"], ["bc"]], pa.string()).cast(types.get(kind) or getattr(pa, kind)())
    times = pa.array([1_500, 2_999], pa.timestamp("us", "UTC"))
    found = typed(replace(columns("x"), values=values, timestamps=times, headers=(("h", b"1"),)), ColumnKind.STRING)
    rows = [(row.value, str(row.value_schema), row.timestamp, row.headers[0].value) for row in all_rows(found)]
    assert rows == [("a", "Schema{STRING}", 1, b"1"), ("bc", "Schema{STRING}", 2, b"1")]


def test_a_column_of_something_else_is_refused() -> None:
    from ottla.pipelines.connect.column_batch import typed

    with pytest.raises(ConnectError, match=r"poll_columns\(\) gave no column of string: Invalid UTF8"):
        typed(replace(columns("x"), values=pa.array([b"\xff"])), ColumnKind.STRING)
