"""Control batches, byte for byte as Kafka writes them."""

import json
from pathlib import Path

import pytest

from ottla.protocol.control_record import (
    KRaftVersionRecord,
    LeaderChangeMessage,
    LeaderChangeMessageVoter,
    SnapshotFooterRecord,
    SnapshotHeaderRecord,
)
from ottla.protocol.records.batch import Batch
from ottla.raft.log.control_batch import BatchPlace, ControlMessage, read_control_batch, write_control_batch

VECTORS = {
    vector["name"]: vector
    for vector in map(json.loads, Path("tests/vectors/batches/control.jsonl").read_text().splitlines())
}
ONE, TWO = LeaderChangeMessageVoter(voter_id=1), LeaderChangeMessageVoter(voter_id=2)


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("leader-change", LeaderChangeMessage(leader_id=1, voters=[ONE, TWO], granting_voters=[ONE])),
        ("snapshot-header", None),
        ("snapshot-footer", SnapshotFooterRecord()),
        ("kraft-version", KRaftVersionRecord(kraft_version=1)),
        ("voters", None),
    ],
)
def test_a_batch_is_what_kafka_writes(name: str, message: ControlMessage | None) -> None:
    vector = VECTORS[name]
    data = bytes.fromhex(vector["hex"])
    batch = Batch(data)
    [(offset, found)] = read_control_batch(batch)
    assert message in (None, found)
    place = BatchPlace(offset, batch.partition_leader_epoch, batch.base_timestamp)
    assert write_control_batch(place, [found]) == data


def test_records_from_the_future_are_skipped_and_newer_versions_read_as_ours() -> None:
    header = SnapshotHeaderRecord(last_contained_log_timestamp=5)
    data = bytearray(write_control_batch(BatchPlace(0, 1, 0), [header, SnapshotFooterRecord()]))
    at = data.rindex(b"\x00\x00\x00\x04")
    data[at + 3] = 99
    assert [found for _, found in read_control_batch(Batch(data))] == [header]
