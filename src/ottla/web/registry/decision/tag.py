"""Changing the tags inside of a schema, which makes a new version of it."""

from collections.abc import Collection, Mapping
from dataclasses import replace
from typing import Any

from ottla.base.frozen import frozen
from ottla.schema.error import InvalidMetadataError, InvalidRuleError, InvalidSchemaError
from ottla.schema.metadata import Metadata, with_version
from ottla.schema.rule import Rule, RuleSet, merge_rule_sets
from ottla.schema.tag import TagChange, retagged, with_tags_of
from ottla.web.registry.decision.errors import invalid_request, invalid_rule_set, invalid_schema
from ottla.web.registry.decision.parsing import Parsing
from ottla.web.registry.decision.rule import RegistryRule
from ottla.web.registry.decision.schema_request import SchemaRequest, request_of
from ottla.web.registry.decision.tag_request import parse_tag_change
from ottla.web.registry.state.registry_state import RegistryState
from ottla.web.registry.state.stored_schema import StoredSchema


@frozen
class TagRequest:
    """The changes of the next version against the one that the path names."""

    change: TagChange
    new_version: int
    """0 is the next one."""
    metadata: Metadata | None
    rule_set: RuleSet | None
    merged_rules: RuleSet | None
    removed_rules: frozenset[str]


def parse_tag_request(body: object) -> TagRequest:
    """The request in a decoded body. Raises `HttpError`."""
    if not isinstance(body, dict):
        raise invalid_request("The request needs a JSON object")
    version = body.get("newVersion") or 0
    if isinstance(version, bool) or not isinstance(version, int) or not -(1 << 31) <= version < 1 << 31:
        raise invalid_request("newVersion must be an integer of 32 bits")
    removed = body.get("rulesToRemove") or []
    if not isinstance(removed, list) or not all(isinstance(each, str) for each in removed):
        raise invalid_request("rulesToRemove must be a list of names")
    rule_set, merged = _rules(body, "ruleSet"), _rules(body, "rulesToMerge")
    if rule_set is not None and (merged is not None or removed):
        raise invalid_rule_set("ruleSet should be omitted if specifying rulesToMerge or rulesToRemove")
    try:
        metadata = None if body.get("metadata") is None else Metadata.from_json(body["metadata"])
    except InvalidMetadataError as error:
        raise invalid_request(str(error)) from None
    change = parse_tag_change(body, "tagsToAdd", "tagsToRemove") or TagChange({}, {})
    return TagRequest(change, version, metadata, rule_set, merged, frozenset(removed))


def retagging(state: RegistryState, rule: RegistryRule, stored: StoredSchema, wish: TagRequest) -> SchemaRequest:
    """The request to register a version with other tags. Raises `HttpError`."""
    request = request_of(stored.content)
    return replace(
        request,
        text=_retagged(state, rule, stored.subject, request, wish.change),
        metadata=with_version(wish.metadata or stored.content.metadata, wish.new_version),
        rule_set=_rules_wanted(state, stored.subject, wish),
        version=wish.new_version,
    )


def with_tags(
    state: RegistryState, rule: RegistryRule, subject: str, request: SchemaRequest, previous: StoredSchema | None
) -> SchemaRequest:
    """The request with its tags in its text: those that it asks for, and those that the latest version has.

    A text whose tags the request changes becomes a version that carries its number.
    """
    if request.tags is not None:
        text = _retagged(state, rule, subject, request, request.tags)
        request = replace(request, text=text, tags=None, version=request.version or -1)
    if request.propagates_tags and previous is not None and previous.content.schema_type == request.schema_type.value:
        parsed = rule.parsed.sent(state, subject, request, _LENIENT)
        request = replace(request, text=with_tags_of(parsed, rule.parsed.stored(state, previous)))
    return request


_LENIENT = Parsing(strict=False, normalize=False)


def _retagged(state: RegistryState, rule: RegistryRule, subject: str, request: SchemaRequest, change: TagChange) -> str:
    try:
        return retagged(rule.parsed.sent(state, subject, request, _LENIENT), change)
    except InvalidSchemaError as error:
        raise invalid_schema(str(error)) from None


def _rules_wanted(state: RegistryState, subject: str, wish: TagRequest) -> RuleSet | None:
    """The request's rules, or those of the version before the new one, changed."""
    if wish.merged_rules is None and not wish.removed_rules:
        return wish.rule_set
    before = state.version(subject, wish.new_version - 1 if wish.new_version else -1, deleted=False)
    rules = merge_rule_sets(None if before is None else before.content.rule_set, wish.merged_rules)
    return None if rules is None else _without(rules, wish.removed_rules)


def _without(rules: RuleSet, names: Collection[str]) -> RuleSet:
    def kept(some: tuple[Rule, ...]) -> tuple[Rule, ...]:
        return tuple(each for each in some if each.name not in names)

    migration, domain = kept(rules.migration_rules), kept(rules.domain_rules)
    return RuleSet(migration, domain, kept(rules.encoding_rules), rules.enable_at)


def _rules(body: Mapping[str, Any], name: str) -> RuleSet | None:
    if body.get(name) is None:
        return None
    try:
        rules = RuleSet.from_json(body[name])
        rules.validate()
    except InvalidMetadataError as error:
        raise invalid_request(str(error)) from None
    except InvalidRuleError as error:
        raise invalid_rule_set(str(error)) from None
    return rules
