"""Whether a schema may follow those that a subject has, by the settings in force."""

from collections.abc import Iterator, Sequence
from typing import overload

from ottla.schema.compatibility import Level, check, messages
from ottla.schema.metadata import Metadata
from ottla.schema.parsed import ParsedSchema
from ottla.schema.policy import Policy
from ottla.web.registry.decision.errors import invalid_schema, version_not_found
from ottla.web.registry.decision.parsing import ParsedSchemas, Parsing
from ottla.web.registry.decision.rule import RegistryRule
from ottla.web.registry.decision.schema_request import SchemaRequest
from ottla.web.registry.decision.scope import config_in_scope
from ottla.web.registry.state.config_value import COMPATIBILITY, ConfigValue
from ottla.web.registry.state.registry_state import RegistryState
from ottla.web.registry.state.stored_schema import StoredSchema


class _Lazily(Sequence[tuple[int, ParsedSchema]]):
    """Stored versions, parsed when they are looked at."""

    def __init__(self, state: RegistryState, parsed: ParsedSchemas, versions: Sequence[StoredSchema]) -> None:
        self._state = state
        self._parsed = parsed
        self._versions = versions

    def __len__(self) -> int:
        return len(self._versions)

    @overload
    def __getitem__(self, index: int) -> tuple[int, ParsedSchema]: ...

    @overload
    def __getitem__(self, index: slice) -> "_Lazily": ...

    def __getitem__(self, index: int | slice) -> "tuple[int, ParsedSchema] | _Lazily":
        if isinstance(index, slice):
            return _Lazily(self._state, self._parsed, self._versions[index])
        stored = self._versions[index]
        return stored.version, self._parsed.stored(self._state, stored)

    def __iter__(self) -> Iterator[tuple[int, ParsedSchema]]:
        return (self[index] for index in range(len(self)))


def incompatibilities(
    state: RegistryState,
    rule: RegistryRule,
    config: ConfigValue,
    new: tuple[ParsedSchema, SchemaRequest],
    earlier: Sequence[StoredSchema],
) -> list[str]:
    """Why the new schema may not follow the earlier ones, in Confluent's words; empty when it may."""
    parsed, request = new
    level = Level.parse(config[COMPATIBILITY])
    policy = Policy(config.get("compatibilityPolicy") or Policy.STRICT.value)
    group = config.get("compatibilityGroup")
    if group:
        wanted = _property(request.metadata, group)
        earlier = [stored for stored in earlier if _property(stored.content.metadata, group) == wanted]
    lazily = _Lazily(state, rule.parsed, earlier)
    found = check(level, parsed, lazily, policy)
    if not found:
        return []
    validates = str(bool(config.get("validateFields"))).lower()
    ending = f"{{validateFields: '{validates}', compatibility: '{level.value}'}}"
    return [*messages(level, found, lazily), ending]


def check_against(
    state: RegistryState,
    rule: RegistryRule,
    subject: str,
    request: SchemaRequest,
    version: int | None,
    *,
    normalize: bool,
) -> list[str]:
    """The incompatibilities of the schema with one version (-1 is the latest), or with all for None.

    A subject without versions takes anything, but not a number that it does not have.
    """
    if version is None:
        earlier = state.subject(subject).live()
    else:
        found = state.version(subject, version, deleted=False)
        if found is None and version != -1:
            raise version_not_found(version)
        earlier = [] if found is None else [found]
    if not request.text.strip():
        raise invalid_schema("Empty schema")
    config = config_in_scope(state, subject, rule.default_level)
    how = Parsing(strict=rule.validates_new(config), normalize=normalize or bool(config.get("normalize")))
    parsed = rule.parsed.sent(state, subject, request, how)
    return incompatibilities(state, rule, config, (parsed, request), earlier)


def _property(metadata: Metadata | None, name: str) -> str | None:
    return None if metadata is None else metadata.property_by_name.get(name)
