"""DescribeClientQuotas (key 48), versions 0-1: the quotas of users, client ids and addresses that match a filter.

Each component of the filter asks for one type of entity: with a certain name, its default, or any; all must match, and
with `strict` the entity may have no other parts. On success the message is "" and not null, as in Kafka. Entities and
quotas come in the order of Kafka's hash maps, which depends on how many there are. KIP-546.
"""

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

from ottla.base.java import order as java_order
from ottla.metadata.image.client_quota import QuotaEntity, Quotas, entity_order
from ottla.protocol.errors import InvalidRequestError, UnsupportedVersionError
from ottla.protocol.messages.describe_client_quotas import (
    ComponentData,
    DescribeClientQuotasRequest,
    DescribeClientQuotasResponse,
    EntityData,
    EntryData,
    ValueData,
)

if TYPE_CHECKING:
    from ottla.broker.node.parts import BrokerParts
    from ottla.broker.request.request_context import RequestContext

_USER, _CLIENT_ID, _IP = "user", "client-id", "ip"
_TYPES: Final = frozenset({_USER, _CLIENT_ID, _IP})
_EXACT, _DEFAULT, _ANY = 0, 1, 2
_MATCH_NAMES: Final = {_DEFAULT: "MATCH_TYPE_DEFAULT", _ANY: "MATCH_TYPE_SPECIFIED"}


def handle(
    parts: "BrokerParts", context: "RequestContext", request: DescribeClientQuotasRequest
) -> DescribeClientQuotasResponse:
    """Answers from the image."""
    wanted = _Filter(is_strict=request.strict)
    for component in request.components:
        wanted.add(component)
    wanted.check()
    quotas = parts.metadata.image.client_quotas
    known = java_order.hash_order(sorted(quotas, key=entity_order), _entity_hash, table_size=1)
    return DescribeClientQuotasResponse(
        entries=[_entry(entity, quotas[entity]) for entity in known if wanted.matches(entity)]
    )


@dataclass(slots=True)
class _Filter:
    """Which entities are asked for."""

    is_strict: bool
    names: dict[str, str | None] = field(default_factory=dict)
    """The name that an entity must have, by type; None stands for the default."""
    types: set[str] = field(default_factory=set)
    """The types that an entity must have, under whatever name."""

    def add(self, component: ComponentData) -> None:
        """Takes in one condition."""
        type_, kind, match = component.entity_type, component.match_type, component.match
        if not type_:
            raise InvalidRequestError("Invalid empty entity type.")
        if type_ in self.names or type_ in self.types:
            raise InvalidRequestError(f"Entity type {type_} cannot appear more than once in the filter.")
        if type_ not in _TYPES:
            raise UnsupportedVersionError(f"Unsupported entity type {type_}")
        if kind == _EXACT and match is None:
            raise InvalidRequestError("Request specified MATCH_TYPE_EXACT, but set match string to null.")
        if kind in _MATCH_NAMES and match is not None:
            raise InvalidRequestError(f"Request specified {_MATCH_NAMES[kind]}, but also specified a match string.")
        if kind in (_EXACT, _DEFAULT):
            self.names[type_] = match
        elif kind == _ANY:
            self.types.add(type_)
        else:
            raise InvalidRequestError(f"Unknown match type {kind}")

    def check(self) -> None:
        """Raises `InvalidRequestError` for conditions that no entity can meet."""
        types = self.names.keys() | self.types
        if _IP in types and len(types) > 1:
            raise InvalidRequestError(
                "Invalid entity filter component combination. IP filter component should not be used with user or "
                "clientId filter component."
            )

    def matches(self, entity: QuotaEntity) -> bool:
        """Whether an entity meets all conditions."""
        parts = dict(entity)
        if self.is_strict and len(parts) != len(self.names) + len(self.types):
            return False
        return self.types <= parts.keys() and all(
            type_ in parts and parts[type_] == name for type_, name in self.names.items()
        )


def _entry(entity: QuotaEntity, quotas: Quotas) -> EntryData:
    # They are filled in the order of one table, and walked in that of another, which has no room to spare.
    filled = java_order.hash_order(sorted(quotas), java_order.string_hash)
    keys = java_order.hash_order(filled, java_order.string_hash, table_size=1)
    return EntryData(
        entity=[EntityData(entity_type=type_, entity_name=name) for type_, name in entity],
        values=[ValueData(key=key, value=quotas[key]) for key in keys],
    )


def _entity_hash(entity: QuotaEntity) -> int:
    """`ClientQuotaEntity.hashCode`."""
    pairs = (java_order.string_hash(type_) ^ (java_order.string_hash(name) if name else 0) for type_, name in entity)
    return (31 + sum(pairs)) & 0xFFFFFFFF
