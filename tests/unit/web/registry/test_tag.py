"""Versions with other tags, the number that they carry, and how they are found again."""

import json
from typing import Any

import pytest

from ottla.web.http.errors import HttpError
from ottla.web.registry.decision.lookup import look_up
from ottla.web.registry.decision.register import already_registered, register
from ottla.web.registry.decision.tag import parse_tag_request, retagging
from ottla.web.registry.state.stored_schema import StoredSchema
from tests.unit.web.registry.driven import Driven, avro, request

RECORD = {"schemaEntity": {"entityPath": "R", "entityType": "sr_record"}, "tags": ["A", "B"]}
FIELD = {"schemaEntity": {"entityPath": ".R.x", "entityType": "sr_field"}, "tags": ["PII"]}


class Tagging(Driven):
    """A registry with a subject `a`."""

    def __init__(self) -> None:
        super().__init__()
        self.register("a", avro("x"))

    def retag(self, **fields: Any) -> StoredSchema:
        latest = self.state.subject("a").latest()
        assert latest is not None
        wish = retagging(self.state, self.rule, latest, parse_tag_request(fields))
        return self.take(register(self.state, self.rule, "a", wish, normalize=False))


@pytest.fixture
def registry() -> Tagging:
    """A registry with one version."""
    return Tagging()


def properties(stored: StoredSchema) -> dict[str, str]:
    return {} if stored.content.metadata is None else stored.content.metadata.property_by_name


def tags(stored: StoredSchema) -> tuple[object, object]:
    document = json.loads(stored.content.text)
    return document.get("confluent:tags"), document["fields"][0].get("confluent:tags")


def test_tags_make_a_version_that_carries_its_number(registry: Tagging) -> None:
    second = registry.retag(tagsToAdd=[RECORD, FIELD], newVersion=2)
    assert (second.version, second.id, properties(second)) == (2, 2, {"confluent:version": "2"})
    assert tags(second) == (["A", "B"], ["PII"])
    third = registry.retag(tagsToRemove=[{**RECORD, "tags": ["B"]}])
    assert (third.version, properties(third), tags(third)) == (3, {"confluent:version": "3"}, (["A"], ["PII"]))
    assert registry.replayed() == registry.state


def test_registering_changes_tags_and_keeps_them(registry: Tagging) -> None:
    second = registry.register("a", avro("x"), schemaTagsToAdd=[RECORD])
    assert (second.version, properties(second), tags(second)) == (2, {"confluent:version": "2"}, (["A", "B"], None))
    third = registry.register("a", avro("x", "y?"), propagateSchemaTags=True)
    assert (third.version, properties(third), tags(third)) == (3, {"confluent:version": "3"}, (["A", "B"], None))
    with pytest.raises(HttpError) as refused:
        registry.register("a", avro("x"), schemaTagsToAdd=[RECORD], version=3)
    assert refused.value.error_code == 42201


def test_rules_of_the_version_before_are_merged_and_removed(registry: Tagging) -> None:
    rules = [{"name": name, "kind": "CONDITION", "mode": "WRITE", "type": "CEL"} for name in ("one", "two")]
    second = registry.retag(ruleSet={"domainRules": rules})
    third = registry.retag(rulesToMerge={"domainRules": [{**rules[0], "expr": "true"}]}, rulesToRemove=["two"])
    assert [r.name for r in second.content.rule_set.domain_rules] == ["one", "two"]  # type: ignore[union-attr]
    assert [(r.name, r.expr) for r in third.content.rule_set.domain_rules] == [("one", "true")]  # type: ignore[union-attr]
    with pytest.raises(HttpError) as refused:
        registry.retag(ruleSet={}, rulesToRemove=["one"])
    assert refused.value.error_code == 42210


@pytest.mark.parametrize(
    ("fields", "error_code"),
    [
        ({"tagsToAdd": [{**FIELD, "schemaEntity": {"entityPath": "R.none", "entityType": "sr_field"}}]}, 42201),
        ({"tagsToAdd": [FIELD], "newVersion": 5}, 42201),
        ({"tagsToAdd": {}}, 422),
        ({"tagsToAdd": [{"tags": ["PII"]}]}, 422),
        ({"tagsToAdd": [{**FIELD, "tags": [1]}]}, 422),
        ({"newVersion": "2"}, 422),
        ({"rulesToRemove": "one"}, 422),
        ({"metadata": []}, 422),
    ],
)
def test_what_can_not_be_tagged(registry: Tagging, fields: dict[str, Any], error_code: int) -> None:
    with pytest.raises(HttpError) as refused:
        registry.retag(**fields)
    assert (refused.value.status, refused.value.error_code) == (422, error_code)
    assert registry.versions("a") == [1]


def test_a_version_that_carries_its_number_is_found_without_it(registry: Tagging) -> None:
    stored = registry.register("a", avro("x", "y?"), version=2)
    assert properties(stored) == {"confluent:version": "2"}
    assert registry.register("a", avro("x", "y?"), version=-1).version == 3
    for sent in (request(avro("x", "y?")), request(avro("x", "y?"), version=-1)):
        found = already_registered(registry.state, registry.rule, "a", sent, normalize=False)
        assert found is not None
        assert found.version == 3
    numbered = request(avro("x"), metadata={"properties": {"confluent:version": "1"}})
    found = look_up(registry.state, registry.rule, "a", numbered, normalize=False, deleted=False)
    assert found.version == 1
    wrong = request(avro("x"), metadata={"properties": {"confluent:version": "2"}})
    with pytest.raises(HttpError) as refused:
        look_up(registry.state, registry.rule, "a", wrong, normalize=False, deleted=False)
    assert refused.value.error_code == 40403


def test_a_schema_with_its_references_written_out_is_the_registered_one(registry: Tagging) -> None:
    registry.register("money", avro("amount", name="Money"))
    order = {"type": "record", "name": "Order", "fields": [{"name": "price", "type": "Money"}]}
    reference = {"name": "Money", "subject": "money", "version": 1}
    stored = registry.register("order", json.dumps(order), references=[reference])
    order["fields"] = [{"name": "price", "type": json.loads(avro("amount", name="Money"))}]
    found = look_up(registry.state, registry.rule, "order", request(json.dumps(order)), normalize=False, deleted=False)
    assert found == stored
    known = already_registered(registry.state, registry.rule, "order", request(json.dumps(order)), normalize=False)
    assert known == stored
