"""Client quotas in the metadata log (KIP-546).

One record per entity and key, written by AlterClientQuotas. The entity is a user, a client-id, both together, or an
ip; a null `entity_name` is the default of its type. `remove` deletes the key, and `value` doesn't matter then. All
values are floats: byte rates, percentages, mutations or connections per second.
"""

from ottla.protocol.definition import Struct
from ottla.protocol.field import array, boolean, float64, string
from ottla.protocol.metadata_log.record import MetadataRecord


class EntityData(Struct):
    entity_type: str = string("0+")
    entity_name: str | None = string("0+", nullable="0+")


class ClientQuotaRecord(MetadataRecord, type_id=14, versions="0", flexible="0+"):
    entity: list[EntityData] = array(EntityData, "0+")
    key: str = string("0+")
    value: float = float64("0+")
    remove: bool = boolean("0+")
