"""python-schema-registry-client: its client and serializers, blocking and asynchronous, against our registry."""

import asyncio
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from schema_registry.client import AsyncSchemaRegistryClient, SchemaRegistryClient, schema
from schema_registry.client.errors import ClientError
from schema_registry.serializers import (
    AsyncAvroMessageSerializer,
    AvroMessageSerializer,
    JsonMessageSerializer,
)

from ottla.client import AvroDeserializer, AvroSerializer, JsonSchemaDeserializer, SchemaRegistry
from tests.clients.server import kinds, start_server
from tests.integration.web.registry_process import RegistryProcess

NAME = "python-schema-registry-client (registry)"
pytestmark = pytest.mark.client(NAME)
OLD: dict[str, Any] = {"type": "record", "name": "User", "fields": [{"name": "name", "type": "string"}]}
NEW: dict[str, Any] = {**OLD, "fields": [*OLD["fields"], {"name": "age", "type": "int", "default": -1}]}
BROKEN: dict[str, Any] = {**OLD, "fields": [{"name": "number", "type": "long"}]}
DOCUMENT: dict[str, Any] = {"type": "object", "title": "User", "properties": {"name": {"type": "string"}}}


@pytest.fixture(scope="module", params=kinds())
def registry(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[RegistryProcess]:
    directory: Path = tmp_path_factory.mktemp("registry")
    server = start_server(request.param, directory / "server")
    process = RegistryProcess(directory, server.bootstrap)
    try:
        yield process.start()
    finally:
        process.kill()
        server.kill()


def test_subjects_versions_and_compatibility(registry: RegistryProcess, topic: str) -> None:
    """register, look up, check, configure and delete"""
    client = SchemaRegistryClient(url=registry.url)
    subject = f"{topic}-value"
    number = client.register(subject, schema.AvroSchema(OLD))
    assert client.register(subject, schema.AvroSchema(OLD)) == number
    assert client.check_version(subject, schema.AvroSchema(OLD)).version == 1
    assert client.get_by_id(number).raw_schema["name"] == "User"
    assert subject in client.get_subjects()
    assert client.test_compatibility(subject, schema.AvroSchema(NEW))
    assert not client.test_compatibility(subject, schema.AvroSchema(BROKEN))
    with pytest.raises(ClientError) as refused:
        client.register(subject, schema.AvroSchema(BROKEN))
    assert refused.value.http_code == 409
    assert client.register(subject, schema.AvroSchema(NEW)) != number
    assert client.get_versions(subject) == [1, 2]
    assert client.get_schema(subject).version == 2
    assert client.update_compatibility("FULL", subject)
    assert client.get_compatibility(subject) == "FULL"
    assert client.delete_version(subject, 1) == 1
    assert client.delete_subject(subject) == [2]


def test_records_go_to_ours_and_come_from_ours(registry: RegistryProcess, topic: str) -> None:
    """Avro and JSON records, written by either side and read by the other"""
    client = SchemaRegistryClient(url=registry.url)
    with SchemaRegistry(url=registry.url) as ours:
        avro = AvroMessageSerializer(client)
        written = avro.encode_record_with_schema(f"{topic}-value", schema.AvroSchema(NEW), {"name": "Ada", "age": 36})
        assert AvroDeserializer(ours).deserialize(topic, [], written) == {"name": "Ada", "age": 36}
        record = AvroSerializer(ours, OLD).serialize(f"{topic}-old", [], {"name": "Bo"})
        assert avro.decode_message(record) == {"name": "Bo"}
        document = schema.JsonSchema(DOCUMENT)
        written = JsonMessageSerializer(client).encode_record_with_schema(f"{topic}-j-value", document, {"name": "Cy"})
        assert JsonSchemaDeserializer(ours).deserialize(f"{topic}-j", [], written) == {"name": "Cy"}


def test_asyncio(registry: RegistryProcess, topic: str) -> None:
    """the same from asyncio"""

    async def run() -> Any:
        client = AsyncSchemaRegistryClient(url=registry.url)
        serializer = AsyncAvroMessageSerializer(client)
        found = schema.AvroSchema(OLD)
        data = await serializer.encode_record_with_schema(f"{topic}-value", found, {"name": "Ada"})
        return await serializer.decode_message(data)

    assert asyncio.run(run()) == {"name": "Ada"}
