"""Dynamic configs in the metadata log.

One record per resource and key, written when a config is set, changed or deleted; a null `value` deletes it.
`resource_type` is 2 topic, 4 broker, 16 client metrics, 32 group. A broker with an empty `resource_name` is the
cluster-wide default. Broker loggers are never written. Configs that a topic is created with stand in the batch of its
TopicRecord; RemoveTopicRecord drops them all.
"""

from ottla.protocol.field import int8, string
from ottla.protocol.metadata_log.record import MetadataRecord


class ConfigRecord(MetadataRecord, type_id=4, versions="0", flexible="0+"):
    resource_type: int = int8("0+")
    resource_name: str = string("0+")
    name: str = string("0+")
    value: str | None = string("0+", nullable="0+")
