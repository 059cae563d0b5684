"""Avro texts, one by one, with what Java and Confluent's registry make of them."""

import json
from pathlib import Path

import pytest

from ottla.schema.avro.fingerprint import Algorithm
from ottla.schema.avro.parse import parse
from ottla.schema.avro.schema import AvroSchema
from ottla.schema.error import InvalidSchemaError
from ottla.schema.reference import Reference

ROWS = [json.loads(line) for line in Path("tests/vectors/schemas/avro_texts.jsonl").read_text().splitlines()]


def read(row: dict[str, object]) -> AvroSchema:
    resolved = row.get("resolved", {})
    assert isinstance(resolved, dict)
    references = [Reference(name, name, 1) for name in resolved]
    return parse(str(row["schema"]), references, resolved, strict=bool(row.get("strict", True)))


@pytest.mark.parametrize("row", [row for row in ROWS if "error" not in row], ids=lambda row: row["schema"][:60])
def test_forms_are_javas(row: dict[str, object]) -> None:
    schema = read(row)
    assert schema.canonical_text == row["canonical"]
    assert schema.name == row["name"]
    assert schema.parsing_form == row["parsing"]
    assert int.from_bytes(schema.fingerprint(), "little", signed=True) == row["rabin"]
    assert schema.formatted("resolved") == row["inlined"]
    if "normal" in row:
        assert schema.normalized().canonical_text == row["normal"]


@pytest.mark.parametrize("row", [row for row in ROWS if "error" in row], ids=lambda row: row["schema"][:60])
def test_refusals_are_javas(row: dict[str, object]) -> None:
    with pytest.raises(InvalidSchemaError) as raised:
        read(row)
    assert raised.value.message == row["error"]


@pytest.mark.parametrize("row", [row for row in ROWS if "error" not in row], ids=lambda row: row["schema"][:60])
def test_canonical_text_is_its_own_canonical_text(row: dict[str, object]) -> None:
    schema = read(row)
    again = read(row | {"schema": schema.canonical_text})
    assert again == schema
    assert hash(again) == hash(schema)


def test_an_error_leads_to_its_place() -> None:
    text = '{"type":"record","name":"A","fields":[{"name":"a","type":"int"},{"name":"b","type":{"type":"array"}}]}'
    with pytest.raises(InvalidSchemaError) as raised:
        parse(text, (), {}, strict=True)
    assert raised.value.path == "/fields/1/type"


def test_other_fingerprints() -> None:
    schema = parse('"int"', (), {}, strict=True)
    assert schema.fingerprint(Algorithm.MD5).hex() == "ef524ea1b91e73173d938ade36c1db32"
    assert (
        schema.fingerprint(Algorithm.SHA256).hex() == "3f2b87a9fe7cc9b13835598c3981cd45e3e355309e5090aa0933d7becb6fba45"
    )


def test_references_may_use_each_other_in_any_order() -> None:
    line = '{"type":"record","name":"Line","fields":[{"name":"sku","type":"Sku"}]}'
    sku = '{"type":"fixed","name":"Sku","size":8}'
    schema = parse('{"type":"array","items":"Line"}', (), {"Line": line, "Sku": sku}, strict=True)
    assert schema.canonical_text == '{"type":"array","items":"Line"}'
    assert '"size":8' in schema.formatted("resolved")


def test_normalising_sorts_references() -> None:
    references = (Reference("b", "b-value", 2), Reference("a", "a-value", 1), Reference("b", "b-value", 2))
    schema = parse('"int"', references, {}, strict=True)
    assert schema.normalized().references == (Reference("a", "a-value", 1), Reference("b", "b-value", 2))
