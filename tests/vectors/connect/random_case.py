"""Random records through random transforms: schemas of every type with defaults and names, maps without schema."""

from collections.abc import Callable, Iterator
from typing import Any

from tests.vectors.connect.chance import Chance
from tests.vectors.connect.transform_case import LOGICAL, case

Node = Any
NAMES = ("a", "b", "c", "d", "a.b", "x y", "ts")
PLAIN: dict[str, tuple[Node, ...]] = {
    "INT8": ({"int8": 0}, {"int8": 1}, {"int8": -128}), "INT16": ({"int16": 300}, {"int16": -32768}),
    "INT32": ({"int32": 0}, {"int32": 70000}, {"int32": -2147483648}),
    "INT64": ({"int64": 5}, {"int64": 5_000_000_000}, {"int64": 1_700_000_000_123}),
    "FLOAT32": ({"float32": "1.5"}, {"float32": "-0.0"}, {"float32": "NaN"}),
    "FLOAT64": ({"float64": "1.5"}, {"float64": "1.0E300"}, {"float64": "-Infinity"}, {"float64": "123456.789"}),
    "BOOLEAN": (True, False), "STRING": ("", "a", "12", "1.5", "true", "2023-11-14", "NaN", "+7"),
    "BYTES": ({"bytes": ""}, {"bytes": "fffe01"}),
}  # fmt: skip
NAMED: dict[str, tuple[str, tuple[Node, ...]]] = {
    "Date": ("INT32", ({"moment": 0}, {"moment": -86_400_000}, {"moment": 1_641_600_000_000})),
    "Time": ("INT32", ({"moment": 1}, {"moment": 86_399_999})),
    "Timestamp": ("INT64", ({"moment": -1}, {"moment": 1_700_000_000_123}, {"moment": 5000})),
    "Decimal": ("BYTES", ({"decimal": "1.50"}, {"decimal": "-12.34"})),
}
BARE = (
    None,
    True,
    "t",
    "12",
    {"int64": 5},
    {"int32": 7},
    {"float64": "2.5"},
    {"moment": 1_700_000_000_123},
    "2023-11-14",
)
TYPES = ("int8", "int16", "int32", "int64", "float32", "float64", "boolean", "string", "INT8", "String")
HEADERS = [{"key": "h", "value": "1"}, {"key": "k", "schema": {"type": "INT32"}, "value": {"int32": 2}}]


class Generator:
    """Schemas, values and configurations."""

    def __init__(self, chance: Chance) -> None:
        self._chance = chance

    def schema(self, depth: int) -> Node:
        kind = self._chance.below(8 if depth else 6)
        if kind < 4:
            name = self._chance.one(tuple(PLAIN))
            return self._attributed({"type": name}, PLAIN[name])
        if kind < 6:
            name = self._chance.one(tuple(NAMED))
            carrier, values = NAMED[name]
            made = {"type": carrier, "name": f"{LOGICAL}.{name}", "version": 1}
            return self._attributed(made | ({"parameters": {"scale": "2"}} if name == "Decimal" else {}), values)
        optional = {"optional": True} if self._chance.happens(40) else {}
        if kind == 6:
            return {"type": "ARRAY", "values": self.schema(0), **optional}
        return self.struct(depth - 1)

    def struct(self, depth: int) -> Node:
        chance = self._chance
        names = chance.some(NAMES, 1 + chance.below(4))
        made: Node = {
            "type": "STRUCT",
            "fields": [{"name": name, "schema": self.schema(depth)} for name in names],
        }
        for name, value in (
            ("optional", True),
            ("name", "rec"),
            ("version", 2),
            ("doc", "d"),
            ("parameters", {"p": "q"}),
        ):
            made |= {name: value} if chance.happens(20) else {}
        return made

    def _attributed(self, made: Node, values: tuple[Node, ...]) -> Node:
        chance = self._chance
        made |= {"optional": True} if chance.happens(35) else {}
        made |= {"default": chance.one(values)} if chance.happens(25) else {}
        if "name" not in made:
            made |= {"name": "n"} if chance.happens(20) else {}
            made |= {"version": 7} if chance.happens(15) else {}
        return made

    def value(self, schema: Node) -> Node:
        chance = self._chance
        if schema.get("optional") and chance.happens(40):
            return None
        kind = schema["type"]
        if kind == "ARRAY":
            return [self.value(schema["values"]) for _ in range(chance.below(3))]
        if kind != "STRUCT":
            name = str(schema.get("name", "")).rpartition(".")[2]
            return chance.one(NAMED[name][1] if name in NAMED else PLAIN[kind])
        fields = {}
        for field in schema["fields"]:
            if "default" not in field["schema"] or not chance.happens(30):
                fields[field["name"]] = self.value(field["schema"])
        return {"struct": fields}

    def bare(self, depth: int) -> Node:
        chance = self._chance
        if depth == 0 or chance.happens(75):
            return chance.one(BARE)
        return {"map": [[name, self.bare(depth - 1)] for name in chance.some(NAMES, chance.below(4))]}

    def field(self) -> str:
        return self._chance.one((*NAMES, "d.a", "`a.b`", "`a.b`.c", "nope"))

    def fields(self, most: int) -> list[str]:
        return list(dict.fromkeys(self.field() for _ in range(1 + self._chance.below(most))))


def cases() -> Iterator[Node]:
    """All of them."""
    chance = Chance(11)
    made = Generator(chance)
    for _ in range(1_500):
        name = chance.one(tuple(CONFIGS))
        config = CONFIGS[name](made, chance)
        if name not in ("ValueToKey", "Flatten") and chance.happens(50):
            config["replace.null.with.default"] = chance.one(("true", "false"))
        side = chance.one(("value", "value", "key")) if name != "ValueToKey" else "value"
        record = _side(made, chance, side)
        record |= {"offset": 5} if chance.happens(40) else {}
        record |= {"partition": 2} if chance.happens(40) else {}
        record |= {"timestamp": 1_700_000_000_123} if chance.happens(50) else {}
        record |= {"headers": HEADERS} if chance.happens(30) else {}
        yield case(name if name == "ValueToKey" else f"{name}${side.title()}", config, **record)


def _side(made: Generator, chance: Chance, side: str) -> Node:
    if chance.happens(40):
        return {side: made.bare(2)}
    schema = made.struct(2) if chance.happens(85) else made.schema(1)
    return {f"{side}_schema": schema, side: made.value(schema)}


def _cast(made: Generator, chance: Chance) -> dict[str, str]:
    # With one field alone: which of several is refused first is a matter of hash tables.
    return {"spec": chance.one(TYPES) if chance.happens(20) else f"{made.field()}:{chance.one(TYPES)}"}


def _insert(made: Generator, chance: Chance) -> dict[str, str]:
    keys = chance.some(("topic.field", "partition.field", "offset.field", "timestamp.field", "static.field"), 2)
    config = {key: f"f{number}{chance.one(('', '!', '?'))}" for number, key in enumerate(keys)}
    return config | ({"static.value": "s"} if "static.field" in config else {})


def _mask(made: Generator, chance: Chance) -> dict[str, str]:
    replacement = {"replacement": chance.one(("***", "7", "300", "1.5", "-1e3"))} if chance.happens(50) else {}
    return {"fields": ",".join(made.fields(3)), **replacement}


def _replace(made: Generator, chance: Chance) -> dict[str, str]:
    config = {"exclude": made.field()} if chance.happens(50) else {}
    config |= {"include": ",".join(made.fields(3))} if chance.happens(40) else {}
    return config | ({"renames": f"{made.field()}:R"} if chance.happens(50) else {})


def _convert(made: Generator, chance: Chance) -> dict[str, str]:
    config = {"target.type": chance.one(("string", "unix", "Date", "Time", "Timestamp"))}
    config |= {"field": made.field()} if chance.happens(75) else {}
    config |= {"format": chance.one(("yyyy-MM-dd", "yyyy-MM-dd HH:mm:ss"))} if chance.happens(80) else {}
    precisions = ("seconds", "milliseconds", "microseconds", "nanoseconds")
    return config | ({"unix.precision": chance.one(precisions)} if chance.happens(40) else {})


CONFIGS: dict[str, Callable[[Generator, Chance], dict[str, str]]] = {
    "Cast": _cast,
    "ExtractField": lambda made, chance: {"field": made.field(), "field.syntax.version": chance.one(("V1", "V2"))},
    "Flatten": lambda made, chance: {"delimiter": chance.one((".", "_"))},
    "HeaderFrom": lambda made, chance: {
        "fields": made.field(), "headers": chance.one(("h", "z")), "operation": chance.one(("move", "copy"))},
    "InsertField": _insert,
    "MaskField": _mask,
    "ReplaceField": _replace,
    "SetSchemaMetadata": lambda made, chance: {
        "schema.name": chance.one(("new", "a.B")), "schema.version": chance.one(("1", "9"))},
    "TimestampConverter": _convert,
    "ValueToKey": lambda made, chance: {"fields": ",".join(made.fields(2))},
}  # fmt: skip
