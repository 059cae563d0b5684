"""The record that changes nothing and shows that the controller is alive."""

from ottla.protocol.metadata_log.record import MetadataRecord


class NoOpRecord(MetadataRecord, type_id=20, versions="0", flexible="0+"):
    pass
