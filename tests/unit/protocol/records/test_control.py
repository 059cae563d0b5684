"""Control records: transaction markers, and what kind the others are."""

import json
from pathlib import Path

import pytest

from ottla.protocol.errors import DecodeError
from ottla.protocol.records.batch import Batch
from ottla.protocol.records.control import (
    ControlRecordType,
    EndTransactionMarker,
    read_end_marker,
    read_key,
    write_end_marker,
    write_key,
)
from ottla.protocol.records.reader import ReadOptions, read_tuples


@pytest.mark.parametrize("control_type", [ControlRecordType.ABORT, ControlRecordType.COMMIT])
def test_a_marker_is_the_batch_that_kafka_writes(control_type: ControlRecordType) -> None:
    vectors = map(json.loads, Path("tests/vectors/batches/control.jsonl").read_text().splitlines())
    vector = next(vector for vector in vectors if vector["name"] == control_type.name.lower())
    data = bytes.fromhex(vector["hex"])
    [record] = read_tuples(data, ReadOptions(control_records=True))
    marker = read_end_marker(record)
    assert marker == EndTransactionMarker(control_type, 31)
    written = write_end_marker(
        marker,
        producer_id=vector["producerId"],
        producer_epoch=vector["producerEpoch"],
        timestamp=vector["baseTimestamp"],
    )
    Batch(written).assign(vector["baseOffset"], vector["partitionLeaderEpoch"])
    assert written == data


@pytest.mark.parametrize("control_type", ControlRecordType)
def test_keys(control_type: ControlRecordType) -> None:
    assert read_key(write_key(control_type)) is control_type
    assert read_key(write_key(control_type) + b"more") is control_type


def test_types_and_versions_from_the_future() -> None:
    assert read_key(b"\0\0\0\x07") is None
    assert read_key(b"\0\0\xff\xff") is None
    assert read_key(b"\0\x05\0\x01") is ControlRecordType.COMMIT
    assert read_end_marker((0, 0, b"\0\0\0\x02", b"", ())) is None
    assert read_end_marker((0, 0, b"\0\0\0\x63", None, ())) is None
    later = read_end_marker((0, 0, b"\0\0\0\x01", b"\0\x09\0\0\0\x02more", ()))
    assert later == EndTransactionMarker(ControlRecordType.COMMIT, 2)


@pytest.mark.parametrize("key", [None, b"", b"\0\0\0", b"\xff\xff\0\x01"])
def test_keys_that_are_none(key: bytes | None) -> None:
    with pytest.raises(DecodeError):
        read_key(key)


@pytest.mark.parametrize("value", [None, b"", b"\0\0\0\0\0", b"\xff\xff\0\0\0\x01"])
def test_marker_values_that_are_none(value: bytes | None) -> None:
    with pytest.raises(DecodeError):
        read_end_marker((0, 0, b"\0\0\0\x01", value, ()))
