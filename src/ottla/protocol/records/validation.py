"""Checks a batch that a client wants appended, as Apache Kafka's leader does, and answers with Kafka's codes.

Record frames are always walked, so that what is on disk can be read: lengths, count, offset deltas 0, 1, 2, … (which
Apache Kafka does not check in uncompressed batches), keys on compacted topics, timestamps. Apache Kafka answers data
that does not decompress, and codec ids that mean nothing, with UNKNOWN_SERVER_ERROR; so do we. A batch that
decompresses to more than the limit is MESSAGE_TOO_LARGE.
"""

from collections.abc import Iterable
from enum import Enum, auto
from itertools import islice
from typing import Any, NamedTuple, NoReturn

from ottla.base.buffer import Buffer
from ottla.base.frozen import frozen
from ottla.protocol.compression import DECOMPRESSED_BYTES_MAX, CompressionType, pieces
from ottla.protocol.errors import (
    ApiError,
    CorruptMessageError,
    DecodeError,
    InvalidRecordError,
    InvalidTimestampError,
    MessageTooLargeError,
    UnknownServerError,
    UnsupportedCompressionTypeError,
)
from ottla.protocol.records import frames, frames_plain
from ottla.protocol.records.batch import MAGIC, Batch, frame_at
from ottla.protocol.records.frames_plain import Demands, Invalid
from ottla.protocol.records.memory import contiguous
from ottla.protocol.records.reader import record_section
from ottla.protocol.records.scanner import Scanner
from ottla.protocol.records.timestamp import NO_TIMESTAMP, TimestampType

RECORD_ERRORS_MAX = 1000
"""Record errors listed for one batch; beyond it a hostile batch would cost more to answer than to send."""
_KEYLESS = "Compacted topic cannot accept message without key in topic partition"

_ZSTD_SINCE_PRODUCE_VERSION = 7
_INT64_MAX = 2**63 - 1
_CREATE_TIME, _LOG_APPEND_TIME = TimestampType.CREATE_TIME, TimestampType.LOG_APPEND_TIME


class AppendOrigin(Enum):
    """The origin of an append: clients are trusted less than the broker's own coordinators."""

    CLIENT = auto()
    COORDINATOR = auto()


_CLIENT = AppendOrigin.CLIENT


@frozen
class AppendRules:
    """A topic's settings that decide what may be appended; the defaults are Kafka's."""

    compacted: bool = False
    timestamp_type: TimestampType = TimestampType.CREATE_TIME
    timestamp_before_max_ms: int = _INT64_MAX
    timestamp_after_max_ms: int = 3_600_000
    max_message_bytes: int = 1_048_588
    decompressed_bytes_max: int = DECOMPRESSED_BYTES_MAX
    partition: str = ""
    """Whose rules they are, for the words of a refusal: topic, dash, index."""


class RecordError(NamedTuple):
    """The error of one record, by its place in the batch."""

    batch_index: int
    message: str


class InvalidRecordsError(InvalidRecordError):
    """INVALID_RECORD, with the records that are to blame."""

    def __init__(self, message: str, record_errors: list[RecordError]) -> None:
        super().__init__(message)
        self.record_errors = record_errors

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self.message, self.record_errors)


class InvalidTimestampsError(InvalidTimestampError):
    """INVALID_TIMESTAMP, with the records that are to blame."""

    def __init__(self, message: str, record_errors: list[RecordError]) -> None:
        super().__init__(message)
        self.record_errors = record_errors

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self.message, self.record_errors)


class Validated(NamedTuple):
    """A batch that may be appended, and what its header has to say about timestamps."""

    batch: Batch
    timestamp_type: TimestampType
    max_timestamp: int

    def assign(self, base_offset: int, partition_leader_epoch: int) -> None:
        """Patches the batch for its place in the log; the CRC is recomputed only if its timestamps changed."""
        self.batch.set_max_timestamp(self.timestamp_type, self.max_timestamp)
        self.batch.assign(base_offset, partition_leader_epoch)


def single_batch(data: Buffer, produce_version: int) -> Batch:
    """The one v2 batch that a Produce request may carry for a partition; bytes that begin another are ignored."""
    try:
        batch = Batch(data)
        following = None if batch.size == len(data) else frame_at(contiguous(data), batch.size)
    except DecodeError as error:
        raise _refusal(contiguous(data), error) from None
    if produce_version < _ZSTD_SINCE_PRODUCE_VERSION and batch.codec_id == CompressionType.ZSTD:
        raise UnsupportedCompressionTypeError(f"Produce version {produce_version} cannot carry zstd")
    if following is not None:
        raise InvalidRecordError("A produce request must have one record batch for each partition, not more")
    return batch


def _refusal(data: memoryview, error: DecodeError) -> ApiError:
    """Kafka's error for bytes that are not v2 batches from start to end."""
    try:
        frame = frame_at(data)
    except DecodeError as corrupt:
        return CorruptMessageError(str(corrupt))
    if frame is None:
        return InvalidRecordError("A produce request must have a whole record batch for each partition")
    if frame.magic != MAGIC:
        return InvalidRecordError(f"A produce request must have magic 2, not {frame.magic}")
    return CorruptMessageError(str(error))


def validate(
    batch: Batch,
    rules: AppendRules,
    now_ms: int,
    origin: AppendOrigin = AppendOrigin.CLIENT,
    workspace: bytearray | None = None,
) -> Validated:
    """Raises the `ApiError` that Kafka's leader would answer, or says which timestamps the batch is to have.

    With a `workspace` a compressed batch is read through piece by piece in there, and only a refusal that has to name
    records makes the whole of it.
    """
    if origin is _CLIENT and batch.base_offset != 0:
        raise InvalidRecordError(f"The base offset must be 0, not {batch.base_offset}")
    if batch.size > rules.max_message_bytes:
        raise MessageTooLargeError(f"The record batch has {batch.size} bytes, {rules.max_message_bytes} are allowed")
    if not batch.crc_matches():
        raise CorruptMessageError
    if origin is _CLIENT:
        _check_client_header(batch)
    lowest, highest, null_keys, consecutive = _facts(batch, rules.decompressed_bytes_max, workspace)
    claimed = batch.log_append_time
    if claimed is not None:
        lowest = highest = claimed
    if rules.timestamp_type is _LOG_APPEND_TIME:
        max_timestamp, in_time = now_ms, claimed is None
    else:
        max_timestamp = max(highest, NO_TIMESTAMP)
        in_time = claimed != NO_TIMESTAMP and _in_time(lowest, highest, rules, now_ms)
    if not (in_time and consecutive) or (null_keys and rules.compacted):
        _reject_records(batch, _section(batch, rules.decompressed_bytes_max), rules, now_ms)
    return Validated(batch, rules.timestamp_type, max_timestamp)


def _in_time(lowest: int, highest: int, rules: AppendRules, now_ms: int) -> bool:
    """Whether the timestamps between these two may be appended to a topic with CreateTime."""
    in_past = lowest == NO_TIMESTAMP or now_ms - lowest <= rules.timestamp_before_max_ms
    return in_past and highest - now_ms <= rules.timestamp_after_max_ms


def _check_client_header(batch: Batch) -> None:
    count, last_delta = batch.records_count, batch.last_offset_delta
    if count <= 0 or last_delta != count - 1:
        raise InvalidRecordError(f"The batch announces {count} records and a last offset delta of {last_delta}")
    if batch.is_control:
        raise InvalidRecordError("Clients may not write control records")
    if batch.producer_id >= 0 and batch.base_sequence < 0:
        raise InvalidRecordError(f"Producer {batch.producer_id} sent sequence number {batch.base_sequence}")


def _facts(batch: Batch, max_bytes: int, workspace: bytearray | None) -> frames_plain.Facts:
    count, base_timestamp = batch.records_count, batch.base_timestamp
    if workspace is not None and batch.codec_id and count:
        facts = _scan_pieces(batch, max_bytes, workspace)
        if facts is not None:
            return facts
    try:
        found: frames_plain.Facts = frames.scan(_section(batch, max_bytes), count, base_timestamp)
    except DecodeError as error:
        raise InvalidRecordError(str(error)) from None
    return found


def _scan_pieces(batch: Batch, max_bytes: int, workspace: bytearray) -> frames_plain.Facts | None:
    """None if a frame is malformed: there is no reason to read on then."""
    scanner = Scanner(batch.records_count, batch.base_timestamp)
    try:
        for piece in pieces(batch.compression, batch.records, workspace, max_bytes):
            if not scanner.feed(piece):
                return None
    except (DecodeError, UnsupportedCompressionTypeError) as error:
        raise UnknownServerError(str(error)) from None
    facts: frames_plain.Facts | None = scanner.facts()
    return facts


def _section(batch: Batch, max_bytes: int) -> memoryview:
    try:
        return record_section(batch, max_bytes)
    except (DecodeError, UnsupportedCompressionTypeError) as error:
        raise UnknownServerError(str(error)) from None


def _timestamp_error(offset: int, timestamp: int, batch: Batch, rules: AppendRules, now_ms: int) -> str | None:
    """The error of a record's timestamp.

    Apache Kafka lets a producer's claim of LogAppendTime pass where the topic has CreateTime and the claimed time is
    within bounds; the batch then becomes one with CreateTime.
    """
    if rules.timestamp_type is _CREATE_TIME and timestamp != NO_TIMESTAMP:
        if _in_time(timestamp, timestamp, rules, now_ms):
            return None
        earliest, latest = now_ms - rules.timestamp_before_max_ms, now_ms + rules.timestamp_after_max_ms
        return (
            f"Timestamp {timestamp} of message with offset {offset} is out of range. "
            f"The timestamp should be within [{earliest}, {latest}]"
        )
    if batch.timestamp_type is _LOG_APPEND_TIME:
        return "A producer may not set the timestamp type to LogAppendTime"
    return None


def _reject_records(batch: Batch, section: memoryview, rules: AppendRules, now_ms: int) -> NoReturn:
    """Walks the records once more to say which of them are wrong, and raises."""
    errors: list[RecordError] = []
    untimely = False
    for index, offset_delta, timestamp, has_key in _invalid(batch, section, rules, now_ms):
        if rules.compacted and not has_key:
            errors.append(RecordError(index, f"{_KEYLESS} {rules.partition}"))
        elif (message := _timestamp_error(offset_delta, timestamp, batch, rules, now_ms)) is not None:
            untimely = True
            errors.append(RecordError(index, message))
        else:
            errors.append(RecordError(index, f"An offset delta of {offset_delta} in record {index} of the batch"))
    if untimely:
        raise InvalidTimestampsError("One or more records have been rejected due to invalid timestamp", errors)
    shown = ", ".join(f"RecordError(batchIndex={index}, message='{message}')" for index, message in errors[:3])
    raise InvalidRecordsError(
        f"One or more records have been rejected due to {len(errors)} record errors in total, and only showing the "
        f"first three errors at most: [{shown}]",
        errors,
    )


def _invalid(batch: Batch, section: memoryview, rules: AppendRules, now_ms: int) -> Iterable[Invalid]:
    """The records that are wrong, as many as are listed; the others are not even made into objects."""
    count, claimed = batch.records_count, batch.log_append_time
    if claimed is not None and _timestamp_error(0, claimed, batch, rules, now_ms) is not None:
        records = frames.iterate(section, count, 0, batch.base_timestamp, claimed)
        return (
            (index, offset, claimed, key is not None)
            for index, (offset, _, key, _, _) in enumerate(islice(records, RECORD_ERRORS_MAX))
        )
    demands = Demands(key=rules.compacted)
    if claimed is None and rules.timestamp_type is _CREATE_TIME:
        earliest = max(now_ms - rules.timestamp_before_max_ms, -_INT64_MAX - 1)
        demands = Demands(rules.compacted, earliest, min(now_ms + rules.timestamp_after_max_ms, _INT64_MAX))
    found = frames.find_invalid(section, count, batch.base_timestamp, demands, RECORD_ERRORS_MAX)
    return found if claimed is None else ((index, delta, claimed, has_key) for index, delta, _, has_key in found)
