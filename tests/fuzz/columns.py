"""Any bytes as Avro records, read into Arrow columns: both twins must agree, and what was read is written the same.

The first byte chooses a writer's and a reader's schema, the second how the rest is cut into records.
"""

from collections.abc import Iterator
from decimal import Decimal
from typing import Any

import fastavro

from tests.unit.schema.columns.avro_column import decode, encode, written

TITLE = "Avro records as Arrow columns"
POINT: Any = {
    "type": "record",
    "name": "Point",
    "fields": [{"name": "x", "type": "int"}, {"name": "y", "type": ["null", "string", "double"]}],
}
WRITER: Any = {
    "type": "record",
    "name": "R",
    "fields": [
        {"name": "a", "type": ["null", "long"]},
        {"name": "b", "type": {"type": "array", "items": POINT}},
        {"name": "c", "type": {"type": "map", "values": {"type": "array", "items": "null"}}},
        {"name": "d", "type": {"type": "bytes", "logicalType": "decimal", "precision": 20, "scale": 2}},
        {"name": "e", "type": {"type": "enum", "name": "E", "symbols": ["X", "Y"]}},
        {"name": "f", "type": {"type": "fixed", "name": "F", "size": 4, "logicalType": "decimal", "precision": 9}},
        {"name": "g", "type": "float"},
        {"name": "h", "type": ["bytes", "boolean"]},
    ],
}
READER: Any = {
    **WRITER,
    "fields": [
        {"name": "a", "type": ["double", "null"]},
        {"name": "h", "type": ["null", "boolean", "string"]},
        {"name": "new", "type": {"type": "array", "items": "string"}, "default": ["x", "y"]},
    ],
}
LIST: Any = {"type": "record", "name": "L", "fields": [{"name": "next", "type": ["null", "L"]}]}
OUTER: Any = {"type": "record", "name": "O", "fields": [{"name": "l", "type": LIST}, {"name": "x", "type": "int"}]}
PAIRS = (
    (WRITER, WRITER),
    (WRITER, READER),
    (OUTER, {**OUTER, "fields": OUTER["fields"][1:]}),
    ({"type": "array", "items": {"type": "array", "items": "string"}},) * 2,
    ({"type": "map", "values": ["null", "string"]},) * 2,
)


def fuzz_one(data: bytes) -> None:
    """One try."""
    if len(data) < 2:
        return
    writer, reader = PAIRS[data[0] % len(PAIRS)]
    body, size = data[2:], 1 + data[1]
    records = [body[at : at + size] for at in range(0, len(body), size)]
    array, flaws = decode(records, reader, writer)
    assert all(array[row].as_py() is None for row in flaws)
    again, bad = encode(array, reader)
    assert not bad
    twice, _ = decode(again, reader)
    assert repr(twice.to_pylist()) == repr(array.to_pylist())


def seeds() -> Iterator[bytes]:
    """Records that fastavro wrote."""
    value = {"a": 5, "b": [{"x": 1, "y": "z"}], "c": {"k": [None]}, "d": Decimal("1.25"), "e": "Y", "f": Decimal(-3)}
    (record,) = written(WRITER, [value | {"g": 0.5, "h": True}])
    yield bytes((0, len(record) - 1)) + record * 2
    yield bytes((1, len(record) - 1)) + record
    (deep,) = written(fastavro.parse_schema(OUTER), [{"l": {"next": {"next": None}}, "x": 1}])
    yield bytes((2, len(deep) - 1)) + deep
