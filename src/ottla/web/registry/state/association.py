"""Associations: which subject a resource, a topic, has its keys or its values in.

A STRONG one says that the topic owns the subject; with a WEAK one it shares it. Invariant: the indexes hold exactly
the associations of `by_key`.
"""

import enum
from collections.abc import Iterable
from dataclasses import field, replace
from typing import Any

import immutables

from ottla.base.frozen import frozen
from ottla.web.registry.state.record_key import AssociationKey
from ottla.web.registry.state.record_value import InvalidRecordError, decode_value


class Lifecycle(enum.Enum):
    """Whose the subject is."""

    STRONG = "STRONG"
    WEAK = "WEAK"


@frozen
class Association:
    """One association."""

    key: AssociationKey
    guid: str
    resource_id: str
    lifecycle: Lifecycle
    is_frozen: bool
    created: int = 0
    updated: int = 0

    def to_record(self) -> dict[str, object]:
        """The value of its record, fields in Confluent's order."""
        key = self.key
        return {
            "guid": self.guid,
            "tenant": key.tenant,
            "resourceName": key.resource_name,
            "resourceNamespace": key.resource_namespace,
            "resourceId": self.resource_id,
            "resourceType": key.resource_type,
            "associationType": key.association_type,
            "subject": key.subject,
            "lifecycle": self.lifecycle.value,
            "frozen": self.is_frozen,
        }


def decode_association(key: AssociationKey, data: bytes, timestamp: int) -> Association:
    """The association that a record describes. Raises `InvalidRecordError`."""
    fields = decode_value(data)
    guid, resource_id = fields.get("guid"), fields.get("resourceId")
    if not isinstance(guid, str) or not isinstance(resource_id, str):
        raise InvalidRecordError("an association's record needs a guid and a resourceId")
    try:
        lifecycle = Lifecycle(fields.get("lifecycle"))
    except ValueError:
        raise InvalidRecordError(f"there is no lifecycle {fields.get('lifecycle')}") from None
    return Association(key, guid, resource_id, lifecycle, bool(fields.get("frozen")), timestamp, timestamp)


def _empty() -> immutables.Map[Any, Any]:
    return immutables.Map()


Index = immutables.Map[str, tuple[AssociationKey, ...]]


@frozen
class Associations:
    """All associations."""

    by_key: immutables.Map[AssociationKey, Association] = field(default_factory=_empty)
    by_subject: Index = field(default_factory=_empty)
    by_resource: Index = field(default_factory=_empty)
    """By the resource's id."""

    def put(self, made: Association) -> "Associations":
        """With one more, or with one changed; when it was made stays."""
        former = self.by_key.get(made.key)
        if former is not None:
            made = replace(made, created=former.created)
        left = self.drop(made.key)
        return Associations(
            left.by_key.set(made.key, made),
            _with(left.by_subject, made.key.subject, made.key),
            _with(left.by_resource, made.resource_id, made.key),
        )

    def drop(self, key: AssociationKey) -> "Associations":
        """Without one."""
        former = self.by_key.get(key)
        if former is None:
            return self
        return Associations(
            self.by_key.delete(key),
            _without(self.by_subject, key.subject, key),
            _without(self.by_resource, former.resource_id, key),
        )

    def of_subject(self, subject: str) -> list[Association]:
        """The associations of a subject."""
        return self._sorted(self.by_subject.get(subject, ()))

    def of_resource(self, resource_id: str) -> list[Association]:
        """The associations of a resource."""
        return self._sorted(self.by_resource.get(resource_id, ()))

    def named(self, name: str | None, namespace: str | None) -> list[Association]:
        """The associations of resources of a name and a namespace; None is any."""
        return self._sorted(
            key
            for key in self.by_key
            if name in (None, key.resource_name) and namespace in (None, key.resource_namespace)
        )

    def is_owned(self, subject: str) -> bool:
        """Whether a topic owns the subject."""
        return any(each.lifecycle is Lifecycle.STRONG for each in self.of_subject(subject))

    def _sorted(self, keys: Iterable[AssociationKey]) -> list[Association]:
        return [self.by_key[key] for key in sorted(keys, key=_order)]


def _order(key: AssociationKey) -> tuple[str, ...]:
    return key.resource_name, key.resource_namespace, key.resource_type, key.association_type, key.subject


def _with(index: Index, at: str, key: AssociationKey) -> Index:
    return index.set(at, (*index.get(at, ()), key))


def _without(index: Index, at: str, key: AssociationKey) -> Index:
    left = tuple(each for each in index[at] if each != key)
    return index.set(at, left) if left else index.delete(at)
