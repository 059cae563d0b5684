"""Protobuf records into Arrow and back, by table: presence, oneofs, parts in any order, evolution, bad records."""

import pyarrow as pa
import pytest

from ottla.schema.columns.array_plan import UnfitColumnError
from ottla.schema.columns.protobuf import decoding
from ottla.schema.columns.protobuf.decoding import ProtobufColumns
from ottla.schema.error import InvalidSchemaError
from tests.unit.schema.columns import twins
from tests.unit.schema.columns.protobuf_column import ORDERS, as_row, decode, encode, of, schema

ORDER = "shop.Order"
ITEM = "shop.Item"


def test_every_kind_of_field_is_read_and_written() -> None:
    order = of(ORDERS, ORDER, {
        "i32": -5, "i64": -(2**63), "u32": 2**32 - 1, "u64": 2**64 - 1, "s32": -(2**31), "s64": -3, "f32": 7, "f64": 8,
        "sf32": -9, "sf64": -10, "single": 0.5, "wide": 0.1, "flag": True, "text": "grüß", "raw": "/w==",
        "state": "PAID", "maybe": 0, "item": {"count": -4, "price": {"cash": {"coins": 3}}}, "numbers": [1, -2],
        "ratios": [0.5, 1], "states": ["NEW", "GONE", 9], "flags": [True, False], "words": ["a", ""],
        "items": [{}, {"name": "x", "tags": ["t"]}], "byName": {"k": {"name": "v"}}, "byNumber": {"1": "PAID"},
        "byFlag": {"true": "YQ=="}, "chosen": {"name": "c"},
    })  # fmt: skip
    place = b"\x02\x06"
    records = [place + order.SerializeToString(), None, place]
    array, flaws = decode(records, ORDERS, ORDER)
    assert not flaws
    assert array.to_pylist() == [as_row(order), None, as_row(type(order)())]
    assert array[0].as_py()["states"] == ["NEW", "GONE", "9"]
    assert encode(array, ORDERS, ORDER) == (records, {})


def test_what_comes_again_replaces_or_is_merged_or_is_one_more() -> None:
    parts = [
        of(ORDERS, ORDER, {"text": "a", "item": {"name": "x", "tags": ["1"]}, "words": ["p"], "name": "lost"}),
        of(ORDERS, ORDER, {"i32": 4, "item": {"tags": ["2"], "price": {"card": "c"}}, "chosen": {"name": "first"}}),
        of(ORDERS, ORDER, {"text": "b", "item": {"price": {"points": 5}}, "words": ["q"], "numbers": [7]}),
        of(ORDERS, ORDER, {"chosen": {"count": 2}}),
    ]
    data = b"".join(part.SerializeToString() for part in parts)
    array, flaws = decode([b"\x02\x06" + data], ORDERS, ORDER)
    assert not flaws
    assert array.to_pylist() == [as_row(type(parts[0]).FromString(data))]
    assert array[0].as_py()["item"]["tags"] == ["1", "2"]


def test_repeated_numbers_may_be_packed_or_not_and_unknown_fields_are_passed_over() -> None:
    new = schema('syntax = "proto3"; message M { repeated int32 a = 1; string s = 2; }')
    packed, single = b"\x0a\x02\x01\x02", b"\x08\x03"
    group = b"\x1b\x08\x01\x22\x01x\x1c"
    other_wire = b"\x10\x05"
    fixed = b"\x29" + bytes(8) + b"\x35" + bytes(4)
    array, flaws = decode([b"\0" + packed + group + single + other_wire + fixed + packed], new)
    assert (array.to_pylist(), flaws) == ([{"a": [1, 2, 3, 1, 2], "s": ""}], {})


def test_proto2_has_required_fields_and_defaults() -> None:
    old = schema(
        'syntax = "proto2"; message M { required int32 a = 1; optional string b = 2 [default = "x"]; '
        "optional int32 c = 3; optional sint32 d = 4 [default = -7]; optional float e = 5 [default = 1.5]; }"
    )
    array, flaws = decode([b"\0\x08\x01", b"\0", b"\0\x08\x02\x12\x01y"], old)
    assert array.to_pylist() == [
        {"a": 1, "b": "x", "c": None, "d": -7, "e": 1.5}, None, {"a": 2, "b": "y", "c": None, "d": -7, "e": 1.5},
    ]  # fmt: skip
    assert flaws == {1: "the record has no M.a, which is required, at byte 1"}
    assert encode(pa.array([{"a": 1}, {"a": None}]), old) == (
        [b"\0\x08\x01", None],
        {1: "a value is null, and the schema allows none: column a"},
    )
    with pytest.raises(UnfitColumnError, match=r"no column for M\.a"):
        encode(pa.array([{"b": "x"}]), old)


def test_an_entry_of_a_map_without_a_message_that_has_required_fields_is_bad() -> None:
    old = schema('syntax = "proto2"; message M { map<string, Leaf> m = 1; } message Leaf { required int32 a = 1; }')
    array, flaws = decode([b"\0\x0a\x03\x0a\x01k", b"\0\x0a\x07\x0a\x01k\x12\x02\x08\x05"], old)
    assert array.to_pylist() == [None, {"m": [("k", {"a": 5})]}]
    assert flaws == {0: "the record has no Leaf.a, which is required, at byte 6"}


def test_a_message_is_found_by_its_name_in_each_version() -> None:
    first = schema('syntax = "proto3"; message A { int32 x = 1; message B { int32 y = 1; } }')
    later = schema(
        'syntax = "proto3"; message New {} message A { message C {} message B { int64 y = 1; } int32 x = 1; }'
    )
    without = schema('syntax = "proto3"; message New {}')
    for twin in twins.MESSAGE_DECODERS:
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(decoding, "MessageDecoder", twin.MessageDecoder)
            columns = ProtobufColumns(later, "A.B")
        programs = [columns.add(first), columns.add(later), columns.add(without), columns.add(first)]
        records = pa.array([b"\x04\x00\x00\x08\x05", b"\x04\x02\x02\x08\x06", b"\x00", b"\x00\x08\x07"])
        array, flaws = columns.decode(records, pa.array(programs))
        assert array.to_pylist() == [{"y": 5}, {"y": 6}, None, None]
        assert flaws == {
            2: "there is no message A.B, at byte 0",
            3: "the record is no A.B but another message, at byte 0",
        }
    with pytest.raises(InvalidSchemaError, match="no message Z"):
        ProtobufColumns(first, "Z")


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (b"", "another message, at byte 0"),
        (b"\0\x0a", "ends in the middle of a value, at byte 2"),
        (b"\0\x0a\x05abc", "ends in the middle of a value, at byte 2"),
        (b"\0\x0a\x01\xff", "not UTF-8, at byte 3"),
        (b"\0\x18" + b"\xff" * 11, "more than ten bytes, at byte 2"),
        (b"\0\x00", "not one of Protobuf's, at byte 1"),
        (b"\0\x0f", "not one of Protobuf's, at byte 1"),
        (b"\0\x0c", "not one of Protobuf's, at byte 2"),
        (b"\0\x2b" * 3, "not one of Protobuf's"),
        (b"\0" + b"\x2b" * 300, "nested deeper than 200"),
        (b"\0\x31\x01", "ends in the middle"),
        (b"\0\x22\x03\x09\x01\x02", "ends in the middle"),
        (b"\0\x22\x02\x12\x01\x22\x02\x12\x00", "not one of Protobuf's, at byte 1"),
    ],
)
def test_a_bad_record_is_null_and_says_why_and_its_neighbours_are_there(data: bytes, reason: str) -> None:
    good = b"\0\x12\x01t\x18\x03"
    array, flaws = decode([good, data, good], ORDERS, ITEM)
    assert list(flaws) == [1]
    assert reason in flaws[1]
    assert array.to_pylist() == [{"name": "", "tags": ["t"], "count": -2, "price": None}, None, array[0].as_py()]


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ('syntax = "proto3"; message M { M m = 1; }', "contains itself"),
        ('syntax = "proto2"; message M { optional group G = 1 { optional int32 a = 1; } }', "is a group"),
        ("message M {" + "".join(f"optional int32 f{n} = {n + 1};" for n in range(10_001)) + "}", "more than 10000"),
    ],
)
def test_what_arrow_has_no_type_for_is_refused(text: str, reason: str) -> None:
    with pytest.raises(InvalidSchemaError, match=reason):
        ProtobufColumns(schema(text))


def test_columns_are_converted_or_refused() -> None:
    one = schema('syntax = "proto3"; enum E { A = 0; B = 2; } message M { int32 a = 1; repeated E e = 2; M2 m = 3; } '
                 "message M2 { uint64 u = 1; }")  # fmt: skip
    rows = pa.table({
        "a": pa.array([1, None], pa.int64()),
        "e": pa.array([["B", "7"], None]).cast(pa.large_list(pa.dictionary(pa.int8(), pa.string()))),
        "m": pa.array([{"u": None}, None], pa.struct([("u", pa.null())])),
    })  # fmt: skip
    assert encode(rows, one, "M") == ([b"\0\x08\x01\x12\x02\x02\x07\x1a\x00", b"\0"], {})
    found, flaws = encode(pa.array([{"e": ["C"]}, {"e": [None]}]), one, "M")
    assert found == [None, None]
    assert [text.partition(":")[0] for text in flaws.values()] == [
        "a text is no symbol of the enum",
        "a value is null, and the schema allows none",
    ]
    for rows, reason in (
        (pa.array([{"shoe": 1}]), "no field shoe"),
        (pa.array([{"a": "x"}]), "can't be written as int32"),
        (pa.array([{"e": 1}]), "can't be written as repeated M.e"),
        (pa.array([{"m": 1}]), "can't be written as M2"),
        (pa.array([{"m": {"u": -1}}]), "can't be written as uint64"),
    ):
        with pytest.raises(UnfitColumnError, match=reason):
            encode(rows, one, "M")


def test_enums_that_do_not_begin_at_zero_are_read() -> None:
    odd = schema('syntax = "proto3"; enum E { B = 2; A = 1; } enum F { X = 1; Y = 0; } message M { E e = 1; F f = 2; }')
    array, flaws = decode([b"\0", b"\0\x08\x02\x10\x01"], odd)
    assert (array.to_pylist(), flaws) == ([{"e": "E_0", "f": "Y"}, {"e": "B", "f": "X"}], {})
