"""Avro's JSON encoding there and back, held to fastavro's binary encoding and to the specification's rules."""

import io
import json
import math
from typing import Any

import fastavro
import pytest

from ottla.schema.avro.json_reader import JsonReader
from ottla.schema.avro.json_writer import JsonWriter
from ottla.schema.avro.parse import parse
from ottla.schema.error import InvalidValueError

PHONE = {"type": "record", "name": "Phone", "fields": [{"name": "area", "type": "string"}]}
EMPLOYEE = {
    "type": "record",
    "name": "Employee",
    "namespace": "a.b",
    "fields": [
        {"name": "name", "type": "string"},
        {"name": "nick", "type": ["null", "string"]},
        {"name": "phone", "type": ["null", PHONE]},
        {"name": "tags", "type": {"type": "array", "items": "int"}},
        {"name": "marks", "type": {"type": "map", "values": "long"}},
        {"name": "status", "type": {"type": "enum", "name": "Status", "symbols": ["OFF", "ON"]}},
        {"name": "hash", "type": {"type": "fixed", "name": "Hash", "size": 2}},
        {"name": "raw", "type": "bytes"},
        {"name": "ratio", "type": "double"},
        {"name": "is_new", "type": "boolean"},
    ],
}
VALUE: dict[str, Any] = {
    "name": "Bób",
    "nick": {"string": "b"},
    "phone": {"a.b.Phone": {"area": "301"}},
    "tags": [1, -2, 2**31 - 1],
    "marks": {"a": -(2**63)},
    "status": "ON",
    "hash": "\u0000\u00ff",
    "raw": "\u00ffa",
    "ratio": 0.5,
    "is_new": True,
}
PLAIN = {
    **VALUE,
    "nick": "b",
    "phone": {"area": "301"},
    "hash": b"\x00\xff",
    "raw": b"\xffa",
}
LIST = {
    "type": "record",
    "name": "Node",
    "fields": [{"name": "value", "type": "int"}, {"name": "next", "type": ["null", "Node"]}],
}


def both(schema: object) -> tuple[JsonWriter, JsonReader]:
    root = parse(json.dumps(schema), (), {}, strict=True).root
    return JsonWriter(root), JsonReader(root)


def test_a_record_is_written_as_by_fastavro_and_read_back() -> None:
    writer, reader = both(EMPLOYEE)
    buffer = io.BytesIO()
    fastavro.schemaless_writer(buffer, fastavro.parse_schema(EMPLOYEE), PLAIN)
    assert writer.write(VALUE) == buffer.getvalue()
    assert reader.read(buffer.getvalue()) == VALUE


def test_a_record_may_contain_itself() -> None:
    writer, reader = both(LIST)
    value = {"value": 1, "next": {"Node": {"value": 2, "next": None}}}
    assert reader.read(writer.write(value)) == value


@pytest.mark.parametrize("value", [0.1, 3.4028234663852886e38, 1e-45, 16777216.0, -2.5])
def test_floats_are_shown_short(value: float) -> None:
    writer, reader = both("float")
    shown = reader.read(writer.write(value))
    assert writer.write(shown) == writer.write(value)
    assert len(repr(shown)) <= len(repr(value))


@pytest.mark.parametrize("text", ["NaN", "Infinity", "-Infinity"])
def test_numbers_that_json_lacks_are_text(text: str) -> None:
    writer, reader = both("double")
    assert reader.read(writer.write(text)) == text
    assert not math.isfinite(float(text))


@pytest.mark.parametrize(
    ("schema", "value", "reason"),
    [
        ("int", 2**31, "Expected int"),
        ("int", True, "Expected int"),
        ("long", 1.5, "Expected long"),
        ("float", 1e39, "Expected float"),
        ("double", 10**400, "Expected double"),
        ("boolean", 1, "Expected boolean"),
        ("string", 1, "Expected string"),
        ("bytes", "\u0100", "U\\+00FF"),
        ("null", 0, "Expected null"),
        (["null", "int"], 1, "Expected null or"),
        (["null", "int"], {"long": 1}, "Unknown union branch long"),
        (["null", "int"], {"null": None}, "Unknown union branch null"),
        ({"type": "array", "items": "int"}, {}, "Expected array"),
        ({"type": "map", "values": "int"}, [], "Expected map"),
        ({"type": "enum", "name": "E", "symbols": ["A"]}, "B", "Unknown symbol in enum B"),
        ({"type": "fixed", "name": "F", "size": 2}, "a", "Expected fixed length 2, but got 1"),
        (PHONE, {}, "Expected field name not found: area"),
        (PHONE, {"area": "a", "code": 1}, "Unknown fields: \\['code'\\]"),
        (PHONE, {"area": 1}, "area: Expected string"),
        (PHONE, "a", "Expected Phone"),
    ],
)
def test_what_does_not_fit_is_refused(schema: object, value: object, reason: str) -> None:
    with pytest.raises(InvalidValueError, match=reason):
        both(schema)[0].write(value)


@pytest.mark.parametrize(
    ("schema", "data", "reason"),
    [
        ("string", b"\x08a", "ends too early"),
        ("string", b"\x01", "ends too early"),
        ("string", b"\x02\xff", "not UTF-8"),
        ("double", b"\x00", "ends too early"),
        ("long", b"\xff" * 11, "more than 64 bits"),
        (["null", "int"], b"\x04", "no branch 2"),
        ({"type": "enum", "name": "E", "symbols": ["A"]}, b"\x02", "no symbol 1"),
        ({"type": "array", "items": "null"}, b"\xfe" + b"\xff" * 8 + b"\x01", "items without bytes"),
        ({"type": "array", "items": "int"}, b"\xfe" + b"\xff" * 8 + b"\x01", "ends too early"),
        (LIST, b"\x02\x02" * 100_000, "nested too deeply"),
    ],
)
def test_bytes_that_follow_no_schema_are_refused(schema: object, data: bytes, reason: str) -> None:
    with pytest.raises(InvalidValueError, match=reason):
        both(schema)[1].read(data)


def test_blocks_with_their_size_are_read() -> None:
    assert both({"type": "array", "items": "int"})[1].read(b"\x03\x04\x02\x04\x00") == [1, 2]


def test_what_is_nested_too_deeply_is_refused() -> None:
    writer = both(LIST)[0]
    value: Any = None
    for _ in range(50_000):
        value = {"Node": {"value": 1, "next": value}}
    with pytest.raises(InvalidValueError, match="nested too deeply"):
        writer.write(value["Node"])
