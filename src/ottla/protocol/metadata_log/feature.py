"""Finalized feature levels in the metadata log (KIP-584).

Written at bootstrap and by UpdateFeatures; level 0 removes the feature. New logs and snapshots begin with the level
of metadata.version, which decides the versions of all other records, so this record can never go beyond version 0: it
must be readable before anything is known. kraft.version is not here but in KRaftVersionRecord, a control record.
"""

from ottla.protocol.field import int16, string
from ottla.protocol.metadata_log.record import MetadataRecord


class FeatureLevelRecord(MetadataRecord, type_id=12, versions="0", flexible="0+"):
    name: str = string("0+")
    feature_level: int = int16("0+")
