"""Protobuf for Connect without a registry: what schemas and values look like there, and what comes back."""

from decimal import Decimal
from typing import Any

import pytest
from google.protobuf import json_format
from google.protobuf.message_factory import GetMessageClass

from ottla.connect.converter.protobuf_message import filler
from ottla.connect.converter.protobuf_option import ENUM, TAG, TYPE, UNION, ProtobufOption
from ottla.connect.converter.protobuf_reading import reading
from ottla.connect.converter.protobuf_schema import to_protobuf
from ottla.connect.data.builder import array, mapping, struct, with_default
from ottla.connect.data.logical import (
    DATE_SCHEMA,
    TIME_SCHEMA,
    TIMESTAMP_SCHEMA,
    Instant,
    decimal_schema,
)  # fmt: skip
from ottla.connect.data.schema import (
    BYTES,
    FLOAT32,
    INT8,
    INT16,
    INT32,
    INT64,
    OPTIONAL_INT32,
    OPTIONAL_STRING,
    STRING,
    Schema,
)  # fmt: skip
from ottla.connect.data.struct import Struct
from ottla.connect.data.type import Type
from ottla.connect.errors import DataError
from ottla.schema.protobuf.descriptor.pool import descriptor_pool
from ottla.schema.protobuf.parse import parse

NOW = Instant(1_600_000_000_123)


def written(schema: Schema, value: Any, option: ProtobufOption | None = None) -> tuple[str, Any]:
    """The .proto text, and the message as JSON has it."""
    option = option or ProtobufOption()
    made = to_protobuf(schema, option)
    again = parse(made.schema.canonical_text, (), {}, strict=True)
    descriptor = descriptor_pool(again).FindMessageTypeByName(made.name)
    message = GetMessageClass(descriptor)()
    filler(schema, descriptor, option)(message, value)
    return made.schema.canonical_text, json_format.MessageToDict(message, preserving_proto_field_name=True)


def back(schema: Schema, value: Any, option: ProtobufOption | None = None) -> Any:
    """What is read of what was written."""
    option = option or ProtobufOption()
    made = to_protobuf(schema, option)
    pool = descriptor_pool(made.schema)
    descriptor = pool.FindMessageTypeByName(made.name)
    message = GetMessageClass(descriptor)()
    filler(schema, descriptor, option)(message, value)
    _, convert = reading(descriptor, pool, option)
    return convert(type(message).FromString(message.SerializeToString()))


def read(text: str, name: str, fields: dict[str, Any], option: ProtobufOption | None = None) -> Any:
    """What is read of a message of a .proto file."""
    pool = descriptor_pool(parse(text, (), {}, strict=True))
    descriptor = pool.FindMessageTypeByName(name)
    message = GetMessageClass(descriptor)()
    json_format.ParseDict(fields, message)
    schema, convert = reading(descriptor, pool, option or ProtobufOption())
    value = convert(message)
    assert not isinstance(value, Struct) or value.schema == schema
    return value


def test_types_have_their_numbers_in_order() -> None:
    schema = struct({"a": INT8, "b": INT32, "c": INT64, "d": FLOAT32, "e": STRING, "f": BYTES}, name="shop.All")
    text, value = written(schema, Struct(schema, {"a": -1, "b": 2, "c": 3, "d": 0.5, "e": "ü", "f": b"\0"}))
    assert "package shop;" in text
    assert 'key: "connect.type"' in text
    assert value == {"a": -1, "b": 2, "c": "3", "d": 0.5, "e": "ü", "f": "AA=="}
    found = back(schema, Struct(schema, {"a": -1, "b": 2, "c": 3, "d": 0.5, "e": "ü", "f": b"\0"}))
    assert found.to_dict() == {"a": -1, "b": 2, "c": 3, "d": 0.5, "e": "ü", "f": b"\0"}
    assert [each.schema.type for each in found.schema.fields][:2] == [Type.INT8, Type.INT32]
    assert found.schema.name == "All"
    assert found.schema.field("c").schema == Schema(Type.INT64, optional=True, parameters={TAG: "3"})


def test_structs_are_nested_and_maps_are_lists_of_entries() -> None:
    line = struct({"sku": STRING, "count": INT32}, name="shop.Line")
    schema = struct({"lines": array(line), "by_name": mapping(STRING, line), "line": line}, name="shop.Order")
    one = Struct(line, {"sku": "a", "count": 1})
    value = Struct(schema, {"lines": [one, one], "by_name": {"x": one}, "line": one})
    text, shown = written(schema, value)
    assert text.count("message Line") == 2, "once in the order, once in the entries"
    assert "repeated Line lines = 1;" in text
    assert "repeated ConnectDefault1Entry by_name = 2;" in text
    assert shown["by_name"] == [{"key": "x", "value": {"sku": "a", "count": 1}}]
    found = back(schema, value)
    assert found["by_name"]["x"]["sku"] == "a"
    assert back(found.schema, found).to_dict() == found.to_dict(), "what was read is written again"
    nothing = Struct(schema, {"lines": [], "by_name": {}, "line": one})
    assert back(schema, nothing).to_dict() == {"lines": [], "by_name": {}, "line": {"sku": "a", "count": 1}}
    gaps = struct({"a": array(OPTIONAL_STRING)})
    with pytest.raises(DataError, match="null, which Protobuf can't hold"):
        written(gaps, Struct(gaps, {"a": [None]}))
    with pytest.raises(DataError, match="Array cannot be nested"):
        to_protobuf(struct({"a": array(array(INT32))}), ProtobufOption())


def test_logical_types() -> None:
    schema = struct({"d": decimal_schema(2), "day": DATE_SCHEMA, "time": TIME_SCHEMA, "at": TIMESTAMP_SCHEMA})
    given = {"d": Decimal("-1.50"), "day": Instant(86_400_000), "time": Instant(3_723_004), "at": NOW}
    text, value = written(schema, Struct(schema, given))
    assert "confluent.type.Decimal d = 1 [(confluent.field_meta)" in text
    assert value["day"] == {"year": 1970, "month": 1, "day": 2}
    assert value["time"] == {"hours": 1, "minutes": 2, "seconds": 3, "nanos": 4_000_000}
    assert value["at"] == "2020-09-13T12:26:40.123Z"
    assert value["d"] == {"value": "/2o=", "precision": 3, "scale": 2}
    found = back(schema, Struct(schema, given))
    assert found.to_dict() == given
    assert found.schema.field("d").schema.parameters == {"scale": "2", TAG: "1"}
    early = struct({"at": TIMESTAMP_SCHEMA})
    assert back(early, Struct(early, {"at": Instant(-1)}))["at"] == Instant(-1)


def test_enums_and_unions_come_back_as_they_were_read() -> None:
    text = """syntax = "proto3"; package p;
    message M { State state = 7; oneof kind { string name = 3; int32 id = 2; } uint32 size = 9; sint64 way = 1;
    enum State { NEW = 0; SENT = 4; } }"""
    found = read(text, "p.M", {"state": "SENT", "name": "x", "size": 4_000_000_000, "way": -7})
    assert found.to_dict() == {"kind_0": {"name": "x", "id": None}, "state": "SENT", "size": 4_000_000_000, "way": -7}
    state, union = found.schema.field("state").schema, found.schema.field("kind_0").schema
    assert state.parameters == {ENUM: "State", f"{ENUM}.NEW": "0", f"{ENUM}.SENT": "4", TAG: "7"}
    assert union.name == f"{UNION}.kind"
    assert found.schema.field("size").schema.parameters == {TYPE: "uint32", TAG: "9"}
    again, value = written(found.schema, found)
    assert sorted(line.strip() for line in again.splitlines() if " = " in line) == sorted([
        'syntax = "proto3";', "State state = 7;", "uint32 size = 9;", "sint64 way = 1;", "string name = 3;",
        "int32 id = 2;", "NEW = 0;", "SENT = 4;",
    ])  # fmt: skip
    assert value == {"state": "SENT", "name": "x", "size": 4_000_000_000, "way": "-7"}
    assert read(text, "p.M", {})["kind_0"] is None
    flat = read(text, "p.M", {"id": 5}, ProtobufOption(flattens_unions=True))
    assert (flat["name"], flat["id"]) == (None, 5)
    numbers = read(text, "p.M", {"state": 4}, ProtobufOption(enums_are_ints=True, keeps_packages=True))
    assert (numbers["state"], numbers.schema.name) == (4, "p.M")
    assert written(numbers.schema, numbers, ProtobufOption(enums_are_ints=True))[1]["state"] == "SENT"
    general = read(text, "p.M", {"state": "SENT"}, ProtobufOption(generalizes=True, numbers_unions=False))
    assert general.schema.field("kind").schema.name == "kind"
    assert written(general.schema, general, ProtobufOption(generalizes=True))[1]["state"] == "SENT"
    with pytest.raises(DataError, match="Cannot find non-null field"):
        written(found.schema, Struct(found.schema, {"kind_0": Struct(union)}))


def test_nulls() -> None:
    schema = struct({"a": OPTIONAL_INT32, "b": OPTIONAL_STRING, "c": with_default(INT16.replace(optional=True), 3)})
    empty = Struct(schema)
    assert written(schema, empty)[1] == {"c": 3}
    assert written(schema, empty, ProtobufOption(ignores_defaults=True))[1] == {}
    assert back(schema, empty).to_dict() == {"a": 0, "b": "", "c": 3}
    labelled = ProtobufOption(labels_nullables=True, ignores_defaults=True)
    assert "optional string b = 2;" in written(schema, empty, labelled)[0]
    assert back(schema, empty, labelled).to_dict() == {"a": None, "b": None, "c": None}
    wrapped = ProtobufOption(wraps_nullables=True, ignores_defaults=True)
    text, _ = written(schema, Struct(schema, {"a": 0}), wrapped)
    assert "google.protobuf.Int32Value a = 1;" in text
    assert back(schema, Struct(schema, {"a": 0}), wrapped).to_dict() == {"a": 0, "b": None, "c": None}
    required = struct({"b": STRING})
    with pytest.raises(DataError, match='null used for required field: "b"'):
        written(required, Struct(required))


def test_fields_that_know_whether_they_are_set() -> None:
    text = """syntax = "proto2"; message M { optional int32 a = 1; required string b = 2; optional In c = 3;
    message In { optional bool x = 1 [default = true]; } }"""
    assert read(text, "M", {"b": "x"}).to_dict() == {"a": None, "b": "x", "c": None}
    old = ProtobufOption(knows_proto2_optional=False)
    assert read(text, "M", {"b": "x"}, old).to_dict() == {"a": 0, "b": "x", "c": None}
    filled = read(text, "M", {"b": "x"}, ProtobufOption(fills_nulls=True))
    assert filled.to_dict() == {"a": 0, "b": "x", "c": {"x": True}}
    wrapped = (
        'syntax = "proto3"; import "google/protobuf/wrappers.proto"; message M { google.protobuf.UInt64Value a = 1; }'
    )
    assert read(wrapped, "M", {"a": str(2**64 - 1)})["a"] == -1
    assert read(wrapped, "M", {"a": 5}, ProtobufOption(unwraps=False))["a"].to_dict() == {"value": 5}
    maps = 'syntax = "proto3"; message M { map<string, int32> good_ones = 1; }'
    found = read(maps, "M", {"good_ones": {"a": 1}})
    assert found["good_ones"] == {"a": 1}
    assert found.schema.field("good_ones").schema.name == "good_ones"


def test_what_cannot_be_a_message_is_refused() -> None:
    with pytest.raises(DataError, match="put it into a struct"):
        to_protobuf(TIMESTAMP_SCHEMA, ProtobufOption())
    with pytest.raises(DataError, match="Unsupported root schema of type ARRAY"):
        to_protobuf(array(INT32), ProtobufOption())
    with pytest.raises(DataError, match="contains itself"):
        read('syntax = "proto3"; message M { M m = 1; }', "M", {})
    parts = {"a": struct({"x": INT32}, name="In"), "b": struct({"y": INT32}, name="In")}
    with pytest.raises(DataError, match="two different structs have the name In"):
        to_protobuf(struct(parts), ProtobufOption())
    odd = struct({"1 a": INT32})
    assert written(odd, Struct(odd, {"1 a": 5}), ProtobufOption(scrubs_names=True))[1] == {"x1_a": 5}
