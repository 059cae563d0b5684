"""`(state, record) → state`: how each record of `_schemas` changes what the registry knows.

Order matters and nothing here fails: a record that can't be understood, or that contradicts an earlier one, changes
nothing. A SCHEMA record whose id stands for other content in its context is such a contradiction; every instance
ignores it, so a writer that finds its record ignored knows that another one was first.
"""

import logging
from dataclasses import replace
from typing import Final

import immutables

from ottla.web.registry.state.association import decode_association
from ottla.web.registry.state.config_value import ordered
from ottla.web.registry.state.mode import Mode
from ottla.web.registry.state.record_key import (
    AssociationKey,
    ClearSubjectKey,
    ConfigKey,
    ContextKey,
    DeleteSubjectKey,
    ModeKey,
    RecordKey,
    SchemaKey,
    decode_key,
)
from ottla.web.registry.state.record_value import InvalidRecordError, decode_schema, decode_value
from ottla.web.registry.state.registry_state import ContextState, IdState, RegistryState, SubjectState, Use
from ottla.web.registry.state.stored_schema import StoredSchema
from ottla.web.registry.state.subject_name import context_of, within

_log: Final = logging.getLogger(__name__)


def apply(state: RegistryState, key: bytes, value: bytes | None, timestamp: int = 0) -> RegistryState:
    """The state after one record."""
    decoded = decode_key(key)
    if decoded is None:
        return state
    try:
        return _apply(state, decoded, value, timestamp)
    except InvalidRecordError as error:
        _log.warning("A record of the schemas' topic is ignored: %s (key %r)", error, key[:200])
        return state


def _apply(state: RegistryState, key: RecordKey, value: bytes | None, timestamp: int) -> RegistryState:
    if isinstance(key, SchemaKey):
        if value is None:
            return _drop(state, key.subject, key.version)
        return _put(state, decode_schema(key, value, timestamp))
    if isinstance(key, ConfigKey):
        configs = state.configs
        if value is None:
            return state.but(configs=configs.delete(key.subject)) if key.subject in configs else state
        return state.but(configs=configs.set(key.subject, ordered(decode_value(value))))
    if isinstance(key, ModeKey):
        return _set_mode(state, key.subject, value)
    if isinstance(key, DeleteSubjectKey):
        return state if value is None else _delete_up_to(state, key.subject, decode_value(value).get("version"))
    if isinstance(key, ClearSubjectKey):
        return state if value is None else _clear(state, key.subject)
    if isinstance(key, ContextKey):
        if value is not None:
            return state.but(declared=state.declared.set(key.context, None))
        return state.but(declared=state.declared.delete(key.context)) if key.context in state.declared else state
    if isinstance(key, AssociationKey):
        known = state.associations
        changed = known.drop(key) if value is None else known.put(decode_association(key, value, timestamp))
        return state if changed is known else state.but(associations=changed)
    return state


def _put(state: RegistryState, stored: StoredSchema) -> RegistryState:
    context_name = context_of(stored.subject)
    known = state.context(context_name).ids.get(stored.id)
    if known is not None and known.schema.digest != stored.digest:
        _log.warning("%s version %d is ignored: id %d is taken", stored.subject, stored.version, stored.id)
        return state
    former = state.subject(stored.subject).versions.get(stored.version)
    if former is not None and (former.id, former.digest) != (stored.id, stored.digest):
        state = _drop(state, stored.subject, stored.version)
        former = None
    context, subject = state.context(context_name), state.subject(stored.subject)
    versions = subject.versions.set(stored.version, stored)
    changed = SubjectState(versions, max(subject.version_max, stored.version))
    subjects = state.subjects.set(stored.subject, changed)
    if former is not None:
        return state.but(subjects=subjects)
    contexts = state.contexts.set(context_name, _with_use(context, stored))
    return state.but(subjects=subjects, contexts=contexts, referrers=_with_references(state, stored))


def _with_use(context: ContextState, stored: StoredSchema) -> ContextState:
    use = (stored.subject, stored.version)
    known = context.ids.get(stored.id)
    entry = IdState(stored, (use,)) if known is None else IdState(known.schema, (*known.uses, use))
    by_digest = context.by_digest
    if known is None:
        by_digest = by_digest.set(stored.digest, (*by_digest.get(stored.digest, ()), stored.id))
    return ContextState(context.ids.set(stored.id, entry), by_digest, max(context.id_max, stored.id))


def _with_references(state: RegistryState, stored: StoredSchema) -> immutables.Map[Use, tuple[Use, ...]]:
    referrers = state.referrers
    for reference in stored.content.references:
        place = (within(stored.subject, reference.subject), reference.version)
        referrers = referrers.set(place, (*referrers.get(place, ()), (stored.subject, stored.version)))
    return referrers


def _drop(state: RegistryState, subject_name: str, version: int) -> RegistryState:
    """Forgets a version for good."""
    subject = state.subject(subject_name)
    stored = subject.versions.get(version)
    if stored is None:
        return state
    versions = subject.versions.delete(version)
    if versions:
        highest = max(versions) if version == subject.version_max else subject.version_max
        subjects = state.subjects.set(subject_name, SubjectState(versions, highest))
    else:
        subjects = state.subjects.delete(subject_name)
    context_name = context_of(subject_name)
    contexts = state.contexts.set(context_name, _without_use(state, state.context(context_name), stored))
    referrers = state.referrers
    for reference in stored.content.references:
        place = (within(subject_name, reference.subject), reference.version)
        left = tuple(each for each in referrers.get(place, ()) if each != (subject_name, version))
        if left:
            referrers = referrers.set(place, left)
        elif place in referrers:
            referrers = referrers.delete(place)
    return state.but(subjects=subjects, contexts=contexts, referrers=referrers)


def _without_use(state: RegistryState, context: ContextState, stored: StoredSchema) -> ContextState:
    known = context.ids[stored.id]
    left = tuple(use for use in known.uses if use != (stored.subject, stored.version))
    if left:
        return replace(context, ids=context.ids.set(stored.id, IdState(_any_of(state, left), left)))
    others = tuple(each for each in context.by_digest[stored.digest] if each != stored.id)
    by_digest = context.by_digest
    by_digest = by_digest.set(stored.digest, others) if others else by_digest.delete(stored.digest)
    return replace(context, ids=context.ids.delete(stored.id), by_digest=by_digest)


def _any_of(state: RegistryState, uses: tuple[Use, ...]) -> StoredSchema:
    subject, version = uses[0]
    return state.subject(subject).versions[version]


def _set_mode(state: RegistryState, subject: str | None, value: bytes | None) -> RegistryState:
    if value is None:
        return state.but(modes=state.modes.delete(subject)) if subject in state.modes else state
    name = decode_value(value).get("mode")
    try:
        return state.but(modes=state.modes.set(subject, Mode(name)))
    except ValueError:
        raise InvalidRecordError(f"there is no mode {name}") from None


def _delete_up_to(state: RegistryState, subject_name: str, version: object) -> RegistryState:
    if not isinstance(version, int):
        raise InvalidRecordError("a delete of a subject needs a version")
    subject = state.subject(subject_name)
    versions = subject.versions
    for number, stored in subject.versions.items():
        if number <= version and not stored.deleted:
            versions = versions.set(number, replace(stored, deleted=True))
    if versions is subject.versions:
        return state
    return state.but(subjects=state.subjects.set(subject_name, replace(subject, versions=versions)))


def _clear(state: RegistryState, subject_name: str) -> RegistryState:
    for subject in list(state.matching(subject_name)):
        for stored in state.subject(subject).ascending():
            if stored.deleted:
                state = _drop(state, subject, stored.version)
    return state
