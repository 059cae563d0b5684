"""Compatibility of Avro schemas, pair by pair, with Confluent's messages."""

import json
from pathlib import Path

import pytest

from ottla.schema.avro.parse import parse
from ottla.schema.avro.schema import AvroSchema
from ottla.schema.compatibility import Level, check, messages
from ottla.schema.policy import Policy

PAIRS = [json.loads(line) for line in Path("tests/vectors/schemas/avro_differences.jsonl").read_text().splitlines()]


def read(value: object) -> AvroSchema:
    return parse(json.dumps(value), (), {}, strict=True)


def test_the_table_is_large() -> None:
    assert len(PAIRS) >= 250


@pytest.mark.parametrize("pair", PAIRS, ids=lambda pair: pair["name"])
def test_messages_are_confluents(pair: dict[str, object]) -> None:
    found = read(pair["new"]).incompatibilities(read(pair["old"]), Policy.STRICT)
    assert [one.message.replace("{reader}", "%s").replace("{writer}", "%s") for one in found] == pair["messages"]
    assert all(one.advice.endswith(".") for one in found)


@pytest.mark.parametrize("pair", PAIRS, ids=lambda pair: pair["name"])
def test_full_is_backward_and_forward(pair: dict[str, object]) -> None:
    new, old = read(pair["new"]), read(pair["old"])
    either = [bool(check(level, new, [(1, old)])) for level in (Level.BACKWARD, Level.FORWARD)]
    assert bool(check(Level.FULL, new, [(1, old)])) == any(either)


def test_an_incompatibility_is_a_value() -> None:
    old = read({"type": "record", "name": "A", "fields": [{"name": "x", "type": "int"}, {"name": "b", "type": "int"}]})
    new = read({"type": "record", "name": "A", "fields": [{"name": "b", "type": "string"}]})
    (found,) = check(Level.BACKWARD, new, [(3, old)])
    assert (found.rule, found.reader_path, found.writer_path) == ("TYPE_MISMATCH", "/fields/0/type", "/fields/1/type")
    assert (found.reader_version, found.writer_version) == (None, 3)
    assert found.advice == "Keep the type int, or read it as a union of int and string."
    assert found.text() == (
        "{errorType:'TYPE_MISMATCH', description:'The type (path '/fields/0/type') of a field in the new schema does "
        "not match with the old schema', additionalInfo:'reader type: STRING not compatible with writer type: INT'}"
    )
    assert messages(Level.BACKWARD, [found], [(3, old)])[1:] == [
        "{oldSchemaVersion: 3}",
        f"{{oldSchema: '{old.canonical_text}'}}",
    ]
