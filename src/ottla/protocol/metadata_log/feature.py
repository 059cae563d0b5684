"""Levels of features in the metadata log, and the state of a migration from ZooKeeper."""

from ottla.protocol.field import int8, int16, string
from ottla.protocol.metadata_log.record import MetadataRecord


class FeatureLevelRecord(MetadataRecord, type_id=12, versions="0", flexible="0+"):
    """A finalized feature level (KIP-584), written at bootstrap and by UpdateFeatures; level 0 removes the feature.

    New logs and snapshots begin with the level of metadata.version, which decides the versions of all other records, so
    this record can never go beyond version 0: it must be readable before anything is known. kraft.version is not here
    but in KRaftVersionRecord, a control record.
    """

    name: str = string("0+")
    feature_level: int = int16("0+")


class ZkMigrationStateRecord(MetadataRecord, type_id=21, versions="0", flexible="0+"):
    """How far a migration from ZooKeeper got; still read, because old logs hold it (KIP-866).

    `zk_migration_state` is 0 none, 1 migration, 2 pre-migration, 3 post-migration. 3.4 had 1 and 2 the other way round,
    but wrote neither migration nor post-migration. A cluster that never saw ZooKeeper has 0 or no record at all.
    """

    zk_migration_state: int = int8("0+")
