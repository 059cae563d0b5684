"""Control records: what kind one is, and the two that end a transaction.

Keys and end markers are a version int16 and then a message of `ottla.protocol.control_record`: ControlRecordTypeSchema
or EndTxnMarker. Newer versions only append fields, so a higher version reads like 0. The values of the quorum's control
records are messages without that prefix.
"""

import struct
from enum import IntEnum
from typing import TypeVar

from ottla.base.frozen import frozen
from ottla.protocol.control_record import ControlRecordTypeSchema, EndTxnMarker
from ottla.protocol.definition import Message
from ottla.protocol.errors import DecodeError
from ottla.protocol.records.record import RecordTuple
from ottla.protocol.records.writer import BatchOptions, write_batch

_VERSION = struct.Struct(">h")
_LATEST = 0

_Versioned = TypeVar("_Versioned", bound=Message)


class ControlRecordType(IntEnum):
    """The types by their number in a control record's key."""

    ABORT = 0
    COMMIT = 1
    LEADER_CHANGE = 2
    SNAPSHOT_HEADER = 3
    SNAPSHOT_FOOTER = 4
    KRAFT_VERSION = 5
    KRAFT_VOTERS = 6


def write_key(control_type: ControlRecordType) -> bytes:
    """A control record's key."""
    return _write_versioned(ControlRecordTypeSchema(type=control_type))


def read_key(key: bytes | None) -> ControlRecordType | None:
    """The type that a control record's key names; None for one from the future, which is to be ignored."""
    number = _read_versioned(key, ControlRecordTypeSchema, "key").type
    return ControlRecordType(number) if 0 <= number <= max(ControlRecordType) else None


@frozen
class EndTransactionMarker:
    """The end of one producer's transaction in one partition."""

    control_type: ControlRecordType
    coordinator_epoch: int

    def value(self) -> bytes:
        """The control record's value."""
        return _write_versioned(EndTxnMarker(coordinator_epoch=self.coordinator_epoch))


def read_end_marker(record: RecordTuple) -> EndTransactionMarker | None:
    """The marker that a control record is; None if it is of another type."""
    _, _, key, value, _ = record
    control_type = read_key(key)
    if control_type not in (ControlRecordType.ABORT, ControlRecordType.COMMIT):
        return None
    return EndTransactionMarker(control_type, _read_versioned(value, EndTxnMarker, "value").coordinator_epoch)


def write_end_marker(
    marker: EndTransactionMarker, *, producer_id: int, producer_epoch: int, timestamp: int
) -> bytearray:
    """The control batch that ends a producer's transaction.

    >>> from ottla.protocol.records.reader import ReadOptions, read_tuples
    >>> marker = EndTransactionMarker(ControlRecordType.COMMIT, coordinator_epoch=3)
    >>> batch = write_end_marker(marker, producer_id=7, producer_epoch=0, timestamp=1_700_000_000_000)
    >>> [record] = read_tuples(batch, ReadOptions(control_records=True))
    >>> read_end_marker(record) == marker
    True
    """
    options = BatchOptions(
        producer_id=producer_id, producer_epoch=producer_epoch, is_transactional=True, is_control=True
    )
    return write_batch([(0, timestamp, write_key(marker.control_type), marker.value(), ())], options)


def _write_versioned(message: Message) -> bytes:
    return _VERSION.pack(_LATEST) + message.encode(_LATEST)


def _read_versioned(data: bytes | None, kind: type[_Versioned], path: str) -> _Versioned:
    """The message behind its version; what a newer version appended is not looked at."""
    if data is None or len(data) < _VERSION.size:
        raise DecodeError("no room for a version", path=path)
    version = _VERSION.unpack_from(data)[0]
    if version < 0:
        raise DecodeError(f"version {version}", path=f"{path}.version", position=0)
    try:
        return kind.decode_from(data, _VERSION.size, min(version, _LATEST))[0]
    except DecodeError as error:
        raise error.inside(f"{path}.") from None
