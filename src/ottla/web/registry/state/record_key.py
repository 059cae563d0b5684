"""The keys of `_schemas`. Compaction compares bytes, so theirs are Confluent's: compact JSON, fields in this order."""

import json
from collections.abc import Mapping
from typing import Any, Final, TypeAlias

from ottla.base.frozen import frozen


@frozen
class SchemaKey:
    """One version of a subject."""

    subject: str
    version: int


@frozen
class ConfigKey:
    """The settings of a subject or a context; None is the registry itself."""

    subject: str | None


@frozen
class ModeKey:
    """The mode of a subject or a context; None is the registry itself."""

    subject: str | None


@frozen
class DeleteSubjectKey:
    """A soft delete of versions up to one."""

    subject: str


@frozen
class ClearSubjectKey:
    """Forget the deleted versions of a subject."""

    subject: str


@frozen
class ContextKey:
    """A context that exists."""

    context: str
    tenant: str = "default"


@frozen
class AssociationKey:
    """A subject that a resource has something in; `association_type` is `key` or `value`."""

    resource_name: str
    resource_namespace: str
    resource_type: str
    association_type: str
    subject: str
    tenant: str = "default"


@frozen
class NoopKey:
    """The key of a record without effect, which is written to find the log's end."""


RecordKey: TypeAlias = (
    SchemaKey | ConfigKey | ModeKey | DeleteSubjectKey | ClearSubjectKey | ContextKey | AssociationKey | NoopKey
)

_NAMES: Final = {
    ConfigKey: "CONFIG",
    ModeKey: "MODE",
    DeleteSubjectKey: "DELETE_SUBJECT",
    ClearSubjectKey: "CLEAR_SUBJECT",
}
_ASSOCIATION: Final = {
    "tenant": "tenant",
    "resourceName": "resource_name",
    "resourceNamespace": "resource_namespace",
    "resourceType": "resource_type",
    "associationType": "association_type",
    "subject": "subject",
}


def encode_key(key: RecordKey) -> bytes:
    """The bytes that Confluent's registry writes.

    >>> encode_key(SchemaKey("a", 1)), encode_key(ConfigKey(None))
    (b'{"keytype":"SCHEMA","subject":"a","version":1,"magic":1}', b'{"keytype":"CONFIG","magic":0}')
    """
    fields: dict[str, object]
    if isinstance(key, SchemaKey):
        fields = {"keytype": "SCHEMA", "subject": key.subject, "version": key.version, "magic": 1}
    elif isinstance(key, ContextKey):
        fields = {"keytype": "CONTEXT", "tenant": key.tenant, "context": key.context, "magic": 0}
    elif isinstance(key, AssociationKey):
        names = {name: getattr(key, attribute) for name, attribute in _ASSOCIATION.items()}
        fields = {"keytype": "ASSOC", **names, "magic": 0}
    elif isinstance(key, NoopKey):
        fields = {"keytype": "NOOP", "magic": 0}
    elif key.subject is None:
        fields = {"keytype": _NAMES[type(key)], "magic": 0}
    else:
        fields = {"keytype": _NAMES[type(key)], "subject": key.subject, "magic": 0}
    return json.dumps(fields, separators=(",", ":"), ensure_ascii=False).encode("utf-8", "surrogatepass")


def decode_key(data: bytes) -> RecordKey | None:
    """The key, None for one that is not ours to understand (records of later releases).

    >>> decode_key(b'{"keytype":"CONFIG","subject":null,"magic":0}')
    ConfigKey(subject=None)
    """
    try:
        fields = json.loads(data)
    except ValueError:
        return None
    return _key_of(fields) if isinstance(fields, dict) else None


def _key_of(fields: Mapping[str, Any]) -> RecordKey | None:
    kind, subject = fields.get("keytype"), fields.get("subject")
    if kind == "SCHEMA":
        version = fields.get("version")
        is_known = isinstance(subject, str) and isinstance(version, int)
        return SchemaKey(subject, version) if is_known else None  # type: ignore[arg-type]
    if kind in ("CONFIG", "MODE"):
        if subject is not None and not isinstance(subject, str):
            return None
        return ConfigKey(subject) if kind == "CONFIG" else ModeKey(subject)
    if kind in ("DELETE_SUBJECT", "CLEAR_SUBJECT"):
        if not isinstance(subject, str):
            return None
        return DeleteSubjectKey(subject) if kind == "DELETE_SUBJECT" else ClearSubjectKey(subject)
    if kind == "CONTEXT":
        context = fields.get("context")
        return ContextKey(context, fields.get("tenant") or "default") if isinstance(context, str) else None
    if kind == "ASSOC":
        values = {attribute: fields.get(name) for name, attribute in _ASSOCIATION.items()}
        known = {attribute: value for attribute, value in values.items() if isinstance(value, str)}
        return AssociationKey(**known) if len(known) == len(values) else None
    return NoopKey() if kind == "NOOP" else None
