"""confluent-kafka's registry clients and serializers against a real registry process."""

import asyncio
import json
from collections.abc import Iterator
from typing import Any

import pytest
from confluent_kafka.schema_registry import (
    AsyncSchemaRegistryClient,
    ConfigCompatibilityLevel,
    Schema,
    SchemaReference,
    SchemaRegistryClient,
    ServerConfig,
)
from confluent_kafka.schema_registry.avro import AvroDeserializer, AvroSerializer
from confluent_kafka.schema_registry.error import SchemaRegistryError
from confluent_kafka.schema_registry.json_schema import JSONDeserializer, JSONSerializer
from confluent_kafka.schema_registry.protobuf import ProtobufDeserializer, ProtobufSerializer
from confluent_kafka.serialization import MessageField, SerializationContext
from google.protobuf import descriptor_pb2, descriptor_pool, message_factory

from tests.integration.web.registry_process import RegistryProcess

FIELDS: list[dict[str, object]] = [
    {"name": "firstName", "type": "string"},
    {"name": "age", "type": "int", "default": -1},
]
EMPLOYEE = {"type": "record", "name": "Employee", "namespace": "com.cloudurable.phonebook", "fields": FIELDS}
NAMES = ["with space", "with/slash", "ä-ü-✓", "a%2Fb", "a+b?c=d", ":.ctx:inside", "🚚"]


def avro(*fields: Any, name: str = "R") -> Schema:
    made = [{"name": each, "type": "string"} if isinstance(each, str) else each for each in fields]
    return Schema(json.dumps({"type": "record", "name": name, "fields": made}), "AVRO")


OPTIONAL = {"name": "y", "type": ["null", "string"], "default": None}


@pytest.fixture
def client(registry: RegistryProcess) -> Iterator[SchemaRegistryClient]:
    """The blocking client, with nothing cached."""
    with SchemaRegistryClient({"url": registry.url}) as made:
        yield made


def test_a_schema_is_registered_found_and_deleted(client: SchemaRegistryClient) -> None:
    first = client.register_schema("life-value", avro("x"))
    assert client.register_schema("life-value", avro("x")) == first
    second = client.register_schema_full_response("life-value", avro("x", OPTIONAL))
    assert (second.schema_id, second.version) == (first + 1, 2)
    assert "life-value" in client.get_subjects()
    assert client.get_versions("life-value") == [1, 2]
    latest = client.get_latest_version("life-value")
    assert (latest.version, latest.schema_id) == (2, first + 1)
    found = client.lookup_schema("life-value", avro("x"))
    assert (found.version, found.schema_id) == (1, first)
    by_id = client.get_schema(first)
    assert json.loads(by_id.schema_str) == json.loads(avro("x").schema_str)
    assert client.get_schema_by_guid(str(latest.guid)).schema_str == latest.schema.schema_str
    assert client.delete_version("life-value", 1) == 1
    assert client.get_versions("life-value") == [2]
    assert client.delete_subject("life-value") == [2]
    assert client.delete_subject("life-value", permanent=True) == [1, 2]
    with pytest.raises(SchemaRegistryError) as refused:
        client.get_versions("life-value")
    assert (refused.value.http_status_code, refused.value.error_code) == (404, 40401)


def test_compatibility_and_settings(client: SchemaRegistryClient) -> None:
    client.register_schema("levels-value", avro("x"))
    assert client.test_compatibility("levels-value", avro("x", OPTIONAL))
    assert not client.test_compatibility("levels-value", avro("x", "y"))
    with pytest.raises(SchemaRegistryError) as refused:
        client.register_schema("levels-value", avro("x", "y"))
    assert (refused.value.http_status_code, refused.value.error_code) == (409, 40901)
    client.set_compatibility("levels-value", "NONE")
    assert client.get_compatibility("levels-value") == "NONE"
    assert client.register_schema("levels-value", avro("x", "y"))
    client.set_config("levels-value", ServerConfig(ConfigCompatibilityLevel.FULL, compatibility_group="major"))
    config = client.get_config("levels-value")
    assert (config.compatibility_level, config.compatibility_group) == (ConfigCompatibilityLevel.FULL, "major")
    client.delete_config("levels-value")


def test_references_between_schemas(client: SchemaRegistryClient) -> None:
    client.register_schema("money", avro("amount", name="Money"))
    text = json.dumps({"type": "record", "name": "Order", "fields": [{"name": "price", "type": "Money"}]})
    order = Schema(text, "AVRO", [SchemaReference("Money", "money", 1)])
    order_id = client.register_schema("order-value", order)
    read = client.get_schema(order_id)
    assert [(each.name, each.subject, each.version) for each in read.references] == [("Money", "money", 1)]
    with pytest.raises(SchemaRegistryError) as refused:
        client.delete_subject("money")
    assert refused.value.error_code == 42206


@pytest.mark.parametrize("subject", ["with space", "with/slash", "ä-ü-✓", "a%2Fb", "a+b?c=d", ":.ctx:inside", "🚚"])
def test_subjects_with_awkward_names(client: SchemaRegistryClient, subject: str) -> None:
    client.register_schema(subject, avro("x"))
    assert subject in client.get_subjects()
    assert client.get_latest_version(subject).version == 1
    assert client.delete_subject(subject) == [1]


def test_many_clients_at_once_get_one_id_a_schema(registry: RegistryProcess) -> None:
    async def register() -> list[int]:
        return await asyncio.gather(*(one(index % 5) for index in range(40)))

    async def one(index: int) -> int:
        async with AsyncSchemaRegistryClient({"url": registry.url}) as client:
            return await client.register_schema(f"race-{index}", avro(f"field{index}"))

    ids = asyncio.run(register())
    assert all(ids[index] == ids[index % 5] for index in range(40))
    assert sorted(set(ids)) == list(range(min(ids), min(ids) + 5))


def test_avro_serializers_read_what_they_wrote(client: SchemaRegistryClient, registry: RegistryProcess) -> None:
    context = SerializationContext("new-employees", MessageField.VALUE)
    data = AvroSerializer(client, json.dumps(EMPLOYEE))({"firstName": "Bob", "age": 35}, context)
    assert data is not None
    assert data[:1] == b"\x00"
    grown = {**EMPLOYEE, "fields": [*FIELDS, {"name": "status", "type": "string", "default": "new"}]}
    with SchemaRegistryClient({"url": registry.url}) as other:
        assert AvroDeserializer(other)(data, context) == {"firstName": "Bob", "age": 35}
        # An old record, read with a schema that has one more field: the default stands in.
        read = AvroDeserializer(other, json.dumps(grown))(data, context)
    assert read == {"firstName": "Bob", "age": 35, "status": "new"}


def test_json_serializers_read_what_they_wrote(client: SchemaRegistryClient, registry: RegistryProcess) -> None:
    schema = {
        "$schema": "http://json-schema.org/draft-07/schema#",
        "title": "Employee",
        "type": "object",
        "properties": {"firstName": {"type": "string"}, "age": {"type": "integer", "minimum": 0}},
        "required": ["firstName"],
    }
    context = SerializationContext("json-employees", MessageField.VALUE)
    data = JSONSerializer(json.dumps(schema), client)({"firstName": "Bob", "age": 35}, context)
    assert data is not None
    with SchemaRegistryClient({"url": registry.url}) as other:
        read = JSONDeserializer(None, schema_registry_client=other)(data, context)
    assert read == {"firstName": "Bob", "age": 35}
    narrower = {**schema, "properties": {"firstName": {"type": "string"}, "age": {"type": "integer", "minimum": 18}}}
    with pytest.raises(SchemaRegistryError) as refused:
        client.register_schema("json-employees-value", Schema(json.dumps(narrower), "JSON"))
    assert refused.value.error_code == 40901


def test_protobuf_serializers_read_what_they_wrote(client: SchemaRegistryClient, registry: RegistryProcess) -> None:
    message = simple_message()
    context = SerializationContext("protobuf-topic", MessageField.VALUE)
    sent = message(content="Hello world", date_time="2020-12-21")
    data = ProtobufSerializer(message, client, {"use.deprecated.format": False})(sent, context)
    assert data is not None
    with SchemaRegistryClient({"url": registry.url}) as other:
        found = ProtobufDeserializer(message, {"use.deprecated.format": False}, other)(data, context)
    assert found == sent
    shown = registry.ask("GET", "/subjects/protobuf-topic-value/versions/latest")[1]
    assert "string date_time = 2;" in shown["schema"]


def test_one_client_reads_the_protobuf_that_it_wrote(client: SchemaRegistryClient) -> None:
    message, settings = simple_message(), {"use.deprecated.format": False}
    context = SerializationContext("protobuf-alone", MessageField.VALUE)
    for _ in range(2):
        # The second serializer asks for a schema that is there already.
        data = ProtobufSerializer(message, client, settings)(message(content="Hello"), context)
        assert ProtobufDeserializer(message, settings, client)(data, context) == message(content="Hello")
        client.clear_caches()


def simple_message() -> Any:
    """The class that protoc would generate for the training's SimpleMessage."""
    file = descriptor_pb2.FileDescriptorProto(
        name="simple.proto", package="com.codingharbour.protobuf", syntax="proto3"
    )
    made = file.message_type.add(name="SimpleMessage")
    for number, name in enumerate(("content", "date_time"), start=1):
        made.field.add(name=name, number=number, type="TYPE_STRING", label="LABEL_OPTIONAL")
    pool = descriptor_pool.DescriptorPool()
    pool.Add(file)
    return message_factory.GetMessageClass(pool.FindMessageTypeByName("com.codingharbour.protobuf.SimpleMessage"))


def test_a_new_instance_knows_everything(client: SchemaRegistryClient, registry: RegistryProcess) -> None:
    known = client.register_schema("kept-value", avro("kept"))
    before = registry.ask("GET", "/schemas?deleted=true")
    assert registry.stop() == 0
    registry.start()
    assert registry.ask("GET", "/schemas?deleted=true") == before
    with SchemaRegistryClient({"url": registry.url}) as other:
        assert other.register_schema("kept-value", avro("kept")) == known
