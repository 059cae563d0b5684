"""Arrow into Avro records, by table: what is converted, what takes a default, what is refused, and which row is bad."""

from typing import Any

import pyarrow as pa
import pytest

from ottla.schema.columns.array_plan import UnfitColumnError
from tests.unit.schema.columns.avro_column import decode, encode, written
from tests.unit.schema.columns.test_avro_decoding import D, logical, record

USER = record(
    {"name": "name", "type": "string"},
    {"name": "age", "type": ["null", "int"]},
    {"name": "city", "type": "string", "default": "?"},
)


def test_rows_of_a_table_are_records_as_fastavro_writes_them() -> None:
    values = [{"name": "Ada", "age": 36, "city": "London"}, {"name": "Bo", "age": None, "city": ""}]
    table = pa.Table.from_pylist(values)
    assert encode(table, USER, b"\0\0\0\0\7") == ([b"\0\0\0\0\7" + each for each in written(USER, values)], {})
    assert encode(table.to_batches()[0].select(["city", "age", "name"]), USER)[0] == written(USER, values)


def test_absent_columns_take_defaults_or_null() -> None:
    records, _ = encode(pa.table({"name": ["Ada"]}), USER)
    assert decode(records, USER)[0].to_pylist() == [{"name": "Ada", "age": None, "city": "?"}]


CONVERTED: list[tuple[Any, Any, Any]] = [
    ("long", pa.array([1, 200], pa.uint8()), [1, 200]),
    ("int", pa.array([1, 2], pa.int64()), [1, 2]),
    ("double", pa.array([1.5], pa.float32()), [1.5]),
    ("string", pa.array(["a", "b"]).dictionary_encode(), ["a", "b"]),
    ("string", pa.array(["a"], pa.large_string()), ["a"]),
    ("string", pa.array([b"a"], pa.binary()), ["a"]),
    ({"type": "array", "items": "int"}, pa.array([[1], []], pa.large_list(pa.int64())), [[1], []]),
    ({"type": "enum", "name": "E", "symbols": ["A", "B"]}, pa.array(["B", "A"]).dictionary_encode(), ["B", "A"]),
    (["null", "string", "long"], pa.array([7]), [{"member0": None, "member1": 7}]),
    (["null", "string"], pa.nulls(0), []),
    (logical("bytes", "decimal", precision=9, scale=2), pa.array([D("1.5")], pa.decimal128(4, 1)), [D("1.50")]),
    ({"type": "fixed", "name": "F", "size": 2}, pa.array([b"ab"], pa.binary()), [b"ab"]),
]


@pytest.mark.parametrize(("schema", "column", "wanted"), CONVERTED)
def test_types_are_converted_without_loss(schema: Any, column: Any, wanted: Any) -> None:
    records, flaws = encode(column, schema)
    assert not flaws
    assert decode(records, schema)[0].to_pylist() == wanted


def test_nested_slices_are_written_from_where_they_begin() -> None:
    schema = record(
        {"name": "m", "type": {"type": "map", "values": {"type": "array", "items": ["null", "string"]}}},
        {"name": "b", "type": "boolean"},
    )
    values = [{"m": [(f"k{row}", [f"v{row}", None] * row)], "b": row % 3 == 0} for row in range(20)]
    column = pa.array(values, pa.struct([("m", pa.map_(pa.string(), pa.list_(pa.string()))), ("b", pa.bool_())]))
    records, flaws = encode(column.slice(7, 6), schema)
    assert not flaws
    assert decode(records, schema)[0].to_pylist() == values[7:13]


BAD: list[tuple[Any, Any, str]] = [
    (record({"name": "a", "type": "int"}), pa.array([{"a": 1}, {"a": None}]), "a value is null"),
    ({"type": "enum", "name": "E", "symbols": ["A"]}, pa.array(["A", "B"]), "no symbol"),
    (
        ["string", "int"],
        pa.array([{"member0": "x", "member1": None}, {"member0": "x", "member1": 1}]),
        "exactly one member",
    ),
    (
        {"type": "fixed", "name": "F", "size": 1, "logicalType": "decimal", "precision": 2},
        pa.array([D(99), D(-99)], pa.decimal128(2)),
        "",
    ),
]


@pytest.mark.parametrize(("schema", "column", "reason"), BAD)
def test_a_row_that_does_not_fit_is_null_and_says_why(schema: Any, column: Any, reason: str) -> None:
    records, flaws = encode(column, schema)
    if not reason:
        assert not flaws
        return
    assert list(flaws) == [1]
    assert reason in flaws[1]
    assert records[0] is not None
    assert records[1] is None


@pytest.mark.parametrize(
    ("schema", "column", "reason"),
    [
        (USER, pa.table({"name": ["a"], "shoe": [1]}), "no field shoe"),
        (USER, pa.table({"age": [1]}), "no column for R.name"),
        (USER, pa.array([1]), "can't be written as R"),
        (record({"name": "a", "type": "int"}), pa.table({"a": ["x"]}), "column a: string can't be written as int32"),
        ("int", pa.array([2**40]), "can't be written as int32"),
        (["string", "int"], pa.array([0.5]), "no branch"),
        ({"type": "map", "values": "int"}, pa.array([1]), "can't be written as map"),
    ],
)
def test_a_column_that_does_not_fit_is_refused(schema: Any, column: Any, reason: str) -> None:
    with pytest.raises(UnfitColumnError, match=reason):
        encode(column, schema)


def test_a_null_row_stays_null() -> None:
    assert encode(pa.array(["a", None]), ["null", "string"])[0] == [b"\x02\x02a", None]


def test_plain_bytes_have_no_length() -> None:
    assert encode(pa.array([b"raw", None]), "bytes", b"\0\0\0\0\1")[0] == [b"\0\0\0\0\1raw", None]
    assert decode([b"raw"], "bytes")[0].to_pylist() == [b"raw"]
