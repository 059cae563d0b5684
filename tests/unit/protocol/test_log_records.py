"""Records of internal topics and of the metadata log, in their frames."""

import pytest

from ottla.base.ids import Uuid
from ottla.protocol.codec.uvarint import read_uvarint, uvarint
from ottla.protocol.coordinator_record import CoordinatorLog
from ottla.protocol.errors import DecodeError
from ottla.protocol.group_log.log import GROUP_LOG
from ottla.protocol.group_log.offset import OffsetCommitKey, OffsetCommitValue
from ottla.protocol.metadata_log.log import RECORD_TYPES, decode_record, encode_record
from ottla.protocol.metadata_log.topic import PartitionRecord, TopicRecord
from ottla.protocol.share_state_log import SHARE_STATE_LOG, ShareUpdateKey
from ottla.protocol.transaction_log import TRANSACTION_LOG, TransactionLogKey, TransactionLogValue
from tests.vectors.message_vectors import ROOT


def test_every_metadata_record_has_its_type() -> None:
    known = {path.stem for path in (ROOT / "records" / "metadata").glob("*.jsonl")}
    assert {record.__name__ for record in RECORD_TYPES.values()} == known


def test_every_group_record_has_its_type() -> None:
    known = {path.stem for path in (ROOT / "records" / "group-coordinator").glob("*.jsonl")}
    assert {message.__name__ for pair in GROUP_LOG.types.values() for message in pair} == known


def test_a_metadata_record_comes_back() -> None:
    topic = TopicRecord(name="orders", topic_id=Uuid(range(16)))
    encoded = encode_record(topic, 0)
    assert encoded[:3] == bytes([1, 2, 0])
    assert decode_record(encoded) == (topic, 0)
    partition = PartitionRecord(partition_id=3, replicas=[1, 2], isr=[1], leader=1, directories=[Uuid(16), Uuid(16)])
    assert decode_record(memoryview(encode_record(partition, 2))) == (partition, 2)


@pytest.mark.parametrize(
    ("raw", "reason"),
    [
        ("", "a varint cut short"),
        ("00 0200", "frame version 0, not 1"),
        ("01 6300", "unknown record type 99"),
        ("01 0209", "version 9, known are 0"),
        ("01 1400 00 ff", "bytes left over"),
        ("01 ffffffff7f 00", "a varint past 2147483647"),
        ("01 1400", "needs 1 bytes"),
    ],
)
def test_a_broken_metadata_record_is_refused(raw: str, reason: str) -> None:
    with pytest.raises(DecodeError, match=reason):
        decode_record(bytes.fromhex(raw))


def test_an_offset_commit_comes_back() -> None:
    key = OffsetCommitKey(group="billing", topic="orders", partition=4)
    value = OffsetCommitValue(offset=17, metadata="m", commit_timestamp=5)
    raw_key, raw_value = CoordinatorLog.encode_key(key), CoordinatorLog.encode_value(value, 3)
    assert raw_key == bytes.fromhex("0001 0007 62696c6c696e67 0006 6f7264657273 00000004")
    assert GROUP_LOG.decode(raw_key, raw_value) == (key, value, 3)
    assert GROUP_LOG.decode(raw_key, None) == (key, None, -1)


def test_a_transaction_comes_back() -> None:
    key = TransactionLogKey(transactional_id="t-1")
    value = TransactionLogValue(producer_id=9, producer_epoch=1, transaction_partitions=None, previous_producer_id=7)
    encoded = CoordinatorLog.encode_value(value, 1)
    assert TRANSACTION_LOG.decode(CoordinatorLog.encode_key(key), encoded) == (key, value, 1)


def test_logs_do_not_read_each_others_types() -> None:
    raw = CoordinatorLog.encode_key(ShareUpdateKey(group_id="g", topic_id=Uuid(16), partition=1))
    assert SHARE_STATE_LOG.decode(raw, None).key == ShareUpdateKey(group_id="g", topic_id=Uuid(16), partition=1)
    with pytest.raises(DecodeError, match="unknown record type 1"):
        TRANSACTION_LOG.decode(raw, None)


@pytest.mark.parametrize(
    ("key", "value", "reason"),
    [
        ("", None, "needs 2 bytes"),
        ("0001", None, "needs 2 bytes, 0 are left"),
        ("0001 0000 0000 00000000", "00", "needs 2 bytes for the number in front"),
        ("0001 0000 0000 00000000", "0009", "version 9, known are 0-4"),
        ("0001 0000 0000 00000000", "0003 00", "OffsetCommitValue.offset"),
    ],
)
def test_a_broken_coordinator_record_is_refused(key: str, value: str | None, reason: str) -> None:
    with pytest.raises(DecodeError, match=reason):
        GROUP_LOG.decode(bytes.fromhex(key), None if value is None else bytes.fromhex(value))


@pytest.mark.parametrize("number", [0, 1, 127, 128, 300, 0x7FFFFFFF])
def test_varints_come_back(number: int) -> None:
    assert read_uvarint(b"x" + uvarint(number), 1) == (number, 1 + len(uvarint(number)))


def test_varints_have_bounds() -> None:
    for number in (-1, 1 << 31):
        with pytest.raises(ValueError, match="is not within"):
            uvarint(number)
