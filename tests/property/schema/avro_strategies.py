"""Avro schemas that Hypothesis draws, their neighbours, and data for them."""

from collections.abc import Callable
from typing import Any

from hypothesis import strategies as st

Schema = Any
PRIMITIVES = ("null", "boolean", "int", "long", "float", "double", "bytes", "string")
NAMES = tuple("ABCDEFGH")
FIELDS = tuple("abcde")
DEFAULTS: dict[str, object] = {
    "null": None,
    "boolean": True,
    "int": 7,
    "long": 7,
    "float": 0.5,
    "double": 0.5,
    "bytes": "",
    "string": "",
}


@st.composite
def schemas(draw: st.DrawFn) -> Schema:
    """A schema in which each name is defined once; recursion goes through unions with null."""
    free = list(NAMES)
    draw(st.randoms(use_true_random=False)).shuffle(free)
    return _type(draw, free, [], 0)


def _type(draw: st.DrawFn, free: list[str], open_: list[str], depth: int) -> Schema:
    kinds = ["primitive", "primitive", "array", "map", "union", "record", "enum", "fixed"]
    kind = draw(st.sampled_from(kinds if depth < 3 and free else ["primitive"]))
    if kind == "primitive":
        return draw(st.sampled_from(PRIMITIVES))
    if kind == "array":
        return {"type": "array", "items": _type(draw, free, open_, depth + 1)}
    if kind == "map":
        return {"type": "map", "values": _type(draw, free, open_, depth + 1)}
    if kind == "union":
        branches: list[Schema] = list(draw(st.lists(st.sampled_from(PRIMITIVES), min_size=1, max_size=3, unique=True)))
        if open_ and draw(st.booleans()):
            return ["null", draw(st.sampled_from(open_))]
        if draw(st.booleans()) and free:
            branches.append(_named(draw, free, open_, depth))
        return branches
    return _named(draw, free, open_, depth, kind)


def _named(draw: st.DrawFn, free: list[str], open_: list[str], depth: int, kind: str | None = None) -> Schema:
    name = free.pop()
    kind = kind or draw(st.sampled_from(["record", "enum", "fixed"]))
    if kind == "fixed":
        return {"type": "fixed", "name": name, "size": draw(st.integers(0, 3))}
    if kind == "enum":
        symbols = draw(st.lists(st.sampled_from("XYZ"), min_size=1, unique=True))
        return {"type": "enum", "name": name, "symbols": symbols} | (
            {"default": symbols[0]} if draw(st.booleans()) else {}
        )
    fields = [_field(draw, free, [*open_, name], depth, one) for one in draw(_field_names)]
    return {"type": "record", "name": name, "fields": fields}


_field_names = st.lists(st.sampled_from(FIELDS), max_size=4, unique=True)


def _field(draw: st.DrawFn, free: list[str], open_: list[str], depth: int, name: str) -> Schema:
    type_ = _type(draw, free, open_, depth + 1)
    first = type_[0] if isinstance(type_, list) else type_
    if isinstance(first, str) and first in DEFAULTS and draw(st.booleans()):
        return {"name": name, "type": type_, "default": DEFAULTS[first]}
    return {"name": name, "type": type_}


def neighbours(schema: Schema) -> st.SearchStrategy[Schema]:
    """The schema with one place changed: what an evolution looks like."""
    places: list[Callable[[Schema], Schema]] = []
    _collect(schema, lambda changed: changed, places)
    return st.tuples(st.sampled_from(places), st.sampled_from([*PRIMITIVES, ["null", "string"], ["int", "null"]])).map(
        lambda drawn: drawn[0](drawn[1])
    )


def _collect(schema: Schema, put: Callable[[Schema], Schema], places: list[Callable[[Schema], Schema]]) -> None:
    places.append(put)
    if isinstance(schema, list):
        for at, branch in enumerate(schema):
            if not isinstance(branch, str):
                _collect(branch, lambda new, at=at: put([*schema[:at], new, *schema[at + 1 :]]), places)
        # Of an empty union there are no values to try with.
        places.append(lambda new: put(schema[:-1] or schema))
        places.append(lambda new: put([*schema, new] if isinstance(new, str) and new not in schema else schema))
    elif isinstance(schema, dict):
        _collect_parts(schema, put, places)


def _collect_parts(schema: Schema, put: Callable[[Schema], Schema], places: list[Callable[[Schema], Schema]]) -> None:
    for key in ("items", "values"):
        if key in schema:
            _collect(schema[key], lambda new, key=key: put(schema | {key: new}), places)
    if "symbols" in schema:
        places.append(lambda new: put(schema | {"symbols": [*schema["symbols"], "NEW"]}))
        places.append(
            lambda new: put({"type": "enum", "name": schema["name"], "symbols": schema["symbols"][1:] or ["Q"]})
        )
    if "fields" in schema:
        fields = schema["fields"]
        for at, field in enumerate(fields):
            bare = {"name": field["name"]}
            _collect(
                field["type"],
                lambda new, at=at, bare=bare: put(
                    schema | {"fields": [*fields[:at], bare | {"type": new}, *fields[at + 1 :]]}
                ),
                places,
            )
            places.append(lambda new, at=at: put(schema | {"fields": [*fields[:at], *fields[at + 1 :]]}))
        places.append(lambda new: put(schema | {"fields": [*fields, {"name": "z", "type": new}]}))
        places.append(lambda new: put(schema | {"fields": [*fields, {"name": "z", "type": "int", "default": 1}]}))


def data(schema: Schema, definitions: dict[str, Schema], depth: int = 0) -> st.SearchStrategy[Any]:
    """Values that the schema describes, as fastavro takes them."""
    if isinstance(schema, list):
        branches = [branch for branch in schema if depth < 3 or branch == "null"] or schema
        return st.one_of([_tagged(branch, definitions, depth) for branch in branches])
    if isinstance(schema, str):
        return data(definitions[schema], definitions, depth) if schema in definitions else _PRIMITIVE_DATA[schema]
    kind = schema["type"]
    size_max = 2 if depth < 3 else 0
    if kind == "array":
        return st.lists(data(schema["items"], definitions, depth + 1), max_size=size_max)
    if kind == "map":
        return st.dictionaries(st.sampled_from("pq"), data(schema["values"], definitions, depth + 1), max_size=size_max)
    if kind == "enum":
        return st.sampled_from(schema["symbols"])
    if kind == "fixed":
        return st.binary(min_size=schema["size"], max_size=schema["size"])
    definitions[schema["name"]] = schema
    return st.fixed_dictionaries(
        {field["name"]: data(field["type"], definitions, depth + 1) for field in schema["fields"]}
    )


def _tagged(branch: Schema, definitions: dict[str, Schema], depth: int) -> st.SearchStrategy[Any]:
    if isinstance(branch, str) and branch in PRIMITIVES:
        return data(branch, definitions, depth).map(lambda value: (branch, value) if value is not None else None)
    label = branch if isinstance(branch, str) else branch.get("name", branch["type"])
    return st.deferred(lambda: data(branch, definitions, depth + 1)).map(lambda value: (label, value))


_PRIMITIVE_DATA: dict[str, st.SearchStrategy[Any]] = {
    "null": st.none(),
    "boolean": st.booleans(),
    "int": st.integers(-(1 << 31), (1 << 31) - 1),
    "long": st.integers(-(1 << 63), (1 << 63) - 1),
    "float": st.floats(width=32, allow_nan=False),
    "double": st.floats(allow_nan=False),
    "bytes": st.text(max_size=3).map(str.encode),
    "string": st.text(max_size=3),
}
"""Bytes are UTF-8 here: Avro lets a string reader take them, and leaves open what becomes of others."""
