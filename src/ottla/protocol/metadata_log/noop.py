"""The record that changes nothing and shows that the controller is alive (KIP-835).

The active controller writes one every metadata.max.idle.interval.ms (500 by default), so that the log moves, and lag
and trouble of the quorum show, even when nothing changes. It has no fields and isn't in snapshots.
"""

from ottla.protocol.metadata_log.record import MetadataRecord


class NoOpRecord(MetadataRecord, type_id=20, versions="0", flexible="0+"):
    pass
