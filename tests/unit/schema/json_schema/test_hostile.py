"""Schemas that are made to hurt: each is refused with a reason, or answered; none exhausts the stack."""

import json

import pytest

from ottla.schema.error import InvalidSchemaError
from ottla.schema.json_schema.parse import parse
from ottla.schema.json_schema.schema import JsonSchema
from ottla.schema.policy import Policy

MODERN = '"$schema":"https://json-schema.org/draft/2020-12/schema",'


def read(schema: object) -> JsonSchema:
    return parse(schema if isinstance(schema, str) else json.dumps(schema), (), {}, strict=True)


@pytest.mark.parametrize(
    "text",
    [
        '{"not":' * 10_000 + "{}" + "}" * 10_000,
        "[" * 100_000,
        '{"a":' * 10_000,
        '{"maximum":' + "9" * 100_000 + "}",
        '{"pattern":"' + "(" * 500 + '"}',
    ],
    ids=lambda text: text[:20],
)
def test_refused(text: str) -> None:
    with pytest.raises(InvalidSchemaError):
        read(text)


@pytest.mark.parametrize("start", ["{", "{" + MODERN], ids=["classic", "modern"])
@pytest.mark.parametrize(("inner", "end"), [('"not":{', "}"), ('"items":{', "}"), ('"anyOf":[{},{', "}]")])
def test_the_deepest_schema_that_is_read_is_also_compared_and_normalised(start: str, inner: str, end: str) -> None:
    depth = 98
    schema, other = (
        read(start + inner * depth + f'"type":"{leaf}"' + end * depth + "}") for leaf in ("string", "number")
    )
    assert schema.normalized().incompatibilities(schema, Policy.STRICT) == ()
    other.incompatibilities(schema, Policy.STRICT)


def test_references_in_circles_and_long_rows() -> None:
    circle = {"a": {"$ref": "#/definitions/b"}, "b": {"$ref": "#/definitions/a"}}
    for schema in (read({"$ref": "#"}), read({"$ref": "#/definitions/a", "definitions": circle})):
        assert schema.incompatibilities(schema, Policy.STRICT) == ()
    row = {f"d{at}": {"properties": {"n": {"$ref": f"#/definitions/d{at + 1}"}}} for at in range(3000)}
    first, second = (
        read({"$ref": "#/definitions/d0", "definitions": row | {"d3000": {"type": leaf}}})
        for leaf in ("string", "number")
    )
    assert len(second.incompatibilities(first, Policy.STRICT)) == 1


@pytest.mark.parametrize("keyword", ["$anchor", "$id"])
def test_thousands_of_names(keyword: str) -> None:
    prefix = "#" if keyword == "$anchor" else ""
    definitions = {f"d{at}": {keyword: f"name{at}", "$ref": f"{prefix}name{at + 1}"} for at in range(2000)}
    definitions["d2000"] = {keyword: "name2000", "type": "string"}
    schema = read(
        {"$schema": "https://json-schema.org/draft/2020-12/schema", "$ref": f"{prefix}name0", "$defs": definitions}
    )
    assert schema.incompatibilities(schema, Policy.STRICT) == ()


def test_definitions_that_all_refer_to_each_other() -> None:
    def dense(leaf: str) -> JsonSchema:
        definitions = {
            f"d{at}": {
                "oneOf": [{"$ref": f"#/definitions/d{(at * 7 + step) % 30}"} for step in range(5)] + [{"type": leaf}]
            }
            for at in range(30)
        }
        return read({"$ref": "#/definitions/d0", "definitions": definitions})

    assert dense("string").incompatibilities(dense("string"), Policy.STRICT) == ()
    assert dense("string").incompatibilities(dense("number"), Policy.STRICT)


def test_sums_too_large_to_compare() -> None:
    old, new = (read({"oneOf": [{"const": sign * at} for at in range(1, 520)]}) for sign in (1, -1))
    with pytest.raises(InvalidSchemaError, match="too large to be compared"):
        new.incompatibilities(old, Policy.STRICT)


def test_patterns_do_not_backtrack() -> None:
    new = read({"type": "object", "patternProperties": {"^(a+)+$": {}}, "additionalProperties": False})
    old = read({"type": "object", "properties": {"a" * 200 + "!": {"type": "string"}}})
    assert [one.rule for one in new.incompatibilities(old, Policy.STRICT)] == [
        "PROPERTY_REMOVED_FROM_CLOSED_CONTENT_MODEL",
        "ADDITIONAL_PROPERTIES_REMOVED",
    ]


def test_numbers_without_end() -> None:
    old = read('{"type":"number","multipleOf":1e999999999,"maximum":1e-999999999}')
    new = read('{"type":"number","multipleOf":3e-999999999,"maximum":1e999999999}')
    assert [one.rule for one in new.incompatibilities(old, Policy.STRICT)] == ["MULTIPLE_OF_CHANGED"]
