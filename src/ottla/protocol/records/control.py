"""Control records: what kind one is, and the two that end a transaction.

The key is version int16 and type int16. An end marker's value is version int16 and coordinator epoch int32; the
values of the quorum's control records are messages, defined with the others. Newer versions only append fields, so
a higher version reads like 0.
"""

import struct
from dataclasses import dataclass
from enum import IntEnum

from ottla.protocol.errors import DecodeError
from ottla.protocol.records.record import RecordTuple
from ottla.protocol.records.writer import BatchOptions, write_batch

_KEY = struct.Struct(">hh")
_END_VALUE = struct.Struct(">hi")


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
    return _KEY.pack(0, control_type)


def read_key(key: bytes | None) -> ControlRecordType | None:
    """The type that a control record's key names; None for one from the future, which is to be ignored."""
    if key is None or len(key) < _KEY.size:
        raise DecodeError("a control record's key needs 4 bytes", path="key")
    version, number = _KEY.unpack_from(key)
    if version < 0:
        raise DecodeError(f"version {version}", path="key.version", position=0)
    return ControlRecordType(number) if 0 <= number <= max(ControlRecordType) else None


@dataclass(frozen=True, slots=True)
class EndTransactionMarker:
    """The end of one producer's transaction in one partition."""

    control_type: ControlRecordType
    coordinator_epoch: int

    def value(self) -> bytes:
        """The control record's value."""
        return _END_VALUE.pack(0, self.coordinator_epoch)


def read_end_marker(record: RecordTuple) -> EndTransactionMarker | None:
    """The marker that a control record is; None if it is of another type."""
    _, _, key, value, _ = record
    control_type = read_key(key)
    if control_type not in (ControlRecordType.ABORT, ControlRecordType.COMMIT):
        return None
    if value is None or len(value) < _END_VALUE.size:
        raise DecodeError("an end marker's value needs 6 bytes", path="value")
    version, coordinator_epoch = _END_VALUE.unpack_from(value)
    if version < 0:
        raise DecodeError(f"version {version}", path="value.version", position=0)
    return EndTransactionMarker(control_type, coordinator_epoch)


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
