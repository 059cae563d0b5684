"""Registering a schema: the same one again, the same one elsewhere, a new version, or an import.

Ids count from 1 in each context and are given once for each distinct content. A version number is one more than all
that the subject has, deleted ones included.
"""

from dataclasses import replace

from ottla.schema.metadata import VERSION_PROPERTY, with_version
from ottla.schema.parsed import ParsedSchema
from ottla.web.registry.decision.compatibility import incompatibilities
from ottla.web.registry.decision.errors import incompatible, invalid_schema, not_permitted
from ottla.web.registry.decision.lookup import find, has_prefills, prefilled
from ottla.web.registry.decision.outcome import Outcome, Record, record
from ottla.web.registry.decision.parsing import Parsing, content_of
from ottla.web.registry.decision.rule import RegistryRule
from ottla.web.registry.decision.schema_request import SchemaRequest, request_of
from ottla.web.registry.decision.scope import config_in_scope, mode_in_scope
from ottla.web.registry.decision.tag import with_tags
from ottla.web.registry.state.mode import Mode
from ottla.web.registry.state.record_key import ContextKey, SchemaKey
from ottla.web.registry.state.registry_state import RegistryState
from ottla.web.registry.state.stored_schema import SchemaContent, StoredSchema
from ottla.web.registry.state.subject_name import DEFAULT_CONTEXT, parse_subject, within


def already_registered(
    state: RegistryState, rule: RegistryRule, subject: str, request: SchemaRequest, *, normalize: bool
) -> StoredSchema | None:
    """The version that a request to register asks for, if it is there: every instance can answer that."""
    config = config_in_scope(state, subject, rule.default_level)
    if has_prefills(config) or request.version > 0 or request.tags is not None or request.propagates_tags:
        return None
    normalize = normalize or bool(config.get("normalize"))
    found = find(state, rule, subject, request, normalize=normalize, deleted=False)
    if request.version < 0 and found != state.subject(subject).latest():
        return None
    return found if found is None or request.id < 0 or request.id == found.id else None


def register(
    state: RegistryState, rule: RegistryRule, subject: str, request: SchemaRequest, *, normalize: bool
) -> Outcome[StoredSchema]:
    """The version, new or not. Raises `HttpError`."""
    mode = mode_in_scope(state, subject)
    _check_mode(mode, subject, request)
    versions = state.subject(subject)
    live = versions.live()
    previous = live[-1] if live else None
    config = config_in_scope(state, subject, rule.default_level)
    if not mode.imports:
        request = with_tags(state, rule, subject, _with_text(request, previous), previous)
        request = _numbered(prefilled(config, request, previous), versions.version_max + 1)
    elif not request.text.strip():
        raise invalid_schema("Empty schema")
    strict = request.id < 0 and not mode.imports and rule.validates_new(config)
    normalize = (normalize or bool(config.get("normalize"))) and not mode.imports
    parsed = rule.parsed.sent(state, subject, request, Parsing(strict=strict, normalize=normalize))
    for reference in request.references:
        if state.associations.is_owned(within(subject, reference.subject)):
            raise not_permitted(f"Subject '{reference.subject}' has a strong association and cannot be referenced")
    content = content_of(parsed, request)
    digest = content.digest()
    schema_id = request.id
    known = state.context(parse_subject(subject).context).id_of(digest)
    if known is not None and schema_id in (-1, known):
        if request.version == 0:
            same = [stored for stored in live if stored.digest == digest]
            if same:
                return Outcome(same[-1])
        schema_id = known
    if not mode.imports:
        _check_compatible(state, rule, subject, (parsed, request))
    return _write(state, subject, mode, request, _New(content, digest, schema_id))


class _New:
    """A content that becomes a version."""

    def __init__(self, content: SchemaContent, digest: bytes, schema_id: int) -> None:
        self.content = content
        self.digest = digest
        self.id = schema_id


def _check_mode(mode: Mode, subject: str, request: SchemaRequest) -> None:
    context = parse_subject(subject).prefix
    place = f"Subject {subject} in context {context}"
    if mode.is_read_only:
        raise not_permitted(f"{place} is in read-only mode")
    if request.id >= 0 and not mode.imports:
        raise not_permitted(f"{place} is not in import mode")
    if request.id < 0 and mode is not Mode.READWRITE:
        raise not_permitted(f"{place} is not in read-write mode")


def _numbered(request: SchemaRequest, version: int) -> SchemaRequest:
    """With the version's number in the metadata, where the request names one or the metadata had one."""
    metadata = request.metadata
    if request.version == 0 and (metadata is None or VERSION_PROPERTY not in metadata.property_by_name):
        return request
    return replace(request, metadata=with_version(metadata, version))


def _with_text(request: SchemaRequest, previous: StoredSchema | None) -> SchemaRequest:
    """Without a text of its own a request is about the latest one, to give it other metadata."""
    if request.text.strip():
        return request
    if previous is None:
        raise invalid_schema("Empty schema")
    kept = request_of(previous.content)
    return replace(request, text=kept.text, schema_type=kept.schema_type, references=kept.references)


def _check_compatible(
    state: RegistryState, rule: RegistryRule, subject: str, new: tuple[ParsedSchema, SchemaRequest]
) -> None:
    config = config_in_scope(state, subject, rule.default_level)
    found = incompatibilities(state, rule, config, new, state.subject(subject).live())
    if found:
        raise incompatible(subject, found)


def _write(state: RegistryState, subject: str, mode: Mode, request: SchemaRequest, new: _New) -> Outcome[StoredSchema]:
    name = parse_subject(subject)
    context = state.context(name.context)
    versions = state.subject(subject)
    next_version = versions.version_max + 1
    version = next_version if request.version <= 0 else request.version
    if version != next_version and not mode.imports:
        raise invalid_schema("Version is not one more than previous version")
    schema_id = new.id if new.id >= 0 else context.id_max + 1
    taken = context.ids.get(schema_id)
    if taken is not None and taken.schema.digest != new.digest:
        raise not_permitted(f"Overwrite new schema with id {schema_id} in context {name.prefix} is not permitted.")
    records: list[Record] = []
    if name.context != DEFAULT_CONTEXT and name.context not in state.declared:
        declared = {"tenant": "default", "context": name.context}
        records.append(record(ContextKey(name.context), declared))
    for deleted in versions.ascending():
        is_replaced = deleted.deleted and deleted.id == schema_id and deleted.version < version
        if is_replaced and (subject, deleted.version) not in state.referrers:
            records.append(record(SchemaKey(subject, deleted.version), None))
    stored = StoredSchema(subject, version, schema_id, new.content, new.digest)
    records.append(record(SchemaKey(subject, version), stored))
    return Outcome(stored, tuple(records))
