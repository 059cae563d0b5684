"""JSON Schema with a registry, beside confluent-kafka's serializers."""

import dataclasses
import json

import pytest
from confluent_kafka.schema_registry import SchemaRegistryClient
from confluent_kafka.schema_registry.json_schema import JSONDeserializer as TheirDeserializer
from confluent_kafka.schema_registry.json_schema import JSONSerializer as TheirSerializer
from confluent_kafka.serialization import MessageField, SerializationContext

from ottla.client.errors import SerializationError
from ottla.client.registry.registry import SchemaRegistry
from ottla.client.serde.schema.json_schema import JsonSchemaDeserializer, JsonSchemaSerializer
from ottla.schema.reference import Reference
from tests.integration.client.serde.registry_server import State

USER = {
    "$schema": "http://json-schema.org/draft-07/schema#",
    "title": "User",
    "type": "object",
    "properties": {"name": {"type": "string"}, "age": {"type": "integer", "minimum": 0}},
    "required": ["name"],
}
CONTEXT = SerializationContext("users", MessageField.VALUE)


VALUES = [{"name": "Ada", "age": 36}, {"name": "grüß \u20ac"}, {"name": "", "x": [1, None, 0.5]}]
REFUSED = [({}, "'name' is a required"), ({"name": "x", "age": -1}, r"\$\.age: -1")]


@dataclasses.dataclass
class User:
    name: str
    age: int = -1


@pytest.mark.parametrize(
    "value", [{"name": "Ada", "age": 36}, {"name": "grüß \u20ac"}, {"name": "", "x": [1, None, 0.5]}]
)
def test_bytes_are_confluents(registry: SchemaRegistry, theirs: SchemaRegistryClient, value: dict[str, object]) -> None:
    ours = JsonSchemaSerializer(registry, USER).serialize("users", (), value)
    assert ours == TheirSerializer(json.dumps(USER), theirs)(value, CONTEXT)
    assert TheirDeserializer(None, schema_registry_client=theirs)(ours, CONTEXT) == value
    assert JsonSchemaDeserializer(registry).deserialize("users", (), ours) == value


def test_objects_go_in_and_come_out(registry: SchemaRegistry) -> None:
    data = JsonSchemaSerializer(registry, USER).serialize("users", (), User("Ada", 36))
    assert JsonSchemaDeserializer(registry, into=User).deserialize("users", (), data) == User("Ada", 36)


@pytest.mark.parametrize(
    ("value", "reason"), [({}, "'name' is a required"), ({"name": "x", "age": -1}, r"\$\.age: -1")]
)
def test_values_that_the_schema_refuses(registry: SchemaRegistry, value: object, reason: str) -> None:
    with pytest.raises(SerializationError, match=reason):
        JsonSchemaSerializer(registry, USER).serialize("users", (), value)
    data = JsonSchemaSerializer(registry, USER, validate=False).serialize("users", (), value)
    with pytest.raises(SerializationError, match=reason):
        JsonSchemaDeserializer(registry).deserialize("users", (), data)
    assert JsonSchemaDeserializer(registry, validate=False).deserialize("users", (), data) == value


def test_the_record_name_is_the_title(registry: SchemaRegistry, state: State) -> None:
    JsonSchemaSerializer(registry, USER, subject_name_strategy="RECORD").serialize("users", (), {"name": "x"})
    assert list(state.subjects) == ["User"]


def test_references_are_resolved(registry: SchemaRegistry, state: State) -> None:
    state.register("user", {"schema": json.dumps(USER), "schemaType": "JSON"})
    team = {"type": "array", "items": {"$ref": "user.json"}}
    serializer = JsonSchemaSerializer(registry, team, references=[Reference("user.json", "user", 1)])
    data = serializer.serialize("teams", (), [{"name": "Ada"}])
    assert JsonSchemaDeserializer(registry).deserialize("teams", (), data) == [{"name": "Ada"}]
    with pytest.raises(SerializationError, match="required"):
        serializer.serialize("teams", (), [{}])


def test_nothing_is_fetched_from_elsewhere(registry: SchemaRegistry, state: State) -> None:
    schema = {"$ref": "http://127.0.0.1:9/other.json"}
    with pytest.raises(SerializationError, match="can't be applied"):
        JsonSchemaSerializer(registry, schema).serialize("users", (), {})


@pytest.mark.parametrize("payload", [b"", b"{", b"\xff\xfe", b"[" * 100_000, b'"\xc3"'])
def test_what_is_no_json_is_refused(registry: SchemaRegistry, state: State, payload: bytes) -> None:
    state.register("users-value", {"schema": "true", "schemaType": "JSON"})
    with pytest.raises(SerializationError):
        JsonSchemaDeserializer(registry).deserialize("users", (), b"\x00\x00\x00\x00\x01" + payload)


def test_a_schema_of_another_type_is_refused(registry: SchemaRegistry, state: State) -> None:
    state.register("users-value", {"schema": '"string"'})
    with pytest.raises(SerializationError, match="schema 1 is AVRO, not JSON"):
        JsonSchemaDeserializer(registry).deserialize("users", (), b"\x00\x00\x00\x00\x01{}")
