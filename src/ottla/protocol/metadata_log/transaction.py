"""Brackets around metadata records that take effect together (KIP-868).

For operations too large for one batch, which is atomic by itself. No reader sees what follows a BeginTransactionRecord
until the EndTransactionRecord; AbortTransactionRecord throws it away. A new controller that finds an open bracket
aborts it first. Brackets don't nest, and snapshots hold none. `name` and `reason` are for people.
"""

from ottla.protocol.field import string
from ottla.protocol.metadata_log.record import MetadataRecord


class BeginTransactionRecord(MetadataRecord, type_id=23, versions="0", flexible="0+"):
    name: str | None = string("0+", nullable="0+", default=None, tag=0)


class EndTransactionRecord(MetadataRecord, type_id=24, versions="0", flexible="0+"):
    pass


class AbortTransactionRecord(MetadataRecord, type_id=25, versions="0", flexible="0+"):
    reason: str | None = string("0+", nullable="0+", default=None, tag=0)
