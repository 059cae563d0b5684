"""Deleting: softly first, which hides versions from new uses; then for good."""

from dataclasses import replace

from ottla.web.http.errors import HttpError
from ottla.web.registry.decision.errors import (
    context_not_empty,
    no_live_version,
    not_permitted,
    reference_exists,
    subject_associated,
    subject_not_found,
    subject_not_soft_deleted,
    subject_soft_deleted,
    version_not_found,
    version_not_soft_deleted,
    version_soft_deleted,
)
from ottla.web.registry.decision.lookup import has_subjects
from ottla.web.registry.decision.outcome import Outcome, Record, record
from ottla.web.registry.decision.scope import mode_in_scope
from ottla.web.registry.state.record_key import ConfigKey, ContextKey, DeleteSubjectKey, ModeKey, SchemaKey
from ottla.web.registry.state.registry_state import RegistryState
from ottla.web.registry.state.subject_name import normalized, parse_subject


def check_writable(state: RegistryState, subject: str | None) -> None:
    """Raises `HttpError` 42205 where the mode forbids changes."""
    if mode_in_scope(state, subject).is_read_only:
        context = "" if subject is None else parse_subject(subject).prefix
        name = "null" if subject is None else subject
        raise not_permitted(f"Subject {name} in context {context} is in read-only mode")


def delete_subject(state: RegistryState, subject: str, *, permanent: bool) -> Outcome[list[int]]:
    """All versions of a subject; the numbers of those that this deleted."""
    if not has_subjects(state, subject, deleted=True):
        raise subject_not_found(subject)
    if not permanent and not has_subjects(state, subject, deleted=False):
        raise subject_soft_deleted(subject)
    check_writable(state, subject)
    if state.associations.of_subject(subject):
        raise subject_associated(subject)
    versions = state.subject(subject)
    affected = versions.ascending() if permanent else versions.live()
    for stored in affected:
        if _referring_subjects(state, subject, stored.version, deleted=permanent) - {subject}:
            raise reference_exists(subject, stored.version)
        if permanent and not stored.deleted:
            raise subject_not_soft_deleted(subject)
    numbers = [stored.version for stored in affected]
    if not permanent:
        last = numbers[-1] if numbers else 0
        value = {"subject": subject, "version": last}
        return Outcome(numbers, (record(DeleteSubjectKey(subject), value),))
    # The newest goes first: versions may refer to earlier ones of their own subject.
    records = [record(SchemaKey(subject, number), None) for number in reversed(numbers)]
    return Outcome(numbers, (*records, *_settings_of(state, subject)))


def delete_version(state: RegistryState, subject: str, version: int, *, permanent: bool) -> Outcome[int]:
    """One version, -1 being the latest; its number."""
    stored = state.version(subject, version, deleted=True)
    if stored is None:
        raise _missing(state, subject, version)
    if not permanent and stored.deleted:
        raise version_soft_deleted(subject, version)
    check_writable(state, subject)
    if not permanent and state.associations.of_subject(subject) and len(state.subject(subject).live()) == 1:
        raise no_live_version(subject)
    if _referring_subjects(state, subject, stored.version, deleted=permanent):
        raise reference_exists(subject, stored.version)
    if permanent and not stored.deleted:
        raise version_not_soft_deleted(subject, stored.version)
    key = SchemaKey(subject, stored.version)
    if not permanent:
        return Outcome(stored.version, (record(key, replace(stored, deleted=True)),))
    is_last = len(state.subject(subject).versions) == 1
    settings = _settings_of(state, subject) if is_last else ()
    return Outcome(stored.version, (record(key, None), *settings))


def delete_context(state: RegistryState, context: str) -> Outcome[None]:
    """A context without subjects."""
    name = parse_subject(normalized(context))
    if any(True for _ in state.matching(name.prefix)):
        raise context_not_empty(name.context)
    return Outcome(None, (record(ContextKey(name.context), None),) if name.context in state.declared else ())


def referring_ids(state: RegistryState, subject: str, version: int, *, deleted: bool) -> list[int]:
    """The ids of schemas that refer to a version, sorted."""
    found = set()
    for other, number in state.referrers.get((subject, version), ()):
        stored = state.version(other, number, deleted=deleted)
        if stored is not None:
            found.add(stored.id)
    return sorted(found)


def _referring_subjects(state: RegistryState, subject: str, version: int, *, deleted: bool) -> set[str]:
    return {
        other
        for other, number in state.referrers.get((subject, version), ())
        if state.version(other, number, deleted=deleted) is not None
    }


def _settings_of(state: RegistryState, subject: str) -> tuple[Record, ...]:
    records = []
    if subject in state.modes:
        records.append(record(ModeKey(subject), None))
    if subject in state.configs:
        records.append(record(ConfigKey(subject), None))
    return tuple(records)


def _missing(state: RegistryState, subject: str, version: int) -> HttpError:
    return version_not_found(version) if has_subjects(state, subject, deleted=True) else subject_not_found(subject)
