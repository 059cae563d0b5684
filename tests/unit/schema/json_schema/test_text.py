"""Texts of JSON Schemas, one by one, with what Confluent's registry makes of them."""

import json
from pathlib import Path

import pytest

from ottla.schema.error import InvalidSchemaError
from ottla.schema.json_schema.parse import parse
from ottla.schema.json_schema.schema import JsonSchema

ROWS = [json.loads(line) for line in Path("tests/vectors/schemas/json_texts.jsonl").read_text().splitlines()]


def read(text: str, **resolved: str) -> JsonSchema:
    return parse(text, (), {name.replace("_", "."): content for name, content in resolved.items()}, strict=True)


def test_forms_are_confluents() -> None:
    for row in ROWS:
        if not row.get("refused"):
            schema = read(row["schema"])
            assert schema.canonical_text == row["canonical"], row
            assert schema.normalized().canonical_text == row["normal"], row
            assert schema.name == row["name"], row
            assert read(schema.canonical_text) == schema


@pytest.mark.parametrize("text", [row["schema"] for row in ROWS if row.get("refused")])
def test_refusals_are_confluents(text: str) -> None:
    with pytest.raises(InvalidSchemaError):
        read(text)


@pytest.mark.parametrize(
    ("text", "path"),
    [
        ('{"properties":{"a":{"items":[{},{"minLength":"x"}]}}}', "#/properties/a/items/1/minLength"),
        ('{"definitions":{"X":{"type":"foo"}},"$ref":"#/definitions/X"}', "#/definitions/X/type"),
        ('{"properties":{"a":{"$ref":"#/definitions/Y"}}}', "#/properties/a/$ref"),
        ('{"patternProperties":{"(":{}}}', "#/patternProperties/("),
        (
            '{"$schema":"https://json-schema.org/draft/2020-12/schema","allOf":[{"required":[1]}]}',
            "#/allOf/0/required/0",
        ),
    ],
)
def test_an_error_leads_to_its_place(text: str, path: str) -> None:
    with pytest.raises(InvalidSchemaError) as raised:
        read(text)
    assert raised.value.path == path


def test_properties_starting_with_dollars_are_for_stored_schemas_only() -> None:
    text = '{"type":"object","properties":{"$$a":{}}}'
    with pytest.raises(InvalidSchemaError, match=r"Field names cannot start with \$\$ prefix"):
        read(text)
    assert parse(text, (), {}, strict=False).canonical_text == text


def test_references_go_from_document_to_document() -> None:
    order = '{"properties":{"customer":{"$ref":"customer.json#/definitions/C"}}}'
    customer = '{"definitions":{"C":{"properties":{"address":{"$ref":"address.json"}}}}}'
    assert read(order, customer_json=customer, address_json='{"type":"string"}')
    with pytest.raises(InvalidSchemaError, match=r"address\.json leads nowhere"):
        read(order, customer_json=customer)


@pytest.mark.parametrize(
    "reference", ["http://127.0.0.1:9/x.json", "file:///etc/passwd", "urn:x:y", "http://[", "other.json#/a"]
)
def test_nothing_is_fetched(reference: str) -> None:
    with pytest.raises(InvalidSchemaError, match="nothing is fetched"):
        read(json.dumps({"$ref": reference}))


def test_metaschemas_are_at_hand() -> None:
    for uri in ("http://json-schema.org/draft-07/schema#", "https://json-schema.org/draft/2020-12/schema"):
        assert read(json.dumps({"properties": {"schema": {"$ref": uri}}}))
