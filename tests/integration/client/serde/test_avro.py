"""Avro with a registry, beside confluent-kafka's serializers."""

import dataclasses
import json
from typing import Any

import pytest
from confluent_kafka.schema_registry import Schema, SchemaRegistryClient, header_schema_id_serializer
from confluent_kafka.schema_registry.avro import AvroDeserializer as TheirDeserializer
from confluent_kafka.schema_registry.avro import AvroSerializer as TheirSerializer
from confluent_kafka.serialization import MessageField, SerializationContext

from ottla.client.errors import SerializationError
from ottla.client.record import Header
from ottla.client.registry.errors import RegistryError
from ottla.client.registry.registry import SchemaRegistry
from ottla.client.serde.schema.avro import AvroDeserializer, AvroSerializer
from ottla.client.serde.schema.rule import UnsupportedRuleError
from ottla.schema.reference import Reference
from tests.integration.client.serde.registry_server import State

USER = {
    "type": "record",
    "name": "User",
    "namespace": "shop",
    "fields": [
        {"name": "name", "type": "string"},
        {"name": "age", "type": ["null", "int"], "default": None},
        {"name": "tags", "type": {"type": "array", "items": "string"}, "default": []},
    ],
}
VALUES: list[tuple[object, object]] = [
    (USER, {"name": "Ada", "age": 36, "tags": ["x", "y"]}),
    (USER, {"name": "", "age": None, "tags": []}),
    ("string", "grüß"),
    ("long", -(2**40)),
    ("bytes", b"\x00\x01raw"),
    ({"type": "map", "values": "double"}, {"a": 0.5}),
    (["null", "string", "long"], 7),
    ({"type": "enum", "name": "Suit", "symbols": ["HEARTS", "SPADES"]}, "SPADES"),
    ({"type": "fixed", "name": "Md5", "size": 4}, b"abcd"),
]


@dataclasses.dataclass
class Address:
    city: str


@dataclasses.dataclass
class Person:
    name: str
    addresses: list[Address]
    home: Address | None = None


def context(field: str = MessageField.VALUE, headers: Any = None) -> SerializationContext:
    return SerializationContext("orders", field, headers)


@pytest.mark.parametrize(("schema", "value"), VALUES, ids=range(len(VALUES)))
def test_bytes_are_confluents(
    registry: SchemaRegistry, theirs: SchemaRegistryClient, schema: object, value: object
) -> None:
    text = schema if isinstance(schema, str) else json.dumps(schema)
    ours = AvroSerializer(registry, text).serialize("orders", (), value)
    assert ours == TheirSerializer(theirs, json.dumps(schema))(value, context())
    assert TheirDeserializer(theirs)(ours, context()) == value
    assert AvroDeserializer(registry).deserialize("orders", (), ours) == value


def test_a_guid_travels_in_a_header(registry: SchemaRegistry, theirs: SchemaRegistryClient) -> None:
    value = {"name": "Ada", "age": 1, "tags": []}
    headers: list[Header] = []
    ours = AvroSerializer(registry, USER, schema_id_serializer="header").serialize("orders", headers, value)
    their_headers: list[Header] = []
    conf = {"schema.id.serializer": header_schema_id_serializer}
    written = TheirSerializer(theirs, json.dumps(USER), conf=conf)(value, context(headers=their_headers))
    assert (ours, headers) == (written, their_headers)
    assert headers[0][0] == "__value_schema_id"
    assert AvroDeserializer(registry).deserialize("orders", headers, ours) == value
    assert TheirDeserializer(theirs)(ours, context(headers=headers)) == value


def test_keys_have_subjects_and_headers_of_their_own(registry: SchemaRegistry, state: State) -> None:
    headers: list[Header] = []
    AvroSerializer(registry, "string", is_key=True, schema_id_serializer="header").serialize("orders", headers, "k")
    assert (list(state.subjects), headers[0][0]) == (["orders-key"], "__key_schema_id")


@pytest.mark.parametrize(
    ("strategy", "subject"),
    [
        ("TOPIC", "orders-value"),
        ("RECORD", "shop.User"),
        ("io.confluent.kafka.serializers.subject.TopicRecordNameStrategy", "orders-shop.User"),
        (lambda context: f"mine.{context.topic}", "mine.orders"),
    ],
)
def test_subject_names(registry: SchemaRegistry, state: State, strategy: object, subject: str) -> None:
    serializer = AvroSerializer(registry, USER, subject_name_strategy=strategy)
    data = serializer.serialize("orders", (), {"name": "Ada", "age": 1, "tags": []})
    assert list(state.subjects) == [subject]
    reader = AvroDeserializer(registry, subject_name_strategy=strategy, use_latest_version=True)
    assert reader.deserialize("orders", (), data)["name"] == "Ada"


def test_a_reader_of_another_schema_has_defaults_and_aliases(registry: SchemaRegistry) -> None:
    data = AvroSerializer(registry, USER).serialize("orders", (), {"name": "Ada", "age": 36, "tags": []})
    newer = {
        "type": "record",
        "name": "User",
        "namespace": "shop",
        "fields": [
            {"name": "full_name", "type": "string", "aliases": ["name"]},
            {"name": "age", "type": ["null", "long"], "default": None},
            {"name": "city", "type": "string", "default": "?"},
        ],
    }
    read = AvroDeserializer(registry, newer).deserialize("orders", (), data)
    assert read == {"full_name": "Ada", "age": 36, "city": "?"}


def test_dataclasses_go_in_and_come_out(registry: SchemaRegistry) -> None:
    schema = {
        "type": "record",
        "name": "Person",
        "fields": [
            {"name": "name", "type": "string"},
            {
                "name": "addresses",
                "type": {
                    "type": "array",
                    "items": {"type": "record", "name": "Address", "fields": [{"name": "city", "type": "string"}]},
                },
            },
            {"name": "home", "type": ["null", "Address"], "default": None},
        ],
    }
    person = Person("Ada", [Address("London")], Address("Paris"))
    data = AvroSerializer(registry, schema).serialize("orders", (), person)
    assert AvroDeserializer(registry, into=Person).deserialize("orders", (), data) == person
    assert AvroDeserializer(registry, into=lambda found: found["name"]).deserialize("orders", (), data) == "Ada"


def test_references_are_resolved_once_each(
    registry: SchemaRegistry, theirs: SchemaRegistryClient, state: State
) -> None:
    """A diamond: two schemas share one that both need."""
    money = {"type": "record", "name": "shop.Money", "fields": [{"name": "cents", "type": "long"}]}
    state.register("money", {"schema": json.dumps(money)})
    shared = [{"name": "shop.Money", "subject": "money", "version": 1}]
    for name in ("Item", "Tax"):
        record = {"type": "record", "name": f"shop.{name}", "fields": [{"name": "price", "type": "shop.Money"}]}
        state.register(name, {"schema": json.dumps(record), "references": shared})
    order = {
        "type": "record",
        "name": "shop.Order",
        "fields": [{"name": "item", "type": "shop.Item"}, {"name": "tax", "type": "shop.Tax"}],
    }
    value = {"item": {"price": {"cents": 5}}, "tax": {"price": {"cents": 1}}}
    references = [Reference("shop.Item", "Item", 1), Reference("shop.Tax", "Tax", 1)]
    data = AvroSerializer(registry, order, references=references).serialize("orders", (), value)
    assert AvroDeserializer(registry).deserialize("orders", (), data) == value
    assert TheirDeserializer(theirs)(data, context()) == value


def test_a_schema_that_is_not_registered_is_an_error(registry: SchemaRegistry) -> None:
    serializer = AvroSerializer(registry, USER, auto_register_schemas=False)
    with pytest.raises(RegistryError, match="Schema not found") as caught:
        serializer.serialize("orders", (), {"name": "Ada", "age": 1, "tags": []})
    assert (caught.value.status, caught.value.error_code) == (404, 40403)


def test_the_latest_version_is_used(registry: SchemaRegistry, state: State) -> None:
    newer = json.dumps({**USER, "fields": [*USER["fields"], {"name": "city", "type": "string", "default": "?"}]})
    state.register("orders-value", {"schema": json.dumps(USER)})
    state.register("orders-value", {"schema": newer})
    data = AvroSerializer(registry, use_latest_version=True).serialize("orders", (), {"name": "Ada", "tags": []})
    assert data[:5].hex() == "0000000002"
    assert AvroDeserializer(registry).deserialize("orders", (), data)["city"] == "?"


def test_an_id_can_be_chosen(registry: SchemaRegistry, state: State) -> None:
    state.register("other", {"schema": '"string"'})
    assert AvroSerializer(registry, use_schema_id=1).serialize("orders", (), "x") == b"\x00\x00\x00\x00\x01\x02x"


def test_none_is_a_tombstone(registry: SchemaRegistry, state: State) -> None:
    assert AvroSerializer(registry, USER).serialize("orders", (), None) is None
    assert AvroDeserializer(registry).deserialize("orders", (), None) is None
    assert state.requests == []


def test_the_registry_is_asked_once(registry: SchemaRegistry, state: State) -> None:
    serializer, deserializer = AvroSerializer(registry, USER), AvroDeserializer(registry)
    for number in range(50):
        data = serializer.serialize("orders", (), {"name": "Ada", "age": number, "tags": []})
        assert deserializer.deserialize("orders", (), data)["age"] == number
    assert [request[0] for request in state.requests] == ["POST", "GET"]


@pytest.mark.parametrize("data", [b"", b"\x00", b"hello world", b"\x00\x00\x00\x00", b"\x01" * 9, b"\x02" + bytes(30)])
def test_what_no_registry_framed_is_refused(registry: SchemaRegistry, data: bytes) -> None:
    with pytest.raises(SerializationError, match="names no schema"):
        AvroDeserializer(registry).deserialize("orders", (), data)


def test_damaged_records_are_refused(registry: SchemaRegistry) -> None:
    data = AvroSerializer(registry, USER).serialize("orders", (), {"name": "Ada" * 9, "age": 1, "tags": ["a", "b"]})
    deserializer = AvroDeserializer(registry)
    for end in range(5, len(data)):
        with pytest.raises(SerializationError):
            deserializer.deserialize("orders", (), data[:end])
    for place in range(5, len(data)):
        changed = data[:place] + bytes([data[place] ^ 0xFF]) + data[place + 1 :]
        try:
            deserializer.deserialize("orders", (), changed)
        except SerializationError:
            continue


@pytest.mark.parametrize(
    "value", [{"age": 1}, {"name": 5, "age": 1, "tags": []}, 7, "text", {"name": "x", "age": 2**40, "tags": []}]
)
def test_values_that_do_not_fit_are_refused(registry: SchemaRegistry, value: object) -> None:
    with pytest.raises(SerializationError, match="does not fit the schema"):
        AvroSerializer(registry, USER).serialize("orders", (), value)


@pytest.mark.parametrize("mode", ["WRITE", "WRITEREAD", "READ"])
def test_rules_are_refused(registry: SchemaRegistry, state: State, mode: str) -> None:
    rules = {"domainRules": [{"name": "hide", "kind": "TRANSFORM", "type": "ENCRYPT", "mode": mode}]}
    state.register("orders-value", {"schema": '"string"', "ruleSet": rules})
    data = b"\x00\x00\x00\x00\x01\x02x"
    if mode != "WRITE":
        with pytest.raises(UnsupportedRuleError, match=r"rule hide \(type ENCRYPT\)"):
            AvroDeserializer(registry).deserialize("orders", (), data)
    if mode != "READ":
        with pytest.raises(UnsupportedRuleError, match=r"rule hide \(type ENCRYPT\)"):
            AvroSerializer(registry, use_latest_version=True).serialize("orders", (), "x")


def test_their_schema_class_and_ours_are_one_schema(registry: SchemaRegistry, theirs: SchemaRegistryClient) -> None:
    theirs.register_schema("orders-value", Schema(json.dumps(USER), "AVRO"))
    data = AvroSerializer(registry, USER, auto_register_schemas=False).serialize("orders", (), {"name": "", "tags": []})
    assert data[:5].hex() == "0000000001"
