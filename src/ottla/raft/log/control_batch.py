"""Control batches of the quorum, to bytes and back: leader changes, voters, kraft.version, snapshot head and foot."""

from collections.abc import Iterator, Sequence

from ottla.base.frozen import frozen
from ottla.protocol.control_record import (
    KRaftVersionRecord,
    LeaderChangeMessage,
    SnapshotFooterRecord,
    SnapshotHeaderRecord,
    VotersRecord,
)
from ottla.protocol.records.batch import Batch
from ottla.protocol.records.control import ControlRecordType, read_key, write_key
from ottla.protocol.records.reader import decode_batch
from ottla.protocol.records.writer import BatchOptions, write_batch

ControlMessage = LeaderChangeMessage | VotersRecord | KRaftVersionRecord | SnapshotHeaderRecord | SnapshotFooterRecord

_TYPE_OF: dict[type[ControlMessage], ControlRecordType] = {
    LeaderChangeMessage: ControlRecordType.LEADER_CHANGE,
    SnapshotHeaderRecord: ControlRecordType.SNAPSHOT_HEADER,
    SnapshotFooterRecord: ControlRecordType.SNAPSHOT_FOOTER,
    KRaftVersionRecord: ControlRecordType.KRAFT_VERSION,
    VotersRecord: ControlRecordType.KRAFT_VOTERS,
}
_CLASS_OF: dict[ControlRecordType, type[ControlMessage]] = {number: kind for kind, number in _TYPE_OF.items()}


@frozen
class BatchPlace:
    """The place of a batch: its first offset, the leader's epoch, and its time."""

    base_offset: int
    epoch: int
    timestamp_ms: int


def write_control_batch(place: BatchPlace, messages: Sequence[ControlMessage]) -> bytes:
    """One control batch with the messages in order."""
    records = [
        (place.base_offset + delta, place.timestamp_ms, write_key(_TYPE_OF[type(message)]), _value(message), ())
        for delta, message in enumerate(messages)
    ]
    options = BatchOptions(base_offset=place.base_offset, partition_leader_epoch=place.epoch, is_control=True)
    return bytes(write_batch(records, options))


def read_control_batch(batch: Batch) -> Iterator[tuple[int, ControlMessage]]:
    """Offset and message of each control record that this version knows."""
    for offset, _, key, value, _ in decode_batch(batch):
        kind = read_key(key)
        message = _CLASS_OF.get(kind) if kind is not None else None
        if message is None or value is None:
            continue
        yield offset, message.decode_from(value, 0, _version(value, message))[0]


def _value(message: ControlMessage) -> bytes:
    return message.encode(message.version)


def _version(value: bytes, message: type[ControlMessage]) -> int:
    """The version that the value opens with; newer ones only append, so they read as our newest."""
    return min(int.from_bytes(value[:2], "big"), message.valid_versions.highest)
