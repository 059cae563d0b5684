"""Columns with a registry: what confluent-kafka writes is read, what is written confluent-kafka reads."""

import json
from typing import Any

import pyarrow as pa
import pytest
from confluent_kafka.schema_registry import SchemaRegistryClient
from confluent_kafka.schema_registry.avro import AvroDeserializer as TheirDeserializer
from confluent_kafka.schema_registry.avro import AvroSerializer as TheirSerializer
from confluent_kafka.schema_registry.json_schema import JSONDeserializer as TheirJsonDeserializer
from confluent_kafka.schema_registry.protobuf import ProtobufDeserializer as TheirProtobufDeserializer
from confluent_kafka.serialization import MessageField, SerializationContext
from google.protobuf.descriptor_pool import DescriptorPool
from google.protobuf.message_factory import GetMessageClass

from ottla.client import ArrowDecoder, ArrowEncoder, decode_arrow, encode_arrow
from ottla.client.errors import SerializationError
from ottla.client.registry.registry import SchemaRegistry
from ottla.client.registry.value import SchemaText
from ottla.client.serde.schema.avro import AvroSerializer
from ottla.client.serde.schema.json_schema import JsonSchemaSerializer
from ottla.client.serde.schema.protobuf import ProtobufDeserializer, ProtobufSerializer
from ottla.schema.protobuf.parse import parse
from ottla.schema.reference import Reference
from ottla.schema.schema_type import SchemaType

OLD: dict[str, Any] = {"type": "record", "name": "User", "fields": [{"name": "name", "type": "string"}]}
NEW: dict[str, Any] = {**OLD, "fields": [*OLD["fields"], {"name": "age", "type": "int", "default": -1}]}
CONTEXT = SerializationContext("users", MessageField.VALUE)


def column(registry: SchemaRegistry) -> Any:
    """Two versions, a null, and what is no record of a registry's."""
    old, new = AvroSerializer(registry, OLD), AvroSerializer(registry, NEW)
    good = [old.serialize("users", [], {"name": "Ada"}), new.serialize("users", [], {"name": "Bo", "age": 5})]
    assert good[1] is not None
    return pa.array([*good, None, b"junk", good[1][:-1], b"\0\0\0\x27\x0f\x02"], pa.binary())


def test_several_schemas_in_one_column_are_read_as_the_newest(registry: SchemaRegistry) -> None:
    result = ArrowDecoder(registry).decode(column(registry), "users")
    assert result.values.to_pylist() == [{"name": "Ada", "age": -1}, {"name": "Bo", "age": 5}, None, None, None, None]
    errors = result.errors.to_pylist()
    assert errors[:3] == [None] * 3
    assert "no schema id" in errors[3]
    assert "ends in the middle" in errors[4]
    assert errors[5] == "schema 9999: the registry does not know it"


def test_a_readers_schema_and_what_becomes_of_bad_records(registry: SchemaRegistry) -> None:
    records = column(registry)
    reader = {**OLD, "fields": [{"name": "years", "type": "long", "aliases": ["age"], "default": 0}]}
    assert decode_arrow(records, registry, reader, on_error="null").to_pylist()[:3] == [
        {"years": 0},
        {"years": 5},
        None,
    ]
    assert decode_arrow(records, registry, OLD, on_error="column")[3].as_py()["value"] is None
    with pytest.raises(SerializationError, match="row 3: the record has no schema id"):
        decode_arrow(records, registry)
    with pytest.raises(ValueError, match="on_error"):
        decode_arrow(records, registry, on_error="skip")  # type: ignore[arg-type]
    latest = ArrowDecoder(registry, use_latest_version=True)
    assert latest.reader_type("users") == pa.struct([("name", pa.string()), ("age", pa.int32())])
    assert latest.decode(pa.array([], pa.binary()), "users").values.to_pylist() == []


def test_chunks_stay_chunks(registry: SchemaRegistry) -> None:
    records = pa.chunked_array([column(registry).slice(0, 1), column(registry).slice(1, 3), pa.array([], pa.binary())])
    result = ArrowDecoder(registry, NEW).decode(records)
    assert result.values.num_chunks == result.errors.num_chunks == 3
    assert result.values.to_pylist() == [{"name": "Ada", "age": -1}, {"name": "Bo", "age": 5}, None, None]
    assert "row 3" in (result.first_error or "")


def test_what_is_written_is_read_by_confluents(registry: SchemaRegistry, theirs: SchemaRegistryClient) -> None:
    rows = pa.table({"name": ["Ada", "Bo"], "age": [36, None]})
    result = ArrowEncoder(registry, NEW).encode(rows, "users")
    assert "null" in result.errors[1].as_py()
    assert TheirDeserializer(theirs)(result.values[0].as_py(), CONTEXT) == {"name": "Ada", "age": 36}
    their_bytes = TheirSerializer(theirs, SchemaText(str(NEW)).text.replace("'", '"'))(
        {"name": "Ada", "age": 36}, CONTEXT
    )
    assert result.values[0].as_py() == their_bytes
    with pytest.raises(SerializationError, match="row 1"):
        encode_arrow(rows, registry, NEW, topic="users")
    with pytest.raises(SerializationError, match="no field shoe"):
        encode_arrow(pa.table({"name": ["a"], "shoe": [1]}), registry, NEW, topic="users")
    with pytest.raises(ValueError, match="schema is needed"):
        ArrowEncoder(registry)
    chunked = pa.chunked_array([rows.slice(0, 1).to_struct_array().combine_chunks()])
    assert encode_arrow(chunked, registry, topic="users", use_latest_version=True, auto_register_schemas=False) == (
        pa.chunked_array([result.values.slice(0, 1)])
    )


def test_referenced_schemas_are_resolved(registry: SchemaRegistry) -> None:
    registry.register(
        "city", SchemaText('{"type": "record", "name": "City", "fields": [{"name": "n", "type": "int"}]}')
    )
    address = {"type": "record", "name": "Address", "fields": [{"name": "city", "type": "City"}]}
    references = [Reference("City", "city", 1)]
    encoded = encode_arrow(pa.table({"city": [{"n": 1}]}), registry, address, topic="addresses", references=references)
    assert decode_arrow(encoded, registry, topic="addresses").to_pylist() == [{"city": {"n": 1}}]


PROTO = """syntax = "proto3"; package shop;
message Other { int32 x = 1; }
message User { string name = 1; optional int32 age = 2; repeated string tags = 3; }
"""
NEWER_PROTO = PROTO.replace("tags = 3;", "tags = 3; string city = 4;")
DOCUMENT: dict[str, Any] = {
    "type": "object",
    "title": "User",
    "properties": {"name": {"type": "string"}, "age": {"type": "integer"}},
}


def test_columns_of_protobuf(registry: SchemaRegistry, their_reader: SchemaRegistryClient) -> None:
    rows = pa.table({"name": ["Ada", "Bo"], "age": [36, None], "tags": [["x"], []]})
    kind: dict[str, Any] = {"schema_type": SchemaType.PROTOBUF, "message": "shop.User"}
    records = encode_arrow(rows, registry, PROTO, topic="users", **kind)
    serializer = ProtobufSerializer(registry, NEWER_PROTO, message="shop.User")
    newer = serializer.serialize("users", [], {"name": "Cy", "city": "Rome"})
    other = ProtobufSerializer(registry, PROTO, message="shop.Other").serialize("users", [], {"x": 1})
    read = ArrowDecoder(registry, message="shop.User").decode(pa.array([*records.to_pylist(), newer, other, b"x"]))
    assert read.values.to_pylist()[:3] == [
        {"name": "Ada", "age": 36, "tags": ["x"], "city": ""},
        {"name": "Bo", "age": None, "tags": [], "city": ""},
        {"name": "Cy", "age": None, "tags": [], "city": "Rome"},
    ]
    assert "another message" in read.errors[3].as_py()
    assert "no schema id" in read.errors[4].as_py()
    read_one = ProtobufDeserializer(registry, as_dict=True).deserialize("users", [], records[0].as_py())
    assert read_one == {"name": "Ada", "age": 36, "tags": ["x"]}
    pool = DescriptorPool()
    pool.AddSerializedFile(parse(PROTO, (), {}, strict=True).descriptor().SerializeToString())
    user = GetMessageClass(pool.FindMessageTypeByName("shop.User"))
    theirs = TheirProtobufDeserializer(user, {"use.deprecated.format": False}, their_reader)(
        records[0].as_py(), CONTEXT
    )
    assert (theirs.name, theirs.age, list(theirs.tags)) == ("Ada", 36, ["x"])


def test_columns_of_documents(registry: SchemaRegistry, theirs: SchemaRegistryClient) -> None:
    rows = pa.table({"name": ["Ada", "Bo"], "age": [36, None]})
    records = encode_arrow(rows, registry, DOCUMENT, topic="users", schema_type=SchemaType.JSON)
    assert TheirJsonDeserializer(json.dumps(DOCUMENT), None, theirs)(records[0].as_py(), CONTEXT) == {
        "name": "Ada",
        "age": 36,
    }
    newer = {**DOCUMENT, "properties": {**DOCUMENT["properties"], "city": {"type": "string"}}}
    other = JsonSchemaSerializer(registry, newer).serialize("users", [], {"name": "Cy", "city": "Rome"})
    mixed = pa.array([*records.to_pylist(), other])
    assert decode_arrow(mixed, registry).to_pylist() == [
        {"name": "Ada", "age": 36, "city": None},
        {"name": "Bo", "age": None, "city": None},
        {"name": "Cy", "age": None, "city": "Rome"},
    ]
    avro = AvroSerializer(registry, OLD).serialize("others", [], {"name": "Ada"})
    reading = ArrowDecoder(registry, DOCUMENT, schema_type=SchemaType.JSON)
    assert "AVRO can't be read as JSON" in reading.decode(pa.array([avro])).errors[0].as_py()
