"""Finalized feature levels in the metadata log."""

from ottla.protocol.field import int16, string
from ottla.protocol.metadata_log.record import MetadataRecord


class FeatureLevelRecord(MetadataRecord, type_id=12, versions="0", flexible="0+"):
    name: str = string("0+")
    feature_level: int = int16("0+")
