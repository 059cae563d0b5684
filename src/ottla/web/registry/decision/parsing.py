"""From stored or sent text to parsed schemas: references resolved from the state, parsed ones remembered.

A stored schema is parsed only when something is asked that its text alone does not answer.
"""

from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import replace
from typing import Final

from ottla.base.frozen import frozen
from ottla.schema.error import InvalidSchemaError
from ottla.schema.parse import parse
from ottla.schema.parsed import ParsedSchema
from ottla.schema.reference import Reference
from ottla.web.registry.decision.errors import invalid_schema
from ottla.web.registry.decision.schema_request import SchemaRequest, request_of
from ottla.web.registry.state.registry_state import RegistryState
from ottla.web.registry.state.stored_schema import SchemaContent, StoredSchema
from ottla.web.registry.state.subject_name import within

_DEPTH_MAX: Final = 100


@frozen
class Parsing:
    """The options for parsing new schemas."""

    strict: bool
    normalize: bool


class ParsedSchemas:
    """The parsed form of what was parsed lately. A cache: it changes no answer."""

    def __init__(self, size_max: int = 1000) -> None:
        self._known: Final[OrderedDict[object, ParsedSchema]] = OrderedDict()
        self._size_max: Final = size_max

    def sent(self, state: RegistryState, subject: str, request: SchemaRequest, how: Parsing) -> ParsedSchema:
        """A schema that a client sent. Raises `HttpError` 42201."""
        try:
            references, resolved = resolve(state, subject, request.references)
            key = (request.schema_type, request.text, references, tuple(resolved.items()), how)
            return self._parse(key, request, references, resolved, how)
        except InvalidSchemaError as error:
            raise invalid_schema(f"Invalid schema of type {request.schema_type}, details: {error}") from None

    def stored(self, state: RegistryState, stored: StoredSchema) -> ParsedSchema:
        """A schema that is stored, read without the checks for new ones. Raises `HttpError` 42201."""
        content = stored.content
        kept = self._known.get(stored.digest)
        if kept is not None:
            self._known.move_to_end(stored.digest)
            return kept
        request = request_of(content)
        try:
            references, resolved = resolve(state, stored.subject, content.references)
            return self._parse(stored.digest, request, references, resolved, Parsing(strict=False, normalize=False))
        except InvalidSchemaError as error:
            raise invalid_schema(f"Invalid schema of type {content.schema_type}, details: {error}") from None

    def _parse(
        self,
        key: object,
        request: SchemaRequest,
        references: tuple[Reference, ...],
        resolved: dict[str, str],
        how: Parsing,
    ) -> ParsedSchema:
        kept = self._known.get(key)
        if kept is not None:
            self._known.move_to_end(key)
            return kept
        try:
            parsed = parse(request.schema_type, request.text, references, resolved, strict=how.strict)
        except ModuleNotFoundError as error:
            raise InvalidSchemaError(f"the package {error.name} is not installed") from error
        if how.normalize:
            parsed = parsed.normalized()
        self._known[key] = parsed
        if len(self._known) > self._size_max:
            self._known.popitem(last=False)
        return parsed


def content_of(parsed: ParsedSchema, request: SchemaRequest) -> SchemaContent:
    """The identity of a sent schema."""
    return SchemaContent(
        parsed.schema_type.value, parsed.canonical_text, parsed.references, request.metadata, request.rule_set
    )


def resolve(
    state: RegistryState, subject: str, references: Sequence[Reference]
) -> tuple[tuple[Reference, ...], dict[str, str]]:
    """The references with their versions, and the text of each by name, with all that those need in turn.

    Version -1 becomes the latest one of now. Raises `InvalidSchemaError` for one that leads nowhere.
    """
    resolved: dict[str, str] = {}
    fixed = tuple(_resolve_one(state, subject, reference, resolved, 0) for reference in references)
    return fixed, resolved


def _resolve_one(
    state: RegistryState, parent: str, reference: Reference, resolved: dict[str, str], depth: int
) -> Reference:
    subject = within(parent, reference.subject)
    found = state.version(subject, reference.version, deleted=True)
    if found is None or depth > _DEPTH_MAX:
        place = f'"{reference.name}", subject "{reference.subject}", version {reference.version}'
        raise InvalidSchemaError(f"No schema reference found for {place}")
    if reference.name not in resolved:
        for inner in found.content.references:
            _resolve_one(state, subject, inner, resolved, depth + 1)
        resolved[reference.name] = found.content.text
    return reference if reference.version == found.version else replace(reference, version=found.version)
