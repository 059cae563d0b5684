"""Values and schemas as JSON that keeps their Java types; the twin of `Notation.java`."""

import json
from collections.abc import Mapping
from decimal import Decimal
from typing import Any

from ottla.base.java.number import java_double, java_float, to_float32
from ottla.connect.data.builder import struct, with_default
from ottla.connect.data.logical import Instant
from ottla.connect.data.schema import Schema
from ottla.connect.data.struct import Struct
from ottla.connect.data.type import Float32, Int8, Int16, Int32, Type
from ottla.connect.record import ConnectRecord, Header, SinkRecord, SourceRecord

Node = Any


def schema_of(node: Node) -> Schema | None:
    """The schema that a node stands for."""
    if node is None:
        return None
    kind = Type[node["type"]]
    if kind is Type.STRUCT:
        made = struct([(field["name"], required(field["schema"])) for field in node["fields"]])
    else:
        made = Schema(kind, key_schema=schema_of(node.get("keys")), value_schema=schema_of(node.get("values")))
    changes = {name: node[name] for name in ("optional", "name", "version", "doc", "parameters") if name in node}
    made = made.replace(**changes)
    return made if "default" not in node else with_default(made, value_of(made, node["default"]))


def required(node: Node) -> Schema:
    """The same where there must be one."""
    found = schema_of(node)
    assert found is not None
    return found


def value_of(schema: Schema | None, node: Node) -> object:
    """The value that a node stands for. With a schema, numbers are plain."""
    if node is None or isinstance(node, (bool, str, int)):
        return node
    items = schema.value_schema if schema is not None else None
    if isinstance(node, list):
        return [value_of(items, item) for item in node]
    kind, inner = next(iter(node.items()))
    if kind == "map":
        keys = schema.key_schema if schema is not None else None
        return {value_of(keys, key): value_of(items, item) for key, item in inner}
    if kind == "struct":
        assert schema is not None
        made = Struct(schema)
        for name, item in inner.items():
            field = schema.field(name)
            assert field is not None
            made.put(name, value_of(field.schema, item))
        return made
    read = {
        "int8": Int8, "int16": Int16, "int32": Int32, "int64": int, "float32": lambda text: Float32(to_float32(float(text))),
        "float64": float, "bytes": bytes.fromhex, "decimal": Decimal, "moment": Instant,
    }  # fmt: skip
    return read[kind](inner)


def record_of(node: Node) -> ConnectRecord:
    """The record that a node stands for: a sink's where it has an offset."""
    key_schema, value_schema = schema_of(node.get("key_schema")), schema_of(node.get("value_schema"))
    given: dict[str, Any] = {
        "key_schema": key_schema,
        "key": value_of(key_schema, node.get("key")),
        "value_schema": value_schema,
        "timestamp": node.get("timestamp"),
        "headers": tuple(header_of(header) for header in node.get("headers", ())),
    }
    value = value_of(value_schema, node.get("value"))
    if "offset" in node:
        return SinkRecord(node["topic"], node.get("partition") or 0, node["offset"], value=value, **given)
    return SourceRecord({}, {}, node["topic"], value, partition=node.get("partition"), **given)


def header_of(node: Node) -> Header:
    """One header."""
    schema = schema_of(node.get("schema"))
    return Header(node["key"], schema, value_of(schema, node.get("value")))


def shown_schema(schema: Schema | None) -> Node:
    """A schema as a node."""
    if schema is None:
        return None
    made: dict[str, Node] = {"type": schema.type.name}
    made |= {"optional": True} if schema.optional else {}
    for name in ("name", "version", "doc", "parameters"):
        if getattr(schema, name) is not None:
            made[name] = getattr(schema, name)
    if schema.default is not None:
        made["default"] = shown(schema.default, schema)
    if schema.type is Type.STRUCT:
        made["fields"] = [{"name": field.name, "schema": shown_schema(field.schema)} for field in schema.fields]
    if schema.type is Type.MAP:
        made["keys"] = shown_schema(schema.key_schema)
    if schema.type in (Type.MAP, Type.ARRAY):
        made["values"] = shown_schema(schema.value_schema)
    return made


_MARKS: Mapping[type, str] = {Int8: "int8", Int16: "int16", Int32: "int32", int: "int64"}
_TYPES: Mapping[Type, str] = {Type.INT8: "int8", Type.INT16: "int16", Type.INT32: "int32", Type.INT64: "int64"}


def shown(value: object, schema: Schema | None = None) -> Node:
    """A value as a node; the width of a number is its schema's."""
    if value is None or isinstance(value, (bool, str)):
        return value
    if isinstance(value, int):
        # A schema of Kafka's may belie its value: then the value's own width counts.
        mark = _MARKS[type(value)]
        return {_TYPES.get(schema.type, mark) if schema is not None else mark: int(value)}
    if isinstance(value, float):
        narrow = isinstance(value, Float32) if schema is None else schema.type is Type.FLOAT32
        return {"float32": java_float(value)} if narrow else {"float64": java_double(value)}
    if isinstance(value, bytes):
        return {"bytes": value.hex()}
    if isinstance(value, Decimal):
        return {"decimal": str(value)}
    if isinstance(value, Instant):
        return {"moment": value.ms}
    return _composed(value, schema)


def _composed(value: object, schema: Schema | None) -> Node:
    items = schema.value_schema if schema is not None else None
    if isinstance(value, list):
        return [shown(item, items) for item in value]
    if isinstance(value, dict):
        keys = schema.key_schema if schema is not None else None
        pairs = [[shown(key, keys), shown(item, items)] for key, item in value.items()]
        return {"map": sorted(pairs, key=lambda pair: text_of(pair[0]))}
    assert isinstance(value, Struct)
    fields = zip(value.schema.fields, value.values, strict=True)
    return {"struct": {field.name: shown(item, field.schema) for field, item in fields}}


def text_of(node: Node) -> str:
    """A node as JSON text without blanks."""
    return json.dumps(node, separators=(",", ":"), ensure_ascii=False)


def shown_record(record: ConnectRecord | None) -> Node:
    """A record as a node."""
    if record is None:
        return None
    return {
        "topic": record.topic,
        "partition": record.partition,
        "timestamp": record.timestamp,
        "key_schema": shown_schema(record.key_schema),
        "key": shown(record.key, record.key_schema),
        "value_schema": shown_schema(record.value_schema),
        "value": shown(record.value, record.value_schema),
        "headers": [
            {
                "key": header.key,
                "schema": shown_schema(header.schema),
                "value": shown(header.value, header.schema),
            }
            for header in record.headers
        ],
    }
