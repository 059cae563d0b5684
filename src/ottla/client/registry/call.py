"""Requests to a registry as values: method, path with each segment encoded, query and body."""

import uuid
from collections.abc import Mapping
from urllib.parse import quote, urlencode

from ottla.base.frozen import frozen
from ottla.client.registry.value import SchemaText

LATEST = "latest"


@frozen
class Call:
    """A request to the registry."""

    method: str
    segments: tuple[str, ...]
    query: tuple[tuple[str, str], ...] = ()
    body: object = None

    @property
    def target(self) -> str:
        """The path with its query, below the registry's address.

        >>> Call("GET", ("subjects", "a/b", "versions"), (("deleted", "true"),)).target
        '/subjects/a%2Fb/versions?deleted=true'
        """
        path = "".join(f"/{quote(segment, safe='')}" for segment in self.segments)
        return f"{path}?{urlencode(self.query)}" if self.query else path


def register(subject: str, schema: SchemaText, *, normalize: bool) -> Call:
    """Registers a schema, or finds that it is."""
    return Call("POST", ("subjects", subject, "versions"), _flags(normalize=normalize), schema.to_json())


def lookup(subject: str, schema: SchemaText, *, normalize: bool, deleted: bool) -> Call:
    """Asks under which id and version a subject has a schema."""
    return Call("POST", ("subjects", subject), _flags(normalize=normalize, deleted=deleted), schema.to_json())


def by_id(schema_id: int, subject: str | None) -> Call:
    """The schema of that id; the subject tells in which context it is."""
    return Call("GET", ("schemas", "ids", str(schema_id)), () if subject is None else (("subject", subject),))


def by_guid(guid: uuid.UUID) -> Call:
    """The schema of that GUID."""
    return Call("GET", ("schemas", "guids", str(guid)))


def version(subject: str, number: int | str, *, deleted: bool) -> Call:
    """One version of a subject."""
    return Call("GET", ("subjects", subject, "versions", str(number)), _flags(deleted=deleted))


def latest_with_metadata(subject: str, metadata: Mapping[str, str]) -> Call:
    """The latest version whose metadata has these properties."""
    pairs = tuple(pair for key, value in metadata.items() for pair in (("key", key), ("value", value)))
    return Call("GET", ("subjects", subject, "metadata"), pairs)


def subjects(prefix: str | None, *, deleted: bool) -> Call:
    """The names of the subjects."""
    given = () if prefix is None else (("subjectPrefix", prefix),)
    return Call("GET", ("subjects",), (*given, *_flags(deleted=deleted)))


def versions(subject: str, *, deleted: bool) -> Call:
    """The versions of a subject."""
    return Call("GET", ("subjects", subject, "versions"), _flags(deleted=deleted))


def delete_subject(subject: str, *, permanent: bool) -> Call:
    """Deletes all versions."""
    return Call("DELETE", ("subjects", subject), _flags(permanent=permanent))


def delete_version(subject: str, number: int | str, *, permanent: bool) -> Call:
    """Deletes one version."""
    return Call("DELETE", ("subjects", subject, "versions", str(number)), _flags(permanent=permanent))


def compatibility(subject: str, schema: SchemaText, number: int | str | None) -> Call:
    """Asks whether a schema could be registered: against one version, or against all that count."""
    segments = ("compatibility", "subjects", subject, "versions", *(() if number is None else (str(number),)))
    return Call("POST", segments, _flags(verbose=True), schema.to_json())


def get_level(subject: str | None) -> Call:
    """The compatibility level of a subject, or of all without one."""
    return Call("GET", ("config", *_optional(subject)), () if subject is None else _flags(defaultToGlobal=True))


def set_level(subject: str | None, level: str) -> Call:
    """Sets the compatibility level of a subject, or of all that have none."""
    return Call("PUT", ("config", *_optional(subject)), body={"compatibility": level})


def delete_level(subject: str | None) -> Call:
    """Takes a subject's own level away."""
    return Call("DELETE", ("config", *_optional(subject)))


def get_mode(subject: str | None) -> Call:
    """The mode of a subject, or of all without one."""
    return Call("GET", ("mode", *_optional(subject)), () if subject is None else _flags(defaultToGlobal=True))


def set_mode(subject: str | None, mode: str, *, force: bool) -> Call:
    """Sets the mode of a subject, or of all that have none."""
    return Call("PUT", ("mode", *_optional(subject)), _flags(force=force), {"mode": mode})


def _optional(subject: str | None) -> tuple[str, ...]:
    return () if subject is None else (subject,)


def _flags(**flags: bool) -> tuple[tuple[str, str], ...]:
    """Only what differs from the registry's default."""
    return tuple((name, "true") for name, value in flags.items() if value)
