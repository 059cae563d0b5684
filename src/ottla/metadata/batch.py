"""Batches of the metadata log: from the bytes that the quorum hands out to records, and back.

Control batches belong to the quorum (leader changes, voters, the header and footer of a snapshot): they keep their
offsets and have no records here.
"""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from ottla.metadata.error import MetadataError
from ottla.protocol.metadata_log.log import VersionedRecord, decode_record, encode_record
from ottla.protocol.metadata_log.record import MetadataRecord
from ottla.protocol.records.batch import batches
from ottla.protocol.records.reader import decode_batch


class CommittedBatch(NamedTuple):
    """A batch of the metadata log that will not go away."""

    base_offset: int
    last_offset: int
    epoch: int
    timestamp_ms: int
    records: Sequence[MetadataRecord]


def read_batches(data: bytes) -> Iterator[CommittedBatch]:
    """The batches of a stretch of the log or of a snapshot; whole ones, whose checksums the quorum has checked."""
    for batch in batches(data):
        records = [] if batch.is_control else [_decoded(value) for _, _, _, value, _ in decode_batch(batch)]
        epoch = batch.partition_leader_epoch
        yield CommittedBatch(batch.base_offset, batch.last_offset, epoch, batch.max_timestamp, records)


def record_values(records: Sequence[VersionedRecord]) -> list[bytes]:
    """The values of the log records that say `records`."""
    return [encode_record(record, version) for record, version in records]


def _decoded(value: bytes | memoryview | None) -> MetadataRecord:
    if value is None:
        raise MetadataError("a record of the metadata log has no value")
    return decode_record(value).record
