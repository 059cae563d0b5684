"""Compatibility of JSON Schemas, pair by pair, with Confluent's messages."""

import json
from pathlib import Path

from ottla.schema.compatibility import Level, check
from ottla.schema.json_schema.parse import parse
from ottla.schema.json_schema.schema import JsonSchema
from ottla.schema.policy import Policy

PAIRS = [json.loads(line) for line in Path("tests/vectors/schemas/json_differences.jsonl").read_text().splitlines()]


def read(pair: dict[str, dict[str, str]], side: str) -> JsonSchema:
    return parse(json.dumps(pair[side]), (), pair.get("resolved", {}), strict=True)


def test_the_table_is_large() -> None:
    assert len(PAIRS) >= 600


def test_messages_are_confluents() -> None:
    for pair in PAIRS:
        found = read(pair, "new").incompatibilities(read(pair, "old"), Policy(pair.get("policy", "STRICT")))
        texts = [one.message.replace("{reader}", "%s").replace("{writer}", "%s") for one in found]
        assert texts == pair["messages"], pair["name"]
        assert all(one.advice.endswith(".") for one in found), pair["name"]


def test_a_schema_accepts_what_it_accepted() -> None:
    for pair in PAIRS:
        schema = read(pair, "new")
        assert schema.incompatibilities(schema, Policy.STRICT) == (), pair["name"]
        assert schema.normalized().incompatibilities(schema, Policy.STRICT) == (), pair["name"]


def test_full_is_backward_and_forward_and_lenient_allows_more() -> None:
    for pair in PAIRS:
        new, old = read(pair, "new"), read(pair, "old")
        either = [bool(check(level, new, [(1, old)])) for level in (Level.BACKWARD, Level.FORWARD)]
        assert bool(check(Level.FULL, new, [(1, old)])) == any(either), pair["name"]
        strict = new.incompatibilities(old, Policy.STRICT)
        assert len(new.incompatibilities(old, Policy.LENIENT)) <= len(strict), pair["name"]


def test_an_incompatibility_is_a_value() -> None:
    old = parse('{"properties":{"a":{"type":"string"}}}', (), {}, strict=True)
    new = parse('{"properties":{"a":{"type":"string","maxLength":3}}}', (), {}, strict=True)
    (found,) = check(Level.BACKWARD, new, [(2, old)])
    assert (found.rule, found.reader_path, found.writer_version) == (
        "MAX_LENGTH_ADDED",
        "#/properties/a/maxLength",
        2,
    )
    assert found.advice == "Remove maxLength: documents may hold longer strings."
    assert found.text() == (
        '{errorType:"MAX_LENGTH_ADDED", description:"The keyword at path \'#/properties/a/maxLength\' in the new '
        "schema is not present in the old schema'}"
    )
