"""The globally unique id of a schema: a digest of everything that makes two schemas different."""

import hashlib
import uuid
from collections.abc import Iterable, Iterator

from ottla.schema.metadata import Metadata
from ottla.schema.reference import Reference
from ottla.schema.rule import Rule, RuleSet

_PRESENT = b"\x01"
"""Tells metadata that is there and empty from metadata that is absent."""


def guid(
    text: str,
    references: Iterable[Reference] = (),
    metadata: Metadata | None = None,
    rule_set: RuleSet | None = None,
) -> uuid.UUID:
    """The 16 bytes of an MD5, as they are: no version bits are set. Equal to Confluent's for the same canonical text.

    >>> guid('"string"')
    UUID('095d71cf-1255-6b9d-5e33-0ad575b3df5d')
    """
    digest = hashlib.md5(_encode(text), usedforsecurity=False)
    for reference in references:
        digest.update(_encode(reference.name))
        digest.update(_encode(reference.subject))
        digest.update((reference.version & 0xFFFFFFFF).to_bytes(4))
    if metadata is not None:
        digest.update(_PRESENT)
        digest.update(b"".join(map(_encode, _metadata_strings(metadata))))
    if rule_set is not None:
        digest.update(_PRESENT)
        for rule in (*rule_set.migration_rules, *rule_set.domain_rules, *rule_set.encoding_rules):
            digest.update(b"".join(map(_encode, _rule_strings(rule))))
            if rule.disabled:
                digest.update(_PRESENT)
        if rule_set.enable_at is not None:
            digest.update(_encode(rule_set.enable_at.value))
    return uuid.UUID(bytes=digest.digest())


def _encode(text: str) -> bytes:
    """UTF-8 as Java writes it: a surrogate without its partner is a question mark."""
    return text.encode("utf-8", "replace")


def _metadata_strings(metadata: Metadata) -> Iterator[str]:
    for path, tags in metadata.tags:
        yield path
        yield from tags
    for key, value in metadata.properties:
        yield key
        yield value
    yield from metadata.sensitive


def _rule_strings(rule: Rule) -> Iterator[str]:
    yield rule.name or ""
    yield rule.doc or ""
    yield rule.kind.value
    yield rule.mode.value
    yield rule.type or ""
    yield from rule.tags
    for key, value in rule.params:
        yield key
        yield value
    yield rule.expr or ""
    yield rule.on_success or ""
    yield rule.on_failure or ""
