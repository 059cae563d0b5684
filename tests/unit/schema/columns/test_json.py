"""JSON documents into Arrow and back, by table: types, what is null where, properties in any order, bad documents."""

import json
from typing import Any

import pyarrow as pa
import pytest

from ottla.schema.columns.array_plan import UnfitColumnError
from ottla.schema.columns.json.decoding import JsonColumns
from ottla.schema.error import InvalidSchemaError
from tests.unit.schema.columns.json_column import decode, encode, parsed

P = {"type": "object", "properties": {"x": {"type": "number"}, "y": {"type": "array", "items": {"type": "integer"}}}}
ARROW_P = pa.struct([("x", pa.float64()), ("y", pa.list_(pa.int64()))])
MAP: Any = {"type": "object", "additionalProperties": {"type": "integer"}}
TYPES: list[tuple[Any, Any, list[Any]]] = [
    ({"type": "boolean"}, pa.bool_(), [True, False]),
    ({"type": "integer"}, pa.int64(), [0, -1, 2**63 - 1, -(2**63)]),
    ({"type": "number"}, pa.float64(), [0.1, -1e300, 1e-7, 12345678901234567.0, 5e-324, 0.30000000000000004]),
    ({"type": "string"}, pa.string(), ["", 'a"\\/\b\f\n\r\t\x01', "grüß 🎉", "x" * 5000]),
    ({"type": "string", "enum": ["A", "B"]}, pa.string(), ["A"]),
    ({"enum": ["A", "B"]}, pa.string(), ["B"]),
    ({"const": "A"}, pa.string(), ["A"]),
    ({"type": ["string", "null"]}, pa.string(), ["a", None]),
    ({"oneOf": [{"type": "null"}, {"$ref": "#/definitions/P"}]}, ARROW_P,
     [{"x": 1.0, "y": [1, 2]}, None, {"x": None, "y": None}]),
    ({"allOf": [{"$ref": "#/definitions/P"}, {"required": ["x"]}]}, ARROW_P,
     [{"x": 1.0, "y": None}]),
    ({"type": ["integer", "number"]}, pa.float64(), [1.0, 0.5]),
    ({"type": "array", "items": {"type": ["integer", "null"]}}, pa.list_(pa.int64()), [[1, None], []]),
    (MAP, pa.map_(pa.string(), pa.int64()), [[("a", 1)], []]),
    ({"type": "object", "patternProperties": {"^x": {"type": "string"}}, "additionalProperties": False},
     pa.map_(pa.string(), pa.string()), [[("x\n", "y")]]),
    ({}, pa.string(), ['{"a": [1, null]}', "7", '"x"']),
    ({"type": "object"}, pa.string(), ["{}"]),
    ({"type": ["string", "integer"]}, pa.string(), ['"x"', "7"]),
    ({"type": "array"}, pa.list_(pa.string()), [["1", "[]"]]),
    ({"type": "null"}, pa.null(), [None]),
]  # fmt: skip


def holder(schema: Any, *, required: bool = False) -> dict[str, Any]:
    found = {"type": "object", "properties": {"v": schema}, "definitions": {"P": P}}
    return {**found, "required": ["v"]} if required else found


@pytest.mark.parametrize(("schema", "kind", "values"), TYPES, ids=lambda value: str(value)[:40])
def test_each_type_is_read_and_written(schema: Any, kind: Any, values: list[Any]) -> None:
    rows = pa.array([{"v": value} for value in values], pa.struct([("v", kind)]))
    records, flaws = encode(rows, holder(schema, required=True))
    assert not flaws
    array, flaws = decode(records, holder(schema, required=True))
    assert (array.type, array.to_pylist(), flaws) == (rows.type, rows.to_pylist(), {})
    for record in records:
        json.loads(record or b"")


def test_properties_come_in_any_order_and_undeclared_ones_are_passed_over() -> None:
    schema = {"type": "object", "properties": {"a": {"type": "integer"}, "b": P}}
    texts = [
        b' { "z" : [ {"a":1} , "]" ] , "b" : {"y":[1],"x":2} , "\\u0061" : 1 }\n',
        b'{"a":1,"b":{"x":1,"y":[1,2]},"a":2,"b":{"x":3}}',
        b"{}",
    ]
    array, flaws = decode(texts, schema)
    assert not flaws
    assert array.to_pylist() == [
        {"a": 1, "b": {"x": 2.0, "y": [1]}}, {"a": 2, "b": {"x": 3.0, "y": None}}, {"a": None, "b": None},
    ]  # fmt: skip


BAD: list[tuple[Any, bytes, str]] = [
    ({"type": "integer"}, b"", "not JSON, at byte 0"),
    ({"type": "integer"}, b"1x", "not JSON, at byte 1"),
    ({"type": "integer"}, b"01", "not JSON, at byte 1"),
    ({"type": "integer"}, b"-", "not JSON, at byte 0"),
    ({"type": "integer"}, b"1.5", "another type than its schema's, at byte 0"),
    ({"type": "integer"}, b"1e400", "another type"),
    ({"type": "integer"}, b"9223372036854775808", "more than 64 bits"),
    ({"type": "integer"}, b"9" * 5000, "more than 64 bits"),
    ({"type": "integer"}, b"null", "the schema allows none"),
    ({"type": "integer"}, b'"1"', "another type"),
    ({"type": "integer"}, b"?", "not JSON"),
    ({"type": "boolean"}, b"tru", "not JSON"),
    ({"type": "boolean"}, b"1", "another type"),
    ({"type": "string"}, b'"a', "not JSON, at byte 0"),
    ({"type": "string"}, b'"\x01"', "not JSON"),
    ({"type": "string"}, b'"\\x"', "not JSON"),
    ({"type": "string"}, b'"\\u12g4"', "not JSON"),
    ({"type": "string"}, b'"\\ud800"', "not UTF-8, at byte 0"),
    ({"type": "string"}, b'"\\udc00\\ud800"', "not UTF-8"),
    ({"type": "string"}, b'"\xff"', "not UTF-8"),
    (P, b"[]", "another type"),
    (P, b'{"x":1,}', "not JSON, at byte 7"),
    (P, b'{"x" 1}', "not JSON, at byte 5"),
    (P, b'{"x":1', "not JSON, at byte 6"),
    (P, b'{"y":[1,]}', "not JSON, at byte 8"),
    (P, b'{"y":[1 2]}', "not JSON, at byte 8"),
    (P, b'{"other":[1 2]}', "not JSON, at byte 12"),
    ({**P, "required": ["y"]}, b'{"x":1}', "the property y is required, and missing, at byte 7"),
    ({}, b"[" * 100_000, "nested deeper than 200"),
    ({}, b'{"a":nul}', "not JSON, at byte 5"),
]


@pytest.mark.parametrize(("schema", "data", "reason"), BAD, ids=lambda value: str(value)[:40])
def test_a_bad_document_is_null_and_says_why_and_its_neighbours_are_there(
    schema: Any, data: bytes, reason: str
) -> None:
    good = {"integer": b"-7", "boolean": b"true", "string": b'"x"'}.get(schema.get("type"), b'{"x":1,"y":[1]}')
    array, flaws = decode([good, data, good, None], schema)
    assert list(flaws) == [1]
    assert reason in flaws[1]
    assert array[1].as_py() is array[3].as_py() is None
    assert array[0].as_py() == array[2].as_py() is not None


def test_numbers_are_the_nearest_doubles() -> None:
    texts = ["1.0", "-0", "1E2", "0.1e-6", "123456789012345678901234567890", "1e23", "8.5e22",
             "2.2250738585072011e-308", "1e999999999999", "9007199254740993", "0.000000000000000000000001"]  # fmt: skip
    array, flaws = decode([text.encode() for text in texts], {"type": "number"})
    assert not flaws
    assert [repr(each) for each in array.to_pylist()] == [repr(float(text)) for text in texts]
    array, flaws = decode([b"1.0", b"1e3", b"-0.0"], {"type": "integer"})
    assert (array.to_pylist(), flaws) == ([1, 1000, 0], {})


def test_null_is_left_out_or_null_or_refused() -> None:
    rows = pa.array([{"v": None}])
    assert encode(rows, holder({"type": "integer"})) == ([b"{}"], {})
    assert encode(rows, holder({"type": ["integer", "null"]}, required=True)) == ([b'{"v":null}'], {})
    assert encode(pa.array([{}], pa.struct([])), holder({}, required=True)) == ([b'{"v":null}'], {})
    assert encode(rows, holder({"type": "integer"}, required=True)) == (
        [None],
        {0: "a value is null, and the schema allows none: column v"},
    )


def test_columns_are_converted_or_refused() -> None:
    assert encode(pa.table({"v": pa.array([1], pa.int8())}), holder({"type": "number"}))[0] == [b'{"v":1}']
    assert encode(pa.array([{"v": float("nan")}]), holder({"type": "number"}))[1] == {
        0: "the text is not JSON: column v"
    }
    assert encode(pa.array([{"v": "{"}]), holder({}))[1] == {0: "the text is not JSON: column v"}
    for rows, schema, reason in (
        (pa.array([{"shoe": 1}]), {}, "no property shoe"),
        (pa.array([{"v": "x"}]), {"type": "integer"}, "can't be written as int64"),
        (pa.array([{"v": 1}]), P, "can't be written as an object"),
        (pa.array([{"v": 1}]), {"type": "array"}, "can't be written as a list"),
        (pa.array([1]), {}, "can't be written as an object"),
    ):
        with pytest.raises(UnfitColumnError, match=reason):
            encode(rows, holder(schema))
    with pytest.raises(UnfitColumnError, match="no column for v, which is required"):
        encode(pa.array([{}], pa.struct([])), holder({"type": "integer"}, required=True))


def test_what_contains_itself_is_refused() -> None:
    with pytest.raises(InvalidSchemaError, match="contains itself"):
        JsonColumns(parsed({"type": "object", "properties": {"next": {"$ref": "#"}}}))
