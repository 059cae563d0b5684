"""The Avro converter's settings: what schemas and records look like with each, as Confluent's have them."""

import io
from decimal import Decimal
from typing import Any

import fastavro
import pytest

from ottla.connect.cluster.registry_converter import AvroConverter, JsonSchemaConverter
from ottla.connect.converter import avro_value
from ottla.connect.converter.avro_option import (
    AVRO_OPTION_KEYS,
    ENUM,
    FIELD_DEFAULT,
    FIELD_DOC,
    GENERAL_ENUM,
    GENERAL_UNION,
    RECORD_DOC,
    UNION,
    AvroOption,
)
from ottla.connect.converter.avro_reading import from_avro
from ottla.connect.converter.avro_schema import to_avro
from ottla.connect.converter.json_schema_document import to_document
from ottla.connect.converter.json_schema_option import JSON_OPTION_KEYS, JsonSchemaOption
from ottla.connect.data.builder import array, mapping, struct, with_default
from ottla.connect.data.logical import DECIMAL, decimal_schema
from ottla.connect.data.schema import INT8, INT16, INT32, INT64, OPTIONAL_STRING, STRING, Schema
from ottla.connect.data.struct import Struct
from ottla.connect.data.type import Type
from ottla.connect.errors import DataError, InvalidConfigError

COLOR = {"type": "enum", "name": "Color", "namespace": "shop", "symbols": ["RED", "BLUE"], "doc": "hues"}
SHAPE = {
    "type": "record", "name": "Shape", "namespace": "shop", "doc": "a thing", "fields": [
        {"name": "color", "type": COLOR, "doc": "its hue"},
        {"name": "size", "type": "int", "default": 5},
        {"name": "part", "type": ["null", "string", "long", *({
            "type": "record", "name": name, "fields": [{"name": "m", "type": "int"}]} for name in ("Bolt", "Nut"))]},
    ],
}  # fmt: skip


def test_docs_and_defaults_of_somebody_elses_schema_are_parameters() -> None:
    found = from_avro(SHAPE)
    assert found.parameters == {RECORD_DOC: "a thing", f"{FIELD_DOC}color": "its hue"}
    assert found.doc is None
    color, size, part = (field.schema for field in found.fields)
    assert (color.name, (color.parameters or {})[ENUM]) == ("shop.Color", "shop.Color")
    assert (size.default, size.parameters) == (5, {FIELD_DEFAULT: "true"})
    assert (part.name, part.optional) == (UNION, True)
    assert [field.name for field in part.fields] == ["string", "long", "Bolt", "Nut"]


def test_a_schema_that_was_read_is_written_as_it_was() -> None:
    option = AvroOption(enhances=True)
    written = to_avro(from_avro(SHAPE, option), option)
    assert {name: written[name] for name in ("type", "name", "namespace", "doc")} == {
        name: SHAPE[name] for name in ("type", "name", "namespace", "doc")
    }
    color, size, part = written["fields"]
    assert (color["doc"], color["type"]["type"], color["type"]["symbols"]) == ("its hue", "enum", ["RED", "BLUE"])
    assert size == {"name": "size", "type": "int", "default": 5}
    assert [kind if isinstance(kind, str) else kind["name"] for kind in part["type"]] == [
        "null", "string", "long", "Bolt", "Nut",
    ]  # fmt: skip
    assert from_avro(written, option) == from_avro(SHAPE, option)


@pytest.mark.parametrize("option", [AvroOption(), AvroOption(enhances=True), AvroOption(generalizes=True)])
@pytest.mark.parametrize(
    "part", [None, "text", 7, 2**40, ("shop.Bolt", {"m": 8}), ("shop.Nut", {"m": 9})], ids=repr
)  # fmt: skip
def test_values_of_unions_come_back_in_the_same_type(option: AvroOption, part: object) -> None:
    """A record's type is its name's, although two of them have the same fields; so is a number's."""
    read = _read(SHAPE, {"color": "RED", "size": 1, "part": part}, option)
    again = _written_and_read(read, option)
    assert again == read
    union = read["part"]
    if isinstance(part, tuple):
        assert isinstance(union, Struct)
        pairs = zip(union.schema.fields, union.values, strict=True)
        [(name, inner)] = [(each.schema.name, value) for each, value in pairs if value is not None]
        assert name == part[0]
        assert isinstance(inner, Struct)
        assert inner["m"] == part[1]["m"]


def test_generalized_unions_and_enums_have_connects_own_names() -> None:
    found = from_avro(SHAPE, AvroOption(generalizes=True))
    color, _, part = (field.schema for field in found.fields)
    assert (color.parameters or {})[f"{GENERAL_ENUM}.BLUE"] == "1"
    assert (part.name, part.parameters) == ("connect_union_0", {GENERAL_UNION: "connect_union_0"})
    assert [field.name for field in part.fields] == [f"connect_union_field_{number}" for number in (1, 2, 3, 4)]


def test_unions_of_whole_names() -> None:
    found = from_avro(SHAPE, AvroOption(enhances=True)).fields[2].schema
    assert [field.name for field in found.fields] == ["string", "long", "shop.Bolt", "shop.Nut"]


def test_without_metadata_schemas_are_plain_avro() -> None:
    named = Schema(Type.INT8, name="n", version=3, doc="d", parameters={"a": "b"})
    schema = struct({"a": named, "b": with_default(INT16, 4), "d": decimal_schema(2)}, name="shop.S")
    with_notes, plain = to_avro(schema), to_avro(schema, AvroOption(annotates=False))
    assert with_notes["fields"][0]["type"] == {
        "type": "int", "connect.doc": "d", "connect.version": 3, "connect.parameters": {"a": "b"}, "connect.name": "n",
        "connect.type": "int8",
    }  # fmt: skip
    assert with_notes["fields"][1]["type"] == {"type": "int", "connect.default": 4, "connect.type": "int16"}
    assert plain == {
        "type": "record", "name": "S", "namespace": "shop", "fields": [
            {"name": "a", "type": "int"}, {"name": "b", "type": "int", "default": 4},
            {"name": "d", "type": {"type": "bytes", "scale": 2, "precision": 64, "logicalType": "decimal"}},
        ],
    }  # fmt: skip
    assert from_avro(with_notes, AvroOption(annotates=False)).fields[0].schema.parameters is None


def test_fixed_bytes_and_decimals_stay_fixed() -> None:
    avro = {"type": "record", "name": "F", "fields": [
        {"name": "id", "type": {"type": "fixed", "name": "Id", "size": 2}},
        {"name": "price", "type": {"type": "fixed", "name": "Price", "size": 4, "logicalType": "decimal",
                                   "precision": 9, "scale": 2}},
    ]}  # fmt: skip
    found = from_avro(avro)
    price = found.fields[1].schema
    assert (price.name, price.parameters) == (
        DECIMAL, {"scale": "2", "connect.fixed.size": "4", "connect.decimal.precision": "9"},
    )  # fmt: skip
    record = Struct(found, {"id": b"ab", "price": Decimal("-1.00")})
    assert _written_and_read(record, AvroOption()) == record
    with pytest.raises(DataError, match="greater than fixed size 4"):
        _written_and_read(Struct(found, {"id": b"ab", "price": Decimal("99999999.99")}), AvroOption())


def test_names_are_scrubbed_where_that_is_wanted() -> None:
    schema = struct({"a-b": INT32, "1st": INT32}, name="my-shop.Ord er")
    option = AvroOption(scrubs_names=True)
    document = to_avro(schema, option)
    assert (document["namespace"], document["name"]) == ("my_shop", "Ord_er")
    assert [field["name"] for field in document["fields"]] == ["a_b", "x1st"]
    assert avro_value.writer(schema, option)(Struct(schema, {"a-b": 1, "1st": 2})) == {"a_b": 1, "x1st": 2}


def test_maps_and_nulls_by_the_settings() -> None:
    schema = mapping(OPTIONAL_STRING, INT64)
    assert to_avro(schema)["type"] == "array"
    option = AvroOption(maps_optional_keys=True)
    assert to_avro(schema, option) == {"type": "map", "values": "long"}
    assert avro_value.writer(schema, option)({"a": 1}) == {"a": 1}
    nullable = with_default(STRING.replace(optional=True), "x")
    assert avro_value.writer(nullable)(None) == "x"
    assert avro_value.writer(nullable, AvroOption(ignores_defaults=True))(None) is None
    twice = struct({"a": mapping(INT32, STRING), "b": mapping(INT32, STRING)}, name="T")
    record = Struct(twice, {"a": {1: "x"}, "b": {2: "y"}})
    assert _written_and_read(record, AvroOption()) == record
    assert from_avro(["int"]) == INT32
    assert from_avro(["int"], AvroOption(flattens_singletons=False)).name == UNION
    assert from_avro({"type": "array", "items": ["null", "int"]}) == array(INT32.replace(optional=True))


def test_docs_of_fields_alone() -> None:
    option = AvroOption(discards_docs=True)
    found = from_avro(SHAPE, option)
    assert (found.doc, found.fields[0].schema.doc, found.fields[1].schema.parameters) == ("a thing", "its hue", None)
    schema = struct({"a": INT8.replace(doc="small")}, name="R")
    assert to_avro(schema, option)["fields"][0]["doc"] == "small"


def test_a_default_of_another_type_is_passed_by() -> None:
    avro = {"type": "record", "name": "R", "fields": [{"name": "a", "type": "int", "default": "x"}]}
    assert from_avro(avro).fields[0].schema.default is None


def test_every_setting_is_declared_and_unknown_ones_of_json_are_refused() -> None:
    given = {"schema.registry.url": "http://127.0.0.1:1"}
    for key in AVRO_OPTION_KEYS:
        AvroConverter().configure({**given, key.name: "true"}, is_key=False)
        with pytest.raises(InvalidConfigError, match=key.name):
            AvroConverter().configure({**given, key.name: "perhaps"}, is_key=False)
    assert {key.name for key in JSON_OPTION_KEYS} <= set(JsonSchemaConverter.config_def.keys)
    for name, value in (("generalized.sum.type.support", "true"), ("flatten.singleton.unions", "false"),
                        ("preserve.additional.properties", "true"), ("decimal.format", "HEX")):  # fmt: skip
        with pytest.raises(InvalidConfigError, match=name):
            JsonSchemaConverter().configure({**given, name: value}, is_key=False)


def test_json_schemas_by_the_settings() -> None:
    schema = struct({"price": decimal_schema(2)}, name="S")
    assert to_document(schema)["properties"]["price"]["type"] == "string"
    option = JsonSchemaOption(numeric_decimals=True, closes_objects=True)
    document = to_document(schema, option=option)
    assert (document["properties"]["price"]["type"], document["additionalProperties"]) == ("number", False)


def _read(avro: Any, value: object, option: AvroOption) -> Struct:
    buffer = io.BytesIO()
    parsed = fastavro.parse_schema(avro)
    fastavro.schemaless_writer(buffer, parsed, value)
    found = avro_value.reader(from_avro(avro, option))(_decoded(parsed, buffer.getvalue()))
    assert isinstance(found, Struct)
    return found


def _written_and_read(record: Struct, option: AvroOption) -> Struct:
    schema, document = record.schema, to_avro(record.schema, option)
    plain = {name: each for name, each in document.items() if name != "logicalType"}
    parsed = fastavro.parse_schema(_without_logical(plain))
    buffer = io.BytesIO()
    fastavro.schemaless_writer(buffer, parsed, avro_value.writer(schema, option)(record))
    found = avro_value.reader(schema)(_decoded(parsed, buffer.getvalue()))
    assert isinstance(found, Struct)
    return found


def _without_logical(node: Any) -> Any:
    if isinstance(node, dict):
        return {name: _without_logical(each) for name, each in node.items() if name != "logicalType"}
    return [_without_logical(each) for each in node] if isinstance(node, list) else node


def _decoded(parsed: Any, data: bytes) -> Any:
    return fastavro.schemaless_reader(
        io.BytesIO(data), parsed, None, return_named_type=True, return_named_type_override=True
    )
