"""Client quotas by the entity they bind: a user, a client id, both, or an address."""

from immutables import Map

from ottla.metadata.image.map_delta import MapDelta
from ottla.protocol.metadata_log.config import ClientQuotaRecord, EntityData

QuotaEntity = tuple[tuple[str, str | None], ...]
"""(type, name) pairs in the order of their types; a name of None is the default of its type."""

Quotas = Map[str, float]
NO_QUOTAS: Quotas = Map()


def entity_of(pairs: list[tuple[str, str | None]]) -> QuotaEntity:
    """The entity made up of `pairs`, whatever their order.

    >>> entity_of([("user", "alice"), ("client-id", None)])
    (('client-id', None), ('user', 'alice'))
    """
    return tuple(sorted(pairs, key=lambda pair: pair[0]))


def entity_data(entity: QuotaEntity) -> list[EntityData]:
    """The entity as records write it."""
    return [EntityData(entity_type=type_, entity_name=name) for type_, name in entity]


def entity_order(entity: QuotaEntity) -> list[tuple[str, str]]:
    """The sort key of entities: a default comes before the names of its type."""
    return [(type_, name or "") for type_, name in entity]


class ClientQuotasDelta(MapDelta[QuotaEntity, Quotas]):
    """Changes to quotas; an entity without quotas is no longer in the map."""

    __slots__ = ()

    def replay(self, record: ClientQuotaRecord) -> None:
        entity = entity_of([(part.entity_type, part.entity_name) for part in record.entity])
        quotas = self.get(entity) or NO_QUOTAS
        if not record.remove:
            self.set(entity, quotas.set(record.key, record.value))
            return
        left = quotas.delete(record.key) if record.key in quotas else quotas
        if left:
            self.set(entity, left)
        else:
            self.remove(entity)
