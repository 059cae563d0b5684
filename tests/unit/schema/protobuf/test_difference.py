"""Compatibility, pair by pair, with Confluent's verdicts."""

import json
from pathlib import Path

from ottla.schema.compatibility import Level, check
from ottla.schema.policy import Policy
from ottla.schema.protobuf.parse import parse
from ottla.schema.protobuf.schema import ProtobufSchema
from ottla.schema.reference import Reference

VECTORS = Path("tests/vectors/schemas/protobuf_differences.jsonl")
PAIRS = [json.loads(line) for line in VECTORS.read_text().splitlines()]


def read(pair: dict[str, object], side: str) -> ProtobufSchema:
    given = pair.get(f"{side}_references", [])
    assert isinstance(given, list)
    references = [Reference(one["name"], one["subject"], one["version"]) for one in given]
    return parse(str(pair[side]), references, {one["name"]: one["schema"] for one in given}, strict=False)


def test_the_table_is_large() -> None:
    assert len(PAIRS) >= 600


def test_differences_are_confluents() -> None:
    for pair in PAIRS:
        old, new = read(pair, "old"), read(pair, "new")
        assert sorted([one.change.value, one.path] for one in new.differences(old)) == pair["differences"], pair["name"]
        found = new.incompatibilities(old, Policy.STRICT)
        assert sorted(_confluents(one.message) for one in found) == pair["messages"], pair["name"]


def _confluents(message: str) -> str:
    """Confluent's registry fills `%s` with the roles."""
    return message.replace("{reader}", "%s").replace("{writer}", "%s")


def test_full_is_backward_and_forward() -> None:
    for pair in PAIRS:
        old, new = read(pair, "old"), read(pair, "new")
        either = [bool(check(level, new, [(1, old)])) for level in (Level.BACKWARD, Level.FORWARD)]
        assert bool(check(Level.FULL, new, [(1, old)])) == any(either), pair["name"]


def test_an_incompatibility_says_what_to_do() -> None:
    old = parse('syntax = "proto3"; message A { int32 f = 1; }', (), {}, strict=True)
    new = parse('syntax = "proto3"; message A { string f = 1; }', (), {}, strict=True)
    (found,) = check(Level.BACKWARD, new, [(4, old)])
    assert (found.rule, found.reader_path, found.writer_path) == ("FIELD_SCALAR_KIND_CHANGED", "#/A/1", "#/A/1")
    assert (found.reader_version, found.writer_version) == (None, 4)
    assert found.text() == (
        '{errorType:"FIELD_SCALAR_KIND_CHANGED", description:"The kind of a SCALAR field at path \'#/A/1\' in the new'
        ' schema does not match its kind in the old schema"}'
    )
    assert "#/A/1" in found.advice
