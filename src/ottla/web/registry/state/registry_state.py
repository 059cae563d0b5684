"""Everything that the records of `_schemas` say, as one immutable value, and the questions that are asked of it.

Maps are persistent: a next state shares all that a record did not change. Invariants, per context: an id stands for one
content while any version has it; the counter of ids never goes back.
"""

from collections.abc import Iterator
from dataclasses import field, replace
from typing import Any, Final

import immutables

from ottla.base.frozen import frozen
from ottla.web.registry.state.association import Associations
from ottla.web.registry.state.config_value import ConfigValue
from ottla.web.registry.state.mode import Mode
from ottla.web.registry.state.stored_schema import StoredSchema
from ottla.web.registry.state.subject_name import DEFAULT_CONTEXT, WILDCARD, context_of, parse_subject

Use = tuple[str, int]
"""A subject and a version of it."""


def _empty() -> immutables.Map[Any, Any]:
    return immutables.Map()


@frozen
class IdState:
    """One id: a version that has it, and all that do, in the order they came."""

    schema: StoredSchema
    uses: tuple[Use, ...]


@frozen
class ContextState:
    """The ids of a context."""

    ids: immutables.Map[int, IdState] = field(default_factory=_empty)
    by_digest: immutables.Map[bytes, tuple[int, ...]] = field(default_factory=_empty)
    """The ids of a content: one, unless imports gave it others as well."""
    id_max: int = 0

    def id_of(self, digest: bytes) -> int | None:
        """The id of a content: the first that it got."""
        found = self.by_digest.get(digest)
        return None if found is None else found[0]


@frozen
class SubjectState:
    """The versions of a subject, deleted ones included."""

    versions: immutables.Map[int, StoredSchema] = field(default_factory=_empty)
    version_max: int = 0

    def ascending(self) -> list[StoredSchema]:
        """All versions, the oldest first."""
        return [self.versions[version] for version in sorted(self.versions)]

    def live(self) -> list[StoredSchema]:
        """The versions that are not deleted, the oldest first."""
        return [stored for stored in self.ascending() if not stored.deleted]

    def latest(self) -> StoredSchema | None:
        """The newest version that is not deleted."""
        newest = self.versions.get(self.version_max)
        if newest is not None and not newest.deleted:
            return newest
        live = self.live()
        return live[-1] if live else None


NO_SUBJECT: Final = SubjectState()
_NO_CONTEXT: Final = ContextState()


@frozen
class RegistryState:
    """The registry after some prefix of the log."""

    subjects: immutables.Map[str, SubjectState] = field(default_factory=_empty)
    contexts: immutables.Map[str, ContextState] = field(default_factory=_empty)
    declared: immutables.Map[str, None] = field(default_factory=_empty)
    """Contexts that a CONTEXT record names."""
    configs: immutables.Map[str | None, ConfigValue] = field(default_factory=_empty)
    modes: immutables.Map[str | None, Mode] = field(default_factory=_empty)
    referrers: immutables.Map[Use, tuple[Use, ...]] = field(default_factory=_empty)
    """The referrers of a version, deleted ones included."""
    associations: Associations = field(default_factory=Associations)

    def subject(self, qualified: str) -> SubjectState:
        """The subject's versions; one that does not exist has none."""
        return self.subjects.get(qualified, NO_SUBJECT)

    def context(self, name: str) -> ContextState:
        """The context's ids."""
        return self.contexts.get(name, _NO_CONTEXT)

    def version(self, subject: str, version: int, *, deleted: bool) -> StoredSchema | None:
        """One version, -1 being the latest; a deleted one only if `deleted`."""
        if version == -1:
            return self.subject(subject).latest()
        found = self.subject(subject).versions.get(version)
        return None if found is None or (found.deleted and not deleted) else found

    def other_contexts(self) -> list[str]:
        """The names of all contexts but the default one, sorted."""
        return sorted({*self.declared, *self.contexts} - {DEFAULT_CONTEXT})

    def matching(self, subject: str | None) -> Iterator[str]:
        """The subject itself, or all of its context where the name stands for a context; None is all there are."""
        if subject is None:
            yield from self.subjects
            return
        name = parse_subject(subject)
        if subject in self.subjects:
            yield subject
        if not name.subject and name.context != DEFAULT_CONTEXT:
            yield from (each for each in self.subjects if each != subject and context_of(each) == name.context)

    def with_prefix(self, prefix: str) -> list[str]:
        """The subjects that begin with `prefix`, sorted; `:*:` before it looks in all contexts."""
        if prefix.startswith(WILDCARD):
            rest = prefix[len(WILDCARD) :]
            return sorted(each for each in self.subjects if parse_subject(each).subject.startswith(rest))
        name = parse_subject(prefix)
        return sorted(
            each
            for each in self.subjects
            if context_of(each) == name.context and parse_subject(each).subject.startswith(name.subject)
        )

    def but(self, **changes: Any) -> "RegistryState":
        """A copy with some maps replaced."""
        return replace(self, **changes)
