"""How far a migration from ZooKeeper got; still read, because old logs hold it."""

from ottla.protocol.field import int8
from ottla.protocol.metadata_log.record import MetadataRecord


class ZkMigrationStateRecord(MetadataRecord, type_id=21, versions="0", flexible="0+"):
    zk_migration_state: int = int8("0+")
