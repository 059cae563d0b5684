"""The codec of `__consumer_offsets`, with a short way for the records that it is full of.

Nearly every record is an offset in the present version; those are read and written here, byte for byte as the codec of
definitions does it, in a fraction of its time. Anything out of the ordinary, such as unknown tags, goes the long way.
"""

import struct
from typing import Final

from ottla.base.buffer import Buffer
from ottla.base.ids import ZERO_UUID, Uuid
from ottla.coordinator.group.offsets.record import PRESENT_VERSION
from ottla.coordinator.ports import KeyValue
from ottla.coordinator.runtime.machine import RecordCodec
from ottla.protocol.coordinator_record import CoordinatorRecord
from ottla.protocol.group_log.log import GROUP_LOG
from ottla.protocol.group_log.offset import OffsetCommitKey, OffsetCommitValue

_INT16: Final = struct.Struct(">h")
_INT32: Final = struct.Struct(">i")
_INT64: Final = struct.Struct(">q")
_KEY_START: Final = struct.Struct(">hh")
"""The type, and the length of the group id."""
_VALUE_START: Final = struct.Struct(">hqiB")
"""The version, the offset, the leader epoch, and the length of the metadata plus one."""
_BARE: Final = struct.Struct(">hqiBqB")
"""A whole value without metadata: as above, the time of the commit, and the number of tagged fields."""
_BARE_WITH_ID: Final = struct.Struct(">hqiBq3s16s")
"""A whole value without metadata that has a topic id as its one tagged field."""
_KEY_TYPE: Final = _INT16.pack(OffsetCommitKey.type_id)
_VALUE_VERSION: Final = _INT16.pack(PRESENT_VERSION)
_STRING_BYTES_MAX: Final = 0x7FFF
_METADATA_BYTES_MAX: Final = 126
"""Longer metadata has a length of more than one byte."""
_NO_TAGS: Final = b"\0"
_TOPIC_ID_TAG: Final = b"\1\0\x10"
"""One tagged field, its number, its length."""
_TOPIC_ID_BYTES: Final = len(_TOPIC_ID_TAG) + 16
_METADATA_START: Final = _VALUE_START.size
_KNOWN_MAX: Final = 4_096
"""How many pairs of a group and a topic are remembered while reading; a codec that would exceed it starts afresh."""


class OffsetCodec(RecordCodec):
    """Encodes and decodes the records of groups; one is enough for all shards."""

    def __init__(self) -> None:
        super().__init__(GROUP_LOG)
        self._known: dict[bytes, tuple[str, str]] = {}

    def encode(self, record: CoordinatorRecord) -> KeyValue:
        """A record as it goes into the log."""
        key, value, version = record
        if (
            version == PRESENT_VERSION
            and isinstance(key, OffsetCommitKey)
            and isinstance(value, OffsetCommitValue)
            and not value.unknown_tags
        ):
            group_id, topic, metadata = key.group.encode(), key.topic.encode(), value.metadata.encode()
            sizes_fit = len(group_id) <= _STRING_BYTES_MAX and len(topic) <= _STRING_BYTES_MAX
            if sizes_fit and len(metadata) <= _METADATA_BYTES_MAX:
                return _encode_key(group_id, topic, key.partition), _encode_value(value, metadata)
        return super().encode(record)

    def decode(self, key: Buffer, value: Buffer | None) -> CoordinatorRecord | None:
        """A record from the log; None for a type that is not known."""
        if value is None or value[:2] != _VALUE_VERSION or key[:2] != _KEY_TYPE:
            return super().decode(key, value)
        key = bytes(key)
        start = key[:-4]
        names = self._known.get(start) or self._names(start)
        found = None if names is None else _decode_value(bytes(value))
        if names is None or found is None:
            return super().decode(key, value)
        partition = _INT32.unpack_from(key, len(start))[0]
        fields = (OffsetCommitKey(group=names[0], topic=names[1], partition=partition), found, PRESENT_VERSION)
        return tuple.__new__(CoordinatorRecord, fields)

    def _names(self, start: bytes) -> tuple[str, str] | None:
        """A group commits to the same few topics over and over; this way its strings are made only once, too."""
        names = _decode_names(start)
        if names is not None:
            if len(self._known) >= _KNOWN_MAX:
                self._known.clear()
            self._known[start] = names
        return names


def _encode_key(group_id: bytes, topic: bytes, partition: int) -> bytes:
    start = _KEY_START.pack(OffsetCommitKey.type_id, len(group_id))
    return b"".join((start, group_id, _INT16.pack(len(topic)), topic, _INT32.pack(partition)))


def _encode_value(value: OffsetCommitValue, metadata: bytes) -> bytes:
    start = _VALUE_START.pack(PRESENT_VERSION, value.offset, value.leader_epoch, len(metadata) + 1)
    committed = _INT64.pack(value.commit_timestamp)
    if value.topic_id == ZERO_UUID:
        return b"".join((start, metadata, committed, _NO_TAGS))
    return b"".join((start, metadata, committed, _TOPIC_ID_TAG, value.topic_id))


def _decode_names(start: bytes) -> tuple[str, str] | None:
    """The group and the topic of a key, given without the partition at its end; None if that is not all there is."""
    topic_start = 6 + int.from_bytes(start[2:4], "big")
    topic_end = topic_start + int.from_bytes(start[topic_start - 2 : topic_start], "big")
    if topic_end != len(start) or topic_start > len(start):
        return None
    try:
        return start[4 : topic_start - 2].decode(), start[topic_start:].decode()
    except UnicodeDecodeError:
        return None


def _decode_value(value: bytes) -> OffsetCommitValue | None:
    """An ordinary value; None if it is anything else, and then the codec of definitions decides."""
    size = len(value)
    if size == _BARE.size:
        _, offset, leader_epoch, length, timestamp, tags = _BARE.unpack(value)
        if length == 1 and tags == 0:
            return OffsetCommitValue(offset=offset, leader_epoch=leader_epoch, commit_timestamp=timestamp)
    elif size == _BARE_WITH_ID.size:
        _, offset, leader_epoch, length, timestamp, tags, topic_id = _BARE_WITH_ID.unpack(value)
        if length == 1 and tags == _TOPIC_ID_TAG:
            return OffsetCommitValue(
                offset=offset, leader_epoch=leader_epoch, commit_timestamp=timestamp, topic_id=Uuid(topic_id)
            )
    return _decode_with_metadata(value)


def _decode_with_metadata(value: bytes) -> OffsetCommitValue | None:
    if len(value) < _BARE.size:
        return None
    _, offset, leader_epoch, length = _VALUE_START.unpack_from(value)
    # A length of 0 would be null, which an offset's metadata never is.
    metadata_end = _METADATA_START + length - 1
    tags = value[metadata_end + _INT64.size :]
    if not 0 < length <= _METADATA_BYTES_MAX + 1:
        return None
    if tags == _NO_TAGS:
        topic_id = ZERO_UUID
    elif len(tags) == _TOPIC_ID_BYTES and tags.startswith(_TOPIC_ID_TAG):
        topic_id = Uuid(tags[len(_TOPIC_ID_TAG) :])
    else:
        return None
    try:
        metadata = value[_METADATA_START:metadata_end].decode()
    except UnicodeDecodeError:
        return None
    return OffsetCommitValue(
        offset=offset,
        leader_epoch=leader_epoch,
        metadata=metadata,
        commit_timestamp=_INT64.unpack_from(value, metadata_end)[0],
        topic_id=topic_id,
    )
