"""Batches of the metadata log: from the bytes that the quorum hands out to records, and back.

Control batches belong to the quorum (leader changes, voters, the header and footer of a snapshot): they keep their
offsets and have no records here.
"""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from ottla.metadata.errors import MetadataError
from ottla.protocol.metadata_log.log import VersionedRecord, encode_record, read_record
from ottla.protocol.metadata_log.record import MetadataRecord
from ottla.protocol.records.batch import Batch, batches
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
        records = [] if batch.is_control else _records(batch)
        epoch = batch.partition_leader_epoch
        yield CommittedBatch(batch.base_offset, batch.last_offset, epoch, batch.max_timestamp, records)


def record_values(records: Sequence[VersionedRecord]) -> list[bytes]:
    """The values of the log records that say `records`."""
    return [encode_record(record, version) for record, version in records]


def _records(batch: Batch) -> list[MetadataRecord]:
    values = [value for _, _, _, value, _ in decode_batch(batch)]
    if None in values:
        raise MetadataError(f"a record of the metadata log at offset {batch.base_offset} or after has no value")
    return [read_record(value) for value in values if value is not None]
