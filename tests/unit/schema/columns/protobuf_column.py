"""Columns of Protobuf records by all twins, and a schema that has every kind of field."""

from collections.abc import Sequence
from typing import Any

from google.protobuf import json_format
from google.protobuf.message_factory import GetMessageClass

from ottla.schema.columns.protobuf import decoding
from ottla.schema.columns.protobuf.decoding import ProtobufColumns
from ottla.schema.columns.protobuf.encoding import ProtobufRecords
from ottla.schema.protobuf.parse import parse
from ottla.schema.protobuf.schema import ProtobufSchema
from tests.unit.schema.columns import twins

TEXT = """
syntax = "proto3";
package shop;
enum State { NEW = 0; PAID = 5; GONE = -1; }
message Item { string name = 1; repeated string tags = 2; sint32 count = 3; optional Price price = 4; }
message Price { fixed64 units = 1; oneof how { string card = 2; Cash cash = 3; int32 points = 4; } }
message Cash { bool is_exact = 1; uint32 coins = 2; }
message Order {
  int32 i32 = 1; int64 i64 = 2; uint32 u32 = 3; uint64 u64 = 4; sint32 s32 = 5; sint64 s64 = 6;
  fixed32 f32 = 7; fixed64 f64 = 8; sfixed32 sf32 = 9; sfixed64 sf64 = 10; float single = 11; double wide = 12;
  bool flag = 13; string text = 14; bytes raw = 15; State state = 16;
  optional int32 maybe = 17; optional string note = 18; Item item = 19;
  repeated sint64 numbers = 20; repeated double ratios = 21; repeated State states = 22; repeated bool flags = 23;
  repeated string words = 24; repeated Item items = 25;
  map<string, Item> by_name = 26; map<int32, State> by_number = 27; map<bool, bytes> by_flag = 28;
  oneof choice { string name = 30; Item chosen = 31; int64 number = 32; }
}
"""


def schema(text: str) -> ProtobufSchema:
    return parse(text, (), {}, strict=True)


ORDERS = schema(TEXT)
PLACE: twins.Place = (decoding, "MessageDecoder", twins.MESSAGE_DECODERS)


def message_class(found: ProtobufSchema, message: str | None) -> Any:
    return GetMessageClass(ProtobufColumns(found, message).descriptor)


def decode(
    records: Sequence[bytes | None], found: ProtobufSchema, message: str | None = None
) -> tuple[Any, dict[int, str]]:
    """The array and the flaws, which all twins agree on."""
    return twins.decoded(PLACE, lambda: ProtobufColumns(found, message), records)


def encode(rows: Any, found: ProtobufSchema, message: str | None = None) -> tuple[list[bytes | None], dict[int, str]]:
    """The records and the flaws, which all twins agree on."""
    return twins.encoded(lambda: ProtobufRecords(found, message), rows)


def as_row(message: Any) -> dict[str, Any]:
    """A message as its row is in Arrow, by protobuf's own reading of it."""
    return {field.name: _value(message, field) for field in message.DESCRIPTOR.fields}


def _value(message: Any, field: Any) -> Any:
    value = getattr(message, field.name)
    if field.message_type is not None and field.message_type.GetOptions().map_entry:
        key, item = field.message_type.fields
        return [(_plain(key, each), _plain(item, value[each])) for each in value]
    if field.default_value == [] or hasattr(value, "extend"):
        return [_plain(field, each) for each in value]
    if field.has_presence and not message.HasField(field.name) and not field.has_default_value:
        return None
    return _plain(field, value)


def _plain(field: Any, value: Any) -> Any:
    if field.message_type is not None:
        return as_row(value)
    if field.enum_type is not None:
        found = field.enum_type.values_by_number.get(value)
        return str(value) if found is None else found.name
    return value


def of(found: ProtobufSchema, message: str | None, values: dict[str, Any]) -> Any:
    """A message of these values."""
    return json_format.ParseDict(values, message_class(found, message)())
