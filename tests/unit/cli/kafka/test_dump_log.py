"""Log files, shown by `kafka-dump-log` without any broker."""

import struct
import zlib
from pathlib import Path

import pytest

from ottla.cli.kafka.dump_log import main
from ottla.protocol.compression import CompressionType
from ottla.protocol.control_record import KRaftVersionRecord
from ottla.protocol.metadata_log.log import encode_record
from ottla.protocol.metadata_log.topic import TopicRecord
from ottla.protocol.records.batch import Batch
from ottla.protocol.records.control import (
    ControlRecordType,
    EndTransactionMarker,
    write_end_marker,
    write_key,
)
from ottla.protocol.records.writer import BatchOptions, write_batch
from ottla.storage.disk.local import LocalDisk
from ottla.storage.producer_state.entry import BatchMetadata, ProducerEntry
from ottla.storage.producer_state.snapshot import write_snapshot

TIME = 1_700_000_000_000
Written = pytest.CaptureFixture[str]


def _log(path: Path, *batches: bytearray) -> Path:
    offset = 0
    for batch in batches:
        view = Batch(batch)
        view.assign(offset, 0)
        offset = view.next_offset
    path.write_bytes(b"".join(batches))
    return path


@pytest.fixture
def log(tmp_path: Path) -> Path:
    """Two records and a marker."""
    records = write_batch(
        [(0, TIME, b"k", b"v", (("h", b"1"),)), (1, TIME + 1, None, b"w", ())],
        BatchOptions(compression=CompressionType.GZIP, producer_id=7, producer_epoch=0, base_sequence=2**31 - 1),
    )
    marker = EndTransactionMarker(ControlRecordType.ABORT, coordinator_epoch=3)
    return _log(
        tmp_path / f"{0:020d}.log", records, write_end_marker(marker, producer_id=7, producer_epoch=0, timestamp=TIME)
    )


def _dumped(written: Written, *arguments: object) -> tuple[int, list[str], str]:
    code = main([str(argument) for argument in arguments])
    out, err = written.readouterr()
    return code, out.splitlines(), err


def test_records_are_shown_below_their_batch(log: Path, capsys: Written) -> None:
    code, lines, _ = _dumped(capsys, "--files", log, "--print-data-log")
    assert (code, lines[:2]) == (0, [f"Dumping {log}", "Log starting offset: 0"])
    assert lines[2].startswith(
        "baseOffset: 0 lastOffset: 1 count: 2 baseSequence: 2147483647 lastSequence: 0 producerId: 7 producerEpoch: 0 "
        "partitionLeaderEpoch: 0 isTransactional: false isControl: false deleteHorizonMs: OptionalLong.empty "
        f"position: 0 CreateTime: {TIME + 1} size: "
    )
    assert lines[2].endswith(" isvalid: true")
    assert " compresscodec: gzip " in lines[2]
    assert lines[3:5] == [
        f"| offset: 0 CreateTime: {TIME} keySize: 1 valueSize: 1 sequence: 2147483647 headerKeys: [h] "
        "key: k payload: v",
        f"| offset: 1 CreateTime: {TIME + 1} keySize: -1 valueSize: 1 sequence: 0 headerKeys: [] payload: w",
    ]
    assert lines[6].endswith(" headerKeys: [] endTxnMarker: ABORT coordinatorEpoch: 3")


def test_metadata_can_be_left_out(log: Path, capsys: Written) -> None:
    _, lines, _ = _dumped(capsys, "--files", log, "--print-data-log", "--skip-record-metadata")
    assert lines[3:5] == ["| key: k payload: v", "| payload: w"]


def test_batches_alone(log: Path, capsys: Written) -> None:
    _, lines, _ = _dumped(capsys, "--files", log)
    assert len(lines) == 4


def test_a_snapshot_of_metadata(tmp_path: Path, capsys: Written) -> None:
    path = tmp_path / f"{12:020d}-{3:010d}.checkpoint"
    version = KRaftVersionRecord(version=0, kraft_version=1).encode(0)
    control = write_batch(
        [(0, TIME, write_key(ControlRecordType.KRAFT_VERSION), version, ())], BatchOptions(is_control=True)
    )
    _log(path, control, write_batch([(0, TIME, None, encode_record(TopicRecord(name="t"), 0), ())]))
    _, lines, _ = _dumped(capsys, "--files", path, "--cluster-metadata-decoder")
    assert lines[1] == "Snapshot end offset: 12, epoch: 3"
    assert lines[3].endswith('KRaftVersion {"version":0,"kRaftVersion":1}')
    assert lines[5].endswith(
        'payload: {"type":"TOPIC_RECORD","version":0,"data":{"name":"t","topicId":"AAAAAAAAAAAAAAAAAAAAAA"}}'
    )


def test_records_that_a_decoder_does_not_know(log: Path, tmp_path: Path, capsys: Written) -> None:
    _, lines, _ = _dumped(capsys, "--files", log, "--cluster-metadata-decoder")
    assert " payload: Error at 0, skipping. " in lines[3]
    code, _, err = _dumped(capsys, "--files", log, "--offsets-decoder")
    assert code == 1
    assert "message had a missing key" in err
    other = _log(tmp_path / f"{1:020d}.log", write_batch([(0, TIME, struct.pack(">h", 99), b"", ())]))
    _, lines, _ = _dumped(capsys, "--files", other, "--offsets-decoder")
    assert lines[3].endswith(" key: Unknown record type 99 at offset 0, skipping.")


def test_old_messages(tmp_path: Path, capsys: Written) -> None:
    body = struct.pack(">bbqi", 1, 0, TIME, -1) + struct.pack(">i", 1) + b"v"
    message = struct.pack(">qiI", 5, len(body) + 4, zlib.crc32(body)) + body
    path = tmp_path / f"{5:020d}.log"
    path.write_bytes(message)
    _, lines, _ = _dumped(capsys, "--files", path, "--print-data-log")
    shown = f"offset: 5 position: 0 CreateTime: {TIME} size: 35 magic: 1 compresscodec: none crc: {zlib.crc32(body)}"
    assert lines[2] == f"{shown} isvalid: true"
    assert lines[3] == f"| offset: 5 CreateTime: {TIME} keySize: -1 valueSize: 1 payload: v"


def test_bytes_that_are_no_batch(log: Path, capsys: Written) -> None:
    whole = log.read_bytes()
    log.write_bytes(whole[:-1])
    assert _dumped(capsys, "--files", log)[1][-1].endswith(f"invalid bytes at the end of {log.name}")
    log.write_bytes(whole + bytes(17))
    code, _, err = _dumped(capsys, "--files", log)
    assert code == 1
    assert f"Found record size 0 smaller than minimum record overhead (14) in file {log}." in err


def test_gaps_are_told_of(log: Path, capsys: Written) -> None:
    data = bytearray(log.read_bytes())
    Batch(data).assign(10, 0)
    log.write_bytes(data)
    _, _, err = _dumped(capsys, "--files", log, "--deep-iteration")
    assert err == f"Non-consecutive offsets in {log}\n  -1 is followed by 10\n  11 is followed by 2\n"


def test_indexes(log: Path, capsys: Written) -> None:
    position = Batch(log.read_bytes()).size
    index = log.with_suffix(".index")
    index.write_bytes(struct.pack(">iiii", 2, position, 0, 0))
    assert _dumped(capsys, "--files", index) == (0, [f"Dumping {index}", f"offset: 2 position: {position}"], "")
    index.write_bytes(struct.pack(">ii", 1, position))
    _, lines, err = _dumped(capsys, "--files", index, "--verify-index-only")
    assert (lines, err) == ([f"Dumping {index}"], f"Mismatches in :{index}\n  Index offset: 1, log offset: 2\n")
    times = log.with_suffix(".timeindex")
    index.write_bytes(b"")
    times.write_bytes(struct.pack(">qiqi", TIME + 1, 1, TIME, 2))
    _, lines, err = _dumped(capsys, "--files", times)
    assert lines[1:] == [f"timestamp: {TIME + 1} offset: 1", f"timestamp: {TIME} offset: 2"]
    assert err.splitlines() == [
        f"Found out of order timestamp in :{times}",
        f"  Index timestamp: {TIME}, Previously indexed timestamp: {TIME + 1}",
    ]
    assert _dumped(capsys, "--files", index)[1][-1] == f"{index} is empty."


def test_producers(tmp_path: Path, capsys: Written) -> None:
    path = tmp_path / f"{9:020d}.snapshot"
    entry = ProducerEntry(7)
    entry.producer_epoch, entry.last_timestamp, entry.transaction_first_offset = 2, TIME, 5
    entry.batches = (BatchMetadata(1, 8, 3, TIME),)
    write_snapshot(LocalDisk(), str(path), [entry])
    _, lines, _ = _dumped(capsys, "--files", path)
    assert lines[1] == (
        "producerId: 7 producerEpoch: 2 coordinatorEpoch: -1 currentTxnFirstOffset: OptionalLong[5] "
        f"lastTimestamp: {TIME} firstSequence: 2147483646 lastSequence: 1 lastOffset: 8 "
        f"offsetDelta: 3 timestamp: {TIME}"
    )
    path.write_bytes(path.read_bytes()[:-1])
    code, lines, err = _dumped(capsys, "--files", path)
    assert (code, len(lines)) == (0, 1)
    assert err


def test_files_that_are_not_there(tmp_path: Path, capsys: Written) -> None:
    for ending in ("log", "index", "timeindex", "snapshot"):
        path = tmp_path / f"{0:020d}.{ending}"
        code, _, err = _dumped(capsys, "--files", path)
        assert code == 1
        assert "NoSuchFileException" in err
