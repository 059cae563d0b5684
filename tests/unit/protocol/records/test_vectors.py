"""Batches that Apache Kafka wrote: read to the same values, and written to the same bytes."""

import json
from pathlib import Path
from typing import Any

import pytest

from ottla.protocol.compression import CompressionType
from ottla.protocol.records import frames, legacy
from ottla.protocol.records.reader import ReadOptions, iterate_records, read_records, read_tuples
from ottla.protocol.records.record import RecordTuple
from ottla.protocol.records.writer import emptied, options_of, recompress, write_batch
from tests.unit.protocol.records import twins

VECTORS = [
    json.loads(line)
    for path in sorted(Path("tests/vectors/batches").glob("*.jsonl"))
    for line in path.read_text("utf-8").splitlines()
]
V2 = [vector for vector in VECTORS if vector["magic"] == 2]
LEGACY = [vector for vector in VECTORS if vector["magic"] < 2]
EVERYTHING = ReadOptions(control_records=True)
FIELDS = {
    "base_offset": "baseOffset",
    "last_offset": "lastOffset",
    "crc": "crc",
    "base_timestamp": "baseTimestamp",
    "max_timestamp": "maxTimestamp",
    "producer_id": "producerId",
    "producer_epoch": "producerEpoch",
    "base_sequence": "baseSequence",
    "last_sequence": "lastSequence",
    "partition_leader_epoch": "partitionLeaderEpoch",
    "is_transactional": "transactional",
    "is_control": "control",
    "delete_horizon_ms": "deleteHorizon",
}


def _name(vector: dict[str, Any]) -> str:
    return f"{vector['name']}-{vector['baseOffset']}"


def _bytes(text: str | None) -> bytes | None:
    return None if text is None else bytes.fromhex(text)


def _records(vector: dict[str, Any]) -> list[RecordTuple]:
    return [
        (
            record["offset"],
            record["timestamp"],
            _bytes(record["key"]),
            _bytes(record["value"]),
            tuple((name, _bytes(value)) for name, value in record["headers"]),
        )
        for record in vector["records"]
    ]


def test_there_are_vectors() -> None:
    assert len(V2) > 50
    assert len(LEGACY) > 40


@pytest.mark.usefixtures("twin")
@pytest.mark.parametrize("vector", VECTORS, ids=_name)
def test_records_read_as_kafka_reads_them(vector: dict[str, Any]) -> None:
    data = bytes.fromhex(vector["hex"])
    assert read_tuples(data, EVERYTHING) == _records(vector)
    assert list(iterate_records(data, EVERYTHING)) == _records(vector)
    assert read_records(data, EVERYTHING) == _records(vector)


@pytest.mark.parametrize("twin", twins.BATCHES, ids=twins.name)
@pytest.mark.parametrize("vector", V2, ids=_name)
def test_headers_read_as_kafka_reads_them(vector: dict[str, Any], twin: Any) -> None:
    batch = twin.Batch(bytes.fromhex(vector["hex"]))
    assert {ours: getattr(batch, ours) for ours in FIELDS} == {ours: vector[kafkas] for ours, kafkas in FIELDS.items()}
    assert batch.compression.config_name == vector["codec"]
    assert batch.timestamp_type.name.replace("_", "") == vector["timestampType"].upper()
    assert batch.records_count == len(vector["records"])
    assert batch.crc_matches()


@pytest.mark.usefixtures("twin")
@pytest.mark.parametrize("vector", [vector for vector in V2 if vector["codec"] == "none"], ids=_name)
def test_the_same_records_give_the_same_bytes(vector: dict[str, Any]) -> None:
    data = bytes.fromhex(vector["hex"])
    batch = twins.BATCHES[0].Batch(data)
    if not vector["records"]:
        assert emptied(batch) == data
        return
    # With LogAppendTime the producer's own timestamps are still in the frames.
    records = frames.decode(batch.records, batch.records_count, batch.base_offset, batch.base_timestamp, None)
    assert write_batch(records, options_of(batch)) == data


@pytest.mark.parametrize("vector", [vector for vector in V2 if vector["codec"] != "none"], ids=_name)
def test_recompression_keeps_header_and_records(vector: dict[str, Any]) -> None:
    batch = twins.BATCHES[0].Batch(bytes.fromhex(vector["hex"]))
    plain = twins.BATCHES[0].Batch(recompress(batch, CompressionType.NONE))
    again = recompress(plain, batch.compression, vector["level"])
    assert read_tuples(again, EVERYTHING) == _records(vector)
    assert {f: getattr(plain, f) for f in FIELDS if f != "crc"} == {f: getattr(batch, f) for f in FIELDS if f != "crc"}
    if vector["codec"] == "snappy":
        assert again == bytes.fromhex(vector["hex"])


@pytest.mark.parametrize("vector", LEGACY, ids=_name)
def test_old_messages_become_v2_batches(vector: dict[str, Any]) -> None:
    converted = legacy.convert(bytes.fromhex(vector["hex"]))
    assert read_tuples(converted) == _records(vector)
    batch = twins.BATCHES[0].Batch(converted)
    assert batch.compression.config_name == vector["codec"]
    if vector["timestampType"] == "LogAppendTime":
        assert batch.log_append_time == vector["maxTimestamp"]
