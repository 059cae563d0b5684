"""Avro records into Arrow, by table: types, logical types, what is null where, evolution, and records that are bad."""

import datetime
import decimal
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from ottla.schema.columns import layout
from ottla.schema.columns.decoding import AvroColumns
from ottla.schema.error import InvalidSchemaError
from tests.unit.schema.columns.avro_column import decode, encode, written
from tests.unit.schema.columns.avro_column import schema as parsed

UTC = datetime.UTC
NOW = datetime.datetime(2026, 1, 2, 3, 4, 5, 6000, UTC)
D = decimal.Decimal


def logical(kind: str, name: str, **more: Any) -> dict[str, Any]:
    return {"type": kind, "logicalType": name, **more}


def record(*fields: dict[str, Any], name: str = "R") -> dict[str, Any]:
    return {"type": "record", "name": name, "fields": list(fields)}


FIXED = {"type": "fixed", "name": "F", "size": 3}
POINT = record({"name": "x", "type": "int"}, {"name": "y", "type": ["null", "string"]}, name="Point")

TYPES: list[tuple[Any, Any, list[Any]]] = [
    ("boolean", pa.bool_(), [True, False]),
    ("int", pa.int32(), [0, -1, 2**31 - 1, -(2**31)]),
    ("long", pa.int64(), [0, 2**63 - 1, -(2**63), 64, -65]),
    ("float", pa.float32(), [0.5, float("inf")]),
    ("double", pa.float64(), [0.1, -1e300]),
    ("string", pa.string(), ["", "grüß 🎉", "x" * 5000]),
    (logical("int", "date"), pa.date32(), [datetime.date(2026, 1, 2), datetime.date(1900, 1, 1)]),
    (logical("int", "time-millis"), pa.time32("ms"), [datetime.time(1, 2, 3, 4000)]),
    (logical("long", "time-micros"), pa.time64("us"), [datetime.time(1, 2, 3, 4)]),
    (logical("long", "timestamp-millis"), pa.timestamp("ms", "UTC"), [NOW]),
    (logical("long", "timestamp-micros"), pa.timestamp("us", "UTC"), [NOW]),
    (logical("long", "local-timestamp-micros"), pa.timestamp("us"), [NOW.replace(tzinfo=None)]),
    (logical("bytes", "decimal", precision=9, scale=2), pa.decimal128(9, 2), [D("1.23"), D("-9999999.99"), D("0.00")]),
    (logical("bytes", "decimal", precision=50), pa.decimal256(50, 0), [D(10**49), D(-(10**49)), D(-1)]),
    ({**FIXED, "logicalType": "decimal", "precision": 6, "scale": 1}, pa.decimal128(6, 1), [D("-12345.6"), D("0.1")]),
    (logical("string", "uuid"), pa.string(), ["6f1ed002-ab5a-4bd3-a2ae-0c5d8a9d7e11"]),
    (FIXED, pa.binary(3), [b"abc", b"\0\0\0"]),
    ({"type": "enum", "name": "E", "symbols": ["A", "B"]}, pa.string(), ["B", "A"]),
    ({"type": "array", "items": "long"}, pa.list_(pa.int64()), [[1, 2], [], [3]]),
    ({"type": "map", "values": "string"}, pa.map_(pa.string(), pa.string()), [[("a", "b")], []]),
    (["null", "string"], pa.string(), [None, "x", None]),
    (["string"], pa.string(), ["x"]),
    (["int", "long"], pa.int64(), [7, 2**40]),
    (["null"], pa.null(), [None, None]),
    (
        ["null", "string", "boolean"],
        pa.struct([("member0", pa.string()), ("member1", pa.bool_())]),
        [{"member0": "x", "member1": None}, None, {"member0": None, "member1": True}],
    ),
    (POINT, pa.struct([("x", pa.int32()), ("y", pa.string())]), [{"x": 1, "y": None}, {"x": 2, "y": "z"}]),
    (
        {"type": "array", "items": ["null", POINT]},
        pa.list_(pa.struct([("x", pa.int32()), ("y", pa.string())])),
        [[None, {"x": 1, "y": "a"}], [], [{"x": 3, "y": None}]],
    ),
    (
        {"type": "map", "values": {"type": "array", "items": ["null", "int"]}},
        pa.map_(pa.string(), pa.list_(pa.int32())),
        [[("p", [1, None]), ("q", [])], []],
    ),
]


@pytest.mark.parametrize(("schema", "kind", "values"), TYPES, ids=lambda value: str(value)[:30])
def test_each_type_is_read_and_written(schema: Any, kind: Any, values: list[Any]) -> None:
    given = [_for_fastavro(value) for value in values]
    array, flaws = decode(written(schema, given), schema)
    assert (array.type, array.to_pylist(), flaws) == (kind, values, {})
    if None not in values:
        again, flaws = encode(array, schema)
        assert (decode([each for each in again if each is not None], schema)[0].to_pylist(), flaws) == (values, {})


def _for_fastavro(value: Any) -> Any:
    """Maps as dicts; the value of a union's member alone."""
    if isinstance(value, list) and value and isinstance(value[0], tuple):
        return dict(value)
    if isinstance(value, dict) and "member0" in value:
        return next(each for each in value.values() if each is not None)
    return value


AGED = record({"name": "name", "type": "string"}, {"name": "age", "type": "int"})
EVOLUTIONS: list[tuple[Any, Any, Any, Any]] = [
    (AGED, record({"name": "age", "type": "long"}), {"name": "a", "age": 3}, {"age": 3}),
    (AGED, record({"name": "years", "type": "double", "aliases": ["age"]}), {"name": "a", "age": 3}, {"years": 3.0}),
    (
        AGED,
        record(
            {"name": "name", "type": ["null", "string"]},
            {"name": "city", "type": ["string", "null"], "default": "?"},
            {"name": "tags", "type": {"type": "array", "items": "int"}, "default": [1, 2]},
            {"name": "raw", "type": "bytes", "default": "\u00ff"},
            {"name": "at", "type": POINT, "default": {"x": -1, "y": None}},
            {"name": "by", "type": {"type": "map", "values": "float"}, "default": {"k": 0.5}},
        ),
        {"name": "a", "age": 3},
        {"name": "a", "city": "?", "tags": [1, 2], "raw": b"\xff", "at": {"x": -1, "y": None}, "by": [("k", 0.5)]},
    ),
    (
        {"type": "enum", "name": "E", "symbols": ["A", "B"]},
        {"type": "enum", "name": "E", "symbols": ["Z", "A"], "default": "Z"},
        "B",
        "Z",
    ),
    (["int", "string"], "string", "x", "x"),
    ("int", ["null", "string", "long"], 5, {"member0": None, "member1": 5}),
    (record({"name": "a", "type": POINT}, {"name": "b", "type": "int"}), record({"name": "b", "type": "int"}),
     {"a": {"x": 1, "y": "s"}, "b": 2}, {"b": 2}),
]  # fmt: skip


@pytest.mark.parametrize(("writer", "reader", "value", "wanted"), EVOLUTIONS)
def test_a_reader_sees_what_its_schema_says(writer: Any, reader: Any, value: Any, wanted: Any) -> None:
    array, flaws = decode(written(writer, [value]), reader, writer)
    assert (array.to_pylist(), flaws) == ([wanted], {})


def test_records_of_several_schemas_share_a_column() -> None:
    newer = record({"name": "name", "type": "string"}, {"name": "age", "type": "int", "default": -1})
    older = record({"name": "name", "type": "string"})
    records = [
        *written(newer, [{"name": "b", "age": 5}]),
        *written(older, [{"name": "a"}]),
        *written(newer, [{"name": "c", "age": 6}]),
    ]
    array, flaws = decode(records, newer, newer, older)
    assert [row["age"] for row in array.to_pylist()] == [5, -1, 6]
    assert not flaws


BAD: list[tuple[Any, bytes, str]] = [
    ("string", b"", "ends in the middle of a value, at byte 0"),
    ("string", b"\x04a", "ends in the middle of a value, at byte 1"),
    ("string", b"\x01", "a length is negative"),
    ("string", b"\x04\xc3\x28", "not UTF-8"),
    ("string", b"\x06\xed\xa0\x80", "not UTF-8"),
    ("long", b"\xff" * 11, "more than ten bytes"),
    ("long", b"\xff" * 9, "ends in the middle"),
    ("int", b"\x80\x80\x80\x80\x20", "more than 32 bits"),
    ("double", b"1234567", "ends in the middle"),
    ("boolean", b"", "ends in the middle"),
    (["null", "int"], b"\x04\x00", "no branch or symbol"),
    ({"type": "enum", "name": "E", "symbols": ["A"]}, b"\x02", "no branch or symbol"),
    ({"type": "array", "items": "int"}, b"\xfe\xff\xff\xff\x0f", "more items than"),
    ({"type": "array", "items": "null"}, b"\xfe\xff\xff\xff\x0f", "more items than"),
    ({"type": "array", "items": "int"}, b"\x01\x01", "a length is negative"),
    ({"type": "array", "items": "int"}, b"\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01\x00", "more items than"),
    ({"type": "map", "values": "int"}, b"\x02\x02k", "ends in the middle"),
    (logical("bytes", "decimal", precision=2), b"\x02\x64", "more digits"),
    (logical("bytes", "decimal", precision=2), b"\x24" + b"\x01" + b"\0" * 17, "more digits"),
    (FIXED, b"ab", "ends in the middle"),
]


def test_plain_bytes_are_read_as_a_string_where_they_are_utf8() -> None:
    # Confluent's serializers write a schema that is plain bytes without a length.
    array, flaws = decode(["grüß".encode(), b"", b"\xc3"], "string", "bytes")
    assert array.to_pylist() == ["grüß", "", None]
    assert flaws == {2: "a string is not UTF-8, at byte 1"}
    assert decode([b"\xc3"], "bytes", "bytes")[0].to_pylist() == [b"\xc3"]


@pytest.mark.parametrize(("schema", "data", "reason"), BAD, ids=lambda value: str(value)[:30])
def test_a_bad_record_is_null_and_says_why_and_its_neighbours_are_there(schema: Any, data: bytes, reason: str) -> None:
    good = {"string": b"\x02x", "long": b"\x02", "int": b"\x02", "double": bytes(8), "boolean": b"\x01"}
    fine = good.get(schema) if isinstance(schema, str) else b"\x00\x00\x00\x00"
    array, flaws = decode([fine, data, fine, None], schema)
    assert list(flaws) == [1]
    assert reason in flaws[1]
    assert array[1].as_py() is array[3].as_py() is None
    assert array[0].as_py() == array[2].as_py()
    assert array.slice(0, 1).equals(decode([fine], schema)[0])


def test_what_can_not_be_resolved_fails_where_it_is_met() -> None:
    writer = record({"name": "a", "type": ["int", "string"]})
    reader = record({"name": "a", "type": "int"})
    array, flaws = decode(written(writer, [{"a": 1}, {"a": "x"}]), reader, writer)
    assert array.to_pylist() == [{"a": 1}, None]
    assert "string can't be read as int" in flaws[1]
    array, flaws = decode(written(AGED, [{"name": "a", "age": 1}]), record({"name": "b", "type": "int"}), AGED)
    assert "no field b, for which R has no default" in flaws[0]


def test_decimals_of_another_scale_are_refused() -> None:
    writer, reader = (logical("bytes", "decimal", precision=9, scale=scale) for scale in (2, 3))
    _, flaws = decode(written(writer, [D("1.23")]), reader, writer)
    assert "scale 2" in flaws[0]


def test_recursive_values_are_passed_over_to_a_depth() -> None:
    node = record({"name": "next", "type": ["null", "R"]})
    writer = {"type": "record", "name": "W", "fields": [{"name": "n", "type": node}, {"name": "x", "type": "int"}]}
    reader = {"type": "record", "name": "W", "fields": [{"name": "x", "type": "int"}]}
    array, flaws = decode([b"\x02" * 50 + b"\x00\x0e", b"\x02" * 100_000], reader, writer)
    assert array.to_pylist() == [{"x": 7}, None]
    assert "nested deeper" in flaws[1]


@pytest.mark.parametrize(
    ("schema", "reason"),
    [
        (record({"name": "next", "type": ["null", "R"]}), "contains itself"),
        (record(*[{"name": f"f{at}", "type": "int"} for at in range(10_001)]), "more than 10000 columns"),
    ],
)
def test_what_arrow_has_no_type_for_is_refused(schema: Any, reason: str) -> None:
    with pytest.raises(InvalidSchemaError, match=reason):
        decode([], schema)


def test_parts_of_a_sliced_column_are_read() -> None:
    columns = AvroColumns(parsed("string"))
    number = columns.add(columns.schema)
    column = pa.array([b"\x02a", None, b"\x02b", b"\x02c"]).slice(1, 2)
    assert columns.decode(column, pa.array([number] * 2, pa.int32()))[0].to_pylist() == [None, "b"]


def test_the_compiled_twin_has_the_same_numbers() -> None:
    text = Path(layout.__file__).with_name("_op.pxd").read_text()
    found = {
        name.strip(): int(value)
        for name, _, value in (line.partition("=") for line in text.splitlines() if "=" in line)
    }
    assert {f"OP_{op.name}": op.value for op in layout.Op}.items() <= found.items()
    codes = {name: value for name, value in found.items() if not name.startswith("OP_") and name != "FRAME_BYTES"}
    assert codes.items() <= {code.name: code.value for code in layout.Code}.items()
