"""Converters with our registry: what they write, the clients' deserializers read, and a task writes with them."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from ottla.client.registry.registry import SchemaRegistry
from ottla.client.serde.schema.avro import AvroDeserializer, AvroSerializer
from ottla.client.serde.schema.json_schema import JsonSchemaDeserializer
from ottla.connect.data.builder import struct
from ottla.connect.data.logical import TIMESTAMP_SCHEMA, Instant
from ottla.connect.data.schema import INT32, OPTIONAL_STRING, STRING
from ottla.connect.data.struct import Struct
from ottla.connect.error import DataError, InvalidConfigError, RetriableError
from ottla.connect.plugin import Plugins
from tests.integration.pipelines.committed import committed_values
from tests.integration.pipelines.conftest import CreateTopic
from tests.integration.pipelines.connect.task_host import TaskHost
from tests.integration.web.registry_process import RegistryProcess
from tests.kafka.server import Server

AVRO, JSON = "io.confluent.connect.avro.AvroConverter", "io.confluent.connect.json.JsonSchemaConverter"
USER = struct({"id": INT32, "name": OPTIONAL_STRING, "since": TIMESTAMP_SCHEMA}, name="shop.User")


@pytest.fixture(scope="module")
def registry(broker: Server, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    process = RegistryProcess(tmp_path_factory.mktemp("registry"), broker.bootstrap)
    try:
        process.start()
        yield process.url
    finally:
        process.kill()


@pytest.mark.parametrize("name", [AVRO, JSON])
def test_what_is_written_comes_back_and_others_read_it(registry: str, name: str) -> None:
    converter = Plugins().converter(name)
    converter.configure({"schema.registry.url": registry}, is_key=False)
    topic = f"users-{converter.java_name.rpartition('.')[2]}"
    user = Struct(USER, {"id": 7, "name": None, "since": Instant(1_600_000_000_000)})
    data = converter.from_connect(topic, USER, user)
    assert data is not None
    found = converter.to_connect(topic, data)
    assert (found.schema, found.value) == (USER, user)
    assert converter.from_connect(topic, None, None) is None
    text = converter.from_connect(f"{topic}-text", STRING, "ü")
    assert converter.to_connect(f"{topic}-text", text).value == "ü"
    with SchemaRegistry(url=registry) as client:
        read = AvroDeserializer(client) if name == AVRO else JsonSchemaDeserializer(client)
        value = read.deserialize(topic, (), data)
        assert (value["id"], value["name"]) == (7, None)
        written = AvroSerializer(client, '{"type": "record", "name": "R", "fields": [{"name": "a", "type": "long"}]}')
        theirs = written.serialize("theirs", [], {"a": 5})
    if name == AVRO:
        value = converter.to_connect("theirs", theirs).value
        assert isinstance(value, Struct)
        assert value["a"] == 5
    with pytest.raises(DataError):
        converter.to_connect(topic, b"no frame")
    converter.close()


def test_a_registry_that_is_away_is_tried_again_and_settings_that_cannot_be_are_refused() -> None:
    converter = Plugins().converter(AVRO)
    given = {"schema.registry.url": "http://127.0.0.1:1", "max.retries": "0"}
    converter.configure(given, is_key=True)
    with pytest.raises(RetriableError):
        converter.from_connect("t", INT32, 1)
    with pytest.raises(InvalidConfigError, match="Connect writes each record with its own schema"):
        Plugins().converter(JSON).configure({**given, "use.latest.version": "true"}, is_key=False)


def test_rows_of_a_file_become_avro_records(broker: Server, registry: str, topic: CreateTopic, tmp_path: Path) -> None:
    target = topic()
    (tmp_path / "in").mkdir()
    (tmp_path / "in" / "users.csv").write_text("id,name\n7,Ada\n8,\n")
    config = {
        "connector.class": "ottla.connect.DirectorySource", "directory": str(tmp_path / "in"), "topic": target,
        "format": "csv", "transforms": "named,typed", "transforms.named.type": "SetSchemaMetadata$Value",
        "transforms.named.schema.name": "shop.Row", "transforms.typed.type": "Cast$Value",
        "transforms.typed.spec": "id:int32", "value.converter": AVRO, "value.converter.schema.registry.url": registry,
    }  # fmt: skip
    with TaskHost(broker.bootstrap, tmp_path / "rows", config) as tasks:
        tasks.wait_until(lambda: len(committed_values(broker.bootstrap, target)) >= 2)
        tasks.wait_until(lambda: (tmp_path / "in" / "users.csv.done").exists())
    with SchemaRegistry(url=registry) as client:
        read = AvroDeserializer(client)
        found = [read.deserialize(target, (), value) for value in committed_values(broker.bootstrap, target)]
    assert found == [{"id": 7, "name": "Ada"}, {"id": 8, "name": ""}]
