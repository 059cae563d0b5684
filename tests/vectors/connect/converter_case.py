"""The cases of converters, and of definitions of settings."""

import json
from collections.abc import Iterator
from typing import Any

from tests.vectors.connect.transform_case import (
    ALL,
    ALL_VALUE,
    BARE,
    DATE,
    DECIMAL,
    INNER,
    LITERALS,
    TIME,
    TIMESTAMP,
    TRANSFORMS,
    mapping,
    optional,
    plain,
    struct,
)  # fmt: skip

Node = Any
CONNECT = "org.apache.kafka.connect"
NAMES = ("json.JsonConverter", "storage.StringConverter", "converters.ByteArrayConverter", "converters.ShortConverter",
         "converters.IntegerConverter", "converters.LongConverter", "converters.FloatConverter",
         "converters.DoubleConverter", "storage.SimpleHeaderConverter")  # fmt: skip
VALUE = {"converter.type": "value"}
OFF = {"schemas.enable": "false"}
JSON = f"{CONNECT}.json.JsonConverter"

BARE_VALUES: tuple[Node, ...] = (
    None, True, "text", "",
    'quotes " and \\ and \n and \u0001 and ü and 😀',
    {"int8": -8}, {"int16": 16}, {"int32": 32}, {"int64": 64},
    {"float32": "1.1"}, {"float32": "NaN"}, {"float64": "1.1"}, {"float64": "1.0E20"}, {"float64": "Infinity"},
    {"float64": "1.0E-5"}, {"float64": "0.001"}, {"float64": "1.234567890123E7"}, {"bytes": ""}, {"bytes": "0001fe"},
    {"decimal": "1.50"}, {"moment": 0}, [], ["a", {"int64": 1}, None], mapping(), BARE,
    {"map": [[{"int64": 1}, "one"]]}, {"map": [["a", None]]},
)  # fmt: skip
TYPED: tuple[tuple[Node, Node], ...] = (
    (plain("INT8"), {"int8": 5}), (plain("INT16"), {"int16": 5}), (plain("INT32"), {"int32": 5}),
    (plain("INT64"), {"int64": 5}), (plain("FLOAT32"), {"float32": "1.1"}), (plain("FLOAT64"), {"float64": "1.0E7"}),
    (plain("BOOLEAN"), True), (plain("STRING"), "s"), (plain("BYTES"), {"bytes": "ff00"}),
    (optional("STRING"), None), (optional("INT32", default={"int32": 3}), None), (plain("INT32", default={"int32": 3}), None),
    (plain("STRING"), None), (plain("ARRAY", values=optional("INT32")), [{"int32": 1}, None]),
    (plain("MAP", keys=plain("STRING"), values=plain("INT32")), mapping(a={"int32": 1})),
    (plain("MAP", keys=plain("INT32"), values=plain("STRING")), {"map": [[{"int32": 1}, "a"]]}),
    (plain("MAP", keys=optional("STRING"), values=plain("STRING")), mapping(a="b")),
    (DATE, {"moment": 86_400_000}), (DATE, {"moment": 1}), (TIME, {"moment": 1}), (TIME, {"moment": 100_000_000}),
    (TIMESTAMP, {"moment": 1_700_000_000_123}), (DECIMAL, {"decimal": "12.34"}), (DECIMAL, {"decimal": "-1.28"}),
    (DECIMAL, {"decimal": "1.5"}), (DECIMAL, {"decimal": "100.00"}), (INNER, {"struct": {"x": {"int32": 1}, "y": None}}),
    (INNER, {"struct": {"x": {"int32": 1}}}), (ALL, ALL_VALUE), (plain("INT32"), "text"), (plain("STRING"), {"int64": 5}),
    (plain("BOOLEAN"), "text"), (plain("INT32", name="custom", version=2, doc="d", parameters={"a": "b"}), {"int32": 1}),
    (struct({"d": optional("STRING", default="dflt")}), {"struct": {"d": None}}),
)  # fmt: skip

SCHEMAS: tuple[str, ...] = (
    '{"type":"int8"}', '{"type":"int16"}', '{"type":"int32"}', '{"type":"int64"}', '{"type":"float"}', '{"type":"double"}',
    '{"type":"boolean"}', '{"type":"string"}', '{"type":"bytes"}', '{"type":"string","optional":true}',
    '{"type":"int32","default":4}', '{"type":"int32","optional":true,"default":4}', '{"type":"array","items":{"type":"int32"}}',
    '{"type":"map","keys":{"type":"string"},"values":{"type":"int32"}}',
    '{"type":"map","keys":{"type":"int32"},"values":{"type":"string"}}',
    '{"type":"struct","fields":[{"field":"a","type":"int32"},{"field":"b","type":"string","optional":true}]}',
    '{"type":"int32","name":"org.apache.kafka.connect.data.Date","version":1}',
    '{"type":"int32","name":"org.apache.kafka.connect.data.Time","version":1}',
    '{"type":"int64","name":"org.apache.kafka.connect.data.Timestamp","version":1}',
    '{"type":"bytes","name":"org.apache.kafka.connect.data.Decimal","version":1,"parameters":{"scale":"2"}}',
)  # fmt: skip
PAYLOADS: tuple[str, ...] = (
    "5", "300", "70000", "5000000000", "-1", "1.5", "1.0", "true", '"text"', '"AP8="', "null", "[1,2]", "[]", '{"a":1,"b":"x"}',
    '{"a":1,"c":2}', "{}", '[[1,"x"]]', '{"a":null}', "12.345", '"12.34"',
)  # fmt: skip
BROKEN_SCHEMAS: tuple[str, ...] = (
    "{}", '{"type":"nothing"}', '{"type":5}', '{"type":"array"}', '{"type":"map"}', '{"type":"map","keys":{"type":"string"}}',
    '{"type":"struct"}', '{"type":"struct","fields":[{}]}', '{"type":"int32","parameters":{"a":1}}',
    '{"type":"int32","name":"n","version":3,"doc":"d","parameters":{"a":"b"},"optional":true}', "5", '"int32"', "null",
    '{"type":"int32","default":"x"}', '{"type":"int32","default":null}', '{"type":"int32","optional":"true"}',
    '{"type":"struct","fields":[{"field":"a","type":"int32"},{"field":"a","type":"int32"}]}',
    '{"type":"struct","fields":[{"field":"a","type":"int32"}],"default":{"a":1}}',
)  # fmt: skip
RAW: tuple[str, ...] = (
    "", " ", "null", "5", "5 6", "1.5", '"text"', "[1,[2.5,null]]", '{"a":{"b":1}}', "{", "nonsense", "NaN", "tru", "{'a':1}",
    '{"schema":null,"payload":5}', '{"schema":null,"payload":{"a":1}}', '{"payload":5}', '{"schema":{"type":"int32"}}',
    '{"schema":{"type":"int32"},"payload":5,"more":1}', '{"payload":5,"schema":{"type":"int32"}}', "123456789012", "1e3",
    '{"a":1,"a":2}', "ü", '"\\u00fc\\n"', "[1,]", "-0", "1.23456789012345678901", "12345678901234567890123",
)  # fmt: skip


def to_connect(name: str, data: bytes | None, config: dict[str, str] | None = None) -> Node:
    """A converter asked to read."""
    kind = {"kind": "to_connect", "class": name, "config": {**VALUE, **(config or {})}}
    return {**kind, "bytes": None if data is None else data.hex()}


def from_connect(name: str, schema: Node, value: Node, config: dict[str, str] | None = None) -> Node:
    """A converter asked to write."""
    kind = {"kind": "from_connect", "class": name, "config": {**VALUE, **(config or {})}}
    return {**kind, "schema": schema, "value": value}


def cases() -> Iterator[Node]:
    """All of them."""
    for name in NAMES:
        yield from writing(f"{CONNECT}.{name}")
        for data in (
            None,
            b"",
            b"\x00",
            b"\x00\x05",
            b"\x00\x00\x00\x05",
            bytes(7),
            b"\x3f\xf0" + bytes(6),
            b"text",
            b"\xff\xfe",
        ):
            yield to_connect(f"{CONNECT}.{name}", data)
    yield from reading()
    for literal in LITERALS:
        yield to_connect(f"{CONNECT}.storage.SimpleHeaderConverter", literal.encode())
    for encoding in ("UTF-16BE", "ISO-8859-1", "nothing"):
        yield from_connect(f"{CONNECT}.storage.StringConverter", None, "ü", {"converter.encoding": encoding})
        yield to_connect(f"{CONNECT}.storage.StringConverter", b"\x00\xfc", {"converter.encoding": encoding})
    yield from definitions()
    yield from validations()


def writing(name: str) -> Iterator[Node]:
    for value in BARE_VALUES:
        yield from_connect(name, None, value)
        if name == JSON:
            yield from_connect(name, None, value, OFF)
    for schema, value in TYPED:
        yield from_connect(name, schema, value)
        if name == JSON:
            yield from_connect(name, schema, value, OFF)
            yield from_connect(name, schema, value, {"decimal.format": "numeric"})
            yield from_connect(name, schema, value, {"replace.null.with.default": "false"})


def reading() -> Iterator[Node]:
    for text in RAW:
        yield to_connect(JSON, text.encode())
        yield to_connect(JSON, text.encode(), OFF)
    for schema in SCHEMAS:
        for payload in PAYLOADS:
            yield to_connect(JSON, f'{{"schema":{schema},"payload":{payload}}}'.encode())
        yield to_connect(JSON, b"5", {"schema.content": schema})
        yield to_connect(JSON, b"null", {"schema.content": schema, "replace.null.with.default": "false"})
    for schema in BROKEN_SCHEMAS:
        yield to_connect(JSON, f'{{"schema":{schema},"payload":1}}'.encode())
        yield to_connect(JSON, b"1", {"schema.content": schema})
    for config in ({"schemas.enable": "perhaps"}, {"decimal.format": "HEX"}, {"schemas.cache.size": "many"},
                   {"schema.content": "{"}):  # fmt: skip
        yield to_connect(JSON, b"1", config)
    yield to_connect(JSON, json.dumps({"a": 1}).encode("utf-16"), OFF)


CLASSES = (
    *(f"{CONNECT}.{name}" for name in NAMES),
    *(f"{TRANSFORMS}.{name}${side}" for side in ("Key", "Value") for name in (
        "Cast", "ExtractField", "Flatten", "HeaderFrom", "HoistField", "InsertField", "MaskField", "ReplaceField",
        "SetSchemaMetadata", "TimestampConverter")),
    *(f"{TRANSFORMS}.{name}" for name in ("DropHeaders", "Filter", "InsertHeader", "RegexRouter", "TimestampRouter",
      "ValueToKey", "predicates.HasHeaderKey", "predicates.RecordIsTombstone", "predicates.TopicNameMatches")),
    f"{CONNECT}.file.FileStreamSourceConnector", f"{CONNECT}.file.FileStreamSinkConnector", "sink", "source",
)  # fmt: skip


def definitions() -> Iterator[Node]:
    for name in CLASSES:
        yield {"kind": "definition", "class": name}


def validations() -> Iterator[Node]:
    for name in CLASSES:
        for config in ({}, {"unknown": "x"}):
            yield {"kind": "validation", "class": name, "config": config}
    common = (
        {"name": " n "}, {"name": ""}, {"name": "a\u0007b"}, {"tasks.max": "x"}, {"tasks.max": "0"}, {"tasks.max": " 3 "},
        {"errors.tolerance": "some"}, {"errors.tolerance": "all"}, {"errors.retry.timeout": "-1"}, {"errors.log.enable": "yes"},
        {"transforms": "a,a"}, {"transforms": "a, b"}, {"predicates": "p,p"}, {"config.action.reload": "later"},
        {"tasks.max.enforce": "FALSE"}, {"errors.retry.delay.max.ms": "99999999999999999999"}, {"transforms": ""},
    )  # fmt: skip
    sinks = ({"topics": "a,a"}, {"topics": "a,,b"}, {"topics": ""}, {"topics.regex": "("}, {"topics.regex": "a.*"},
             {"errors.deadletterqueue.topic.replication.factor": "x"},
             {"errors.deadletterqueue.context.headers.enable": "x"})  # fmt: skip
    sources = ({"exactly.once.support": "perhaps"}, {"exactly.once.support": "REQUIRED"}, {"transaction.boundary": "x"},
               {"transaction.boundary.interval.ms": "-1"}, {"offsets.storage.topic": ""}, {"topic.creation.groups": "a,a"},
               {"transaction.boundary": "INTERVAL"})  # fmt: skip
    for owner, more in (("sink", sinks), ("source", sources)):
        for config in (*common, *more):
            base = {"name": "n", "connector.class": "c"}
            yield {"kind": "validation", "class": owner, "config": {**base, **config}}
    for config in (
        {"file": "f"},
        {"topic": ""},
        {"topic": "t", "batch.size": "x"},
        {"topic": " t ", "batch.size": "10"},
    ):
        yield {"kind": "validation", "class": f"{CONNECT}.file.FileStreamSourceConnector", "config": config}
