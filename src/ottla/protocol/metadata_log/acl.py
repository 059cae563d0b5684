"""Access control entries in the metadata log.

The controller gives every entry an `id` and writes one AccessControlEntryRecord for each that CreateAcls adds;
DeleteAcls leaves a RemoveAccessControlEntryRecord, which knows only the id. The numbers are those of the API:
`pattern_type` 3 literal, 4 prefixed; `permission_type` 2 deny, 3 allow. Filter values (any, match) never get here.
Only version 0 exists.
"""

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
