"""The cases of transforms and predicates."""

from collections.abc import Iterator
from typing import Any

Node = Any
TRANSFORMS = "org.apache.kafka.connect.transforms"
LOGICAL = "org.apache.kafka.connect.data"


def plain(kind: str, **attributes: Node) -> Node:
    """A schema."""
    return {"type": kind, **attributes}


def optional(kind: str, **attributes: Node) -> Node:
    """A schema whose values may be null."""
    return {"type": kind, "optional": True, **attributes}


def struct(fields: dict[str, Node], **attributes: Node) -> Node:
    """A struct's schema."""
    listed = [{"name": name, "schema": schema} for name, schema in fields.items()]
    return {"type": "STRUCT", "fields": listed, **attributes}


def mapping(**items: Node) -> Node:
    """A map without schema."""
    return {"map": [[key, value] for key, value in items.items()]}


DATE = plain("INT32", name=f"{LOGICAL}.Date", version=1)
TIME = plain("INT32", name=f"{LOGICAL}.Time", version=1)
TIMESTAMP = plain("INT64", name=f"{LOGICAL}.Timestamp", version=1)
DECIMAL = plain("BYTES", name=f"{LOGICAL}.Decimal", version=1, parameters={"scale": "2"})
INNER = struct({"x": plain("INT32"), "y": optional("STRING")})
ALL = struct(
    {
        "i8": plain("INT8"), "i16": plain("INT16"), "i32": plain("INT32"), "i64": plain("INT64"),
        "f32": plain("FLOAT32"), "f64": plain("FLOAT64"), "b": plain("BOOLEAN"), "s": plain("STRING"),
        "d": optional("INT32", default={"int32": 7}), "n": optional("STRING"), "date": DATE, "time": TIME, "at": TIMESTAMP,
        "dec": DECIMAL, "raw": plain("BYTES"), "list": plain("ARRAY", values=plain("STRING")), "inner": INNER,
    },
    name="com.example.All", version=3, doc="everything", parameters={"p": "q"},
)  # fmt: skip
ALL_VALUE = {
    "struct": {
        "i8": {"int8": 8}, "i16": {"int16": 300}, "i32": {"int32": 70000}, "i64": {"int64": 5_000_000_000},
        "f32": {"float32": "1.5"}, "f64": {"float64": "1.0E20"}, "b": True, "s": "12", "d": None, "n": None,
        "date": {"moment": 1_641_600_000_000}, "time": {"moment": 1000}, "at": {"moment": 1_700_000_000_123},
        "dec": {"decimal": "12.34"}, "raw": {"bytes": "0001ff"}, "list": ["a", "b"],
        "inner": {"struct": {"x": {"int32": 1}, "y": "why"}},
    }
}  # fmt: skip
BARE = mapping(
    a={"int64": 1}, s="text", f={"float64": "2.5"}, b=False, n=None, list=[{"int64": 1}, "x"],
    inner=mapping(x={"int64": 5}, deep=mapping(y="z")),
)  # fmt: skip


def case(name: str, config: dict[str, str], **record: Node) -> Node:
    """A transform asked about one record."""
    return {"kind": "transform", "class": f"{TRANSFORMS}.{name}", "config": config, "record": {"topic": "t", **record}}


def structured(name: str, config: dict[str, str], **more: Node) -> Node:
    """The same with the record that has everything."""
    return case(name, config, value_schema=ALL, value=ALL_VALUE, **more)


def bare(name: str, config: dict[str, str], **more: Node) -> Node:
    """The same with a map without schema."""
    return case(name, config, value=BARE, **more)


def cases() -> Iterator[Node]:
    """All of them."""
    for part in (casts, extractions, flattenings, headers, insertions, masks, replacements, metadata, timestamps):
        yield from part()
    yield from routes()
    yield from keys()
    yield from predicates()
    yield from shapes()


def casts() -> Iterator[Node]:
    targets = ("int8", "int16", "int32", "int64", "float32", "float64", "boolean", "string")
    fields = ("i8", "i16", "i32", "i64", "f32", "f64", "b", "s", "d", "n", "date", "time", "at", "dec", "raw")
    for target in targets:
        for field in fields:
            yield structured("Cast$Value", {"spec": f"{field}:{target}"})
        for value in (
            "300",
            "-129",
            "70000",
            "abc",
            "+7",
            " 7",
            "1.5",
            "1e300",
            "true",
            "TRUE",
            "yes",
            "",
            "NaN",
            "1f",
        ):
            yield case("Cast$Value", {"spec": target}, value=value)
        for value in ({"int64": 300}, {"int64": -3_000_000_000}, {"float64": "1.0E300"}, {"float64": "-2.9"},
                      {"float64": "NaN"}, {"float32": "0.1"}, True, False, {"bytes": "00ff"}, None, ["a"], BARE,
                      {"moment": 0}, {"decimal": "1.50"}, {"float64": "0.5"}, {"float64": "1.0E10"}):  # fmt: skip
            yield case("Cast$Key", {"spec": target}, key=value)
        yield case("Cast$Value", {"spec": target}, value_schema=optional("STRING", default="4", name="n"), value="5")
        yield case("Cast$Value", {"spec": target}, value_schema=DATE, value={"moment": 86_400_000})
        yield case("Cast$Value", {"spec": target}, value_schema=plain("FLOAT64"), value={"float64": "1.23456789E7"})
    yield bare("Cast$Value", {"spec": "a:string,missing:int32,f:int8"})
    yield structured("Cast$Value", {"spec": "i64:string , missing:int8"})
    yield structured("Cast$Value", {"spec": "d:int64", "replace.null.with.default": "false"})
    for spec in ("", "a:b:c", "int8,a:int8", "a:bytes", "map", "a:nothing", "a:", ":int8", "int8,int16"):
        yield bare("Cast$Value", {"spec": spec})
    yield bare("Cast$Value", {})


def extractions() -> Iterator[Node]:
    for field in ("i8", "inner", "n", "d", "nope", "inner.x"):
        yield structured("ExtractField$Value", {"field": field})
        yield structured("ExtractField$Value", {"field": field, "field.syntax.version": "v2"})
    for field in ("a", "nope", "inner", "inner.x", "inner.deep.y", "inner.nope.y", "s.x", "`inner`.x", "", "n.x"):
        yield bare("ExtractField$Value", {"field": field})
        yield bare("ExtractField$Value", {"field": field, "field.syntax.version": "V2"})
    yield structured("ExtractField$Value", {"field": "d", "replace.null.with.default": "false"})
    yield case("ExtractField$Key", {"field": "a"}, key=mapping(a="k"))
    yield case("ExtractField$Value", {"field": "a"}, value=None)
    yield case("ExtractField$Value", {"field": "i8"}, value_schema=struct({"i8": plain("INT8")}, optional=True))
    yield case("ExtractField$Value", {"field": "`a.b`.c", "field.syntax.version": "V2"},
               value={"map": [["a.b", mapping(c="found")]]})  # fmt: skip
    for field in ("`a", "`a`b`.c", "a`b.c", "`a\\`.b`", "a..b", "a."):
        yield bare("ExtractField$Value", {"field": field, "field.syntax.version": "V2"})
    yield bare("ExtractField$Value", {"field": "a", "field.syntax.version": "V3"})
    yield bare("ExtractField$Value", {})


def flattenings() -> Iterator[Node]:
    yield structured("Flatten$Value", {})
    yield structured("Flatten$Value", {"delimiter": "_"})
    yield bare("Flatten$Value", {})
    yield bare("Flatten$Value", {"delimiter": "--"})
    yield case("Flatten$Value", {}, value=None)
    yield case("Flatten$Value", {}, value=mapping(m=mapping()))
    yield case("Flatten$Value", {}, value=mapping(d={"moment": 5}))
    deep = struct({"o": optional("STRUCT", fields=INNER["fields"]), "l": plain("ARRAY", values=INNER)})
    yield case("Flatten$Value", {}, value_schema=deep, value={"struct": {"o": None, "l": []}})
    yield case("Flatten$Value", {}, value_schema=deep,
               value={"struct": {"o": {"struct": {"x": {"int32": 1}}}, "l": []}})  # fmt: skip
    with_map = struct({"m": plain("MAP", keys=plain("STRING"), values=plain("INT32"))})
    yield case("Flatten$Value", {}, value_schema=with_map, value={"struct": {"m": mapping(a={"int32": 1})}})
    defaulted = struct({"i": struct({"x": plain("INT32", default={"int32": 9})}, optional=True)})
    yield case("Flatten$Value", {}, value_schema=defaulted, value={"struct": {"i": None}})
    yield case("Flatten$Key", {}, key_schema=deep, key={"struct": {"o": None, "l": []}})


def headers() -> Iterator[Node]:
    given = [{"key": "h", "value": "1"}, {"key": "g", "schema": plain("INT32"), "value": {"int32": 2}},
             {"key": "h", "value": None}]  # fmt: skip
    for names in ("h", "g", "h,g", "nope", "", "h,h"):
        yield case("DropHeaders", {"headers": names}, headers=given)
    yield case("DropHeaders", {}, headers=given)
    for literal in LITERALS:
        yield case("InsertHeader", {"header": "new", "value.literal": literal}, headers=given)
    yield case("InsertHeader", {"header": "h"}, headers=given)
    for operation in ("move", "copy", "steal"):
        for schema in (True, False):
            make = structured if schema else bare
            field = "i8" if schema else "a"
            config = {"fields": f"{field},n", "headers": "h,x", "operation": operation}
            yield make("HeaderFrom$Value", config, headers=given)
            yield make("HeaderFrom$Value", {**config, "headers": "h"}, headers=given)
            yield make("HeaderFrom$Value", {**config, "fields": ""}, headers=given)
        yield bare("HeaderFrom$Value", {"fields": "nope", "headers": "x", "operation": operation})
        yield case("HeaderFrom$Value", {"fields": "a", "headers": "x", "operation": operation}, value=None)
        yield case("HeaderFrom$Key", {"fields": "a", "headers": "x", "operation": operation}, key=mapping(a="k"))
    yield structured("HeaderFrom$Value", {"fields": "d", "headers": "h", "operation": "copy"})
    yield structured("HeaderFrom$Value", {"fields": "d", "headers": "h", "operation": "move",
                                          "replace.null.with.default": "false"})  # fmt: skip


LITERALS = (
    "42", "-1", "300", "70000", "3000000000", "99999999999999999999", "1.5", "-0.25", "1e10", "1e400", "1.0", "0",
    "true", "false", "null", "TRUE", "text", "two words", " 42 ", "", " ", "[1, 2]", "[1, 300, 2.5]", "[1, \"a\"]", "[]",
    "[1,,2]", "[1", "[\"a\", \"b\"]", "[null]", "[null, null]", "{\"a\": 1}", "{\"a\": 1, \"b\": 300}", "{}",
    "{1: \"x\"}", "{\"a\": [1, 2]}", "{a}", "{\"a\"}", "2023-11-14", "2023-11-14T22:13:20.123Z", "22:13:20.123Z",
    "2023-99-99", "[2023-11-14]", "\"quoted\"", "a:b", "1:2", "[true, false]", "\\\"", "1 2", "+5", "0x10", "1f", "NaN",
    "{\"a\": null}", "true}", "[\"2023-11-14\"]", "12-34",
)  # fmt: skip


def insertions() -> Iterator[Node]:
    everything = {"topic.field": "T", "partition.field": "P!", "timestamp.field": "A?", "static.field": "S!",
                  "static.value": "fixed"}  # fmt: skip
    for place in ({"partition": 3, "timestamp": 1_700_000_000_000, "offset": 5}, {"partition": 3, "offset": 0}, {}):
        yield structured("InsertField$Value", {key: each for key, each in everything.items() if place or key[0] != "p"},
                         **place)  # fmt: skip
        yield bare("InsertField$Value", everything, **place)
        yield bare("InsertField$Value", {"offset.field": "o"}, **place)
        yield structured("InsertField$Value", {"offset.field": "o!"}, **place)
    yield structured("InsertField$Value", {"partition.field": "p!"})
    yield structured("InsertField$Value", {"topic.field": "s"})
    yield bare("InsertField$Value", {"topic.field": "s"})
    yield bare("InsertField$Value", {})
    yield bare("InsertField$Value", {"static.field": "s"})
    yield bare("InsertField$Value", {"static.value": "s"})
    yield case("InsertField$Value", {"topic.field": "t"}, value=None)
    yield case("InsertField$Value", {"topic.field": "t"}, value="text")
    yield case("InsertField$Key", {"topic.field": "t"}, key=mapping(a="k"))
    yield structured("InsertField$Value", {"topic.field": "T", "replace.null.with.default": "false"})


def masks() -> Iterator[Node]:
    fields = ("i8", "i16", "i32", "i64", "f32", "f64", "b", "s", "d", "n", "date", "time", "at", "dec", "raw", "list",
              "inner", "nope")  # fmt: skip
    for field in fields:
        yield structured("MaskField$Value", {"fields": field})
        for replacement in ("1000", "***", "1.5"):
            yield structured("MaskField$Value", {"fields": field, "replacement": replacement})
    for field in ("a", "s", "f", "b", "n", "list", "inner", "nope", "a,s"):
        yield bare("MaskField$Value", {"fields": field})
        yield bare("MaskField$Value", {"fields": field, "replacement": "77"})
    yield case("MaskField$Value", {"fields": "a"}, value=None)
    yield case("MaskField$Value", {"fields": "a"}, value="text")
    yield case("MaskField$Value", {"fields": "raw"}, value=mapping(raw={"bytes": "00"}))
    yield case("MaskField$Key", {"fields": "a"}, key=mapping(a={"int32": 5}, b={"float32": "2.5"}))
    for config in ({}, {"fields": ""}, {"fields": "a,a"}, {"fields": "a", "replacement": ""}):
        yield bare("MaskField$Value", config)


def replacements() -> Iterator[Node]:
    for config in (
        {"exclude": "i8,s,nope"}, {"include": "i8, s"}, {"include": "i8,s", "exclude": "s"}, {"renames": "i8:x,s:y"},
        {"renames": "i8:s,s:i8"}, {"renames": "i8:s"}, {"include": "s", "renames": "s:t"}, {"renames": "i8"},
        {"renames": "a:b:c"}, {}, {"exclude": "a,a"}, {"renames": "i8:x", "replace.null.with.default": "false"},
    ):  # fmt: skip
        yield structured("ReplaceField$Value", config)
    for config in (
        {"exclude": "a,s"}, {"include": "a"}, {"renames": "a:x,s:y"}, {"renames": "a:s,s:a"}, {"include": "nope"},
        {"include": ","}, {},
    ):  # fmt: skip
        yield bare("ReplaceField$Value", config)
    yield case("ReplaceField$Value", {"exclude": "a"}, value=None)
    yield case("ReplaceField$Value", {"exclude": "a"}, value="text")
    yield case("ReplaceField$Key", {"exclude": "a"}, key=mapping(a="k", b="l"))


def metadata() -> Iterator[Node]:
    for config in ({"schema.name": "new"}, {"schema.version": "9"}, {"schema.name": "new", "schema.version": "9"}, {},
                   {"schema.version": "x"}):  # fmt: skip
        yield structured("SetSchemaMetadata$Value", config)
        yield bare("SetSchemaMetadata$Value", config)
        yield case("SetSchemaMetadata$Value", config, value=None)
    for schema, value in ((plain("STRING"), "a"), (optional("INT32"), None), (plain("ARRAY", values=INNER), []),
                          (plain("MAP", keys=plain("STRING"), values=plain("INT32")), mapping())):  # fmt: skip
        yield case("SetSchemaMetadata$Key", {"schema.name": "new"}, key_schema=schema, key=value)


def timestamps() -> Iterator[Node]:
    targets = ("string", "unix", "Date", "Time", "Timestamp")
    texts = ("2023-11-14 22:13:20.123", "2023-02-31 00:00:00.000", "2023-11-14 22:13:20.123 and more", "nonsense", "",
             "2023-11-14 25:61:61.1")  # fmt: skip
    pattern = {"format": "yyyy-MM-dd HH:mm:ss.SSS"}
    for target in targets:
        config = {"target.type": target, **pattern}
        for value in (*texts, {"int64": 1_700_000_000_123}, {"int64": -1}, {"moment": 1_700_000_000_123}, None,
                      {"int32": 5}, {"float64": "1.5"}, True):  # fmt: skip
            yield case("TimestampConverter$Value", config, value=value)
        for field in ("at", "date", "time", "s", "i64", "i32", "nope", "n"):
            yield structured("TimestampConverter$Value", {**config, "field": field})
        for field in ("a", "nope", "f", "s"):
            yield bare("TimestampConverter$Value", {**config, "field": field})
        for precision in ("seconds", "milliseconds", "microseconds", "nanoseconds", "hours"):
            exact = {**config, "unix.precision": precision}
            yield case("TimestampConverter$Value", exact, value={"int64": 1_700_000_000_123})
            yield case("TimestampConverter$Value", exact, value={"moment": -1_500})
        yield case("TimestampConverter$Key", config, key_schema=optional("STRING"), key=texts[0])
        yield case("TimestampConverter$Key", config, key_schema=plain("INT32"), key={"int32": 1})
        yield case("TimestampConverter$Value", config, value_schema=optional("INT64"), value=None)
        yield bare("TimestampConverter$Value", {"target.type": target, "field": "a"})
        yield case("TimestampConverter$Value", {"target.type": target, "field": "x"}, value="text")
    for config in ({}, {"target.type": "nothing"}, {"target.type": "string", "format": "yyyy-bb"},
                   {"target.type": "string", "format": "'open"}):  # fmt: skip
        yield case("TimestampConverter$Value", config, value={"int64": 0})
    for layout in FORMATS:
        for ms in (0, 1_700_000_000_123, -86_400_001, 951_782_400_000, 1_704_067_199_999):
            config = {"target.type": "string", "format": layout}
            yield case("TimestampConverter$Value", config, value={"moment": ms})
    for layout, text in PARSED:
        yield case("TimestampConverter$Value", {"target.type": "unix", "format": layout}, value=text)


FORMATS = (
    "yyyy-MM-dd'T'HH:mm:ss.SSS'Z'", "yy/M/d H:m:s.S", "EEE, d MMM yyyy HH:mm:ss Z", "EEEE MMMM dd", "hh:mm a", "K k",
    "D", "yyyyMMddHHmmss", "''yyyy'' 'o''clock'", "z", "X", "u F", "G y", "YYYY w W", "SSSSSS", "MMMMM", "XXX",
)  # fmt: skip
PARSED = (
    ("yyyyMMdd", "20231114"), ("yyyyMMddHHmmss", "20231114221320"), ("yyyy-MM-dd", "2023-1-4"), ("yyyy-MM-dd", "2023"),
    ("dd MMM yyyy", "14 Nov 2023"), ("dd MMM yyyy", "14 november 2023"), ("dd MMM yyyy", "14 XYZ 2023"),
    ("hh:mm a", "12:30 AM"), ("hh:mm a", "1:05 pm"), ("KK:mm a", "11:59 PM"), ("kk", "24"), ("EEE d", "Tue 14"),
    ("yyyy-MM-dd HH:mm:ss Z", "2023-11-14 22:13:20 +0130"), ("yyyy-MM-dd'T'HH:mm:ssX", "2023-11-14T22:13:20Z"),
    ("yyyy-MM-dd'T'HH:mm:ssXXX", "2023-11-14T22:13:20-05:00"), ("yyyy z", "2023 GMT"), ("SSS", "5"), ("s.SSS", "1.1234"),
    ("yyyy D", "2023 45"), ("HH:mm", " 7: 5"), ("M/d/yyyy", "13/45/2023"), ("yyyy-MM-dd", "-5-01-01"), ("dd", "-1"),
)  # fmt: skip


def routes() -> Iterator[Node]:
    for topic in ("orders-raw", "orders", "a-b-raw", "raw"):
        for regex, replacement in (("(.*)-raw", "$1"), ("(?<n>.*)-(.*)", "${n}.$2"), ("orders", "x$0y"), ("or|orders", "z"),
                                   ("(.*)", "$1$1"), (".*", "\\$cost"), (".*", "$9"), ("(", "x"),
                                   ("\\p{Lower}+", "low"), ("(?i)ORDERS", "any"), ("o.*+", "p"), ("", "e")):  # fmt: skip
            yield {**case("RegexRouter", {"regex": regex, "replacement": replacement}),
                   "record": {"topic": topic, "value": "v"}}  # fmt: skip
    for config in ({}, {"timestamp.format": "yyyy/MM/dd HH"}, {"topic.format": "x-${timestamp}-${topic}-${topic}"},
                   {"topic.format": "plain"}, {"timestamp.format": "bbb"}):  # fmt: skip
        yield case("TimestampRouter", config, timestamp=1_700_000_000_123)
        yield case("TimestampRouter", config)
    yield case("RegexRouter", {"regex": "a"})


def keys() -> Iterator[Node]:
    for fields in ("s", "i8,s", "s,i8", "nope", "d", "", "s,s"):
        yield structured("ValueToKey", {"fields": fields})
    for fields in ("a", "s,a", "nope"):
        yield bare("ValueToKey", {"fields": fields})
    yield structured("ValueToKey", {"fields": "d", "replace.null.with.default": "false"})
    yield case("ValueToKey", {"fields": "a"}, value=None)
    yield case("ValueToKey", {"fields": "a"}, value="text")
    yield case("HoistField$Value", {"field": "h"}, value="text")
    yield case("HoistField$Value", {"field": "h"}, value=None)
    yield case("HoistField$Value", {"field": "h"}, value_schema=optional("STRING"), value=None)
    yield structured("HoistField$Value", {"field": "h"})
    yield case("HoistField$Key", {"field": "h"}, key_schema=plain("INT32"), key={"int32": 1})
    yield case("HoistField$Key", {})
    yield case("HoistField$Value", {"field": ""}, value_schema=plain("STRING"), value="x")
    yield bare("Filter", {})


def predicates() -> Iterator[Node]:
    def ask(name: str, config: dict[str, str], **record: Node) -> Node:
        return {"kind": "predicate", "class": f"{TRANSFORMS}.predicates.{name}", "config": config,
                "record": {"topic": "orders-1", **record}}  # fmt: skip

    for pattern in ("orders-.*", "orders", "ord", ".*", "ORDERS-1", "orders-[0-9]", "", "("):
        yield ask("TopicNameMatches", {"pattern": pattern})
    for name in ("h", "g", ""):
        yield ask("HasHeaderKey", {"name": name}, headers=[{"key": "h", "value": None}])
    yield ask("HasHeaderKey", {})
    yield ask("TopicNameMatches", {})
    for record in ({"value": None}, {"value": "x"}, {"value_schema": optional("STRING"), "value": None}):
        yield ask("RecordIsTombstone", {}, **record)


def shapes() -> Iterator[Node]:
    """Each transform with what it cannot take."""
    configs = {
        "Cast$Value": {"spec": "a:int8"}, "ExtractField$Value": {"field": "a"}, "Flatten$Value": {},
        "HeaderFrom$Value": {"fields": "a", "headers": "h", "operation": "copy"}, "InsertField$Value": {"topic.field": "a"},
        "MaskField$Value": {"fields": "a"}, "ReplaceField$Value": {"exclude": "a"}, "ValueToKey": {"fields": "a"},
        "TimestampConverter$Value": {"target.type": "unix", "field": "a"},
    }  # fmt: skip
    for name, config in configs.items():
        for value in ("text", {"int64": 1}, {"int32": 1}, {"float64": "1.5"}, True, ["x"], {"bytes": "00"}, None):
            yield case(name, config, value=value)
        for schema, value in ((plain("STRING"), "text"), (plain("INT32"), {"int32": 1}), (plain("FLOAT32"),
                              {"float32": "1.5"}), (plain("BYTES"), {"bytes": "00"}), (optional("STRING"), None)):  # fmt: skip
            yield case(name, config, value_schema=schema, value=value)
