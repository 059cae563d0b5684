"""Protobuf with a registry, beside confluent-kafka's serializers."""

from typing import Any

import pytest
from confluent_kafka.schema_registry import SchemaRegistryClient, header_schema_id_serializer
from confluent_kafka.schema_registry.protobuf import ProtobufDeserializer as TheirDeserializer
from confluent_kafka.schema_registry.protobuf import ProtobufSerializer as TheirSerializer
from confluent_kafka.serialization import MessageField, SerializationContext
from google.protobuf.descriptor_pool import DescriptorPool
from google.protobuf.message import Message
from google.protobuf.message_factory import GetMessageClass

from ottla.client.errors import SerializationError
from ottla.client.record import Header
from ottla.client.registry.registry import SchemaRegistry
from ottla.client.serde.schema.protobuf import ProtobufDeserializer, ProtobufSerializer
from ottla.schema.protobuf.descriptor import builtin
from ottla.schema.protobuf.parse import parse
from tests.integration.client.serde.registry_server import State

MONEY = 'syntax = "proto3"; package shop; message Money { int64 cents = 1; }'
ORDER = """
syntax = "proto3";
package shop;
import "common/money.proto";
import "google/protobuf/timestamp.proto";
message Order {
  string id = 1;
  Money price = 2;
  map<string, int32> counts = 3;
  message Line { string sku = 1; message Part { bytes raw = 1; } }
  repeated Line lines = 4;
  google.protobuf.Timestamp at = 5;
  oneof paid { string card = 6; bool cash = 7; }
  optional int32 stars = 8;
  enum State { NEW = 0; SENT = 1; }
  State state = 9;
}
message Refund { string order = 1; }
"""


def classes() -> dict[str, type[Any]]:
    """What protoc's code makes: classes of two files that were compiled under their own paths."""
    pool = DescriptorPool()
    timestamp = builtin.descriptor("google/protobuf/timestamp.proto")
    assert timestamp is not None
    pool.AddSerializedFile(timestamp.SerializeToString())
    money = parse(MONEY, (), {}, strict=True)
    pool.AddSerializedFile(money.descriptor("common/money.proto").SerializeToString())
    order = parse(ORDER, (), {"common/money.proto": MONEY}, strict=True)
    pool.AddSerializedFile(order.descriptor("order.proto").SerializeToString())
    names = ("Order", "Refund", "Order.Line", "Order.Line.Part")
    return {name: GetMessageClass(pool.FindMessageTypeByName(f"shop.{name}")) for name in names}


CLASSES = classes()


def order() -> Message:
    message = CLASSES["Order"](id="o-1", counts={"a": 1, "b": 2}, card="4711", stars=0, state=1)
    message.price.cents = 995
    message.lines.add(sku="x")
    message.at.seconds = 1_700_000_000
    return message


MESSAGES = [
    order(),
    CLASSES["Refund"](order="o-1"),
    CLASSES["Order.Line"](sku="y"),
    CLASSES["Order.Line.Part"](raw=b"\x00\xff"),
    CLASSES["Order"](),
]


def context(headers: Any = None) -> SerializationContext:
    return SerializationContext("orders", MessageField.VALUE, headers)


@pytest.mark.parametrize("message", MESSAGES, ids=lambda message: message.DESCRIPTOR.full_name)
def test_bytes_are_confluents(
    registry: SchemaRegistry, theirs: SchemaRegistryClient, their_reader: SchemaRegistryClient, message: Message
) -> None:
    ours = ProtobufSerializer(registry).serialize("orders", (), message)
    written = TheirSerializer(type(message), theirs)(message, context())
    assert ours is not None
    assert ours[:5] == written[:5]
    read = TheirDeserializer(type(message), {}, schema_registry_client=their_reader)(ours, context())
    assert read == message == ProtobufDeserializer(registry, type(message)).deserialize("orders", (), written)


def test_the_place_of_a_message_is_framed(registry: SchemaRegistry) -> None:
    serializer = ProtobufSerializer(registry)
    starts = {type(one).DESCRIPTOR.name: serializer.serialize("orders", (), one)[5:9].hex() for one in MESSAGES[:4]}
    assert starts["Order"].startswith("00")
    assert starts["Refund"].startswith("0202")
    assert starts["Line"].startswith("040000")
    assert starts["Part"] == "06000000"


def test_a_message_without_a_class_is_read_by_the_registrys_schema(registry: SchemaRegistry) -> None:
    serializer, deserializer = ProtobufSerializer(registry), ProtobufDeserializer(registry)
    for message in MESSAGES:
        data = serializer.serialize("orders", (), message)
        read = deserializer.deserialize("orders", (), data)
        assert read.DESCRIPTOR.full_name == message.DESCRIPTOR.full_name
        assert read.SerializeToString(deterministic=True) == message.SerializeToString(deterministic=True)
    first = ProtobufDeserializer(registry, as_dict=True).deserialize(
        "orders", (), serializer.serialize("orders", (), MESSAGES[0])
    )
    assert first == {
        "id": "o-1",
        "price": {"cents": "995"},
        "counts": {"a": 1, "b": 2},
        "lines": [{"sku": "x"}],
        "at": "2023-11-14T22:13:20Z",
        "card": "4711",
        "stars": 0,
        "state": "SENT",
    }


def test_a_guid_travels_in_a_header(registry: SchemaRegistry, theirs: SchemaRegistryClient) -> None:
    message = MESSAGES[3]
    headers: list[Header] = []
    ours = ProtobufSerializer(registry, schema_id_serializer="header").serialize("orders", headers, message)
    their_headers: list[Header] = []
    conf = {"schema.id.serializer": header_schema_id_serializer}
    written = TheirSerializer(type(message), theirs, conf)(message, context(their_headers))
    assert (ours, headers) == (written, their_headers)
    assert ProtobufDeserializer(registry).deserialize("orders", headers, ours).raw == b"\x00\xff"


def test_dicts_are_written_by_a_schema(registry: SchemaRegistry, state: State) -> None:
    text = 'syntax = "proto3"; message A { string s = 1; } message B { repeated int32 n = 1; }'
    data = ProtobufSerializer(registry, text, message="B").serialize("orders", (), {"n": [1, 2]})
    assert data == b"\x00\x00\x00\x00\x01\x02\x02\x0a\x02\x01\x02"
    assert ProtobufSerializer(registry, text).serialize("other", (), {"s": "x"}) == b"\x00\x00\x00\x00\x01\x00\x0a\x01x"
    assert ProtobufDeserializer(registry, as_dict=True).deserialize("orders", (), data) == {"n": [1, 2]}
    with pytest.raises(SerializationError, match="does not fit B"):
        ProtobufSerializer(registry, text, message="B").serialize("orders", (), {"m": 1})


def test_imports_are_registered_as_references(registry: SchemaRegistry, state: State) -> None:
    ProtobufSerializer(registry).serialize("orders", (), order())
    assert set(state.subjects) == {"common/money.proto", "orders-value"}
    registered = state.answer(state.subjects["orders-value"][0])
    assert registered["references"] == [{"name": "common/money.proto", "subject": "common/money.proto", "version": 1}]


def test_the_latest_version_is_read_with(registry: SchemaRegistry, state: State) -> None:
    older = 'syntax = "proto3"; message A { string s = 1; }'
    newer = 'syntax = "proto3"; message B { int32 n = 1; } message A { string s = 1; repeated string t = 2; }'
    data = ProtobufSerializer(registry, older).serialize("orders", (), {"s": "x"})
    state.register("orders-value", {"schema": newer, "schemaType": "PROTOBUF"})
    read = ProtobufDeserializer(registry, use_latest_version=True).deserialize("orders", (), data)
    assert (read.s, list(read.t)) == ("x", [])


def test_a_latest_version_that_can_not_read_this_is_refused(registry: SchemaRegistry, state: State) -> None:
    ours = 'syntax = "proto3"; message A { string s = 1; }'
    state.register("orders-value", {"schema": ours.replace("string", "int32"), "schemaType": "PROTOBUF"})
    settings: dict[str, object] = {"use_latest_version": True, "auto_register_schemas": False}
    with pytest.raises(SerializationError, match="version 1 of orders-value can't read what this schema writes"):
        ProtobufSerializer(registry, ours, **settings).serialize("orders", (), {"s": "x"})
    settings["latest_compatibility_strict"] = False
    assert ProtobufSerializer(registry, ours, **settings).serialize("orders", (), {"s": "x"}) is not None


def test_damaged_records_are_refused(registry: SchemaRegistry) -> None:
    data = ProtobufSerializer(registry).serialize("orders", (), MESSAGES[3])
    deserializer = ProtobufDeserializer(registry)
    for bad in (data[:5], data[:7], data[:5] + b"\xff" * 9, data[:5] + b"\x02\x20", data[:5] + b"\x7e" * 9, data[:-1]):
        with pytest.raises(SerializationError):
            deserializer.deserialize("orders", (), bad)
    with pytest.raises(SerializationError, match="is no Protobuf message"):
        ProtobufSerializer(registry).serialize("orders", (), {"a": 1})
