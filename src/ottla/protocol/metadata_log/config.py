"""Dynamic configs and client quotas in the metadata log."""

from ottla.protocol.definition import Struct
from ottla.protocol.field import array, boolean, float64, int8, string
from ottla.protocol.metadata_log.record import MetadataRecord


class ConfigRecord(MetadataRecord, type_id=4, versions="0", flexible="0+"):
    """A dynamic config of a resource, written when it is set, changed or deleted; a null `value` deletes it.

    `resource_type` is 2 topic, 4 broker, 16 client metrics, 32 group. A broker with an empty `resource_name` is the
    cluster-wide default. Broker loggers are never written. Configs that a topic is created with stand in the batch of
    its TopicRecord; RemoveTopicRecord drops them all.
    """

    resource_type: int = int8("0+")
    resource_name: str = string("0+")
    name: str = string("0+")
    value: str | None = string("0+", nullable="0+")


class EntityData(Struct):
    entity_type: str = string("0+")
    entity_name: str | None = string("0+", nullable="0+")


class ClientQuotaRecord(MetadataRecord, type_id=14, versions="0", flexible="0+"):
    """A client quota (KIP-546): one record per entity and key, written by AlterClientQuotas.

    The entity is a user, a client-id, both together, or an ip; a null `entity_name` is the default of its type.
    `remove` deletes the key, and `value` doesn't matter then. All values are floats: byte rates, percentages, mutations
    or connections per second.
    """

    entity: list[EntityData] = array(EntityData, "0+")
    key: str = string("0+")
    value: float = float64("0+")
    remove: bool = boolean("0+")
