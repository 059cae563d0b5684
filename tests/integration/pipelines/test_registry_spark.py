"""Records with a schema registry inside of Spark: the functions, and the formats of source and sink."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from ottla.client.producer.producer import Producer
from ottla.client.registry.registry import SchemaRegistry
from ottla.client.registry.value import SchemaText
from ottla.client.serde.schema.avro import AvroDeserializer, AvroSerializer
from ottla.schema.schema_type import SchemaType
from tests.integration.client.serde.registry_server import registry_server
from tests.integration.pipelines.committed import committed_values
from tests.integration.pipelines.conftest import CreateTopic
from tests.kafka.server import Server

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

OLD: dict[str, Any] = {
    "type": "record",
    "name": "User",
    "fields": [
        {"name": "name", "type": "string"},
        {"name": "tags", "type": {"type": "map", "values": {"type": "array", "items": ["null", "int"]}}, "default": {}},
        {"name": "at", "type": {"type": "long", "logicalType": "timestamp-millis"}, "default": 0},
        {"name": "md5", "type": {"type": "fixed", "name": "F", "size": 2}, "default": "ab"},
    ],
}
NEW: dict[str, Any] = {**OLD, "fields": [*OLD["fields"], {"name": "age", "type": "int", "default": -1}]}
ADA = {"name": "Ada", "tags": {"a": [1, None]}, "at": 1_700_000_000_123, "md5": b"xy"}
BO = {**ADA, "name": "Bo", "age": 5}


@pytest.fixture
def registry() -> Iterator[SchemaRegistry]:
    with registry_server() as (url, _), SchemaRegistry(url=url) as client:
        yield client


def url_of(registry: SchemaRegistry) -> str:
    return registry.settings.list("url")[0]


def records(registry: SchemaRegistry, topic: str) -> list[bytes | None]:
    """Of two versions, one that is none, and a null."""
    old, new = AvroSerializer(registry, OLD), AvroSerializer(registry, NEW)
    return [old.serialize(topic, [], ADA), new.serialize(topic, [], BO), b"junk", None]


def test_functions_read_and_write_records_of_several_schemas(spark: "SparkSession", registry: SchemaRegistry) -> None:
    from ottla.pipelines import from_registry, to_registry

    rows = [(at, None if each is None else bytearray(each)) for at, each in enumerate(records(registry, "users"))]
    frame = spark.createDataFrame(rows, "id int, value binary").repartition(2)
    read = frame.select("id", from_registry("value", url_of(registry), subject="users-value", on_error="column"))
    read = read.toDF("id", "read").selectExpr("id", "read.value.*", "read.value as whole", "read.error")
    found = {row["id"]: row for row in read.collect()}
    assert [found[at]["age"] for at in range(4)] == [-1, 5, None, None]
    assert [found[0]["tags"], found[0]["md5"], found[0]["at"].microsecond] == [{"a": [1, None]}, b"xy", 123_000]
    assert "no schema id" in found[2]["error"]
    assert found[3]["error"] is None
    written = read.where("error is null and name is not null").select(
        "id", to_registry("whole", {"url": url_of(registry)}, "copies-value", schema=NEW).alias("value")
    )
    reader = AvroDeserializer(registry)
    values = {row["id"]: reader.deserialize("copies", [], bytes(row["value"])) for row in written.collect()}
    assert [values[0]["age"], values[1]["name"], values[0]["md5"]] == [-1, "Bo", b"xy"]
    failing = frame.select(from_registry("value", url_of(registry), schema=NEW))
    with pytest.raises(Exception, match="no schema id"):
        failing.collect()


def test_an_evolving_stream_is_read_and_written_exactly_once(
    spark: "SparkSession", registry: SchemaRegistry, broker: Server, topic: CreateTopic, checkpoint: str
) -> None:
    source, target = topic(), topic()
    with Producer(bootstrap_servers=broker.bootstrap) as producer:
        for value in records(registry, source):
            producer.send(source, value)
    registry.register(f"{target}-value", SchemaText(AvroSerializer(registry, NEW).schema.text))
    common = {
        "kafka.bootstrap.servers": broker.bootstrap,
        "schema.registry.url": url_of(registry),
        "value.format": "avro",
    }

    def run() -> None:
        """All that is there, one record in each micro-batch."""
        stream = spark.readStream.format("ottla").options(**common, subscribe=source, badRecords="column")
        users = stream.options(startingOffsets="earliest", maxOffsetsPerTrigger="1").load()
        assert users.schema["value_error"].dataType.simpleString() == "string"
        good = users.where("value is not null").selectExpr(
            "named_struct('name', value.name, 'age', value.age) as value"
        )
        writer = good.writeStream.format("ottla").options(**common, topic=target, exactlyOnce="true")
        query = writer.option("checkpointLocation", checkpoint).trigger(availableNow=True).start()
        assert query.awaitTermination(180)

    run()
    with Producer(bootstrap_servers=broker.bootstrap) as producer:
        newer = {**NEW, "fields": [*NEW["fields"], {"name": "city", "type": "string", "default": "?"}]}
        producer.send(
            source, AvroSerializer(registry, newer).serialize(source, [], {**BO, "name": "Cy", "city": "Rome"})
        )
    run()
    reader = AvroDeserializer(registry)
    values = [reader.deserialize(target, [], value) for value in committed_values(broker.bootstrap, target)]
    assert [(each["name"], each["age"], each["md5"]) for each in values] == [
        ("Ada", -1, b"ab"), ("Bo", 5, b"ab"), ("Cy", 5, b"ab"),
    ]  # fmt: skip
    batch = spark.read.format("ottla").options(**common, subscribe=source, badRecords="null").load()
    assert [row["value"] and row["value"]["city"] for row in batch.select("value").collect()] == [
        "?", "?", None, None, "Rome",
    ]  # fmt: skip
    only = spark.read.format("ottla").options(**common, subscribe=source).schema("offset bigint").load()
    assert only.count() == 5


def test_keys_and_values_with_schemas_and_subjects_that_are_named(
    spark: "SparkSession", registry: SchemaRegistry, broker: Server, topic: CreateTopic
) -> None:
    name = topic()
    common = {
        "kafka.bootstrap.servers": broker.bootstrap,
        "schema.registry.url": url_of(registry),
        "key.format": "avro",
        "key.subject": "ids",
        "value.format": "avro",
        "value.subject": "people",
    }
    schemas = {"key.schema": json.dumps("long"), "value.schema": json.dumps(NEW)}
    frame = spark.range(3).selectExpr("id as key", "named_struct('name', concat('n', id)) as value")
    frame.write.format("ottla").options(**common, **schemas, topic=name).mode("append").save()
    assert sorted(registry.subjects()) == ["ids", "people"]
    rows = spark.read.format("ottla").options(**common, subscribe=name).load().select("key", "value.name", "value.age")
    assert sorted(map(tuple, rows.collect())) == [(0, "n0", -1), (1, "n1", -1), (2, "n2", -1)]
    older = spark.read.format("ottla").options(**common, **{"value.schema": json.dumps(OLD)}, subscribe=name).load()
    assert "age" not in older.schema["value"].dataType.fieldNames()
    assert sorted(row["name"] for row in older.select("value.name").collect()) == ["n0", "n1", "n2"]


def test_what_does_not_fit_is_said_before_a_task_runs(
    spark: "SparkSession", registry: SchemaRegistry, broker: Server, topic: CreateTopic, tmp_path: Path
) -> None:
    name = topic()
    common = {"kafka.bootstrap.servers": broker.bootstrap, "schema.registry.url": url_of(registry), "topic": name}
    frame = spark.range(3).selectExpr("struct(cast(id as string) as name, 1 as shoe) as value")
    registry.register(f"{name}-value", AvroSerializer(registry, NEW).schema)
    with pytest.raises(Exception, match="no field shoe"):
        frame.write.format("ottla").options(**common, **{"value.format": "avro"}).mode("append").save()
    assert committed_values(broker.bootstrap, name) == []


PROTO = (
    'syntax = "proto3"; message User { string name = 1; uint64 visits = 2; uint32 age = 3; repeated string tags = 4; }'
)
DOCUMENT = (
    '{"type": "object", "required": ["name"], "properties": {"name": {"type": "string"}, "age": {"type": "integer"}}}'
)


@pytest.mark.parametrize(("kind", "schema"), [("protobuf", PROTO), ("jsonschema", DOCUMENT)])
def test_records_of_the_other_kinds_of_schemas(
    spark: "SparkSession", registry: SchemaRegistry, broker: Server, topic: CreateTopic, kind: str, schema: str
) -> None:
    from ottla.pipelines import from_registry

    name = topic()
    schema_type = SchemaType.PROTOBUF if kind == "protobuf" else SchemaType.JSON
    common = {
        "kafka.bootstrap.servers": broker.bootstrap,
        "schema.registry.url": url_of(registry),
        "value.format": kind,
    }
    frame = spark.range(3).selectExpr("named_struct('name', concat('user ', id), 'age', id) as value")
    frame.write.format("ottla").options(**common, topic=name, **{"value.schema": schema}).mode("append").save()
    with Producer(bootstrap_servers=broker.bootstrap) as producer:
        producer.send(name, b"\0\0\0\0\1\1")
    read = spark.read.format("ottla").options(**common, subscribe=name, badRecords="column").load()
    rows = read.select("value.name", "value.age", "value_error").collect()
    assert sorted((row["name"], row["age"]) for row in rows if row["value_error"] is None) == [
        ("user 0", 0), ("user 1", 1), ("user 2", 2),
    ]  # fmt: skip
    assert len([row for row in rows if row["value_error"] is not None]) == 1
    raw = spark.read.format("ottla").options(**{**common, "value.format": "binary"}, subscribe=name).load()
    column = from_registry("value", url_of(registry), schema=schema, schema_type=schema_type, on_error="null")
    assert raw.select(column.alias("v")).where("v.age = 2").first()["v"]["name"] == "user 2"
    with pytest.raises(Exception, match=r"value\.format.*has schemas of"):
        spark.read.format("ottla").options(**{**common, "value.format": "avro"}, subscribe=name).load()


def test_messages_of_a_schema_with_several_are_named(
    spark: "SparkSession", registry: SchemaRegistry, broker: Server, topic: CreateTopic
) -> None:
    name, schema = topic(), 'syntax = "proto3"; message Id { int64 number = 1; } message User { string name = 1; }'
    common = {
        "kafka.bootstrap.servers": broker.bootstrap,
        "schema.registry.url": url_of(registry),
        **{f"{part}.format": "protobuf" for part in ("key", "value")},
        "key.message": "Id",
        "value.message": "User",
    }
    schemas = {"key.schema": schema, "value.schema": schema}
    frame = spark.range(2).selectExpr("named_struct('number', id) as key", "named_struct('name', 'n' || id) as value")
    frame.write.format("ottla").options(**common, **schemas, topic=name).mode("append").save()
    rows = spark.read.format("ottla").options(**common, subscribe=name).load().select("key.number", "value.name")
    assert sorted(map(tuple, rows.collect())) == [(0, "n0"), (1, "n1")]
