"""How far a migration from ZooKeeper got; still read, because old logs hold it (KIP-866).

`zk_migration_state` is 0 none, 1 migration, 2 pre-migration, 3 post-migration. 3.4 had 1 and 2 the other way round,
but wrote neither migration nor post-migration. A cluster that never saw ZooKeeper has 0 or no record at all.
"""

from ottla.protocol.field import int8
from ottla.protocol.metadata_log.record import MetadataRecord


class ZkMigrationStateRecord(MetadataRecord, type_id=21, versions="0", flexible="0+"):
    zk_migration_state: int = int8("0+")
