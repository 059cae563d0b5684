"""Converters with our registry: what they write, the clients' deserializers read, and a task writes with them."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from confluent_kafka.schema_registry import SchemaRegistryClient
from confluent_kafka.schema_registry.protobuf import ProtobufDeserializer as TheirDeserializer
from confluent_kafka.schema_registry.protobuf import ProtobufSerializer as TheirSerializer
from confluent_kafka.serialization import MessageField, SerializationContext
from google.protobuf.message_factory import GetMessageClass

from ottla.client.registry.registry import SchemaRegistry
from ottla.client.registry.value import SchemaText
from ottla.client.serde.schema.avro import AvroDeserializer, AvroSerializer
from ottla.client.serde.schema.json_schema import JsonSchemaDeserializer
from ottla.client.serde.schema.protobuf import ProtobufDeserializer, ProtobufSerializer
from ottla.connect.data.builder import struct
from ottla.connect.data.logical import TIMESTAMP_SCHEMA, Instant
from ottla.connect.data.schema import INT32, OPTIONAL_STRING, STRING
from ottla.connect.data.struct import Struct
from ottla.connect.errors import DataError, InvalidConfigError, RetriableError
from ottla.connect.harness import WORKER, CountedPause
from ottla.connect.pipeline.dead_letter import ConsumerRecord
from ottla.connect.pipeline.record_pipeline import RecordPipeline
from ottla.connect.plugin import Plugins
from ottla.connect.record import SourceRecord
from ottla.schema.protobuf.descriptor.pool import descriptor_pool
from ottla.schema.protobuf.parse import parse
from ottla.schema.reference import Reference
from ottla.schema.schema_type import SchemaType
from tests.integration.pipelines.committed import committed_values
from tests.integration.pipelines.conftest import CreateTopic
from tests.integration.pipelines.connect.task_host import TaskHost
from tests.integration.web.registry_process import RegistryProcess
from tests.kafka.server import Server

AVRO, JSON = "io.confluent.connect.avro.AvroConverter", "io.confluent.connect.json.JsonSchemaConverter"
PROTOBUF = "io.confluent.connect.protobuf.ProtobufConverter"
MONEY = 'syntax = "proto3"; package shop; message Money { int64 cents = 1; }'
ORDER = """syntax = "proto3"; package shop; import "money.proto";
message Order { message Line { string sku = 1; } Money price = 1; repeated Line lines = 2; }
message Refund { Money price = 1; }"""
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


@pytest.mark.parametrize("name", [AVRO, JSON, PROTOBUF])
def test_many_records_at_once_become_what_they_become_one_by_one(registry: str, name: str) -> None:
    links = {"transforms": "r", "transforms.r.type": "ReplaceField$Value", "transforms.r.renames": "name:title"}
    settings = {"name": "c", "value.converter": name, "value.converter.schema.registry.url": registry, **links}
    pipeline = RecordPipeline.of(settings, WORKER, 0, CountedPause())
    topic = f"many-{name.rpartition('.')[2]}"
    users = [Struct(USER, {"id": at, "name": None if at % 3 else "ü", "since": Instant(at)}) for at in range(40)]
    records = [SourceRecord({}, {}, topic, user, value_schema=USER) for user in users]
    made = pipeline.many.source(records)
    assert made is not None
    assert list(made.values) == [pipeline.source(record).value for record in records]  # type: ignore[union-attr]
    read = [ConsumerRecord(topic, 0, at, 9, "CreateTime", None, value) for at, value in enumerate(made.values)]
    back = RecordPipeline.of({**settings, "transforms.r.renames": "title:name"}, WORKER, 0, CountedPause())
    found = back.many.sink(read)
    assert found is not None
    assert found == [back.sink(record) for record in read]
    for each in (pipeline, back):
        each.close()


def test_a_registry_that_is_away_is_tried_again_and_settings_that_cannot_be_are_refused() -> None:
    converter = Plugins().converter(AVRO)
    given = {"schema.registry.url": "http://127.0.0.1:1", "max.retries": "0"}
    converter.configure(given, is_key=True)
    with pytest.raises(RetriableError):
        converter.from_connect("t", INT32, 1)
    with pytest.raises(InvalidConfigError, match="Connect writes each Protobuf record with its own schema"):
        Plugins().converter(PROTOBUF).configure({**given, "use.latest.version": "true"}, is_key=False)


@pytest.mark.parametrize("name", [AVRO, JSON])
def test_records_are_written_with_the_latest_schema_of_their_subject(registry: str, name: str) -> None:
    topic = f"latest-{name.rpartition('.')[2]}"
    avro = '{"type": "record", "name": "Order", "namespace": "shop", "fields": [{"name": "id", "type": "long"}, ' \
           '{"name": "note", "type": ["null", "string"], "default": null}]}'  # fmt: skip
    json_schema = '{"type": "object", "title": "shop.Order", "properties": {"id": {"type": "integer"}}}'
    text = SchemaText(avro, SchemaType.AVRO, ()) if name == AVRO else SchemaText(json_schema, SchemaType.JSON, ())
    with SchemaRegistry(url=registry) as client:
        registered = client.register(f"{topic}-value", text)
    converter = Plugins().converter(name)
    converter.configure(
        {"schema.registry.url": registry, "auto.register.schemas": "false", "use.latest.version": "true",
         "latest.compatibility.strict": "false"},
        is_key=False,
    )  # fmt: skip
    order = struct({"id": INT32}, name="shop.Order")
    data = converter.from_connect(topic, order, Struct(order, {"id": 7}))
    assert data is not None
    assert int.from_bytes(data[1:5]) == registered.id
    found = converter.to_connect(topic, data).value
    assert isinstance(found, Struct)
    assert found["id"] == 7
    assert name != AVRO or found["note"] is None
    with pytest.raises(DataError):
        converter.from_connect(f"{topic}-none", order, Struct(order, {"id": 7}))
    converter.close()


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


def test_protobuf_is_read_by_confluent_and_by_us(registry: str) -> None:
    converter = Plugins().converter(PROTOBUF)
    converter.configure({"schema.registry.url": registry}, is_key=False)
    user = Struct(USER, {"id": 7, "name": None, "since": Instant(1_600_000_000_000)})
    data = converter.from_connect("people", USER, user)
    assert data is not None
    found = converter.to_connect("people", data)
    assert isinstance(found.value, Struct)
    assert found.value.to_dict() == {"id": 7, "name": "", "since": Instant(1_600_000_000_000)}
    assert converter.from_connect("people", None, None) is None
    text = converter.from_connect("people-text", STRING, "ü")
    assert converter.to_connect("people-text", text).value == "ü"
    with SchemaRegistryClient({"url": registry}) as theirs:
        latest = theirs.get_latest_version("people-value").schema
        assert latest.schema_type == "PROTOBUF"
        pool = descriptor_pool(parse(latest.schema_str or "", (), {}, strict=True))
        message_class = GetMessageClass(pool.FindMessageTypeByName("shop.User"))
        read = TheirDeserializer(message_class, {"use.deprecated.format": False}, theirs)
        context = SerializationContext("people", MessageField.VALUE)
        message = read(data, context)
        assert message is not None
        assert (message.id, message.since.seconds) == (7, 1_600_000_000)
        write = TheirSerializer(message_class, theirs, {"use.deprecated.format": False})
        again = converter.to_connect("people", write(message_class(id=8, name="Ada"), context)).value
        assert isinstance(again, Struct)
        assert (again["id"], again["name"], again["since"]) == (8, "Ada", None)
    with pytest.raises(DataError):
        converter.to_connect("people", b"no frame")
    converter.close()


def test_protobuf_with_references_and_a_message_that_is_not_the_first(registry: str) -> None:
    converter = Plugins().converter(PROTOBUF)
    converter.configure({"schema.registry.url": registry}, is_key=False)
    with SchemaRegistry(url=registry) as client:
        client.register("money", SchemaText(MONEY, SchemaType.PROTOBUF, ()))
        references = [Reference("money.proto", "money", 1)]
        order = ProtobufSerializer(client, ORDER, references=references)
        refund = ProtobufSerializer(client, ORDER, message="shop.Refund", references=references)
        first = order.serialize("orders", [], {"price": {"cents": 5}, "lines": [{"sku": "a"}]})
        second = refund.serialize("orders", [], {"price": {"cents": 6}})
        read = converter.to_connect("orders", first)
        assert isinstance(read.value, Struct)
        assert read.value.to_dict() == {"price": {"cents": 5}, "lines": [{"sku": "a"}]}
        other = converter.to_connect("orders", second)
        assert isinstance(other.value, Struct)
        assert (other.value.schema.name, other.value.to_dict()) == ("Refund", {"price": {"cents": 6}})
        again = converter.from_connect("copies", read.schema, read.value)
        copied = ProtobufDeserializer(client, as_dict=True).deserialize("copies", (), again)
        assert copied == {"price": {"cents": "5"}, "lines": [{"sku": "a"}]}
    converter.close()
