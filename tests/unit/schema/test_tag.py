"""Tags inside of schemas: found, added and removed by the paths that Confluent's registry has for them."""

import json
from typing import Any

import pytest

from ottla.schema.error import InvalidSchemaError
from ottla.schema.parse import parse
from ottla.schema.parsed import ParsedSchema
from ottla.schema.schema_type import SchemaType
from ottla.schema.tag import Entity, EntityKind, TagChange, retagged, tagged, with_tags_of

PERSON = {
    "type": "record",
    "name": "Person",
    "namespace": "hr",
    "fields": [
        {"name": "name", "type": "string", "confluent:tags": ["PII"]},
        {
            "name": "home",
            "type": ["null", {"type": "record", "name": "Home", "fields": [{"name": "street", "type": "string"}]}],
            "default": None,
        },
        {
            "name": "calls",
            "type": {
                "type": "array",
                "items": {"type": "record", "name": "tel.Call", "fields": [{"name": "number", "type": "long"}]},
            },
        },
    ],
}
CARD = {
    "type": "object",
    "properties": {
        "holder": {"type": "string", "confluent:tags": ["PII"]},
        "lines": {"type": "array", "items": {"type": "object", "properties": {"price": {"type": "number"}}}},
        "owner": {"oneOf": [{"type": "string"}, {"type": "object", "properties": {"id": {"type": "integer"}}}]},
        "a.b": {"type": "string"},
        "home": {"$ref": "#/definitions/Home"},
        "never": {"not": {"type": "object", "properties": {"x": {"type": "string"}}}},
    },
    "definitions": {"Home": {"type": "object", "properties": {"street": {"type": "string"}}}},
}
PROTO = """syntax = "proto3";
package shop;

import "confluent/meta.proto";

message Order {
  option (confluent.message_meta).doc = "an order";
  string card = 1 [(confluent.field_meta).tags = "PII"];
  oneof payer {
    string name = 2;
    int64 account = 3;
  }
  message Line {
    double price = 1 [deprecated = true];
  }
}
"""


def avro(document: Any) -> ParsedSchema:
    return parse(SchemaType.AVRO, json.dumps(document), strict=True)


def json_schema(document: Any) -> ParsedSchema:
    return parse(SchemaType.JSON, json.dumps(document), strict=True)


def proto(text: str) -> ParsedSchema:
    return parse(SchemaType.PROTOBUF, text, strict=True)


def field(path: str) -> Entity:
    return Entity(path, EntityKind.FIELD)


def record(path: str) -> Entity:
    return Entity(path, EntityKind.RECORD)


def again(schema: ParsedSchema, text: str) -> ParsedSchema:
    return parse(schema.schema_type, text, strict=True)


AVRO_PATHS = [field("hr.Person.home"), record("hr.Person"), field("hr.Home.street"), record("tel.Call")]
JSON_PATHS = [
    field("object.holder"),
    record("object"),
    field("object.lines.array.object.price"),
    record("object.lines.array.object"),
    field("object.owner.oneof.0.object.id"),
    field("object.a.b"),
    field("object.home"),
    field("object.never.not.object.x"),
    field("object.definitions.Home.object.street"),
    record("object.definitions.Home.object"),
]
PROTO_PATHS = [
    record("Order"),
    field("Order.card"),
    field("Order.name"),
    record("Order.Line"),
    field("Order.Line.price"),
]


@pytest.mark.parametrize(
    ("schema", "entities"),
    [(avro(PERSON), AVRO_PATHS), (json_schema(CARD), JSON_PATHS), (proto(PROTO), PROTO_PATHS)],
    ids=["avro", "json", "protobuf"],
)
def test_a_tag_is_found_where_it_was_put_and_gone_when_it_is_removed(
    schema: ParsedSchema, entities: list[Entity]
) -> None:
    before = tagged(schema)
    assert set(before.values()) == {("PII",)}
    for entity in entities:
        more = again(schema, retagged(schema, TagChange({entity: ("NEW", "PII")}, {})))
        present = before.get(entity, ())
        assert tagged(more) == {**before, entity: (*present, *(t for t in ("NEW", "PII") if t not in present))}
        less = again(schema, retagged(more, TagChange({}, {entity: ("NEW",) if present else ("NEW", "PII")})))
        assert tagged(less) == before
    everywhere = again(schema, retagged(schema, TagChange(dict.fromkeys(entities, ("ALL",)), {})))
    assert all("ALL" in tagged(everywhere)[entity] for entity in entities)


@pytest.mark.parametrize(
    ("schema", "entity"),
    [
        (avro(PERSON), field("hr.Person.none")),
        (avro(PERSON), record("hr.None")),
        (avro(PERSON), field("")),
        (json_schema(CARD), field("object.none")),
        (json_schema(CARD), field("object")),
        (json_schema(CARD), field("object.owner.oneof.7.object.id")),
        (json_schema(CARD), field("object.owner.oneof.x")),
        (json_schema(CARD), record("array")),
        (json_schema(True), record("object")),
        (proto(PROTO), field("Order.none")),
        (proto(PROTO), field("Order.payer.none")),
        (proto(PROTO), record("None")),
        (proto(PROTO), record("")),
    ],
)
def test_a_path_that_leads_nowhere_is_refused(schema: ParsedSchema, entity: Entity) -> None:
    with pytest.raises(InvalidSchemaError, match="No matching path"):
        retagged(schema, TagChange({entity: ("PII",)}, {}))


def test_a_record_of_avro_is_found_by_its_simple_name() -> None:
    schema = avro(PERSON)
    assert record("hr.Home") in tagged(again(schema, retagged(schema, TagChange({record("Home"): ("PII",)}, {}))))


def test_what_is_both_added_and_removed_is_removed() -> None:
    schema = avro(PERSON)
    name = field("hr.Person.name")
    text = retagged(schema, TagChange({name: ("NEW", "OLD")}, {name: ("OLD", "PII")}))
    assert tagged(again(schema, text)) == {name: ("NEW",)}


def test_a_field_of_a_oneof_has_a_second_path() -> None:
    schema = proto(PROTO)
    text = retagged(schema, TagChange({field("Order.payer.account"): ("PII",)}, {}))
    assert tagged(again(schema, text))[field("Order.account")] == ("PII",)


def test_protobuf_keeps_what_else_is_said_about_an_element() -> None:
    text = retagged(proto(PROTO), TagChange({record("Order"): ("X",), field("Order.Line.price"): ("Y",)}, {}))
    assert 'doc: "an order"' in text
    assert "deprecated = true" in text


def test_types_with_several_kinds_of_keywords_are_counted_by_kind() -> None:
    schema = json_schema(
        {
            "anyOf": [
                {"type": "string", "title": "b"},
                {"type": "object", "properties": {"x": {"type": "null"}}},
                {"type": "string", "title": "a"},
            ],
            "properties": {"y": {"type": ["null", "object"], "properties": {"z": {"type": "string"}}}},
            "if": {"properties": {"w": {"type": "string"}}},
        }
    )
    paths = [
        *("allof.0.anyof.0.object.x", "allof.2.object.y", "allof.2.object.y.anyof.1.object.z"),
        "allof.1.conditional.if.object.w",
    ]
    text = retagged(schema, TagChange({field(path): ("PII",) for path in paths}, {}))
    assert sorted(entity.path for entity in tagged(again(schema, text))) == sorted(paths)


def test_the_next_version_takes_over_the_tags_of_what_both_have() -> None:
    before = avro(PERSON)
    fields: list[Any] = PERSON["fields"]  # type: ignore[assignment]
    after = avro({**PERSON, "fields": [{"name": "name", "type": "string"}, fields[2]]})
    assert tagged(again(after, with_tags_of(after, before))) == {field("hr.Person.name"): ("PII",)}
    gone = avro({**PERSON, "fields": fields[2:]})
    assert with_tags_of(gone, before) == gone.canonical_text
