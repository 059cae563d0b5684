"""Texts of headers, and JSON, at their edges: what tokens, numbers and blanks come to."""

from collections.abc import Iterator
from typing import Any

from tests.vectors.connect.chance import Chance
from tests.vectors.connect.converter_case import BARE_VALUES, CONNECT, JSON, OFF, from_connect, to_connect
from tests.vectors.connect.transform_case import DATE, DECIMAL, INNER, TIME, TIMESTAMP, optional, plain, struct

Node = Any
SIMPLE = f"{CONNECT}.storage.SimpleHeaderConverter"
TOKENS = (
    "[", "]", "{", "}", ",", ":", '"', "a", "1", "300", "70000", "-5", "1.5", "false", "null", " ", "\\", "2019-08-23",
    "12:34:56.789Z", "2019-08-23T12:34:56.789Z", "3000000000", "99999999999999999999", "1e300", '"x"', '""',
    '"14:00:00.000Z"', "[]", "{}",
)  # fmt: skip
SCALARS = ("2", "300", "-70000", "1.5", "1e300", '"a"', "null", "true", "12:34:56.789Z", "2019-08-23", "3000000000")
TEXTS = (
    "\uffff", "{foo: 3}", "{3: foo}", "[foo]", "null=", "false]", " \n\t true \n\t ", " null ", "{true: false, false: true}",
    "{6:9 4:20}", "[0 1 2]", "{null: 3}", "{3: null}", '{"a":"1","b":"x"}', ' { "a" :  12345 , "b" : 0,  "c" : -4 }  ',
    '["four", 1, 2, 300]', '{1:1, 2:1, 300:300, "four":1}', '{4:"four", 1:1, 2:1, 300:300}', "[[]]", "[{}]", '{"a":{}}',
    "[1, 2, 3,,,]", "[1, null]", "14\\:34\\:54.346Z", "2019-08-23T14\\:34\\:54.346Z", "[14:34:54.346Z]",
    '{"k":"14:34:54.346Z"}', '{"k":14:34:54.346Z}', " { ,,  , , }  ", "9223372036854775807", "-9223372036854775808",
    "9223372036854775808", "[9223372036854775808, -9223372036854775809]", "1E2", "1E-2", "-0.0", "0E10", "1E18", "1E19",
    "0.999", "1.0000000001", "300.0", "66000.0", ".5", "5.", "+.5e3", "1e1000000", "1e99999999999", "\u0663", "1\u0663",
    "\u00a05", "5\u00a0", "\x005", ' "x"', ' ,"', " ]1", '  "', "[ 1 , 2 ]", '[" a "]', '["a\\"b"]', '{"a" 1}', '{"a":1 "b":2}',
    "[nullnull]", "[tru]", "a\\", "\\[1]", "[1,99999999999999999999]", "[2,2019-08-23]", "[2019-08-23,70000]",
    '["14:00:00.000Z",-5]', '[[1],["a"]]', '{1:[2,"a"]}', "\u00b25", "5e", "-", "+5.0",
)  # fmt: skip
NUMBERS = ("0012", "00", "-0012", "00.5", "01e2", "+5", "1.", ".5", "1e", "0x1", "1E5", "12x", "0 1", "1,2", "tru", "truex",
           '"a""b"', '{"a":007,"b":"007"}', '["\\"00", 00]', "[1] ]", "nullx", "true,")  # fmt: skip
LOGICAL_PAYLOADS = ("null", "0", "-1", "86400001", "1.50", "12", '"AJw="', '""', '"!"', "true", "{}")
BROKEN = (
    '{"type":"map","keys":null,"values":{"type":"int32"}}', '{"type":"map","keys":{"type":"string"},"values":null}',
    '{"type":"array","items":null}', '{"type":"struct","fields":null}', '{"type":"struct","fields":[5]}',
    '{"type":"float32"}', '{"type":"INT32"}', '{"type":"int32","version":"1"}', '{"type":"int32","name":5}',
    '{"type":"bytes","name":"org.apache.kafka.connect.data.Decimal","version":1,"parameters":{"scale":"x"}}',
    '{"type":"bytes","name":"org.apache.kafka.connect.data.Decimal","version":1}',
)  # fmt: skip
WRITTEN: tuple[tuple[Node, Node], ...] = (
    (plain("ARRAY", values=plain("STRING")), ["a", None]), (plain("ARRAY", values=DECIMAL), [{"decimal": "1.2"}]),
    (plain("MAP", keys=DATE, values=TIMESTAMP), {"map": [[{"moment": 86_400_000}, {"moment": 5}]]}),
    (plain("MAP", keys=plain("STRING"), values=optional("INT8")), {"map": [["a", None]]}),
    (optional("STRING", default="d"), None), (plain("INT8", default={"int8": 1}), None), (DECIMAL, None),
    (DECIMAL, {"decimal": "0.00"}), (DECIMAL, {"decimal": "123456789012345678901234567890.12"}), (DECIMAL, "x"),
    (TIMESTAMP, {"moment": 253_402_300_800_000}), (TIMESTAMP, {"moment": -1}), (TIME, {"moment": -1}), (DATE, "x"),
    (struct({"a": INNER, "l": plain("ARRAY", values=INNER)}),
     {"struct": {"a": {"struct": {"x": {"int32": 1}}}, "l": [{"struct": {"x": {"int32": 2}, "y": "z"}}]}}),
    (struct({"a": plain("INT8")}, optional=True), None), (struct({}), {"struct": {}}),
    (plain("FLOAT64"), {"float64": "-0.0"}), (plain("FLOAT64"), {"float64": "4.9E-324"}),
    (plain("FLOAT64"), {"float64": "-Infinity"}), (plain("STRING"), "\u2028 \u007f \u4e2d \U0001f600 / \b\f\t"),
    (plain("STRING", name="", doc="", parameters={"b": "1", "a": "2"}), "x"),
)  # fmt: skip
WRITERS = (
    "json.JsonConverter",
    "storage.StringConverter",
    "storage.SimpleHeaderConverter",
    "converters.BooleanConverter",
)


def cases() -> Iterator[Node]:
    """All of them."""
    for text in (*TEXTS, *_texts(Chance(7), 700)):
        yield to_connect(SIMPLE, text.encode())
    yield from _json()
    for name in WRITERS:
        for schema, value in WRITTEN:
            yield from_connect(f"{CONNECT}.{name}", schema, value)
    for value in BARE_VALUES:
        yield from_connect(f"{CONNECT}.converters.BooleanConverter", None, value)
    for data in (None, b"", b"\0", b"\1", b"\2", b"\xff", b"\0\0"):
        yield to_connect(f"{CONNECT}.converters.BooleanConverter", data)


def _texts(chance: Chance, count: int) -> Iterator[str]:
    """Tokens in any order, and lists and maps that make sense."""
    for _ in range(count):
        yield "".join(chance.one(TOKENS) for _ in range(1 + chance.below(9)))
        yield _sensible(chance, 3)


def _sensible(chance: Chance, depth: int) -> str:
    kind = chance.below(4 if depth else 2)
    if kind < 2:
        return chance.one(SCALARS)
    if kind == 2:
        return f"[{','.join(_sensible(chance, depth - 1) for _ in range(chance.below(4)))}]"
    pairs = [f"{chance.one(SCALARS)}:{_sensible(chance, depth - 1)}" for _ in range(chance.below(3))]
    # A boolean and a number are one key in Python.
    return f"{{{','.join(pair for pair in pairs if not pair.startswith('true'))}}}"


def _json() -> Iterator[Node]:
    decimal = '{"type":"bytes","name":"org.apache.kafka.connect.data.Decimal","version":1,"parameters":{"scale":"2"}}'
    moments = [
        f'{{"type":"{kind}",{more}"name":"org.apache.kafka.connect.data.{name}","version":1}}'
        for kind, name in (("int32", "Date"), ("int32", "Time"), ("int64", "Timestamp"))
        for more in ("", '"optional":true,', '"default":42,', '"default":"x",')
    ]
    for text in NUMBERS:
        yield to_connect(JSON, text.encode(), OFF)
        yield to_connect(JSON, f"[{text}]".encode(), OFF)
        for schema in ('{"type":"int8"}', '{"type":"double"}', "null", decimal):
            yield to_connect(JSON, f'{{"schema":{schema},"payload":{text}}}'.encode())
    for schema in (decimal, *moments, *BROKEN):
        for payload in LOGICAL_PAYLOADS:
            yield to_connect(JSON, f'{{"schema":{schema},"payload":{payload}}}'.encode())
