"""Serializers over `ottla registry`: ours and confluent-kafka's read each other's records."""

import json
import uuid
from collections.abc import Iterator

import pytest
from confluent_kafka.schema_registry import SchemaRegistryClient, header_schema_id_serializer
from confluent_kafka.schema_registry.avro import AvroDeserializer as TheirAvroDeserializer
from confluent_kafka.schema_registry.avro import AvroSerializer as TheirAvroSerializer
from confluent_kafka.schema_registry.json_schema import JSONDeserializer, JSONSerializer
from confluent_kafka.schema_registry.protobuf import ProtobufDeserializer as TheirProtobufDeserializer
from confluent_kafka.schema_registry.protobuf import ProtobufSerializer as TheirProtobufSerializer
from confluent_kafka.serialization import MessageField, SerializationContext

from ottla.client import (
    AvroDeserializer,
    AvroSerializer,
    JsonSchemaDeserializer,
    JsonSchemaSerializer,
    ProtobufDeserializer,
    ProtobufSerializer,
    RegistryError,
    SchemaRegistry,
    SerializationError,
)
from ottla.client.record import Header
from ottla.schema.reference import Reference
from ottla.testing import EmbeddedBroker
from tests.integration.client.serde.test_protobuf import MESSAGES
from tests.integration.web.registry_process import RegistryProcess

USER = {"type": "record", "name": "shop.User", "fields": [{"name": "name", "type": "string"}]}
DOCUMENT = {"title": "User", "type": "object", "properties": {"name": {"type": "string"}}, "required": ["name"]}
ADA = {"name": "Ada"}


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    with EmbeddedBroker() as broker:
        process = RegistryProcess(tmp_path_factory.mktemp("registry"), broker.bootstrap_servers).start()
        yield process.url
        process.stop()


@pytest.fixture
def registry(service: str) -> Iterator[SchemaRegistry]:
    with SchemaRegistry(url=service) as client:
        yield client


@pytest.fixture
def theirs(service: str) -> Iterator[SchemaRegistryClient]:
    with SchemaRegistryClient({"url": service}) as client:
        yield client


@pytest.fixture
def their_reader(service: str) -> Iterator[SchemaRegistryClient]:
    with SchemaRegistryClient({"url": service}) as client:
        yield client


@pytest.fixture
def topic() -> str:
    return f"t-{uuid.uuid4()}"


def context(topic: str, headers: list[Header] | None = None) -> SerializationContext:
    return SerializationContext(topic, MessageField.VALUE, headers)


def test_avro(registry: SchemaRegistry, theirs: SchemaRegistryClient, topic: str) -> None:
    ours = AvroSerializer(registry, USER).serialize(topic, (), ADA)
    assert ours == TheirAvroSerializer(theirs, json.dumps(USER))(ADA, context(topic))
    assert TheirAvroDeserializer(theirs)(ours, context(topic)) == ADA
    assert AvroDeserializer(registry).deserialize(topic, (), ours) == ADA


def test_json(registry: SchemaRegistry, theirs: SchemaRegistryClient, topic: str) -> None:
    ours = JsonSchemaSerializer(registry, DOCUMENT).serialize(topic, (), ADA)
    assert ours == JSONSerializer(json.dumps(DOCUMENT), theirs)(ADA, context(topic))
    assert JSONDeserializer(None, schema_registry_client=theirs)(ours, context(topic)) == ADA
    assert JsonSchemaDeserializer(registry).deserialize(topic, (), ours) == ADA


@pytest.mark.parametrize("number", range(len(MESSAGES)))
def test_protobuf(
    registry: SchemaRegistry,
    theirs: SchemaRegistryClient,
    their_reader: SchemaRegistryClient,
    topic: str,
    number: int,
) -> None:
    """With an import as reference, nested messages, and a reader that has no class."""
    message = MESSAGES[number]
    written = TheirProtobufSerializer(type(message), theirs)(message, context(topic))
    ours = ProtobufSerializer(registry).serialize(topic, (), message)
    assert ours is not None
    assert ours[:5] == written[:5]
    reader = TheirProtobufDeserializer(type(message), {}, schema_registry_client=their_reader)
    assert reader(ours, context(topic)) == message
    read = ProtobufDeserializer(registry).deserialize(topic, (), written)
    assert read.SerializeToString(deterministic=True) == message.SerializeToString(deterministic=True)


def test_guids_in_headers(registry: SchemaRegistry, theirs: SchemaRegistryClient, topic: str) -> None:
    headers: list[Header] = []
    their_headers: list[Header] = []
    ours = AvroSerializer(registry, USER, schema_id_serializer="header").serialize(topic, headers, ADA)
    conf = {"schema.id.serializer": header_schema_id_serializer}
    written = TheirAvroSerializer(theirs, json.dumps(USER), conf=conf)(ADA, context(topic, their_headers))
    assert (ours, headers) == (written, their_headers)
    assert AvroDeserializer(registry).deserialize(topic, headers, ours) == ADA


def test_references(registry: SchemaRegistry, theirs: SchemaRegistryClient, topic: str) -> None:
    user = registry.register(f"{topic}-user", AvroSerializer(registry, USER).schema)
    assert user.version == 1
    team = {"type": "array", "items": "shop.User"}
    references = [Reference("shop.User", f"{topic}-user", 1)]
    data = AvroSerializer(registry, team, references=references).serialize(topic, (), [ADA])
    assert AvroDeserializer(registry).deserialize(topic, (), data) == [ADA]
    assert TheirAvroDeserializer(theirs)(data, context(topic)) == [ADA]


def test_a_breaking_change_is_refused(registry: SchemaRegistry, topic: str) -> None:
    AvroSerializer(registry, USER).serialize(topic, (), ADA)
    changed = {**USER, "fields": [*USER["fields"], {"name": "age", "type": "int"}]}
    with pytest.raises(RegistryError, match="READER_FIELD_MISSING_DEFAULT_VALUE") as caught:
        AvroSerializer(registry, changed).serialize(topic, (), {**ADA, "age": 1})
    assert caught.value.status == 409
    verdict = registry.test_compatibility(f"{topic}-value", AvroSerializer(registry, changed).schema)
    assert not verdict.is_compatible
    assert verdict.messages


def test_latest_and_the_check_of_it(registry: SchemaRegistry, topic: str) -> None:
    subject = f"{topic}-value"
    registry.set_compatibility("none", subject)
    registry.register(subject, AvroSerializer(registry, USER).schema)
    settings: dict[str, object] = {"use_latest_version": True, "auto_register_schemas": False}
    assert AvroSerializer(registry, **settings).serialize(topic, (), ADA) is not None
    other = {"type": "record", "name": "shop.User", "fields": [{"name": "nick", "type": "string"}]}
    with pytest.raises(SerializationError, match=f"version 1 of {subject} can't read what this schema writes"):
        AvroSerializer(registry, other, **settings).serialize(topic, (), {"nick": "A"})


def test_a_breaking_change_of_documents_is_refused(registry: SchemaRegistry, topic: str) -> None:
    JsonSchemaSerializer(registry, DOCUMENT).serialize(topic, (), ADA)
    with pytest.raises(RegistryError, match="TYPE_CHANGED") as caught:
        JsonSchemaSerializer(registry, {**DOCUMENT, "properties": {"name": {"type": "integer"}}}).serialize(
            topic, (), {"name": 1}
        )
    assert caught.value.status == 409


def test_the_client_reads_and_changes_what_the_registry_keeps(registry: SchemaRegistry, topic: str) -> None:
    subject = f"{topic}-value"
    schema = AvroSerializer(registry, USER).schema
    first = registry.register(subject, schema)
    assert registry.lookup(subject, schema).version == registry.latest(subject).version == 1
    assert (subject in registry.subjects(topic), registry.versions(subject)) == (True, [1])
    assert registry.schema(first.id).text == registry.schema_by_guid(first.guid or uuid.UUID(int=0)).text
    assert (registry.compatibility(), registry.compatibility(subject), registry.mode()) == (
        "BACKWARD",
        "BACKWARD",
        "READWRITE",
    )
    assert registry.set_compatibility("FULL", subject) == "FULL" == registry.compatibility(subject)
    registry.delete_compatibility(subject)
    assert registry.compatibility(subject) == "BACKWARD"
    assert (registry.delete_subject(subject), registry.delete_subject(subject, permanent=True)) == ([1], [1])
    with pytest.raises(RegistryError, match="not found"):
        registry.latest(subject)
