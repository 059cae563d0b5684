"""Who reads whom at each level, against which versions, and what the registry answers."""

import json
from collections.abc import Sequence

import pytest

from ottla.schema.compatibility import Level, check, messages
from ottla.schema.error import UnknownLevelError
from ottla.schema.parse import parse
from ottla.schema.parsed import ParsedSchema
from ottla.schema.schema_type import SchemaType


def record(*names: str, default: Sequence[str] = ()) -> ParsedSchema:
    fields: list[dict[str, object]] = [{"name": name, "type": "int"} for name in names]
    fields += [{"name": name, "type": "int", "default": 0} for name in default]
    text = json.dumps({"type": "record", "name": "R", "fields": fields})
    return parse(SchemaType.AVRO, text, strict=True)


GROWS = [(1, record("a")), (2, record("a", "b")), (4, record("a", "b", default=["c"]))]
"""Version 2 added a field without default."""


@pytest.mark.parametrize(
    ("level", "versions"),
    [
        (Level.NONE, []),
        (Level.BACKWARD, []),
        (Level.FORWARD, [4]),
        (Level.FULL, [4]),
        (Level.BACKWARD_TRANSITIVE, [1]),
        (Level.FORWARD_TRANSITIVE, [4]),
        (Level.FULL_TRANSITIVE, [4]),
    ],
)
def test_levels_ask_their_versions(level: Level, versions: list[int]) -> None:
    new = parse(
        SchemaType.AVRO,
        '{"type":"record","name":"R","fields":[{"name":"b","type":"int"}]}',
        strict=True,
    )
    found = check(level, new, GROWS)
    assert sorted({one.writer_version or one.reader_version for one in found}) == versions


def test_no_versions_no_objections() -> None:
    assert all(check(level, record("a"), []) == () for level in Level)


def test_the_latest_version_that_disagrees_is_reported() -> None:
    new = record("a", "z")
    found = check(Level.BACKWARD_TRANSITIVE, new, GROWS)
    assert {one.writer_version for one in found} == {4}


def test_both_ways_the_old_reader_comes_first() -> None:
    old, new = record("a"), record("b")
    found = check(Level.FULL, new, [(7, old)])
    assert [(one.reader, one.writer, one.reader_version, one.writer_version) for one in found] == [
        ("old", "new", 7, None),
        ("new", "old", None, 7),
    ]
    lines = messages(Level.FULL, found, [(7, old)])
    assert "in the old schema has no default value and is missing in the new schema" in lines[0]
    assert lines[2:] == ["{oldSchemaVersion: 7}", f"{{oldSchema: '{old.canonical_text}'}}"]


def test_the_old_schema_is_quoted_when_the_new_one_fails_to_read_it() -> None:
    only_forward_fails = check(Level.FULL, record(), [(1, record("a"))])
    assert len(messages(Level.FULL, only_forward_fails, [(1, record("a"))])) == 1
    forward = check(Level.FORWARD, record(), [(1, record("a"))])
    assert messages(Level.FORWARD, forward, [(1, record("a"))])[1] == "{oldSchemaVersion: 1}"


def test_a_long_schema_is_cut_in_the_answer() -> None:
    old = record(*(f"field_{index}" for index in range(1000)))
    found = check(Level.BACKWARD, record("a"), [(1, old)])
    quoted = messages(Level.BACKWARD, found, [(1, old)])[-1]
    assert quoted == f"{{oldSchema: <truncated> '{old.canonical_text[:10240]}...'}}"


def test_another_type_of_schema_is_incompatible() -> None:
    old = parse(SchemaType.PROTOBUF, 'syntax = "proto3"; message A { int32 f = 1; }', strict=True)
    found = check(Level.FULL_TRANSITIVE, record("a"), [(1, old)])
    assert messages(Level.FULL_TRANSITIVE, found, [(1, old)]) == ["Incompatible because of different schema type"]


def test_schemas_too_large_to_compare_are_incompatible() -> None:
    old, new = (
        parse(SchemaType.JSON, json.dumps({"oneOf": [{"const": sign * at} for at in range(1, 520)]}), strict=True)
        for sign in (1, -1)
    )
    (found,) = check(Level.BACKWARD, new, [(1, old)])
    assert found.rule == "NOT_COMPARABLE"
    assert messages(Level.BACKWARD, [found], [(1, old)])[1] == "{oldSchemaVersion: 1}"


def test_levels_by_name() -> None:
    assert Level.parse("Backward_Transitive") is Level.BACKWARD_TRANSITIVE
    with pytest.raises(UnknownLevelError) as raised:
        Level.parse("SIDEWAYS")
    assert str(raised.value) == (
        "Invalid compatibility level. Valid values are none, backward, forward, full, backward_transitive, "
        "forward_transitive, and full_transitive"
    )
