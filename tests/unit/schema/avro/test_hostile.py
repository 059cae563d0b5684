"""Texts that are made to hurt: each is refused with a reason, or answered; none exhausts the stack."""

import json

import pytest

from ottla.schema.avro.parse import parse
from ottla.schema.avro.schema import AvroSchema
from ottla.schema.error import InvalidSchemaError
from ottla.schema.policy import Policy


def read(text: str) -> AvroSchema:
    return parse(text, (), {}, strict=True)


def record(name: str, *types: object, default: object = None) -> dict[str, object]:
    extra = {} if default is None else {"default": default}
    return {
        "type": "record",
        "name": name,
        "fields": [{"name": f"f{at}", "type": type_, **extra} for at, type_ in enumerate(types)],
    }


@pytest.mark.parametrize(
    "text",
    [
        '{"type":"array","items":' * 10_000 + '"int"' + "}" * 10_000,
        "[" * 200_000,
        '{"a":' * 10_000,
        json.dumps([record(f"R{at}", f"R{at + 1}") for at in range(5000)] + [record("R5000")]),
        '{"type":"fixed","name":"A","size":' + "9" * 1_000_000 + "}",
        "/*" * 500_000,
        '"' + "\\\\" * 500_000,
        '{"type":"record","name":"A","fields":[{"name":"f","type":"double","default":NaN}]}',
        '{"type":"record","name":"A","fields":[{"name":"f","type":"A","default":{}}]}',
        '{"type":"record","name":"A","fields":[{"name":"f","type":{"type":"array","items":"A"},"default":[{}]}]}',
        "\x00",
        "",
    ],
    ids=lambda text: text[:30],
)
def test_refused(text: str) -> None:
    with pytest.raises(InvalidSchemaError):
        read(text)


def test_the_deepest_text_that_is_read_is_also_compared_and_normalised() -> None:
    depth = 199
    schema = read('{"type":"array","items":' * depth + '"int"' + "}" * depth)
    other = read('{"type":"array","items":' * depth + '"string"' + "}" * depth)
    assert schema.normalized() == schema
    assert len(schema.incompatibilities(other, Policy.STRICT)) == 1


def test_a_long_row_of_types_that_use_the_one_before() -> None:
    types = [record("R0", "int")] + [record(f"R{at}", f"R{at - 1}") for at in range(1, 900)]
    schema, other = read(json.dumps(types)), read(json.dumps([record("R0", "string"), *types[1:]]))
    last = read(json.dumps({"type": "array", "items": types[0]}))
    assert schema.incompatibilities(schema, Policy.STRICT) == ()
    assert len(schema.incompatibilities(other, Policy.STRICT)) == 900
    assert last.parsing_form


def test_types_that_double_at_every_level() -> None:
    types = [record("R0", "int", default=1)]
    types += [record(f"R{at}", f"R{at - 1}", f"R{at - 1}", default={}) for at in range(1, 60)]
    schema = read(json.dumps(types))
    types[0] = record("R0", "string", default="")
    other = read(json.dumps(types))
    assert schema.incompatibilities(other, Policy.STRICT)
    assert schema.normalized().incompatibilities(schema, Policy.STRICT) == ()


def test_unions_too_large_to_compare() -> None:
    ours = read(json.dumps([{"type": "fixed", "name": f"A{at}", "size": 1} for at in range(1500)]))
    theirs = read(json.dumps([{"type": "fixed", "name": f"B{at}", "size": 1} for at in range(1500)]))
    with pytest.raises(InvalidSchemaError, match="too large to be compared"):
        ours.incompatibilities(theirs, Policy.STRICT)
