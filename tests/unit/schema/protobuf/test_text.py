"""Canonical text, normal form, names and refusals, as Confluent's registry has them."""

import json
from pathlib import Path

import pytest

from ottla.schema.error import InvalidSchemaError
from ottla.schema.protobuf.parse import parse
from ottla.schema.protobuf.schema import ProtobufSchema

VECTORS = Path("tests/vectors/schemas/protobuf_texts.jsonl")
TEXTS = [json.loads(line) for line in VECTORS.read_text().splitlines()]

DIFFERENT_ON_PURPOSE = {
    # Confluent's normal form moves `default` among the options, and its parser moves it back.
    'message A { required string a = 1 [default = "x\\n\'", json_name="AA", deprecated=true];': "normal",
    'syntax="proto3"; message A { int32 a = 1 [default=5,': "normal",
    # Confluent prints a line break where the message has nothing but an empty oneof.
    "message A { oneof x {} }": "normal",
    # Confluent resolves a built-in type that is not imported, and refuses the schema afterwards.
    'syntax="proto3"; package com.acme.v1; import "google/type/date.proto"': "normal",
    # No field can have the number 536870912.
    'syntax="proto3"; message A { string a = 536870911;': "all",
}
"""The start of a schema, and what differs: its normal form, or all, because it is refused."""


def differs(case: dict[str, str], what: str) -> bool:
    found = (how for start, how in DIFFERENT_ON_PURPOSE.items() if case["schema"].startswith(start))
    return next(found, None) in (what, "all")


def read(text: str, *, strict: bool = False) -> ProtobufSchema:
    return parse(text, (), {}, strict=strict)


@pytest.mark.parametrize("case", [one for one in TEXTS if "canonical" in one], ids=lambda case: case["schema"][:60])
def test_texts_are_regenerated_as_confluent_does(case: dict[str, str]) -> None:
    try:
        schema = read(case["schema"])
    except InvalidSchemaError:
        # Numbers and names that Confluent's parser takes, and its checks refuse.
        assert "invalid" in case or differs(case, "all")
        return
    assert schema.canonical_text == case["canonical"]
    assert schema.name == case["name"]
    again = read(schema.canonical_text)
    assert again == schema
    assert again.file == schema.file


@pytest.mark.parametrize("case", [one for one in TEXTS if "normal" in one], ids=lambda case: case["schema"][:60])
def test_normal_forms_are_confluents_and_stable(case: dict[str, str]) -> None:
    try:
        normal = read(case["schema"]).normalized()
    except InvalidSchemaError:
        assert "invalid" in case or differs(case, "all")
        return
    if not differs(case, "normal"):
        assert normal.canonical_text == case["normal"]
    assert read(normal.canonical_text).normalized().canonical_text == normal.canonical_text


@pytest.mark.parametrize("case", [one for one in TEXTS if "canonical" in one], ids=lambda case: case["schema"][:60])
def test_new_schemas_are_checked_as_confluent_does(case: dict[str, str]) -> None:
    if "invalid" not in case and not differs(case, "all"):
        read(case["schema"], strict=True)
        return
    with pytest.raises(InvalidSchemaError):
        read(case["schema"], strict=True)


@pytest.mark.parametrize("case", [one for one in TEXTS if "error" in one], ids=lambda case: case["schema"][:60])
def test_what_is_no_proto_text_is_refused(case: dict[str, str]) -> None:
    with pytest.raises(InvalidSchemaError):
        read(case["schema"], strict=True)


def test_an_error_says_where_it_is() -> None:
    with pytest.raises(InvalidSchemaError, match=r"^Syntax error in line 3, column 15: expected ';' but found '}'$"):
        read('syntax = "proto3";\nmessage A {\n  string a = 1}')


def test_an_unknown_type_is_named_with_the_place() -> None:
    with pytest.raises(InvalidSchemaError, match=r"^Could not resolve type: p\.Missing$") as caught:
        read('syntax = "proto3"; message A { message B { p.Missing m = 1; } }', strict=True)
    assert caught.value.path == "A.B"


def test_editions_are_read_and_printed() -> None:
    text = """
    edition = "2023";
    option features.field_presence = IMPLICIT;
    message A { int32 a = 1 [features.field_presence = EXPLICIT]; reserved foo, bar; }
    """
    schema = read(text, strict=True)
    assert schema.canonical_text.startswith('edition = "2023";\n')
    assert read(schema.canonical_text) == schema
    assert schema.descriptor().message_type[0].field[0].options.features.field_presence == 1


def test_a_default_of_bytes_keeps_every_byte() -> None:
    schema = read(r'message A { optional bytes b = 1 [default = "\001\377\x80\\é"]; }', strict=True)
    assert read(schema.canonical_text) == schema
    default = schema.descriptor().message_type[0].field[0].default_value
    assert default == r"\001\377\200\\\303\251"
    assert read(schema.formatted("serialized")).canonical_text == schema.canonical_text
