"""Batches and records of a log segment or a metadata snapshot, as `kafka-dump-log` shows them."""

import mmap
import os
import struct
import sys
import zlib
from collections.abc import Iterator
from typing import TYPE_CHECKING, Final

from ottla.base.frozen import frozen
from ottla.cli.kafka.argument.option import ToolError
from ottla.cli.kafka.record.dump_log_decoder import Decoder
from ottla.cli.kafka.record.message_json import json_text, message_json
from ottla.protocol.compression import CompressionType
from ottla.protocol.control_record import (
    KRaftVersionRecord,
    LeaderChangeMessage,
    SnapshotFooterRecord,
    SnapshotHeaderRecord,
    VotersRecord,
)
from ottla.protocol.definition import Message
from ottla.protocol.errors import ApiError, DecodeError
from ottla.protocol.records import legacy
from ottla.protocol.records.batch import HEADER_BYTES, LOG_OVERHEAD, MAGIC, Batch
from ottla.protocol.records.control import ControlRecordType, read_end_marker, read_key
from ottla.protocol.records.reader import iterate_batch
from ottla.protocol.records.record import RecordTuple
from ottla.protocol.records.timestamp import TimestampType

if TYPE_CHECKING:
    from ottla.cli.kafka.record.dump_log_complaint import Complaints

_UNLIMITED: Final = 2**31 - 1
_HEADER_UP_TO_MAGIC: Final = 17
_MESSAGE_BYTES_MIN: Final = 14
_CORRUPT: Final = "org.apache.kafka.common.errors.CorruptRecordException: "
_TIMES: Final = {TimestampType.CREATE_TIME: "CreateTime", TimestampType.LOG_APPEND_TIME: "LogAppendTime"}
_CONTROL: Final[dict[ControlRecordType, tuple[str, type[Message]]]] = {
    ControlRecordType.LEADER_CHANGE: ("LeaderChange:", LeaderChangeMessage),
    ControlRecordType.SNAPSHOT_HEADER: ("SnapshotHeader", SnapshotHeaderRecord),
    ControlRecordType.SNAPSHOT_FOOTER: ("SnapshotFooter", SnapshotFooterRecord),
    ControlRecordType.KRAFT_VERSION: ("KRaftVersion", KRaftVersionRecord),
    ControlRecordType.KRAFT_VOTERS: ("KRaftVoters", VotersRecord),
}


def log_bytes(path: str) -> memoryview:
    """A file's bytes, mapped: a segment may be larger than what one wants to keep in memory."""
    with open(path, "rb") as file:
        size = os.fstat(file.fileno()).st_size
        return memoryview(mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) if size else b"")


def batch_views(data: memoryview, path: str, position: int = 0) -> Iterator[tuple[int, memoryview]]:
    """The whole batches of a log, each with its position; an end that is cut short is left out.

    Raises `ToolError` for a length that no batch can have.
    """
    while position + _HEADER_UP_TO_MAGIC <= len(data):
        (size,) = struct.unpack_from(">i", data, position + 8)
        if size < _MESSAGE_BYTES_MIN:
            raise ToolError(
                f"{_CORRUPT}Found record size {size} smaller than minimum record overhead "
                f"({_MESSAGE_BYTES_MIN}) in file {path}."
            )
        end = position + LOG_OVERHEAD + size
        if end > len(data):
            return
        yield position, data[position:end]
        position = end


def last_offset(view: memoryview) -> int:
    """The last offset that a batch covers."""
    base: int = struct.unpack_from(">q", view)[0]
    if view[_HEADER_UP_TO_MAGIC - 1] < MAGIC or len(view) < HEADER_BYTES:
        return base
    delta: int = struct.unpack_from(">i", view, 23)[0]
    return base + delta


def records_of(view: memoryview) -> Iterator[RecordTuple]:
    """A batch's records, whatever its CRC says."""
    try:
        if view[_HEADER_UP_TO_MAGIC - 1] < MAGIC:
            yield from legacy.read_message(view, check_crcs=False)
        else:
            yield from iterate_batch(Batch(view))
    except (DecodeError, ApiError) as error:
        raise ToolError(f"org.apache.kafka.common.InvalidRecordException: {error}") from error


@frozen
class RecordDump:
    """How much of a log is shown."""

    decoder: Decoder | None
    """Reads what records hold; None if that is not shown."""
    is_deep: bool
    has_metadata: bool
    max_bytes: int
    complaints: "Complaints"

    def dump(self, path: str) -> None:
        """Shows a whole file."""
        name = os.path.basename(path)
        print(_title(name))
        data = log_bytes(path)
        if self.max_bytes < 0:
            raise ToolError(
                f"java.lang.IllegalArgumentException: Invalid size: {self.max_bytes} in read from "
                f"FileRecords(size={len(data)}, file={path}, start=0, end={_UNLIMITED})"
            )
        data = data[: self.max_bytes]
        valid_bytes, last = 0, -1
        for position, view in batch_views(data, path):
            print(_batch_text(view, position))
            if self.is_deep:
                last = self._dump_records(view, last, path)
            valid_bytes = position + len(view)
        if valid_bytes < len(data) and self.max_bytes == _UNLIMITED:
            print(f"Found {len(data) - valid_bytes} invalid bytes at the end of {name}")

    def _dump_records(self, view: memoryview, last: int, path: str) -> int:
        """Shows a batch's records; the offset of the last one."""
        is_legacy = view[_HEADER_UP_TO_MAGIC - 1] < MAGIC
        batch = None if is_legacy else Batch(view)
        is_control = batch is not None and batch.is_control
        for record in records_of(view):
            offset = record[0]
            if offset != last + 1:
                self.complaints.add("gap", os.path.join(os.getcwd(), path), last, offset)
            last = offset
            # One by one, so that a record which can't be read has said where it is.
            if self.has_metadata:
                sys.stdout.write(_record_text(record, batch, view))
            if self.has_metadata and is_control:
                sys.stdout.write(f" {_control_text(record)}")
            if self.decoder is not None and not is_control:
                key, value = self.decoder(record)
                held = [*([] if key is None else [f"key: {key}"]), *([] if value is None else [f"payload: {value}"])]
                if held:
                    sys.stdout.write(("" if self.has_metadata else "|") + "".join(f" {part}" for part in held))
            sys.stdout.write("\n")
        return last


def _title(name: str) -> str:
    if name.endswith(".log"):
        return f"Log starting offset: {_number(name.partition('.')[0])}"
    if name == "bootstrap.checkpoint":
        return "KRaft bootstrap snapshot"
    return f"Snapshot end offset: {_number(name[:20])}, epoch: {_number(name[21:31])}"


def _number(text: str) -> int:
    if not text.isascii() or not text.isdigit():
        raise ToolError(f'java.lang.NumberFormatException: For input string: "{text}"')
    return int(text)


def _batch_text(view: memoryview, position: int) -> str:
    if view[_HEADER_UP_TO_MAGIC - 1] < MAGIC:
        return _legacy_text(view, position)
    try:
        batch = Batch(view)
    except DecodeError as error:
        raise ToolError(f"{_CORRUPT}{error}") from error
    horizon = batch.delete_horizon_ms
    return (
        f"baseOffset: {batch.base_offset} lastOffset: {batch.last_offset} count: {batch.records_count} "
        f"baseSequence: {batch.base_sequence} lastSequence: {batch.last_sequence} "
        f"producerId: {batch.producer_id} producerEpoch: {batch.producer_epoch} "
        f"partitionLeaderEpoch: {batch.partition_leader_epoch} "
        f"isTransactional: {_boolean(batch.is_transactional)} isControl: {_boolean(batch.is_control)} "
        f"deleteHorizonMs: {optional_long(horizon)} position: {position} "
        f"{_TIMES[batch.timestamp_type]}: {batch.max_timestamp} size: {batch.size} magic: 2 "
        f"compresscodec: {_codec(batch.codec_id)} crc: {batch.crc} isvalid: {_boolean(batch.crc_matches())}"
    )


def _legacy_text(view: memoryview, position: int) -> str:
    offset, _, crc, magic, attributes = struct.unpack_from(">qiIbb", view)
    time = "NoTimestampType" if magic == 0 else "LogAppendTime" if attributes & 0x08 else "CreateTime"
    timestamp = struct.unpack_from(">q", view, 18)[0] if magic == 1 else -1
    is_valid = zlib.crc32(view[16:]) == crc
    return (
        f"offset: {offset} position: {position} {time}: {timestamp} size: {len(view)} magic: {magic} "
        f"compresscodec: {_codec(attributes & 0x07)} crc: {crc} isvalid: {_boolean(is_valid)}"
    )


def _record_text(record: RecordTuple, batch: Batch | None, view: memoryview) -> str:
    offset, timestamp, key, value, headers = record
    sizes = f"keySize: {-1 if key is None else len(key)} valueSize: {-1 if value is None else len(value)}"
    if batch is None:
        attributes = view[17]
        time = "NoTimestampType" if view[16] == 0 else "LogAppendTime" if attributes & 0x08 else "CreateTime"
        return f"| offset: {offset} {time}: {timestamp} {sizes}"
    base = batch.base_sequence
    sequence = (base + offset - batch.base_offset) % 2**31 if base >= 0 else -1
    names = ",".join(name for name, _ in headers)
    time = _TIMES[batch.timestamp_type]
    return f"| offset: {offset} {time}: {timestamp} {sizes} sequence: {sequence} headerKeys: [{names}]"


def _control_text(record: RecordTuple) -> str:
    key, value = record[2], record[3] or b""
    try:
        kind = read_key(key)
        marker = read_end_marker(record)
        if marker is not None:
            return f"endTxnMarker: {marker.control_type.name} coordinatorEpoch: {marker.coordinator_epoch}"
        if kind is None:
            return f"controlType: UNKNOWN({int.from_bytes((key or b'')[2:4], 'big', signed=True)})"
        name, message_type = _CONTROL[kind]
        version = min(int.from_bytes(value[:2], "big"), message_type.valid_versions.highest)
        message, _ = message_type.decode_from(value, 0, version)
    except (DecodeError, ApiError) as error:
        raise ToolError(f"org.apache.kafka.common.InvalidRecordException: {error}") from error
    return f"{name} {json_text(message_json(message, version))}"


def optional_long(value: int | None) -> str:
    """A number that may be missing, as Java shows it."""
    return "OptionalLong.empty" if value is None else f"OptionalLong[{value}]"


def _boolean(value: bool) -> str:
    return "true" if value else "false"


def _codec(number: int) -> str:
    try:
        return CompressionType.from_id(number).name.lower()
    except ApiError:
        raise ToolError(f"java.lang.IllegalArgumentException: Unknown compression type id: {number}") from None
