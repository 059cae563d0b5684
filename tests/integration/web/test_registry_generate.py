"""`ottla schemas generate`: what it writes is clean under mypy, and its classes go through the serializers and back."""

import importlib
import json
import subprocess
import sys
import uuid
from pathlib import Path
from typing import Any

import pytest

from ottla.client import (
    AvroDeserializer,
    AvroSerializer,
    JsonSchemaDeserializer,
    JsonSchemaSerializer,
    ProtobufDeserializer,
    ProtobufSerializer,
    SchemaRegistry,
)
from tests.integration.web.registry_process import RegistryProcess

AVRO = {
    "type": "record",
    "name": "Employee",
    "namespace": "com.example",
    "doc": 'The "one" who works.',
    "fields": [
        {"name": "name", "type": "string"},
        {"name": "class", "type": ["null", "string"], "default": None},
        {"name": "status", "type": {"type": "enum", "name": "Status", "symbols": ["NEW", "None"]}, "default": "NEW"},
        {"name": "phone", "type": {"type": "record", "name": "Phone", "fields": [{"name": "number", "type": "long"}]}},
        {"name": "others", "type": {"type": "array", "items": "Phone"}, "default": []},
        {"name": "by_name", "type": {"type": "map", "values": ["null", "Phone"]}, "default": {}},
        {"name": "boss", "type": ["null", "Employee"], "default": None},
        {"name": "raw", "type": "bytes", "default": "\u00ff"},
        {"name": "share", "type": "double", "default": 1},
        {"name": "since", "type": {"type": "int", "logicalType": "date"}},
        {"name": "contact", "type": ["string", "Phone",
            {"type": "record", "name": "Mail", "fields": [{"name": "address", "type": "string"}]}]},
    ],
}  # fmt: skip
JSON = {
    "title": "order",
    "type": "object",
    "required": ["id", "lines"],
    "properties": {
        "id": {"type": "integer"},
        "from": {"type": "string"},
        "ship-to": {"type": "object", "properties": {"city": {"type": "string"}}},
        "lines": {"type": "array", "items": {"type": "object", "properties": {"sku": {"type": "string"}}}},
        "notes": {"type": ["string", "null"]},
        "prices": {"type": "object", "additionalProperties": {"type": "number"}},
        "anything": {},
    },
}
PROTO = """syntax = "proto3"; package shop; import "google/protobuf/timestamp.proto";
enum State { NEW = 0; PAID = 1; }
message Order { string id = 1; repeated Line lines = 2; map<string, int32> counts = 3; State state = 4;
  google.protobuf.Timestamp at = 5; Line best = 6; message Line { string sku = 1; repeated int32 sizes = 2; } }
"""
USE = """
import datetime
from made_{tag}.avro_{tag} import Employee, Mail, Phone, Status
from made_{tag}.json_{tag} import Order as JsonOrder, OrderLinesItem, OrderShipTo
from made_{tag}.proto_{tag}_pb2 import Order, PAID

boss = Employee(name="Eve", phone=Phone(number=1), since=datetime.date(2026, 1, 2), contact="x")
EMPLOYEE = Employee(
    name="Ada", class_="A", status=Status.None_, phone=Phone(number=2), others=[Phone(number=3)],
    by_name={{"a": None, "b": Phone(number=4)}}, boss=boss, since=datetime.date(2026, 1, 2),
    contact=Mail(address="a@b"),
)
years: int = EMPLOYEE.since.year
LINES = [OrderLinesItem(sku="s")]
DOCUMENT = JsonOrder(id=1, from_="x", ship_to=OrderShipTo(city="Rome"), lines=LINES, prices={{"a": 1.5}})
MESSAGE = Order(id="1", lines=[Order.Line(sku="s", sizes=[1])], counts={{"a": 1}}, state=PAID)
MESSAGE.at.seconds = 5
sku: str = MESSAGE.lines[0].sku
"""


def ottla(*arguments: str, directory: Path) -> str:
    command = [sys.executable, "-m", "ottla.cli.main", "schemas", *arguments]
    done = subprocess.run(command, cwd=directory, capture_output=True, text=True, timeout=60, check=False)
    assert (done.returncode, done.stderr) == (0, ""), done.stdout
    return done.stdout


def test_classes_are_typed_and_go_through_the_serializers(
    registry: RegistryProcess, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    tag = uuid.uuid4().hex[:8]
    made = f"made_{tag}"
    (tmp_path / f"json_{tag}.json").write_text(json.dumps(JSON))
    (tmp_path / f"proto_{tag}.proto").write_text(PROTO.replace("package shop", f"package shop_{tag}"))
    registry.ask("POST", f"/subjects/avro-{tag}/versions", {"schema": json.dumps(AVRO)})
    assert ottla("generate", f"avro-{tag}", "--url", registry.url, "--out", made, directory=tmp_path) == (
        f"{made}/avro_{tag}.py\n"
    )
    ottla("generate", f"json_{tag}.json", "--url", registry.url, "--out", made, directory=tmp_path)
    ottla("generate", f"proto_{tag}.proto", "--url", registry.url, "--out", made, directory=tmp_path)
    (tmp_path / f"use_{tag}.py").write_text(USE.format(tag=tag))
    done = subprocess.run(
        [sys.executable, "-m", "mypy", "--strict", "--no-incremental", "--config-file=", made, f"use_{tag}.py"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    monkeypatch.syspath_prepend(str(tmp_path))
    use: Any = importlib.import_module(f"use_{tag}")
    with SchemaRegistry(url=registry.url) as client:
        avro = importlib.import_module(f"{made}.avro_{tag}")
        written = AvroSerializer(client, avro.SCHEMA).serialize(f"a-{tag}", [], use.EMPLOYEE)
        assert AvroDeserializer(client, into=avro.Employee).deserialize(f"a-{tag}", [], written) == use.EMPLOYEE
        documents = importlib.import_module(f"{made}.json_{tag}")
        written = JsonSchemaSerializer(client, documents.SCHEMA).serialize(f"j-{tag}", [], use.DOCUMENT)
        assert written is not None
        assert json.loads(written[5:])["ship-to"] == {"city": "Rome"}
        assert JsonSchemaDeserializer(client, into=documents.Order).deserialize(f"j-{tag}", [], written) == use.DOCUMENT
        written = ProtobufSerializer(client).serialize(f"p-{tag}", [], use.MESSAGE)
        assert ProtobufDeserializer(client, type(use.MESSAGE)).deserialize(f"p-{tag}", [], written) == use.MESSAGE
