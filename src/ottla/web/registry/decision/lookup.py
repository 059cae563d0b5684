"""Is this schema registered under a subject, and as which version?"""

from dataclasses import replace

from ottla.schema.metadata import VERSION_PROPERTY, Metadata, merge_metadata, without_version
from ottla.schema.parsed import ParsedSchema
from ottla.schema.rule import RuleSet, merge_rule_sets
from ottla.web.http.errors import HttpError
from ottla.web.registry.decision.errors import schema_not_found, subject_not_found
from ottla.web.registry.decision.parsing import Parsing, content_of
from ottla.web.registry.decision.rule import RegistryRule
from ottla.web.registry.decision.schema_request import SchemaRequest
from ottla.web.registry.decision.scope import config_in_scope
from ottla.web.registry.state.config_value import ConfigValue
from ottla.web.registry.state.registry_state import RegistryState
from ottla.web.registry.state.stored_schema import StoredSchema
from ottla.web.registry.state.subject_name import SubjectName, context_of, parse_subject

_PREFILLED = ("defaultMetadata", "overrideMetadata", "defaultRuleSet", "overrideRuleSet")


def has_prefills(config: ConfigValue) -> bool:
    """Whether the settings add something to each schema."""
    return any(config.get(name) is not None for name in _PREFILLED)


def prefilled(config: ConfigValue, request: SchemaRequest, previous: StoredSchema | None) -> SchemaRequest:
    """The request with metadata and rules: its own or the previous version's, between defaults and overrides."""
    own_metadata, own_rules = request.metadata, request.rule_set
    if previous is not None:
        own_metadata = previous.content.metadata if own_metadata is None else own_metadata
        own_rules = previous.content.rule_set if own_rules is None else own_rules
    metadata = merge_metadata(merge_metadata(_metadata(config, "default"), own_metadata), _metadata(config, "override"))
    rules = merge_rule_sets(merge_rule_sets(_rule_set(config, "default"), own_rules), _rule_set(config, "override"))
    if metadata is None and rules is None:
        return request
    return replace(request, metadata=metadata, rule_set=rules)


def find(
    state: RegistryState, rule: RegistryRule, subject: str, request: SchemaRequest, *, normalize: bool, deleted: bool
) -> StoredSchema | None:
    """The version of the subject with this content. Raises `HttpError` 42201 for a text that is none."""
    if not request.text.strip():
        return None
    parsed = rule.parsed.sent(state, subject, request, Parsing(strict=False, normalize=normalize))
    digest = content_of(parsed, request).digest()
    context = state.context(context_of(subject))
    known = context.id_of(digest)
    if known is not None:
        matches = [
            state.subject(subject).versions[version] for name, version in context.ids[known].uses if name == subject
        ] or [stored for stored in state.subject(subject).ascending() if stored.digest == digest]
        usable = [stored for stored in matches if deleted or not stored.deleted]
        if usable:
            return max(usable, key=lambda stored: stored.version)
    return _find_alike(state, rule, subject, (parsed, request), deleted=deleted)


def _find_alike(
    state: RegistryState, rule: RegistryRule, subject: str, sent: tuple[ParsedSchema, SchemaRequest], *, deleted: bool
) -> StoredSchema | None:
    """The newest version that is what was sent, but for the version's number, or for references written out."""
    parsed, request = sent
    is_numbered = request.metadata is not None and VERSION_PROPERTY in request.metadata.property_by_name
    # Others could only be exactly what was sent. A subject may have thousands of them, so they are left out first.
    candidates = [
        stored
        for stored in state.subject(subject).versions.values()
        if is_numbered or stored.content.metadata is not None or stored.content.references
    ]
    for stored in sorted(candidates, key=lambda each: each.version, reverse=True):
        content = stored.content
        if stored.deleted and not deleted:
            continue
        if content.schema_type != parsed.schema_type.value or content.rule_set != request.rule_set:
            continue
        metadata = content.metadata
        if metadata != request.metadata and not _differ_by_version(request.metadata, metadata, stored.version):
            continue
        if content.references == parsed.references:
            if content.text == parsed.canonical_text:
                return stored
        elif not parsed.references and rule.parsed.stored(state, stored).formatted("resolved") == parsed.canonical_text:
            return stored
    return None


def _differ_by_version(sent: Metadata | None, stored: Metadata | None, version: int) -> bool:
    """Whether one of both carries the version's number, and nothing else tells them apart."""
    sent, stored = sent or Metadata(), stored or Metadata()
    number, other = sent.property_by_name.get(VERSION_PROPERTY), stored.property_by_name.get(VERSION_PROPERTY)
    if (number is None) == (other is None) or number not in (None, str(version)):
        return False
    return without_version(sent) == without_version(stored)


def look_up(
    state: RegistryState, rule: RegistryRule, subject: str, request: SchemaRequest, *, normalize: bool, deleted: bool
) -> StoredSchema:
    """The registered version, with the metadata that registering would add; a plain subject in any context.

    Raises `HttpError` 40401 or 40403.
    """
    found = _find_prefilled(state, rule, subject, request, normalize=normalize, deleted=deleted)
    name = parse_subject(subject)
    if found is None and not name.prefix:
        for context in state.other_contexts():
            other = SubjectName(context, name.subject).qualified
            try:
                found = _find_prefilled(state, rule, other, request, normalize=normalize, deleted=deleted)
            except HttpError:
                continue
            if found is not None:
                break
    if found is not None:
        return found
    if not any(True for _ in _subjects(state, subject, deleted=deleted)):
        raise subject_not_found(subject)
    raise schema_not_found()


def _find_prefilled(
    state: RegistryState, rule: RegistryRule, subject: str, request: SchemaRequest, *, normalize: bool, deleted: bool
) -> StoredSchema | None:
    config = config_in_scope(state, subject, rule.default_level)
    normalize = normalize or bool(config.get("normalize"))
    found = find(state, rule, subject, request, normalize=normalize, deleted=deleted)
    latest = state.subject(subject).latest()
    if found is not None or latest is None:
        return found
    filled = prefilled(config, request, latest)
    return None if filled == request else find(state, rule, subject, filled, normalize=normalize, deleted=deleted)


def _subjects(state: RegistryState, subject: str, *, deleted: bool) -> "list[str]":
    return [
        each
        for each in state.matching(subject)
        if deleted or any(not stored.deleted for stored in state.subject(each).versions.values())
    ]


def has_subjects(state: RegistryState, subject: str, *, deleted: bool) -> bool:
    """Whether the subject, or the context that the name stands for, has a version."""
    return bool(_subjects(state, subject, deleted=deleted))


def _metadata(config: ConfigValue, which: str) -> Metadata | None:
    value = config.get(f"{which}Metadata")
    return None if value is None else Metadata.from_json(value)


def _rule_set(config: ConfigValue, which: str) -> RuleSet | None:
    value = config.get(f"{which}RuleSet")
    return None if value is None else RuleSet.from_json(value)
