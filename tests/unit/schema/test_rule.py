"""What travels with a schema: JSON in and out, merging, and which rules are refused."""

import pytest

from ottla.schema.error import InvalidMetadataError, InvalidRuleError
from ottla.schema.metadata import Metadata, merge_metadata
from ottla.schema.rule import Rule, RuleSet, merge_rule_sets

METADATA = {
    "tags": {"a.b": ["PII", "HIGH"], "a": []},
    "properties": {"owner": "billing", "age": 3, "live": True},
    "sensitive": ["owner"],
    "unknown": 1,
}
RULE_SET = {
    "migrationRules": [{"name": "up", "mode": "UPGRADE", "type": "JSONATA", "expr": "$"}],
    "domainRules": [
        {
            "name": "card",
            "kind": "CONDITION",
            "mode": "WRITE",
            "type": "CEL",
            "tags": ["b", "a"],
            "params": {"y": "2", "x": "1"},
            "onFailure": "DLQ",
            "disabled": True,
        }
    ],
    "enableAt": "CLIENT",
}


def test_metadata_in_and_out() -> None:
    metadata = Metadata.from_json(METADATA)
    assert metadata.to_json() == {
        "tags": {"a": [], "a.b": ["HIGH", "PII"]},
        "properties": {"age": "3", "live": "true", "owner": "billing"},
        "sensitive": ["owner"],
    }
    assert Metadata.from_json(metadata.to_json()) == metadata
    assert Metadata.from_json({}).to_json() == {}


def test_keys_sort_as_javas_strings() -> None:
    metadata = Metadata.of(properties={"\ufffd": "", "\U0001f600": "", "a": ""})
    assert [key for key, _ in metadata.properties] == ["a", "\U0001f600", "\ufffd"]


@pytest.mark.parametrize(
    ("value", "place"),
    [
        ([], "metadata"),
        ({"tags": ["x"]}, "metadata.tags"),
        ({"tags": {"a": "x"}}, "metadata.tags.a"),
        ({"properties": {"a": {}}}, "metadata.properties.a"),
        ({"sensitive": [["x"]]}, "metadata.sensitive[0]"),
    ],
)
def test_metadata_of_another_shape_is_named(value: object, place: str) -> None:
    with pytest.raises(InvalidMetadataError) as raised:
        Metadata.from_json(value)
    assert raised.value.path == place


def test_the_later_metadata_wins_by_key() -> None:
    default = Metadata.of(tags={"a": ["1"], "b": ["1"]}, properties={"p": "default", "q": "default"}, sensitive=["p"])
    request = Metadata.of(tags={"a": ["2"]}, properties={"q": "request", "r": "request"}, sensitive=["q"])
    override = Metadata.of(properties={"r": "override"})
    merged = merge_metadata(merge_metadata(default, request), override)
    assert merged == Metadata.of(
        tags={"a": ["2"], "b": ["1"]},
        properties={"p": "default", "q": "request", "r": "override"},
        sensitive=["p", "q"],
    )
    assert merge_metadata(None, request) is request
    assert merge_metadata(default, None) is default


def test_rule_set_in_and_out() -> None:
    rule_set = RuleSet.from_json(RULE_SET)
    rule_set.validate()
    assert rule_set.to_json() == {
        "migrationRules": [
            {
                "name": "up",
                "kind": "TRANSFORM",
                "mode": "UPGRADE",
                "type": "JSONATA",
                "expr": "$",
                "disabled": False,
            }
        ],
        "domainRules": [
            {
                "name": "card",
                "kind": "CONDITION",
                "mode": "WRITE",
                "type": "CEL",
                "tags": ["a", "b"],
                "params": {"x": "1", "y": "2"},
                "onFailure": "DLQ",
                "disabled": True,
            }
        ],
        "enableAt": "CLIENT",
    }
    assert RuleSet.from_json(rule_set.to_json()) == rule_set


def test_later_rules_replace_those_of_their_name_and_come_last() -> None:
    base = RuleSet(domain_rules=(Rule("a", type="CEL"), Rule("b", type="CEL")))
    winner = RuleSet(domain_rules=(Rule("a", type="OTHER"),))
    merged = merge_rule_sets(base, winner)
    assert merged is not None
    assert [(rule.name, rule.type) for rule in merged.domain_rules] == [("b", "CEL"), ("a", "OTHER")]
    assert merge_rule_sets(None, winner) is winner


@pytest.mark.parametrize(
    ("rules", "message"),
    [
        ({"domainRules": [{"type": "CEL"}]}, "Missing rule name"),
        ({"domainRules": [{"name": "", "type": "CEL"}]}, "Empty rule name"),
        ({"domainRules": [{"name": "1a", "type": "CEL"}]}, "Illegal initial character in rule name: 1a"),
        ({"domainRules": [{"name": "a.b", "type": "CEL"}]}, "Illegal character in rule name: a.b"),
        ({"domainRules": [{"name": "a" * 257, "type": "CEL"}]}, "Rule name too long"),
        ({"domainRules": [{"name": "a"}]}, "Missing rule type"),
        (
            {"domainRules": [{"name": "a", "type": "CEL", "mode": "UPGRADE"}]},
            "Domain rules can only be WRITE, READ, WRITEREAD",
        ),
        (
            {"encodingRules": [{"name": "a", "type": "CEL", "mode": "UPDOWN"}]},
            "Encoding rules can only be WRITE, READ, WRITEREAD",
        ),
        (
            {"migrationRules": [{"name": "a", "type": "CEL", "mode": "READ"}]},
            "Migration rules can only be UPGRADE, DOWNGRADE, UPDOWN",
        ),
        (
            {"domainRules": [{"name": "a", "type": "CEL", "mode": "READ", "onSuccess": "NONE,ERROR"}]},
            "Multiple actions only valid with WRITEREAD and UPDOWN",
        ),
        (
            {
                "domainRules": [{"name": "a", "type": "CEL"}],
                "migrationRules": [{"name": "a", "type": "CEL", "mode": "UPGRADE"}],
            },
            "Found rule with duplicate name 'a'",
        ),
    ],
)
def test_rules_that_no_client_could_run(rules: dict[str, object], message: str) -> None:
    with pytest.raises(InvalidRuleError) as raised:
        RuleSet.from_json(rules).validate()
    assert str(raised.value) == message


def test_an_unknown_mode_is_named() -> None:
    with pytest.raises(InvalidMetadataError, match=r"ruleSet\.domainRules\[0\]\.mode: one of UPGRADE"):
        RuleSet.from_json({"domainRules": [{"name": "a", "mode": "SOMETIMES"}]})
