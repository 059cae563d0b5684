"""The form of a snapshot file: whole batches with matching CRCs, a header first, a footer last (KIP-630)."""

from collections.abc import Iterator

from ottla.metadata.batch import read_batches
from ottla.protocol.control_record import SnapshotFooterRecord, SnapshotHeaderRecord
from ottla.protocol.errors import DecodeError
from ottla.protocol.metadata_log.record import MetadataRecord
from ottla.protocol.records.batch import Batch, batches
from ottla.raft.log.control_batch import ControlMessage, read_control_batch
from ottla.storage.errors import CorruptFileError


def check_snapshot(data: bytes, path: str) -> SnapshotHeaderRecord:
    """The header of a snapshot; `CorruptFileError` unless all of the file is as it was written."""
    found = _whole_batches(data, path)
    last = _control(found[-1]) if found else []
    header = read_header(data, path)
    if not last or not isinstance(last[-1], SnapshotFooterRecord):
        raise CorruptFileError("the snapshot has no footer: it was never completed", path)
    return header


def read_header(data: bytes, path: str) -> SnapshotHeaderRecord:
    """The header of a snapshot, of which the first bytes will do."""
    first = next(iter(batches(data)), None)
    messages = [] if first is None else _control(first)
    if not messages or not isinstance(messages[0], SnapshotHeaderRecord):
        raise CorruptFileError("the snapshot has no header", path)
    return messages[0]


def read_records(data: bytes) -> Iterator[MetadataRecord]:
    """The records of a snapshot that was checked."""
    for batch in read_batches(data):
        yield from batch.records


def _whole_batches(data: bytes, path: str) -> list[Batch]:
    try:
        found = list(batches(data))
    except DecodeError as error:
        raise CorruptFileError(str(error), path) from error
    next_offset = 0
    for batch in found:
        if batch.base_offset != next_offset:
            raise CorruptFileError(f"offset {batch.base_offset} where {next_offset} is next", path)
        next_offset = batch.next_offset
        if not batch.crc_matches():
            raise CorruptFileError(f"the CRC of the batch at position {batch.position} does not match", path)
    if found and found[-1].end != len(data):
        raise CorruptFileError(f"the file ends inside a batch at position {found[-1].end}", path)
    return found


def _control(batch: Batch) -> list[ControlMessage]:
    return [message for _, message in read_control_batch(batch)] if batch.is_control else []
