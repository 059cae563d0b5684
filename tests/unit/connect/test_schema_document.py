"""Avro's and JSON's schemas for Connect's: a round trip of everything that Connect has, and schemas of others."""

import io
from decimal import Decimal
from typing import Any

import fastavro
import pytest

from ottla.connect.converter import avro_value
from ottla.connect.converter.avro_option import UNION
from ottla.connect.converter.avro_reading import from_avro
from ottla.connect.converter.avro_schema import to_avro
from ottla.connect.converter.json_schema_document import from_document, to_document
from ottla.connect.data.builder import array, mapping, struct, with_default
from ottla.connect.data.logical import DATE_SCHEMA, TIME_SCHEMA, TIMESTAMP_SCHEMA, Instant, decimal_schema
from ottla.connect.data.schema import (
    BOOLEAN,
    BYTES,
    FLOAT32,
    FLOAT64,
    INT8,
    INT16,
    INT32,
    INT64,
    OPTIONAL_STRING,
    STRING,
    Schema,
)
from ottla.connect.data.struct import Struct
from ottla.connect.errors import DataError

PLACE = struct({"x": FLOAT64, "y": FLOAT32}, name="shop.Place")
ORDER = struct(
    {
        "i8": INT8, "i16": INT16, "i32": INT32, "i64": INT64, "on": BOOLEAN, "text": STRING, "raw": BYTES,
        "note": OPTIONAL_STRING, "count": with_default(INT32, 7), "place": PLACE,
        "tags": array(OPTIONAL_STRING), "sizes": mapping(STRING, INT64), "numbered": mapping(INT32, STRING),
        "price": decimal_schema(2), "day": DATE_SCHEMA, "at": TIME_SCHEMA,
        "when": TIMESTAMP_SCHEMA.replace(optional=True),
    },
    name="shop.Order",
)  # fmt: skip
VALUES: dict[str, Any] = {
    "i8": -1, "i16": 300, "i32": 1, "i64": 2**60, "on": True, "text": "ü", "raw": b"\0\xff", "note": None, "count": 3,
    "place": Struct(PLACE, {"x": 0.5, "y": 0.25}), "tags": ["a", None], "sizes": {"s": 1}, "numbered": {5: "five"},
    "price": Decimal("-12.50"), "day": Instant(86_400_000), "at": Instant(1_000), "when": Instant(1_600_000_000_123),
}  # fmt: skip


def test_avro_brings_every_type_back() -> None:
    document = to_avro(ORDER)
    parsed = fastavro.parse_schema(document)
    buffer = io.BytesIO()
    order = Struct(ORDER, VALUES)
    fastavro.schemaless_writer(buffer, parsed, avro_value.writer(ORDER)(order))
    schema = from_avro(document)
    assert schema == ORDER
    plain = fastavro.schemaless_reader(io.BytesIO(buffer.getvalue()), parsed, None)
    # fastavro knows the logical types by itself: the same values, as Python has them.
    assert (str(plain["price"]), str(plain["day"]), plain["when"].year) == ("-12.50", "1970-01-02", 2020)


def test_json_schema_brings_every_type_back() -> None:
    assert from_document(to_document(ORDER)) == ORDER.replace(
        fields=tuple(
            field if field.name != "count" else type(field)("count", field.index, INT32.replace(optional=True))
            for field in ORDER.fields
        )
    )


def test_a_struct_is_defined_once_and_then_named() -> None:
    line = struct({"from": PLACE, "to": PLACE.replace(optional=True)}, name="Line")
    document = to_avro(line)
    assert [field["type"] for field in document["fields"]][1] == ["null", "shop.Place"]
    assert from_avro(document) == line
    other = struct({"a": PLACE, "b": struct({"z": INT32}, name="shop.Place")})
    with pytest.raises(DataError, match=r"two different structs have the name shop\.Place"):
        to_avro(other)


@pytest.mark.parametrize(
    ("avro", "name", "fields"),
    [
        ({"type": "enum", "name": "E", "symbols": ["a"]}, "E", []),
        (["int", "string", "null"], UNION, ["int", "string"]),
        ({"type": "record", "name": "R", "namespace": "n", "fields": [
            {"name": "a", "type": "long", "default": 5},
            {"name": "b", "type": {"type": "fixed", "name": "F", "size": 2}},
            {"name": "c", "type": ["null", "F"]}]}, "n.R", ["a", "b", "c"]),
    ],
)  # fmt: skip
def test_schemas_of_others(avro: object, name: str | None, fields: list[str]) -> None:
    found = from_avro(avro)
    assert (found.name, [field.name for field in found.fields]) == (name, fields)


def test_what_contains_itself_is_refused() -> None:
    tree = {"type": "record", "name": "T", "fields": [{"name": "next", "type": ["null", "T"]}]}
    with pytest.raises(DataError, match="which contains itself"):
        from_avro(tree)


def test_a_json_schema_of_somebody_else() -> None:
    document = {"type": "object", "required": ["id"], "properties": {
        "id": {"type": "integer"}, "name": {"type": ["string", "null"]},
        "more": {"type": "array", "items": {"type": "number"}},
    }}  # fmt: skip
    found = from_document(document)
    kinds: list[tuple[str, Schema]] = [(field.name, field.schema) for field in found.fields]
    assert kinds == [("id", INT64), ("name", OPTIONAL_STRING), ("more", array(FLOAT64, optional=True))]
    with pytest.raises(DataError, match="several types"):
        from_document({"oneOf": [{"type": "integer"}, {"type": "string"}]})
