"""Dynamic configs in the metadata log."""

from ottla.protocol.field import int8, string
from ottla.protocol.metadata_log.record import MetadataRecord


class ConfigRecord(MetadataRecord, type_id=4, versions="0", flexible="0+"):
    resource_type: int = int8("0+")
    resource_name: str = string("0+")
    name: str = string("0+")
    value: str | None = string("0+", nullable="0+")
