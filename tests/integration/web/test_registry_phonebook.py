"""Employees and their schema from the first registration on: what a user sees who follows a tutorial call by call."""

import itertools
import json
import uuid
from typing import Any

import pytest
from google.protobuf.message_factory import GetMessageClass

from ottla.client import (
    AvroDeserializer,
    AvroSerializer,
    Consumer,
    Producer,
    ProtobufDeserializer,
    ProtobufSerializer,
    SchemaRegistry,
)
from ottla.schema.protobuf.descriptor.pool import descriptor_pool
from ottla.schema.protobuf.parse import parse
from tests.integration.web.registry_process import RegistryProcess
from tests.kafka.server import Server

FIELDS: list[dict[str, Any]] = [
    {"name": "firstName", "type": "string"},
    {"name": "lastName", "type": "string"},
    {"name": "age", "type": "int"},
    {"name": "phoneNumber", "type": "string"},
]
PHONE = {
    "type": "record",
    "name": "PhoneNumber",
    "fields": [{"name": name, "type": "string"} for name in ("areaCode", "countryCode", "prefix", "number")],
}
STATUS = {"type": "enum", "name": "Status", "symbols": ["RETIRED", "SALARY", "HOURLY", "PART_TIME"]}


def employee(*fields: Any) -> dict[str, Any]:
    return {"type": "record", "name": "Employee", "namespace": "com.example.phonebook", "fields": list(fields)}


def test_the_calls_of_the_registry(registry: RegistryProcess) -> None:
    subject = f"Employee-{uuid.uuid4().hex[:8]}"
    place = f"/subjects/{subject}"
    body = {"schema": json.dumps(employee(*FIELDS))}
    registry.ask("PUT", f"/config/{subject}", {"compatibility": "none"})
    status, first = registry.ask("POST", f"{place}/versions", body)
    assert (status, first["version"]) == (200, 1)
    assert subject in registry.ask("GET", "/subjects")[1]
    assert registry.ask("GET", f"{place}/versions/") == (200, [1])
    wider = {"schema": json.dumps(employee(*FIELDS, {"name": "nickName", "type": ["null", "string"], "default": None}))}
    second = registry.ask("POST", f"{place}/versions", wider)[1]
    answer = registry.ask("GET", f"{place}/versions/2")[1]
    assert (answer["subject"], answer["version"], answer["id"]) == (subject, 2, second["id"])
    assert json.loads(answer["schema"])["fields"][-1]["name"] == "nickName"
    assert json.loads(registry.ask("GET", f"/schemas/ids/{first['id']}")[1]["schema"]) == employee(*FIELDS)
    assert registry.ask("GET", f"{place}/versions/latest")[1]["version"] == 2
    assert registry.ask("POST", place, wider)[1]["version"] == 2
    check = f"/compatibility/subjects/{subject}/versions/latest"
    assert registry.ask("POST", check, wider) == (200, {"is_compatible": True})
    assert registry.ask("PUT", f"/config/{subject}", {"compatibility": "backward"})[1] == {"compatibility": "BACKWARD"}
    renamed = {
        "schema": json.dumps(employee(*({**each, "name": each["name"].replace("irstN", "N")} for each in FIELDS)))
    }
    assert registry.ask("POST", check, renamed) == (200, {"is_compatible": False})
    status, refusal = registry.ask("POST", f"{place}/versions", renamed)
    assert (status, refusal["error_code"]) == (409, 40901)
    assert refusal["message"].startswith("Schema being registered is incompatible with an earlier schema for subject")
    for reason in ("READER_FIELD_MISSING_DEFAULT_VALUE", "/fields/0", "oldSchemaVersion: 2", "fName"):
        assert reason in refusal["message"]


AGE = {"name": "age", "type": "int", "default": -1}
NAME = {"name": "name", "type": "string"}


@pytest.mark.parametrize(
    ("old", "new", "is_allowed"),
    [
        ([NAME], [NAME, AGE], True),
        ([NAME, AGE], [NAME], True),
        ([NAME, AGE], [NAME, {**AGE, "order": "descending"}], True),
        ([NAME, AGE], [NAME, {**AGE, "default": 0}], True),
        ([NAME], [{"name": "fullName", "type": "string", "aliases": ["name"]}], True),
        ([{**NAME, "aliases": ["n"]}], [NAME], True),
        ([NAME], [{"name": "name", "type": ["null", "string"]}], True),
        ([NAME], [{"name": "fullName", "type": "string"}], False),
        ([NAME], [{"name": "name", "type": "int"}], False),
        ([NAME], [NAME, {"name": "age", "type": "int"}], False),
    ],
)
def test_what_may_change(registry: RegistryProcess, old: list[Any], new: list[Any], is_allowed: bool) -> None:
    place = f"/subjects/change-{uuid.uuid4().hex[:8]}/versions"
    assert registry.ask("POST", place, {"schema": json.dumps(employee(*old))})[0] == 200
    status, answer = registry.ask("POST", place, {"schema": json.dumps(employee(*new))})
    assert status == (200 if is_allowed else 409), answer


def test_ninety_nine_employees(kafka: Server, registry: RegistryProcess) -> None:
    topic = f"new-employees-{uuid.uuid4().hex[:8]}"
    names = [NAME for NAME in FIELDS if NAME["name"] in ("firstName", "lastName")]
    others = [{"name": "phoneNumber", "type": PHONE}, {"name": "status", "type": STATUS, "default": "SALARY"}]
    bob = {
        "firstName": "Bob", "lastName": "Jones", "status": "SALARY",
        "phoneNumber": {"areaCode": "301", "countryCode": "1", "prefix": "555", "number": "1234"},
    }  # fmt: skip
    with SchemaRegistry(url=registry.url) as client:
        newer = AvroSerializer(client, employee(*names, AGE, *others))
        with Producer(bootstrap_servers=kafka.bootstrap, key_serializer="long", value_serializer=newer) as producer:
            for number in range(1, 100):
                producer.send(topic, {**bob, "age": 42}, key=number)
        settings = {"auto.offset.reset": "earliest", "key.deserializer": "long", "group.id": topic}
        with Consumer(
            settings, bootstrap_servers=kafka.bootstrap, value_deserializer=AvroDeserializer(client)
        ) as consumer:
            consumer.subscribe([topic])
            found = list(itertools.islice(consumer, 99))
        assert sorted(record.key for record in found) == list(range(1, 100))
        assert all(record.value == {**bob, "age": 42} for record in found)
        # A consumer of version 1 sees no age, and stores the record with its own schema: who reads that, sees -1.
        first, second = employee(*names, *others), employee(*names, AGE, *others)
        record = newer.serialize(topic, [], {**bob, "age": 42})
        seen = AvroDeserializer(client, first).deserialize(topic, [], record)
        assert seen == bob
        stored = AvroSerializer(client, first).serialize("store", [], seen)
        assert AvroDeserializer(client, second).deserialize("store", [], stored)["age"] == -1


PROTO = """syntax = "proto3";
package com.example.protobuf;
message SimpleMessage { string content = 1; string date_time = 2; }
"""


def test_messages_with_and_without_their_class(kafka: Server, registry: RegistryProcess) -> None:
    topic = f"protobuf-topic-{uuid.uuid4().hex[:8]}"
    pool = descriptor_pool(parse(PROTO, (), {}, strict=True))
    simple: Any = GetMessageClass(pool.FindMessageTypeByName("com.example.protobuf.SimpleMessage"))
    with SchemaRegistry(url=registry.url) as client:
        serializer = ProtobufSerializer(client)
        with Producer(bootstrap_servers=kafka.bootstrap, value_serializer=serializer) as producer:
            producer.send(topic, simple(content="Hello world", date_time="now"))
        for deserializer in (ProtobufDeserializer(client, simple), ProtobufDeserializer(client)):
            with Consumer(
                bootstrap_servers=kafka.bootstrap,
                group_id=f"group-{uuid.uuid4().hex[:8]}",
                auto_offset_reset="earliest",
                enable_auto_commit=False,
                value_deserializer=deserializer,
            ) as consumer:
                consumer.subscribe([topic])
                (record,) = itertools.islice(consumer, 1)
                consumer.commit()
            assert record.key is None
            fields = {field.name: value for field, value in record.value.ListFields()}
            assert fields == {"content": "Hello world", "date_time": "now"}
