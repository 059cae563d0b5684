"""Values and schemas by themselves: what fits a schema, what becomes of a value in another type or version of it."""

from collections.abc import Iterator
from typing import Any

from tests.vectors.connect.converter_case import BARE_VALUES
from tests.vectors.connect.transform_case import DATE, DECIMAL, INNER, TIME, TIMESTAMP, mapping, optional, plain, struct

Node = Any
NUMBERS = ("INT8", "INT16", "INT32", "INT64", "FLOAT32", "FLOAT64")
LIST = plain("ARRAY", values=plain("INT32"))
MAP = plain("MAP", keys=plain("STRING"), values=plain("INT32"))
TARGETS = (
    *(plain(name) for name in (*NUMBERS, "BOOLEAN", "STRING", "BYTES")),
    DATE,
    TIME,
    TIMESTAMP,
    DECIMAL,
    LIST,
    MAP,
)
TEXTS = ("12", "-300", "1.5", "1e3", "true", "false", "TRUE", "x", "[1, 2]", "[1, 2, 70000]", '["a", 1]', '{"a": 1}', "[1,,]",
         "2019-08-23", "14:34:54.346Z", "2019-08-23T14:34:54.346Z", "99999999999", "0", " 5")  # fmt: skip
OTHERS = (
    True, {"int8": 5}, {"int32": 70000}, {"int64": 1_700_000_000_123}, {"int64": 3_000_000_000}, {"float64": "1.5"},
    {"float32": "-2.5"}, {"decimal": "12.50"}, {"bytes": "009c"}, {"moment": 1_700_000_000_123}, {"moment": 5000},
    {"moment": -1}, [{"int8": 1}, "a"], mapping(a={"int8": 1}),
)  # fmt: skip
SOURCES = ((DATE, {"moment": 1_641_600_000_000}), (TIME, {"moment": 5000}), (TIMESTAMP, {"moment": 1_700_000_000_123}),
           (TIMESTAMP, {"moment": -86_400_001}), (plain("STRING"), "12"), (plain("STRING"), "x"),
           (plain("BOOLEAN"), True))  # fmt: skip


def cases() -> Iterator[Node]:
    """All of them."""
    for target in TARGETS:
        yield convert(target, None, None)
        yield convert({**target, "optional": True}, None, None)
        for value in (*TEXTS, *OTHERS):
            if _is_told(target, value):
                yield convert(target, None, value)
        for source, value in SOURCES:
            if _is_told(target, value):
                yield convert(target, source, value)
    for value in (*BARE_VALUES, [[]], [["a"]], [{"int8": 1}, {"int16": 2}], ["a", None]):
        if value != {"map": [["a", None]]}:
            yield {"kind": "infer", "value": value}
    yield from checks()
    yield from projections()


def _is_told(target: Node, value: Node) -> bool:
    """Whether the answer tells nothing of Java alone: addresses, classes of maps, digits before Java 19."""
    if target is DECIMAL:
        return value not in TEXTS or value in ("12", "-300", "1.5", "1e3", "0")
    if target["type"] == "FLOAT32":
        return value not in (
            {"int64": 1_700_000_000_123},
            {"moment": 1_700_000_000_123},
            "99999999999",
            {"bytes": "009c"},
        )
    if target is MAP:
        return value != {"bytes": "009c"}
    return target["type"] in ("BYTES", "STRING") or value not in ({"bytes": "009c"}, '{"a": 1}')


def convert(target: Node, source: Node, value: Node) -> Node:
    """A value in another type."""
    return {"kind": "convert", "target": target, "source": source, "value": value}


def checks() -> Iterator[Node]:
    """Values that fit a schema, and those that don't."""
    kept: dict[str, Node] = {"BOOLEAN": True, "STRING": "s", "BYTES": {"bytes": "00"}, "FLOAT64": {"float64": "1.5"}}
    for name, good in kept.items():
        for schema in (plain(name), optional(name), plain(name, name="n")):
            for value in (
                good,
                None,
                "s",
                True,
                {"bytes": "01"},
                {"decimal": "1"},
                {"moment": 0},
            ):
                yield {"kind": "check", "schema": schema, "value": value}
    for schema in (DATE, TIME, TIMESTAMP, DECIMAL, optional("INT32", name=DATE["name"], version=1)):
        for value in (None, "x", {"moment": 1}, {"decimal": "1.50"}, {"decimal": "1.5"}, {"int64": 5}, {"bytes": "00"}):
            yield {"kind": "check", "schema": schema, "value": value}
    texts = plain("ARRAY", values=plain("STRING"))
    for schema, value in (
        (texts, ["a", "b"]), (texts, ["a", None]), (texts, [True]), (texts, []), (texts, "a"),
        (plain("ARRAY", values=optional("STRING")), [None]), (plain("ARRAY", values=texts), [["a"], [True]]),
        (plain("MAP", keys=plain("STRING"), values=plain("BOOLEAN")), mapping(a=True)),
        (plain("MAP", keys=plain("STRING"), values=plain("BOOLEAN")), mapping(a="x")),
        (plain("MAP", keys=plain("BOOLEAN"), values=plain("STRING")), mapping(a="x")),
        (plain("MAP", keys=plain("STRING"), values=optional("STRING")), mapping(a=None)),
        (INNER, {"struct": {"x": {"int32": 1}}}), (INNER, {"struct": {}}), (INNER, "x"), (INNER, mapping()),
    ):  # fmt: skip
        yield {"kind": "check", "schema": schema, "value": value}


def projections() -> Iterator[Node]:
    """Values of an older schema in a newer one."""
    ones: dict[str, Node] = {name: {name.lower(): 7} for name in NUMBERS[:4]}
    ones |= {"FLOAT32": {"float32": "7.5"}, "FLOAT64": {"float64": "7.5"}, "STRING": "s", "BOOLEAN": True}
    for source, value in ones.items():
        for target in ones:
            yield project(plain(source), value, plain(target))
        yield project(optional(source), value, plain(source))
        yield project(optional(source), None, plain(source, default=value))
        yield project(optional(source), value, plain(source, default=value))
        yield project(plain(source), value, optional(source))
        yield project(plain(source, name="a"), value, plain(source, name="b"))
        yield project(plain(source, name="a"), value, plain(source))
        yield project(plain(source, parameters={"a": "b"}), value, plain(source, parameters={"a": "c"}))
        yield project(plain(source, parameters={"a": "b"}), value, plain(source))
        yield project(plain(source, version=1), value, plain(source, version=2, doc="d"))
    for schema, value in ((DATE, {"moment": 0}), (DECIMAL, {"decimal": "1.50"}), (TIMESTAMP, {"moment": 5})):
        for target in (DATE, DECIMAL, TIMESTAMP, plain("INT32")):
            yield project(schema, value, target)
    yield project(LIST, [{"int32": 1}], plain("ARRAY", values=plain("INT64")))
    yield project(LIST, [{"int32": 1}], plain("ARRAY", values=plain("STRING")))
    yield project(MAP, mapping(a={"int32": 1}), plain("MAP", keys=plain("STRING"), values=plain("FLOAT64")))
    yield project(plain("ARRAY", values=optional("INT32")), [None], LIST)
    given = {"struct": {"x": {"int32": 1}, "y": "why"}}
    for fields in (
        {"x": plain("INT64")}, {"x": plain("STRING")}, {"x": plain("INT32"), "z": optional("STRING")}, {"y": plain("STRING")},
        {"x": plain("INT32"), "z": plain("STRING", default="d")}, {"x": plain("INT32"), "z": plain("STRING")}, {},
        {"y": plain("STRING", default="d")}, {"x": optional("INT32", default={"int32": 3})},
    ):  # fmt: skip
        yield project(INNER, given, struct(fields))
    yield project(INNER, given, struct({"x": plain("INT32")}, name="n"))
    deep = struct({"in": INNER})
    yield project(deep, {"struct": {"in": given}}, struct({"in": struct({"x": plain("INT64")})}))
    yield project(deep, {"struct": {"in": given}}, struct({"in": struct({"x": plain("BOOLEAN")})}))


def project(source: Node, value: Node, target: Node) -> Node:
    """A value of one schema as one of another."""
    return {"kind": "project", "source": source, "value": value, "target": target}
