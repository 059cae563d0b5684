"""The short way for offsets comes to the same as the codec of definitions, both ways."""

from hypothesis import given
from hypothesis import strategies as st

from ottla.base.ids import ZERO_UUID, Uuid
from ottla.coordinator.group.offsets.offset_codec import OffsetCodec
from ottla.coordinator.runtime.machine import RecordCodec
from ottla.protocol.coordinator_record import CoordinatorRecord
from ottla.protocol.errors import DecodeError
from ottla.protocol.group_log.log import GROUP_LOG
from ottla.protocol.group_log.offset import OffsetCommitKey, OffsetCommitValue

INT64 = st.integers(-(2**63), 2**63 - 1)
INT32 = st.integers(-(2**31), 2**31 - 1)
TEXT = st.text(max_size=200)
TOPIC_IDS = st.just(ZERO_UUID) | st.binary(min_size=16, max_size=16).map(Uuid)
KEYS = st.builds(OffsetCommitKey, group=TEXT, topic=TEXT, partition=INT32)
VALUES = st.builds(
    OffsetCommitValue, offset=INT64, leader_epoch=INT32, metadata=TEXT, commit_timestamp=INT64, topic_id=TOPIC_IDS
)
RECORDS = st.builds(CoordinatorRecord, KEYS, VALUES, st.just(4)) | st.builds(
    CoordinatorRecord, KEYS, st.none(), st.just(-1)
)
FAST, PLAIN = OffsetCodec(), RecordCodec(GROUP_LOG)


@given(RECORDS)
def test_the_bytes_are_the_same_and_read_back(record: CoordinatorRecord) -> None:
    key, value = FAST.encode(record)
    assert (key, value) == PLAIN.encode(record)
    assert FAST.decode(key, value) == PLAIN.decode(key, value) == record
    assert FAST.decode(memoryview(key), value) == record


@given(RECORDS, st.data())
def test_damaged_bytes_are_read_or_refused_alike(record: CoordinatorRecord, data: st.DataObject) -> None:
    key, value = PLAIN.encode(record)
    key = _damage(key, data)
    value = None if value is None else _damage(value, data)
    assert _decoded(FAST, key, value) == _decoded(PLAIN, key, value)


def _damage(raw: bytes, data: st.DataObject) -> bytes:
    damaged = bytearray(raw)
    if damaged and data.draw(st.booleans()):
        damaged[data.draw(st.integers(0, len(damaged) - 1))] = data.draw(st.integers(0, 255))
    cut = data.draw(st.integers(0, len(damaged)) | st.just(len(damaged)))
    return bytes(damaged[:cut]) + data.draw(st.binary(max_size=3))


def _decoded(codec: RecordCodec, key: bytes, value: bytes | None) -> object:
    try:
        return codec.decode(key, value)
    except DecodeError:
        return DecodeError
