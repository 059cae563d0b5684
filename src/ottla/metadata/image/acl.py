"""Access control entries by id and by content. What they allow is decided elsewhere."""

from typing import Final, NamedTuple

from immutables import Map

from ottla.base.ids import Uuid
from ottla.metadata.errors import MetadataError
from ottla.metadata.image.map_delta import MapDelta
from ottla.protocol.metadata_log.security import AccessControlEntryRecord, RemoveAccessControlEntryRecord


class Acl(NamedTuple):
    """One entry, in the numbers of the protocol."""

    resource_type: int
    resource_name: str
    pattern_type: int
    principal: str
    host: str
    operation: int
    permission_type: int


class AclsImage(NamedTuple):
    """All entries; `ids` finds an entry that is there already."""

    by_id: Map[Uuid, Acl]
    ids: Map[Acl, Uuid]


NO_ACLS: Final = AclsImage(Map(), Map())


class AclsDelta:
    """Changes to entries."""

    def __init__(self, base: AclsImage) -> None:
        self.by_id: MapDelta[Uuid, Acl] = MapDelta(base.by_id)
        self.ids: MapDelta[Acl, Uuid] = MapDelta(base.ids)

    def replay(self, record: AccessControlEntryRecord) -> None:
        acl = Acl(
            record.resource_type,
            record.resource_name,
            record.pattern_type,
            record.principal,
            record.host,
            record.operation,
            record.permission_type,
        )
        self.by_id.set(record.id, acl)
        self.ids.set(acl, record.id)

    def replay_remove(self, record: RemoveAccessControlEntryRecord) -> None:
        acl = self.by_id.get(record.id)
        if acl is None:
            raise MetadataError(f"removal of access control entry {record.id}, which does not exist")
        self.by_id.remove(record.id)
        self.ids.remove(acl)

    def apply(self) -> AclsImage:
        return AclsImage(self.by_id.apply(), self.ids.apply())
