"""Access control entries in the metadata log."""

from ottla.base.ids import Uuid
from ottla.protocol.field import int8, string, uuid
from ottla.protocol.metadata_log.record import MetadataRecord


class AccessControlEntryRecord(MetadataRecord, type_id=18, versions="0", flexible="0+"):
    id: Uuid = uuid("0+")
    resource_type: int = int8("0+")
    resource_name: str = string("0+")
    pattern_type: int = int8("0+")
    principal: str = string("0+")
    host: str = string("0+")
    operation: int = int8("0+")
    permission_type: int = int8("0+")


class RemoveAccessControlEntryRecord(MetadataRecord, type_id=19, versions="0", flexible="0+"):
    id: Uuid = uuid("0+")
