"""Records and Arrow columns: 10,000 records in one column (others: a dict or message for each record)

confluent-kafka's serializers ask no registry here: its client has the schema already, as ours has.
"""

import io
import json
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, cast

import fastavro
import pyarrow as pa
from confluent_kafka.schema_registry import Schema, SchemaRegistryClient, topic_subject_name_strategy
from confluent_kafka.schema_registry.avro import AvroDeserializer
from confluent_kafka.serialization import MessageField, SerializationContext
from google.protobuf import json_format
from google.protobuf.message_factory import GetMessageClass

from ottla.schema.avro.parse import parse
from ottla.schema.columns.decoding import AvroColumns
from ottla.schema.columns.encoding import AvroRecords
from ottla.schema.columns.json.decoding import JsonColumns
from ottla.schema.columns.json.encoding import JsonRecords
from ottla.schema.columns.protobuf.decoding import ProtobufColumns
from ottla.schema.columns.protobuf.encoding import ProtobufRecords
from ottla.schema.parse import parse as parse_schema
from ottla.schema.schema_type import SchemaType
from tests.bench.measure import Figure, compare

if TYPE_CHECKING:
    from ottla.schema.json_schema.schema import JsonSchema
    from ottla.schema.protobuf.schema import ProtobufSchema

COUNT = 10_000
FLAT: Any = {
    "type": "record",
    "name": "Order",
    "fields": [
        {"name": "customer", "type": "string"},
        {"name": "age", "type": ["null", "int"]},
        {"name": "id", "type": "long"},
        {"name": "price", "type": "double"},
    ],
}
NESTED: Any = {
    "type": "record",
    "name": "Basket",
    "fields": [
        {"name": "order", "type": FLAT},
        {"name": "state", "type": {"type": "enum", "name": "State", "symbols": ["NEW", "PAID", "SENT"]}},
        {"name": "tags", "type": {"type": "array", "items": "string"}},
        {"name": "counts", "type": {"type": "map", "values": "int"}},
        {"name": "at", "type": {"type": "long", "logicalType": "timestamp-millis"}},
    ],
}
NEWER: Any = {
    **FLAT,
    "fields": [
        {"name": "price", "type": "double"},
        {"name": "customer_id", "type": "long", "aliases": ["id"]},
        {"name": "city", "type": "string", "default": "?"},
    ],
}
PROTO = (
    'syntax = "proto3"; message Order { string customer = 1; optional int32 age = 2; int64 id = 3; double price = 4; }'
)
DOCUMENT: Any = {
    "type": "object",
    "properties": {
        "customer": {"type": "string"},
        "age": {"type": ["null", "integer"]},
        "id": {"type": "integer"},
        "price": {"type": "number"},
    },
}
CONTEXT = SerializationContext("orders", MessageField.VALUE)
_FRAME = 5


class _Registry(SchemaRegistryClient):
    """confluent-kafka's client with the one schema in its cache."""

    def __init__(self, text: str) -> None:
        super().__init__({"url": "http://127.0.0.1:9"})
        self._schema = Schema(text, "AVRO")

    def get_schema(
        self, schema_id: int, subject_name: Any = None, fmt: Any = None, reference_format: Any = None
    ) -> Schema:
        return self._schema


def figures(*, seconds: float) -> Iterator[Figure]:
    """One line each."""
    for label, schema, values in (("4 fields", FLAT, flat()), ("9 fields, nested", NESTED, nested())):
        parsed, own = fastavro.parse_schema(schema), parse(json.dumps(schema), (), {}, strict=True)
        records = [b"\0\0\0\0\1" + _written(parsed, value) for value in values]
        yield _decoding(f"decode {label}", own, own, records, (parsed, None), seconds)
        if schema is FLAT:
            newer = parse(json.dumps(NEWER), (), {}, strict=True)
            yield _decoding("decode 4 fields by a newer schema", newer, own, records, (parsed, NEWER), seconds)
        yield _encoding(f"encode {label}", own, (parsed, values), records, seconds)

    yield from _protobuf(seconds)
    yield from _documents(seconds)


def _protobuf(seconds: float) -> Iterator[Figure]:
    schema = parse_schema(SchemaType.PROTOBUF, PROTO, strict=True)
    columns = ProtobufColumns(cast("ProtobufSchema", schema))
    message = GetMessageClass(columns.descriptor)
    raw = [json_format.ParseDict(value, message()).SerializeToString() for value in flat()]
    column = pa.array([b"\0\0\0\0\1\0" + each for each in raw], pa.binary())
    programs = pa.array([columns.add(columns.schema)] * COUNT, pa.int32())
    contenders = {
        "ours": lambda: columns.decode(column, programs, _FRAME),
        "protobuf, messages": lambda: [message.FromString(each) for each in raw],
        "protobuf, dicts": lambda: [json_format.MessageToDict(message.FromString(each)) for each in raw],
    }
    yield compare("decode Protobuf, 4 fields", "records", contenders, COUNT, seconds=seconds)
    rows, _ = columns.decode(column, programs, _FRAME)
    records = ProtobufRecords(columns.schema)
    found = [message.FromString(each) for each in raw]
    contenders = {
        "ours": lambda: records.encode(rows, b"\0\0\0\0\1"),
        "protobuf, messages": lambda: [each.SerializeToString() for each in found],
    }
    yield compare("encode Protobuf, 4 fields", "records", contenders, COUNT, seconds=seconds)


def _documents(seconds: float) -> Iterator[Figure]:
    schema = parse_schema(SchemaType.JSON, json.dumps(DOCUMENT), strict=True)
    columns = JsonColumns(cast("JsonSchema", schema))
    raw = [json.dumps(value).encode() for value in flat()]
    column = pa.array([b"\0\0\0\0\1" + each for each in raw], pa.binary())
    programs = pa.array([columns.add(columns.schema)] * COUNT, pa.int32())
    contenders = {
        "ours": lambda: columns.decode(column, programs, _FRAME),
        "json": lambda: [json.loads(each) for each in raw],
    }
    yield compare("decode JSON, 4 fields", "records", contenders, COUNT, seconds=seconds)
    rows, _ = columns.decode(column, programs, _FRAME)
    records = JsonRecords(columns.schema)
    values = flat()
    contenders = {
        "ours": lambda: records.encode(rows, b"\0\0\0\0\1"),
        "json": lambda: [json.dumps(each).encode() for each in values],
    }
    yield compare("encode JSON, 4 fields", "records", contenders, COUNT, seconds=seconds)


def _decoding(name: str, reader: Any, writer: Any, records: list[bytes], theirs: Any, seconds: float) -> Figure:
    columns = AvroColumns(reader)
    programs = pa.array([columns.add(writer)] * COUNT, pa.int32())
    column = pa.array(records, pa.binary())
    parsed, newer = theirs
    other = None if newer is None else fastavro.parse_schema(newer)
    deserializer = AvroDeserializer(
        _Registry(writer.canonical_text),
        None if newer is None else json.dumps(newer),
        conf={"subject.name.strategy": topic_subject_name_strategy},
    )
    contenders = {
        "ours": lambda: columns.decode(column, programs, _FRAME),
        "fastavro": lambda: [fastavro.schemaless_reader(io.BytesIO(each[_FRAME:]), parsed, other) for each in records],
        "confluent-kafka": lambda: [deserializer(each, CONTEXT) for each in records],
    }
    return compare(name, "records", contenders, COUNT, seconds=seconds, target="≥ 10×")


def _encoding(name: str, schema: Any, theirs: Any, records: list[bytes], seconds: float) -> Figure:
    parsed, values = theirs
    columns = AvroColumns(schema)
    programs = pa.array([columns.add(schema)] * COUNT, pa.int32())
    rows, _ = columns.decode(pa.array(records, pa.binary()), programs, _FRAME)
    writer = AvroRecords(schema)
    assert writer.encode(rows, b"\0\0\0\0\1")[0].to_pylist() == records
    contenders = {
        "ours": lambda: writer.encode(rows, b"\0\0\0\0\1"),
        "fastavro": lambda: [_written(parsed, value) for value in values],
    }
    return compare(name, "records", contenders, COUNT, seconds=seconds, target="≥ 10×")


def _written(parsed: Any, value: Any) -> bytes:
    buffer = io.BytesIO()
    fastavro.schemaless_writer(buffer, parsed, value)
    return buffer.getvalue()


def flat() -> list[dict[str, Any]]:
    """Orders."""
    return [
        {"customer": f"customer {row}", "age": row % 90 if row % 7 else None, "id": row * 1000, "price": row / 3}
        for row in range(COUNT)
    ]


def nested() -> list[dict[str, Any]]:
    """Orders inside of others."""
    return [
        {
            "order": order,
            "state": ("NEW", "PAID", "SENT")[row % 3],
            "tags": ["red", "large", "gift"][: row % 4],
            "counts": {"a": row, "b": 1} if row % 2 else {},
            "at": 1_750_000_000_000 + row,
        }
        for row, order in enumerate(flat())
    ]
